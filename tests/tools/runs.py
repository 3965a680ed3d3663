"""Runs sequential and converted scripts and compares everything they leave behind."""

import contextlib
import io
import json
import os
import re
import socket
import subprocess
import sys
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from trainera.launch import jax_processes, multiworker
from trainera.launch.horovod import meeting
from trainera.verify.run import OBSERVERS

ZYGOTE = Path(__file__).with_name("zygote.py")
TORCH = (
    *("numpy", "torch", "torch._dynamo", "torch.nn.parallel", "torch.utils.data"),
    *("trainera.crew", "trainera.verify.observe.start"),
    *("horovod.torch", "sklearn.datasets", "sklearn.metrics"),
)
"""What scripts that train with PyTorch import; `torch._dynamo` comes with DDP and optimizers."""
CLUSTERS = {"multiworker": multiworker.places, "jax_processes": jax_processes.places}
"""Who tells the workers of an engine where all meet; torchrun's way for all others."""
NUMBER = re.compile(r"[-+]?(?:\d+\.\d*|\.\d+|\d+)(?:[eE][-+]?\d+)?")
LEAST = 1e-12
"""What is not more than that apart is the same."""


@dataclass(frozen=True)
class Run:
    """What the workers of one run gave, by rank."""

    statuses: list[int | None]
    outputs: list[str]
    errors: list[str]

    @property
    def ok(self) -> bool:
        return all(status == 0 for status in self.statuses)

    @property
    def output(self) -> str:
        """All that a user sees on stdout."""
        return "".join(self.outputs)

    def report(self) -> str:
        parts = zip(self.statuses, self.outputs, self.errors, strict=True)
        return "\n".join(
            f"--- worker {rank}: status {status}\n{out[-1500:]}\n{err[-3000:]}"
            for rank, (status, out, err) in enumerate(parts)
        )


class Runner:
    """A zygote, and how to talk to it."""

    def __init__(
        self,
        python: str = sys.executable,
        imports: tuple[str, ...] = TORCH,
        variables: Mapping[str, str] | None = None,
        framework: str = "torch",
    ) -> None:
        self.observing = OBSERVERS[framework]
        environment = {
            **os.environ,
            "OMP_NUM_THREADS": "1",
            "PYTHONDONTWRITEBYTECODE": "1",
            **(variables or {}),
        }
        self.process = subprocess.Popen(
            [python, str(ZYGOTE), *imports],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=environment,
            start_new_session=True,
        )
        assert self.process.stdout is not None
        assert self.process.stdout.readline() == "ready\n"

    def run(
        self,
        script: Path,
        cwd: Path,
        arguments: list[str] | None = None,
        workers: int = 0,
        timeout: float = 90,
        env: dict[str, str] | None = None,
        hidden: list[str] | None = None,
        observer: dict[str, object] | None = None,
        engine: str = "ddp",
        logs: Path | None = None,
    ) -> Run:
        """Runs a script plainly (`workers` 0) or as that many workers of an engine.

        They get the variables of torchrun, of Horovod's launcher or of a cluster of TensorFlow's.
        `hidden` names modules that the script cannot import. With `observer` the run is observed as
        `trainera verify` does.
        What workers print is kept in `cwd`, unless there is a folder for their `logs`.
        """
        if engine == "horovod" and workers:
            with meeting(workers) as places:
                return self._run(
                    script, cwd, arguments, places, timeout, env, hidden, observer, logs
                )
        places = []
        if workers and engine in CLUSTERS:
            places = CLUSTERS[engine](workers)
        elif workers:
            common = {
                "WORLD_SIZE": str(workers),
                "LOCAL_WORLD_SIZE": str(workers),
                "MASTER_ADDR": "127.0.0.1",
                "MASTER_PORT": str(free_port()),
            }
            ranks = [{"RANK": str(rank), "LOCAL_RANK": str(rank)} for rank in range(workers)]
            places = [common | rank for rank in ranks]
        return self._run(script, cwd, arguments, places, timeout, env, hidden, observer, logs)

    def _run(
        self,
        script: Path,
        cwd: Path,
        arguments: list[str] | None,
        places: list[dict[str, str]],
        timeout: float,
        env: dict[str, str] | None,
        hidden: list[str] | None,
        observer: dict[str, object] | None,
        folder: Path | None,
    ) -> Run:
        """Runs a script in as many workers as there are places, or plainly if there is none."""
        logs = (folder or cwd) / ".log"
        workers = max(len(places), 1)
        job = {
            "script": str(script),
            "arguments": arguments or [],
            "cwd": str(cwd),
            "logs": str(logs),
            "places": places or [{}],
            "timeout": timeout,
            "env": {"TQDM_DISABLE": "", **(env or {})},
            "hidden": hidden or [],
            "observer": observer,
            "observing": self.observing,
        }
        assert self.process.stdin is not None and self.process.stdout is not None
        self.process.stdin.write(json.dumps(job) + "\n")
        self.process.stdin.flush()
        statuses = json.loads(self.process.stdout.readline())
        outputs, errors = (
            [Path(f"{logs}.{rank}.{name}").read_text() for rank in range(workers)]
            for name in ("out", "err")
        )
        return Run(statuses, outputs, errors)

    def close(self) -> None:
        assert self.process.stdin is not None
        with contextlib.suppress(OSError):
            self.process.stdin.close()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def text_difference(
    expected: str, actual: str, tolerance: float, ignore: str | None = None
) -> str | None:
    """How two outputs differ: the words must be equal, the numbers agree within the tolerance."""
    wanted, got = expected.splitlines(), actual.splitlines()
    if len(wanted) != len(got):
        return f"{len(wanted)} lines expected, {len(got)} found"
    for number, (left, right) in enumerate(zip(wanted, got, strict=True), 1):
        if ignore and re.search(ignore, left):
            continue
        if NUMBER.sub("#", left) != NUMBER.sub("#", right):
            return f"line {number}: {left!r} became {right!r}"
        for one, other in zip(NUMBER.findall(left), NUMBER.findall(right), strict=True):
            if not close(float(one), float(other), tolerance, last_place(one)):
                return f"line {number}: {one} became {other} in {left!r}"
    return None


