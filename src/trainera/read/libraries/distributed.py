"""Tells whether a script already runs on several workers by other means.

Most libraries that do this are known by being imported and used. With `torch.distributed` the calls
count that the reading comes by: many scripts make workers of their own only if a flag says so, and
are sequential ones while it does not.
"""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass

from trainera.read.interpret.library import Library
from trainera.read.interpret.state import Frame
from trainera.read.source.file import SourceFile
from trainera.read.source.modules import absolute
from trainera.read.source.names import Names
from trainera.read.source.syntax import parts_of
from trainera.read.values import PLAIN, Class, Const, Function, Qualified, Value

# Who already does what we would do: import → (what it is, how it is launched).
DISTRIBUTED = {
    "accelerate": ("Accelerate", "accelerate launch --num_processes N"),
    "lightning": ("Lightning", "python, with devices=N in its Trainer"),
    "pytorch_lightning": ("Lightning", "python, with devices=N in its Trainer"),
    "lightning_fabric": ("Fabric", "fabric run --devices N"),
    "horovod": ("Horovod", "horovodrun -np N python"),
    "tarantella": ("Tarantella", "tarantella -n N --"),
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
    "jax.sharding": ("jax.sharding", "python, on its devices"),
    "jax.make_mesh": ("jax.sharding", "python, on its devices"),
    "jax.experimental.mesh_utils": ("jax.sharding", "python, on its devices"),
    "keras.distribution": ("keras.distribution", "python, with its devices"),
    "trainera": ("trainera's own output", "torchrun --nproc-per-node N"),
}

BY_CALL = (
    "torch.distributed",
    "torch.nn.parallel.DistributedDataParallel",
    "torch.nn.parallel.distributed",
    "torch.utils.data.DistributedSampler",
    "torch.utils.data.distributed",
    "torch.multiprocessing.spawn",
    "torch.multiprocessing.start_processes",
    "apex.parallel",
)
"""What a script takes to run on several workers by torch's own means."""
RUNTIME = "_trainera_crew"
"""The function that carries the runtime in the output of `convert --standalone`."""
ASKS = ("is_available", "is_initialized", "is_torchelastic_launched", "is_nccl_available")
"""Of these, what a script asks to know whether it does."""
PLACE = re.compile(r"(environ|getenv)\b.*['\"](RANK|LOCAL_RANK|WORLD_SIZE|LOCAL_WORLD_SIZE)['\"]")
"""Where a script asks what torch's launcher has told it."""

BY_ATTRIBUTE = re.compile(rb"\b(distribute|distribution|pmap|shard_map|sharding|make_mesh)\b")
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
                if _is_used(alias.asname or alias.name.partition(".")[0], file):
                    yield alias.name, node
        elif isinstance(node, ast.ImportFrom):
            base = absolute(file, node)
            for alias in node.names:
                if _is_used(alias.asname or alias.name, file):
                    yield f"{base}.{alias.name}", node
        elif isinstance(node, ast.FunctionDef) and node.name == RUNTIME:
            yield "trainera", node


def _is_used(name: str, file: SourceFile) -> bool:
    """Whether a file looks at what it imports, or may hand it on to others."""
    return name == "*" or name in file.names_read or file.path.name == "__init__.py"


def _by_call(name: str) -> bool:
    return any(name == known or name.startswith(known + ".") for known in BY_CALL)


class OwnWorkers(Library):
    """Where a script makes workers of its own, or asks whether it is one of several.

    Nothing is read behind such a place: the converted script ends there. If that is so on every
    path, it is no sequential script.
    """

    def call(self, name: str, node: ast.Call, frame: Frame) -> Value | None:
        if not _by_call(name):
            return None
        if name.rpartition(".")[2] in ASKS:
            if name.endswith("is_initialized"):
                self.notes.untrue.mark(node, frame, name)
            return PLAIN
        self.notes.own_workers.mark(node, frame, name)
        self.machine.functions.never_return(frame)
        return PLAIN

    def instance(self, cls: Class, bases: list[str], node: ast.Call, frame: Frame) -> Value | None:
        name = next(filter(_by_call, bases), None)
        return self.call(f"{name}.__init__", node, frame) if name is not None else None

    def truth(self, node: ast.expr, frame: Frame) -> bool | None:
        """There is no process group of the script's own, and no network in one's wrapper."""
        if not isinstance(node, ast.Call):
            return None
        asked = self.machine.eval(node.func, frame)
        name = asked.name if isinstance(asked, Qualified) else ""
        if isinstance(asked, Function) and any(
            isinstance(part, ast.Attribute) and part.attr == "is_initialized"
            for part in parts_of(asked.node)
        ):
            value = self.machine.eval(node, frame)
            if isinstance(value, Const) and isinstance(value.value, bool):
                return value.value
            return None
        if name == "builtins.isinstance" and len(node.args) == 2:
            cls = self.machine.eval(node.args[1], frame)
            if not isinstance(cls, Qualified) or not _by_call(cls.name):
                return None
            self.notes.own_workers.drop(node.args[1], frame)
        elif _by_call(name) and name.endswith(".is_available"):
            return True  # no converted script runs without
        elif not _by_call(name) or not name.endswith(".is_initialized"):
            return None
        self.notes.untrue.mark(node, frame, name)
        return False

    def evaluated(self, node: ast.expr, value: Value, frame: Frame) -> Value:
        if isinstance(value, Qualified) and _by_call(value.name):
            above = frame.file.parents.get(node)
            called = isinstance(above, ast.Call) and above.func is node
            if not called and not isinstance(above, ast.Attribute | ast.ClassDef):
                self.notes.own_workers.mark(node, frame, value.name)
        return value
