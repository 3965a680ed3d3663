"""What is known of calls that reach outside: files, clocks, chance. Knowledge only."""

import re

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
