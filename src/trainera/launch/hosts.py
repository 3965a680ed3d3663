"""Runs a converted script on several machines, by the launcher of the engine itself.

The machines have to see the script's directory under the same path, as on a cluster with shared
homes, and to be reachable by ssh without a password. trainera is not needed there: the runtime is
inside the file.
"""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from trainera.engines.base import Engine
from trainera.errors import Status, UserError
from trainera.plan import Converted

_HOST = re.compile(r"[\w.-]+:[1-9]\d*")
_PREFIX = re.compile(r"^\[(\d+)\]<(stdout|stderr)>:?")
"""What horovodrun puts before every line of a worker."""


@dataclass(frozen=True, kw_only=True)
class Slots:
    """Machines, and how many workers in all."""

    hosts: str
    workers: int


def slots(hosts: str, workers: int | None, engine: Engine) -> Slots:
    """What the user wrote, checked."""
    if not engine.hosts:
        raise UserError(
            f"--hosts: {engine.title} has no launcher for several machines — start the converted "
            f"script on each of them, e.g. {engine.launcher.format(workers=2, script='…')}"
        )
    parts = hosts.split(",")
    wrong = next((part for part in parts if not _HOST.fullmatch(part)), None)
    if wrong is not None:
        raise UserError(f"--hosts {hosts}: '{wrong}' is no NAME:WORKERS — e.g. --hosts a:2,b:2")
    room = sum(int(part.rpartition(":")[2]) for part in parts)
    if workers is not None and workers > room:
        raise UserError(f"-n {workers}: --hosts {hosts} has room for {room} workers")
    return Slots(hosts=hosts, workers=workers or room)


def run(
    script: Path,
    converted: Sequence[Converted],
    arguments: Sequence[str],
    where: Slots,
    engine: Engine,
    environment: Mapping[str, str],
) -> int:
    """Runs the script on the machines; returns the exit status.

    What the first worker says goes to standard output, all else to standard error.
    """
    if [one.path.resolve() for one in converted] != [script.resolve()]:
        raise UserError(
            "--hosts runs a script of one file, and modules of this one change, too — write it "
            f"with trainera convert --engine {engine.name} --standalone -o DIR/, and start that by "
            + engine.hosts.format(
                workers=where.workers, hosts=where.hosts, python="python", script="DIR/…"
            )
        )
    # Beside the script, because that is where all machines look, and so does its __file__.
    draft = script.resolve().with_name(f".{script.stem}_{engine.name}_{os.getpid()}.py")
    words = engine.hosts.split()
    values = {"workers": where.workers, "hosts": where.hosts, "python": sys.executable}
    command = [word.format(**values, script=draft) for word in words]
    beside = Path(sys.executable).with_name(command[0])
    program = str(beside) if beside.exists() else shutil.which(command[0])
    if program is None:
        raise UserError(f"{command[0]} is not installed: {engine.get}", Status.FAILED)
    try:
        draft.write_bytes(converted[0].after)
        with subprocess.Popen(
            [program, *command[1:], *arguments],
            env={"PYTHONHASHSEED": "0", **os.environ, **environment},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL,
            text=True,
            errors="replace",
        ) as process:
            assert process.stdout is not None
            for line in process.stdout:
                _pass_on(line)
    finally:
        draft.unlink(missing_ok=True)
    return int(Status.FAILED if process.returncode else Status.DONE)


def _pass_on(line: str) -> None:
    found = _PREFIX.match(line)
    mine = found is not None and found[2] == "stdout"
    print(line[found.end() :] if found else line, end="", file=sys.stdout if mine else sys.stderr)
