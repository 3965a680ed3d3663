"""Lets several trainings take turns, one epoch each, and measures them.

A small machine changes its speed within seconds, so two trainings that run one after the other are
compared more by luck than by what they are. Here all are started, and all but one are halted
(SIGSTOP): each trains an epoch, then the next one does. What belongs to one round is seconds apart.
"""

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from statistics import fmean, quantiles

from trainera import engines
from trainera.launch.devices import keep_memory

UNITS_PER_MIB = 2**20 if sys.platform == "darwin" else 2**10
"""The system tells peak memory in KiB, but macOS in bytes."""

ONE_THREAD = {
    "OMP_NUM_THREADS": "1",
    "TF_NUM_INTRAOP_THREADS": "1",
    "TF_NUM_INTEROP_THREADS": "1",
}

Places = Sequence[Mapping[str, str]]
"""What the environment tells each worker: its rank, and where the others are."""


@dataclass(frozen=True, kw_only=True)
class End:
    """What the system says of the workers when they have ended, the mean over all."""

    peak_mib: float
    cpu_s: float
    """From start to end. It hardly depends on what else the machine does."""


@dataclass(frozen=True, kw_only=True)
class Version:
    """A training that takes part."""

    script: Path
    places: Places = ({},)
    arguments: Sequence[str] = ()
    apart: bool = False
    """Its processes know nothing of each other, so each one tells of its own epochs."""
    keeps_memory: bool = True
    """As ``trainera run`` has it; else its allocator is as the system has it."""
    ends: str = "epoch "
    """How the last line of an epoch begins."""


@dataclass(frozen=True)
class Training:
    """The processes of one training, each of one thread."""

    version: Version
    processes: list["subprocess.Popen[str]"] = field(default_factory=list)

    def start(self, arguments: Sequence[str]) -> None:
        common = {**os.environ, **ONE_THREAD, "CUDA_VISIBLE_DEVICES": ""}
        if self.version.keeps_memory:
            keep_memory(common, len(self.version.places))
        command = [sys.executable, "-u", str(self.version.script)]
        command += [*self.version.arguments, *arguments]
        for rank, place in enumerate(self.version.places):
            speaks = subprocess.PIPE if rank == 0 or self.version.apart else subprocess.DEVNULL
            one = subprocess.Popen(command, env={**common, **place}, stdout=speaks, text=True)
            self.processes.append(one)

    def epoch(self) -> float:
        """Trains an epoch; seconds until its first line. Ends halted."""
        self._signal(signal.SIGCONT)
        start = time.perf_counter()
        self._read("epoch ")
        training_s = time.perf_counter() - start
        if self.version.ends != "epoch ":
            self._read(self.version.ends)
        self._signal(signal.SIGSTOP)
        return training_s

    def end(self) -> End:
        """Lets it run to its end."""
        self._signal(signal.SIGCONT)
        found = [_reap(process) for process in self.processes]
        if any(process.returncode for process in self.processes):
            raise SystemExit(f"{self.version.script.name} failed; its own words are above")
        return End(
            peak_mib=fmean(peak_mib for peak_mib, _ in found),
            cpu_s=fmean(cpu_s for _, cpu_s in found),
        )

    def kill(self) -> None:
        """Leaves nothing behind; does nothing after a good end."""
        for process in self.processes:
            if process.returncode is None:
                process.kill()
                process.wait()

    def _signal(self, number: signal.Signals) -> None:
        for process in self.processes:
            os.kill(process.pid, number)

    def _read(self, beginning: str) -> None:
        for process in self.processes:
            if process.stdout is None:
                continue
            if not any(line.startswith(beginning) for line in process.stdout):
                name = self.version.script.name
                raise SystemExit(f"{name} ended early; its own words are above")


@dataclass(frozen=True, kw_only=True)
class Turns:
    """Of each training by its name: seconds of every epoch but the first, and its end."""

    epochs_s: Mapping[str, Sequence[float]]
    ends: Mapping[str, End]


def take_turns(versions: Mapping[str, Version], rounds: int, arguments: Sequence[str]) -> Turns:
    """One epoch each to warm up, then one each in every round; every other round backwards."""
    trainings = {name: Training(version) for name, version in versions.items()}
    epochs_s: dict[str, list[float]] = {name: [] for name in versions}
    try:
        for training in trainings.values():
            training.start([*arguments, "--epochs", str(rounds + 1)])
            training.epoch()
        for number in range(rounds):
            for name in list(versions)[:: -1 if number % 2 else 1]:
                epochs_s[name].append(trainings[name].epoch())
            seconds = ", ".join(f"{name} {taken[-1]:.2f} s" for name, taken in epochs_s.items())
            print(f"round {number + 1} of {rounds}: {seconds}", file=sys.stderr)
        return Turns(epochs_s=epochs_s, ends={name: one.end() for name, one in trainings.items()})
    finally:
        for one in trainings.values():
            one.kill()


def _reap(process: "subprocess.Popen[str]") -> tuple[float, float]:
    """Waits for the end of a process; its peak memory in MiB and its CPU time in seconds."""
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return usage.ru_maxrss / UNITS_PER_MIB, usage.ru_utime + usage.ru_stime


@contextmanager
def places_of(engine: str, workers: int) -> Iterator[Places]:
    """As the engine's own launcher gives them out."""
    if engine == "horovod":
        from trainera.launch.horovod import meeting

        with meeting(workers) as places:
            # Who is halted while others have their turn is not lost.
            yield [{**place, "HOROVOD_GLOO_TIMEOUT_SECONDS": "3600"} for place in places]
        return
    if engine == "jax":
        environment = engines.get("jax").environment
        yield [{name: text.format(workers=workers) for name, text in environment.items()}]
        return
    common = {
        "WORLD_SIZE": str(workers),
        "LOCAL_WORLD_SIZE": str(workers),
        "MASTER_ADDR": "127.0.0.1",
        "MASTER_PORT": str(free_port()),
    }
    yield [common | {"RANK": str(rank), "LOCAL_RANK": str(rank)} for rank in range(workers)]


@dataclass(frozen=True, kw_only=True)
class Ratio:
    """The median over the rounds, and the quartiles as a measure of how sure it is."""

    median: float
    low: float
    high: float


def speed(turns: Turns, name: str, base: str) -> Ratio:
    """How much faster an epoch of one is than that of another: a ratio within each round."""
    pairs = zip(turns.epochs_s[name], turns.epochs_s[base], strict=True)
    low, middle, high = quantiles((its / ours for ours, its in pairs), method="inclusive")
    return Ratio(median=middle, low=low, high=high)


def convert(script: Path, engine: str, folder: Path, *options: str) -> Path:
    """Converts as a user does."""
    output = folder / engine
    output.mkdir()
    command = [sys.executable, "-m", "trainera", "convert", str(script)]
    command += ["--engine", engine, "-o", str(output), *options]
    subprocess.run(command, check=True, stdout=sys.stderr)
    return output / script.name


def free_port() -> int:
    """A port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
