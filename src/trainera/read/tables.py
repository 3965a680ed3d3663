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

# Element by element: a row of the result depends on that row of the arguments only.
ELEMENTWISE = frozenset(
    (
        "abs absolute add addcmul asin acos atan bernoulli bfloat16 bitwise_and bitwise_or bool "
        "byte ceil celu clamp clamp_ clip clone contiguous cos cosh cpu cuda data deg2rad detach "
        "detach_ div div_ double dropout elu eq equal_ erf exp expm1 fill_ float floor "
        "floor_divide fmod frac ge gelu gt half hardtanh heaviside int isclose isfinite isinf "
        "isnan le leaky_relu lerp log log10 log1p log2 logical_and logical_not logical_or logit "
        "logsigmoid long lt masked_fill masked_fill_ maximum minimum mish mul mul_ nan_to_num ne "
        "neg negative not_equal numpy one_hot ones_like pin_memory pow rand_like randn_like "
        "normal_ uniform_ bernoulli_ random_ "
        "reciprocal relu relu_ remainder requires_grad_ round rsqrt selu short sigmoid sign silu "
        "sin sinh softplus sqrt square sub sub_ tan tanh tanhshrink threshold to tolist "
        "true_divide trunc type type_as where xlogy zeros_like astype copy asarray array "
        "as_tensor tensor from_numpy full_like empty_like int32 int64 float32 float64 uint8 "
        "multiply divide subtract greater less not_ softsign relu6 hardswish retain_grad zero_ "
        "add_ bucketize clamp_min clamp_max embedding rot90_"
    ).split()
)
# Along a dimension: (gives a pair?, keeps the number of dimensions?, position of `dim`, default)
ALONG: dict[str, tuple[bool, bool, int, int | None]] = {
    "sum": (False, False, 0, None),
    "mean": (False, False, 0, None),
    "nansum": (False, False, 0, None),
    "max": (True, False, 0, None),
    "min": (True, False, 0, None),
    "argmax": (False, False, 0, None),
    "argmin": (False, False, 0, None),
    "amax": (False, False, 0, None),
    "amin": (False, False, 0, None),
    "prod": (False, False, 0, None),
    "std": (False, False, 0, None),
    "var": (False, False, 0, None),
    "all": (False, False, 0, None),
    "any": (False, False, 0, None),
    "count_nonzero": (False, False, 0, None),
    "norm": (False, False, 1, None),
    "logsumexp": (False, False, 0, None),
    "median": (True, False, 0, None),
    "mode": (True, False, 0, -1),
    "softmax": (False, True, 0, None),
    "log_softmax": (False, True, 0, None),
    "gumbel_softmax": (False, True, 3, -1),
    "cumsum": (False, True, 0, None),
    "normalize": (False, True, 1, 1),
    "sort": (True, True, 0, -1),
    "argsort": (False, True, 0, -1),
    "topk": (True, True, 1, -1),
    "cosine_similarity": (False, False, 1, 1),
    "flip": (False, True, 0, None),
    "roll": (False, True, 1, None),
}
# Methods under which a sum or a mean stays what it is.
LINEAR = frozenset(
    (
        "item detach cpu cuda to float double half clone numpy mean sum tolist squeeze reshape "
        "view contiguous requires_grad_ type long int unsqueeze retain_grad data astype tensor "
        "as_tensor"
    ).split()
)
# What these give has no gradient.
ENDS_GRADIENT = {
    *("detach", "item", "numpy", "tolist", "data", "argmax", "argmin", "bool", "long", "int"),
    *("eq", "ne", "gt", "lt", "ge", "le", "isnan", "isinf", "isfinite", "logical_not"),
    *("logical_and", "logical_or", "size", "numel", "any", "all", "count_nonzero"),
}
COUNTING = {"numel", "nelement"}
MASKS = {*"eq ne gt ge lt le isnan isinf isfinite isin isclose bool".split()}
MASKS |= {"logical_and", "logical_or", "logical_not", "logical_xor"}
STILL_MASKS = {
    *"view reshape squeeze unsqueeze flatten transpose permute t expand clone cpu".split()
}
STILL_MASKS |= {"expand_as", "contiguous", "cuda", "detach", "numpy", "bitwise_not", "chunk"}
ROW_BY_ROW = {"flip", "roll", "where"}
"""Besides what treats entries one by one: the result has as many rows."""
NOT_A_SHARE = {"device", "dtype", "is_cuda", "ndim", "requires_grad", "grad_fn", "dim", "layout"}
NOT_A_SHARE |= {"is_leaf", "is_mps", "is_quantized", "is_sparse", "is_xpu", "itemsize"}

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