def last_place(text: str) -> float:
    """Half a unit in the last place printed: rounding may tip over there."""
    mantissa, _, exponent = text.lower().partition("e")
    digits = len(mantissa.partition(".")[2])
    return 1.01 * 10.0 ** (int(exponent or 0) - digits) if "." in mantissa else 0.0


def close(left: float, right: float, tolerance: float, absolute: float = 0.0) -> bool:
    return abs(left - right) <= max(tolerance * max(abs(left), abs(right)), absolute, LEAST)


def saved_difference(expected: Path, actual: Path, tolerance: float) -> str | None:
    """How two saved files differ."""
    if not actual.is_file():
        return f"{actual.name} was not written"
    if expected.suffix in (".pt", ".pth", ".ckpt"):
        left, right = (load_saved(path) for path in (expected, actual))
        return value_difference(left, right, tolerance, expected.name)
    if expected.suffix == ".npy":
        import numpy as np

        return value_difference(np.load(expected), np.load(actual), tolerance, expected.name)
    if expected.suffix in (".h5", ".keras"):
        left, right = (load_keras(path) for path in (expected, actual))
        return value_difference(left, right, tolerance, expected.name)
    found = text_difference(expected.read_text(), actual.read_text(), tolerance)
    return found and f"{expected.name}: {found}"


def load_keras(path: Path) -> dict[str, object]:
    """Every array of a file that Keras wrote, by its place there."""
    import h5py

    content = io.BytesIO(path.read_bytes())
    if path.suffix == ".keras":
        with zipfile.ZipFile(content) as archive:
            content = io.BytesIO(archive.read("model.weights.h5"))
    found: dict[str, object] = {}

    def note(name: str, item: object) -> None:
        if isinstance(item, h5py.Dataset):
            found[name] = item[()]

    with h5py.File(content) as file:
        file.visititems(note)
    return found


def load_saved(path: Path) -> object:
    """What `torch.save` wrote; of a network saved as a whole, its state."""
    import torch

    layers = [
        item
        for module in (
            torch.nn.modules.container,
            torch.nn.modules.linear,
            torch.nn.modules.activation,
        )
        for item in vars(module).values()
        if isinstance(item, type)
    ]
    with torch.serialization.safe_globals([*layers, torch.nn.BatchNorm1d, torch.nn.BatchNorm2d]):
        loaded = torch.load(path, weights_only=True)
    return loaded.state_dict() if isinstance(loaded, torch.nn.Module) else loaded


def value_difference(left: object, right: object, tolerance: float, where: str) -> str | None:
    """How two values differ: structure and keys must be equal, numbers agree."""
    import numpy as np
    import torch

    if isinstance(left, dict) and isinstance(right, dict):
        if list(left) != list(right):
            return f"{where}: keys {list(left)} became {list(right)}"
        pairs = [(left[key], right[key], f"{where}[{key!r}]") for key in left]
    elif isinstance(left, list | tuple) and isinstance(right, list | tuple):
        if len(left) != len(right):
            return f"{where}: {len(left)} items became {len(right)}"
        pairs = [(*pair, f"{where}[{i}]") for i, pair in enumerate(zip(left, right, strict=True))]
    elif isinstance(left, torch.Tensor | np.ndarray):
        one, other = torch.as_tensor(left), torch.as_tensor(right)
        if one.shape != other.shape or one.dtype != other.dtype:
            return f"{where}: {one.dtype} {one.shape} became {other.dtype} {other.shape}"
        scale = one.double().abs().max().item() if one.numel() else 0.0
        gap = (one.double() - other.double()).abs().max().item() if one.numel() else 0.0
        return f"{where}: differs by {gap}" if gap > tolerance * max(scale, 1e-3) else None
    elif isinstance(left, float) and isinstance(right, float | int):
        return None if close(left, float(right), tolerance) else f"{where}: {left} became {right}"
    else:
        return None if left == right else f"{where}: {left!r} became {right!r}"
    return next(
        (
            found
            for one, other, name in pairs
            if (found := value_difference(one, other, tolerance, name))
        ),
        None,
    )
