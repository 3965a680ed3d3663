"""What is known of the names of torch and of what is built on it. Knowledge only."""

LOADERS = {"torch.utils.data.DataLoader", "torch.utils.data.dataloader.DataLoader"}

OPTIMIZERS = "torch.optim."
SCHEDULERS = "torch.optim.lr_scheduler."

# What may be asked of the wrapped network itself.
WRAPPER_OK = {
    "__call__",
    "eval",
    "forward",
    "no_sync",
    "parameters",
    "requires_grad_",
    "train",
    "training",
    "zero_grad",
}
SAME_MODEL = {"train", "eval", "requires_grad_", "apply", "share_memory"}

# Libraries that make networks, and some that make none.
ZOOS = (
    *("torchvision.models.", "torch.hub.", "timm.", "segmentation_models_pytorch.", "monai."),
    *("efficientnet_pytorch.", "pretrainedmodels.", "open_clip.", "fairseq.", "transformers."),
)
NO_LAYERS = frozenset(
    {
        *("abc", "builtins", "collections", "copy", "datetime", "einops", "functools", "itertools"),
        *("json", "logging", "math", "numpy", "operator", "os", "pathlib", "random", "re", "scipy"),
        *("sys", "time", "torch", "typing", "warnings", "yaml"),
    }
)
