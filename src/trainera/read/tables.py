"""What is known of the libraries' names. Knowledge only: no logic lives here."""

import re

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
MOVES = {"to", "cuda", "cpu", "double", "float", "half", "bfloat16", "xpu", "type"}
SAME_MODEL = {"train", "eval", "requires_grad_", "apply", "share_memory"}

# What opens files for reading or for writing: where the mode stands, and what it is by default.
OPENERS = {
    "zipfile.ZipFile": (1, "r"),
    "tarfile.TarFile": (1, "r"),
    "h5py.File": (1, "r"),
    "netCDF4.Dataset": (1, "r"),
    "numpy.memmap": (2, "r+"),
    "numpy.lib.format.open_memmap": (1, "r+"),
    "pandas.HDFStore": (1, "a"),
    "shelve.open": (1, "c"),
    "zarr.open": (1, "a"),
    "zarr.open_group": (1, "a"),
}
SQL = re.compile(
    rb"\b(insert\s+into|create\s+table|update\s+\w+\s+set|delete\s+from|replace\s+into|drop\s+table)\b",
    re.I,
)

# Only one worker may do these; all of them evaluate the arguments.
ONCE = {
    "torch.save",
    "torch.jit.save",
    "torch.onnx.export",
    "os.makedirs",
    "os.mkdir",
    "os.remove",
    "os.unlink",
    "os.rename",
    "os.replace",
    "os.rmdir",
    "shutil.copy",
    "shutil.copyfile",
    "shutil.copy2",
    "shutil.copytree",
    "shutil.move",
    "shutil.rmtree",
    "numpy.save",
    "numpy.savez",
    "numpy.savez_compressed",
    "numpy.savetxt",
    "joblib.dump",
    "matplotlib.pyplot.savefig",
    "matplotlib.pyplot.show",
    "safetensors.torch.save_file",
    "safetensors.torch.save_model",
    "torchvision.utils.save_image",
    "cv2.imwrite",
    "torch.utils.tensorboard.SummaryWriter",
    "torch.utils.tensorboard.writer.SummaryWriter",
    "tensorboardX.SummaryWriter",
    "logging.FileHandler",
    "logging.handlers.RotatingFileHandler",
    "wandb.init",
    "wandb.log",
    "wandb.watch",
    "wandb.save",
    "wandb.finish",
    "mlflow.log_metric",
    "mlflow.log_metrics",
    "mlflow.log_param",
    "mlflow.log_params",
    "mlflow.start_run",
    "mlflow.end_run",
    "os.removedirs",
    "os.renames",
    "shutil.make_archive",
    "os.symlink",
    "os.link",
    "os.truncate",
    "os.system",
    "subprocess.run",
    "subprocess.call",
    "subprocess.check_call",
    "subprocess.check_output",
    "subprocess.getoutput",
    "subprocess.Popen",
    *("os.chmod", "os.mkfifo", "os.utime"),
    *("imageio.imsave", "imageio.imwrite", "imageio.mimsave", "imageio.mimwrite"),
    *("imageio.v2.imwrite", "imageio.v2.mimsave", "imageio.v3.imwrite", "imageio.get_writer"),
    *("matplotlib.pyplot.imsave", "skimage.io.imsave", "cv2.VideoWriter", "pandas.ExcelWriter"),
    *("scipy.io.savemat", "scipy.io.wavfile.write", "soundfile.write", "torchaudio.save"),
    *("torchvision.io.write_png", "torchvision.io.write_jpeg", "torchvision.io.write_video"),
    *("pyarrow.parquet.write_table", "pyarrow.parquet.ParquetWriter", "xlsxwriter.Workbook"),
    "os.popen",
}
# What is called by all workers, so that none of its arguments may be the first one's alone.
FOR_ALL = ("torch.", "numpy.", "math.", "os.path.")
# What these answer can be told to the others.
TELL = (
    *("os.system", "shutil.", "subprocess.run", "subprocess.call", "subprocess.check_"),
    "subprocess.getoutput",
)
# What is there on the first worker only, because only it may call `init` or `start_run`.
OF_ONE = {"wandb.config", "wandb.run", "wandb.summary", "mlflow.active_run"}
ONCE_METHODS = {
    "hardlink_to",
    "mkdir",
    "rmdir",
    "save",
    "savefig",
    "symlink_to",
    "to_csv",
    "tofile",
    "to_excel",
    "to_json",
    *("save_pretrained", "to_feather", "to_hdf", "to_sql", "write_html", "write_image"),
    "to_parquet",
    "to_pickle",
    "touch",
    "unlink",
    "write_bytes",
    "write_text",
}
WRITERS = {"SummaryWriter", "wandb.init"}
DOWNLOADS = {
    "urllib.request.urlretrieve",
    "torch.hub.load",
    "torch.hub.load_state_dict_from_url",
    "torch.hub.download_url_to_file",
    "datasets.load_dataset",
    "huggingface_hub.snapshot_download",
    "huggingface_hub.hf_hub_download",
    "sklearn.datasets.fetch_openml",
    "torchvision.datasets.utils.download_url",
    "torchvision.datasets.utils.download_and_extract_archive",
    "gdown.download",
    "shutil.unpack_archive",
    "wget.download",
}
# Values that each worker reads for itself.
CLOCKS = {
    "time.time",
    "time.perf_counter",
    "time.monotonic",
    "time.process_time",
    "time.time_ns",
    "datetime.datetime.now",
    "datetime.datetime.utcnow",
    "datetime.date.today",
    "datetime.datetime.today",
    "os.getpid",
    "time.asctime",
    "time.ctime",
    "time.strftime",
    "time.localtime",
    "time.gmtime",
}
SEEDS = {
    *("torch.manual_seed", "torch.random.manual_seed", "random.seed", "numpy.random.seed"),
    *("torch.cuda.manual_seed", "torch.cuda.manual_seed_all"),
}
NAMES = {
    "tempfile.TemporaryDirectory",
    "tempfile.mkdtemp",
    "tempfile.mkstemp",
    "tempfile.mktemp",
    "uuid.uuid1",
    "uuid.uuid4",
}
# Generators that seed themselves unless told: all workers use the first one's.
SELF_SEEDED = {
    *("numpy.random.default_rng", "numpy.random.RandomState", "random.Random"),
    *("numpy.random.SeedSequence", "numpy.random.PCG64", "numpy.random.MT19937"),
    *("numpy.random.PCG64DXSM", "numpy.random.Philox", "numpy.random.SFC64"),
}
# Numbers that come from the system: all workers use the first one's.
ENTROPY = {"os.urandom", "secrets.randbits", "secrets.randbelow", "secrets.token_bytes"}
# What has no state that could be shared.
SYSTEM_RANDOM = {
    *("random.SystemRandom", "secrets.SystemRandom", "secrets.choice"),
    *("torch.seed", "torch.random.seed", "torch.cuda.seed", "torch.cuda.seed_all"),
}
TEXT_MAKERS = {
    "Path",
    "ctime",
    "format",
    "isoformat",
    "join",
    "mkdtemp",
    "str",
    "strftime",
}
FILES = {
    "os.path.exists",
    "os.path.isfile",
    "os.path.isdir",
    "os.path.getsize",
    "os.path.getmtime",
    "os.listdir",
    "os.access",
    "glob.glob",
    "os.path.lexists",
    "os.scandir",
}
FILE_METHODS = {"exists", "is_file", "is_dir"}
OWN_RANDOM = {"torch.rand", "torch.randn", "torch.randint", "torch.randperm", "torch.bernoulli"}
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
