"""What is known of the names of torch and of what is built on it. Knowledge only."""

LOADERS = {"torch.utils.data.DataLoader", "torch.utils.data.dataloader.DataLoader"}

# Losses of torch.nn (classes) and torch.nn.functional, all `reduction="mean"` unless told.
LOSS_CLASSES = {
    "BCELoss",
    "BCEWithLogitsLoss",
    "CosineEmbeddingLoss",
    "CrossEntropyLoss",
    "GaussianNLLLoss",
    "HingeEmbeddingLoss",
    "HuberLoss",
    "KLDivLoss",
    "L1Loss",
    "MSELoss",
    "MarginRankingLoss",
    "MultiLabelMarginLoss",
    "MultiLabelSoftMarginLoss",
    "MultiMarginLoss",
    "NLLLoss",
    "PoissonNLLLoss",
    "SmoothL1Loss",
    "SoftMarginLoss",
    "TripletMarginLoss",
}
LOSS_FUNCTIONS = {
    "binary_cross_entropy",
    "binary_cross_entropy_with_logits",
    "cosine_embedding_loss",
    "cross_entropy",
    "gaussian_nll_loss",
    "hinge_embedding_loss",
    "huber_loss",
    "kl_div",
    "l1_loss",
    "margin_ranking_loss",
    "mse_loss",
    "multi_margin_loss",
    "multilabel_margin_loss",
    "multilabel_soft_margin_loss",
    "nll_loss",
    "poisson_nll_loss",
    "smooth_l1_loss",
    "soft_margin_loss",
    "triplet_margin_loss",
}
# Losses whose mean is over class weights or over the targets that are not ignored.
WEIGHTED_LOSSES = {"CrossEntropyLoss", "NLLLoss", "cross_entropy", "nll_loss"}

# Losses that compare number by number, and would stretch arguments of unequal shape.
PAIRED_LOSSES = {"MSELoss", "L1Loss", "SmoothL1Loss", "HuberLoss", "GaussianNLLLoss"}
PAIRED_LOSSES |= {"mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss", "gaussian_nll_loss"}

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
PAIR_LAYERS = {"GRU", "LSTM", "RNN", "MultiheadAttention"}
SEQUENCE_LAYERS = {
    *PAIR_LAYERS,
    "Transformer",
    *("TransformerDecoderLayer", "TransformerEncoderLayer"),
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
