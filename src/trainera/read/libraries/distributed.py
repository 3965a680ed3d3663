"""Tells whether a script already runs on several workers by other means."""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass

from trainera.read.source.file import SourceFile
from trainera.read.source.modules import absolute
from trainera.read.source.names import Names

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
    "tensorflow.distribute": ("tf.distribute", "python, with its strategy"),
    "jax.pmap": ("jax.pmap", "python, on its devices"),
    "jax.shard_map": ("jax.shard_map", "python, on its devices"),
    "jax.experimental.shard_map": ("jax.shard_map", "python, on its devices"),
    "keras.distribution": ("keras.distribution", "python, with its devices"),
    "trainera": ("trainera's own output", "torchrun --nproc-per-node N"),
}


BY_ATTRIBUTE = re.compile(rb"\b(distribute|distribution|pmap|shard_map)\b")
"""What is mostly reached through its package, as ``tf.distribute``."""


@dataclass(frozen=True, kw_only=True)
class Distributed:
    """What makes a script parallel."""

    node: ast.AST
    file: SourceFile
    what: str
    launcher: str


def already(files: dict[str, SourceFile]) -> Distributed | None:
    """What makes the script run on several workers as it is, and how it is launched."""
    for file in files.values():
        for name, node in _names(file):
            for known, (what, launcher) in DISTRIBUTED.items():
                if name == known or name.startswith(known + "."):
                    return Distributed(node=node, file=file, what=what, launcher=launcher)
    return None


def _names(file: SourceFile) -> Iterator[tuple[str, ast.AST]]:
    if BY_ATTRIBUTE.search(file.source):
        names = Names(file)
        for node in file.nodes:
            if isinstance(node, ast.Attribute) and BY_ATTRIBUTE.match(node.attr.encode()):
                yield names.of(node).replace("tensorflow.keras.", "keras."), node
    for node in file.nodes:
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield alias.name, node
        elif isinstance(node, ast.ImportFrom):
            base = absolute(file, node)
            for alias in node.names:
                yield f"{base}.{alias.name}", node
        elif isinstance(node, ast.Attribute) and node.attr in (
            "DistributedDataParallel",
            "init_process_group",
        ):
            name = ast.unparse(node)
            if node.attr == "DistributedDataParallel":
                name = "torch.nn.parallel.DistributedDataParallel"
            yield name, node
