"""Starts real workers for tests, and makes sure that none survives the test."""

import contextlib
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from tests.tools.runs import Runner

SOURCE = Path(__file__).resolve().parents[2] / "src"


@dataclass(frozen=True)
class Outcome:
    """How one process ended and what it said."""

    status: int
    out: str
    err: str


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def clean_environment(**extra: str) -> dict[str, str]:
    """The environment without what a launcher around pytest may have put there."""
    launcher = ("RANK", "WORLD_SIZE", "LOCAL_", "MASTER_", "TORCHELASTIC", "GROUP_", "ROLE_")
    kept = {key: value for key, value in os.environ.items() if not key.startswith(launcher)}
    kept.pop("OMP_NUM_THREADS", None)
    kept["PYTHONPATH"] = os.pathsep.join([str(SOURCE), kept.get("PYTHONPATH", "")]).rstrip(":")
    return kept | extra


def run_all(
    commands: list[list[str]], environments: list[dict[str, str]], timeout: float
) -> list[Outcome]:
    """Runs the commands at the same time; when one fails, the others get ten seconds.

    Those that are still there after the time are made to print where they hang.
    """
    with contextlib.ExitStack() as stack:
        files = [
            stack.enter_context(tempfile.TemporaryFile("w+")) for _ in range(2 * len(commands))
        ]
        processes = [
            subprocess.Popen(
                command,
                env=environment | {"PYTHONFAULTHANDLER": "1"},
                stdout=out,
                stderr=err,
                start_new_session=True,
            )
            for command, environment, out, err in zip(
                commands, environments, files[::2], files[1::2], strict=True
            )
        ]
        try:
            deadline = time.monotonic() + timeout
            while any(process.poll() is None for process in processes):
                time.sleep(0.05)
                if any(process.returncode for process in processes):
                    deadline = min(deadline, time.monotonic() + 10)
                if time.monotonic() > deadline:
                    for process in processes:
                        process.send_signal(signal.SIGABRT)
                    time.sleep(1)
                    break
        finally:
            for process in processes:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
                process.wait()
        for file in files:
            file.seek(0)
        return [
            Outcome(process.returncode, out.read(), err.read())
            for process, out, err in zip(processes, files[::2], files[1::2], strict=True)
        ]


def run_workers(
    script: Path, workers: int, *arguments: str, timeout: float = 90, **extra: str
) -> list[Outcome]:
    """Runs the script as a crew, one outcome for each worker; as torchrun would, but faster."""
    port = str(free_port())
    environments = [
        clean_environment(
            RANK=str(rank),
            WORLD_SIZE=str(workers),
            LOCAL_RANK=str(rank),
            LOCAL_WORLD_SIZE=str(workers),
            MASTER_ADDR="127.0.0.1",
            MASTER_PORT=port,
            **({"OMP_NUM_THREADS": "1"} | extra),  # the machine may be busy with other tests
        )
        for rank in range(workers)
    ]
    command = [sys.executable, str(script), *arguments]
    return run_all([command] * workers, environments, timeout)


def fork_workers(
    runner: Runner, script: Path, workers: int, folder: Path, *arguments: str, **extra: str
) -> list[Outcome]:
    """The same, but the workers are forked from a process that has torch: much faster."""
    run = runner.run(script, folder, list(arguments), workers, env=extra)
    return [
        Outcome(-signal.SIGKILL if status is None else status, out, err)
        for status, out, err in zip(run.statuses, run.outputs, run.errors, strict=True)
    ]


def run_torchrun(
    script: Path, workers: int, *arguments: str, timeout: float = 90, **extra: str
) -> Outcome:
    """Runs the script under torchrun itself."""
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone"]
    command += ["--nproc-per-node", str(workers), str(script), *arguments]
    return run_all([command], [clean_environment(**extra)], timeout)[0]


def run_alone(script: Path, *arguments: str, timeout: float = 90, **extra: str) -> Outcome:
    """Runs the script with plain python."""
    command = [sys.executable, str(script), *arguments]
    environment = clean_environment(**({"OMP_NUM_THREADS": "1"} | extra))
    return run_all([command], [environment], timeout)[0]


def assert_all_well(outcomes: list[Outcome]) -> None:
    said = "\n".join(outcome.err for outcome in outcomes)
    assert [outcome.status for outcome in outcomes] == [0] * len(outcomes), said