MOVES = {"to", "cuda", "cpu", "double", "float", "half", "bfloat16", "xpu", "type"}
SAME_MODEL = {"train", "eval", "requires_grad_", "apply", "share_memory"}

# Functions that draw from the generator that all of torch shares; those of numpy.random and of
# random do, but for these.
OWN_RANDOM = {
    *("torch.rand", "torch.randn", "torch.randint", "torch.randperm", "torch.bernoulli"),
    *("torch.normal", "torch.multinomial", "torch.poisson"),
    *("torch.rand_like", "torch.randn_like", "torch.randint_like"),
    *("torch.dropout", "torch.nn.functional.dropout"),
}
IN_PLACE_DRAWS = {
    *("normal_", "uniform_", "bernoulli_", "random_", "exponential_", "cauchy_", "geometric_"),
    "log_normal_",
}
NO_DRAW = {"seed", "get_state", "set_state", "getstate", "setstate", "default_rng"}
# What makes a tensor of a size: given as numbers or as a tuple,
MADE = {"zeros", "ones", "full", "rand", "randn", "empty"}
# or as the first argument, after which others come,
SIZE_FIRST = {"full", "standard_normal", "random", "random_sample", "ranf", "sample"}
# or as the last one.
SIZE_LAST = {
    *("randint", "normal", "uniform", "beta", "gamma", "binomial", "poisson", "exponential"),
    *("laplace", "logistic", "lognormal", "geometric", "gumbel", "rayleigh", "triangular"),
}
TYPED = {
    f"torch.{place}{name}Tensor"
    for place in ("", "cuda.")
    for name in ("", "Float", "Double", "Half", "Long", "Int", "Byte", "Bool")
}
MAKERS = {*MADE, *SIZE_FIRST, *SIZE_LAST, *(name.rpartition(".")[2] for name in TYPED), "rsample"}
PROGRESS = ("tqdm", "track", "trange", "progress_bar", "master_bar")

# Who already does what we would do: import → (what it is, how it is launched).
DISTRIBUTED = {
    "torch.distributed": ("torch.distributed", "torchrun --nproc-per-node N"),
    "torch.nn.parallel.DistributedDataParallel": ("DDP", "torchrun --nproc-per-node N"),
    "accelerate": ("Accelerate", "accelerate launch --num_processes N"),
    "lightning": ("Lightning", "python, with devices=N in its Trainer"),
    "pytorch_lightning": ("Lightning", "python, with devices=N in its Trainer"),
    "lightning_fabric": ("Fabric", "fabric run --devices N"),
    "horovod": ("Horovod", "horovodrun -np N python"),
    "deepspeed": ("DeepSpeed", "deepspeed --num_gpus N"),
    "transformers.Trainer": ("the Hugging Face Trainer", "torchrun --nproc-per-node N"),
    "transformers.Seq2SeqTrainer": ("the Hugging Face Trainer", "torchrun --nproc-per-node N"),
    "trl": ("TRL's trainers", "accelerate launch --num_processes N"),
    "ray.train": ("Ray Train", "python, with num_workers=N in its ScalingConfig"),
    "torch_xla": ("PyTorch/XLA", "its own xla launcher"),
    "ignite.distributed": ("Ignite's distributed layer", "torchrun --nproc-per-node N"),
    "fairscale": ("FairScale", "torchrun --nproc-per-node N"),
    "colossalai": ("Colossal-AI", "colossalai run --nproc_per_node N"),
    "trainera": ("trainera's own output", "torchrun --nproc-per-node N"),
}

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
