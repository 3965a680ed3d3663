"""Builds Horovod for the torch, or TensorFlow, of this environment.

The last release asks its compiler for C++14, which the headers of torch >= 2.1 refuse, so that a
plain ``pip install horovod`` fails. Here it is built with C++17 and gloo. The wheel is kept in the
user's cache under all that it depends on, so that the next environment has it in seconds.
"""

import os
import platform
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from trainera.errors import Status, UserError
from trainera.install import toolchain

VERSION = "0.28.1"
STANDARD = "gnu++17"
FRAMEWORKS = ("torch", "tensorflow")
NEEDS = ("cloudpickle", "packaging", "psutil", "pyyaml", "cffi")
"""What Horovod imports when it runs."""
TOOLS = ("setuptools", "wheel")
"""What its build needs besides."""
_SWITCHES = {"torch": "PYTORCH", "tensorflow": "TENSORFLOW", "mxnet": "MXNET", "mpi": "MPI"}
_PERCENT = re.compile(r"^\s*\[\s*(\d+)%\]")
_ERROR = re.compile(r"\berror:|CMake Error|No matching distribution", re.IGNORECASE)


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """All that decides what a build gives."""

    framework: str
    framework_version: str
    switches: tuple[tuple[str, str], ...]

    @property
    def name(self) -> str:
        """The folder of the wheel in the cache."""
        parts = (
            f"horovod-{VERSION}",
            f"{self.framework}-{self.framework_version}",
            f"{sys.implementation.cache_tag}-{sysconfig.get_platform()}",
            sha256(repr((self.switches, STANDARD, platform.libc_ver())).encode()).hexdigest()[:8],
        )
        return "_".join(parts)


def recipe(wish: str | None = None, environment: Mapping[str, str] = os.environ) -> Recipe:
    """The recipe for this environment; what the user has set as ``HOROVOD_*`` is kept."""
    wanted = (wish,) if wish else FRAMEWORKS
    for framework in wanted:
        version = toolchain.version_of(framework)
        if version is not None:
            return Recipe(
                framework=framework,
                framework_version=version,
                switches=tuple(sorted(_switches(framework, environment).items())),
            )
    raise UserError(
        f"Horovod is built for {' or '.join(wanted)}, which cannot be imported here — "
        f"install it first, e.g. pip install {wanted[0]}",
        Status.FAILED,
    )


def _switches(framework: str, environment: Mapping[str, str]) -> dict[str, str]:
    own = {name: value for name, value in environment.items() if name.startswith("HOROVOD_")}
    switches = {"HOROVOD_WITH_GLOO": "1"}
    for name, word in _SWITCHES.items():
        switches[f"HOROVOD_WITH{'' if name == framework else 'OUT'}_{word}"] = "1"
    for name in own:  # HOROVOD_WITH_MPI=1 takes the place of HOROVOD_WITHOUT_MPI=1
        for one, other in (("WITH_", "WITHOUT_"), ("WITHOUT_", "WITH_")):
            if name.startswith(f"HOROVOD_{one}"):
                switches.pop(name.replace(one, other, 1), None)
    return switches | own


def cache() -> Path:
    """Where wheels and logs are kept."""
    root = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(root) / "trainera" / "wheels"


def install(
    wanted: Recipe, *, rebuild: bool, progress: Callable[[int, str], None]
) -> tuple[Path, Path | None]:
    """Installs Horovod here; gives the wheel and, if it was built just now, the log.

    `progress` is told how far the work is, in percent, and what is being done.
    """
    toolchain.require_pip()
    folder = cache() / wanted.name
    wheel = next(iter(sorted(folder.glob("*.whl"))), None)
    log: Path | None = None
    if wheel is None or rebuild:
        log = folder / "build.log"
        wheel = _build(wanted, folder, log, progress)
    progress(98, "installing")
    _pip(["install", *NEEDS], folder / "install.log")
    _pip(["install", "--no-deps", "--force-reinstall", str(wheel)], folder / "install.log")
    check(wanted.framework)
    progress(100, "done")
    return wheel, log


def check(framework: str) -> None:
    """Starts Horovod once, alone, in a process of its own."""
    module = {"torch": "torch", "tensorflow": "tensorflow"}[framework]
    code = f"import horovod.{module} as h; h.init(); assert h.size() == 1; assert h.gloo_built()"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    if done.returncode:
        last = done.stderr.strip().split("\n")[-1]
        raise UserError(
            f"Horovod is installed but does not start: {last} — build it again with "
            "trainera engines install horovod --rebuild",
            Status.FAILED,
        )


def _build(wanted: Recipe, folder: Path, log: Path, progress: Callable[[int, str], None]) -> Path:
    tools = toolchain.find()
    log.unlink(missing_ok=True)
    with tempfile.TemporaryDirectory(prefix="trainera-horovod-") as name:
        work = Path(name)
        extra = [] if tools.cmake else ["cmake<4"]
        progress(1, "getting the build tools")
        _pip(["install", "--target", str(work / "tools"), *TOOLS, *extra], log)
        _pip(["install", *NEEDS], log)
        environment = dict(os.environ) | dict(wanted.switches)
        environment["CXX"] = str(toolchain.wrapper(tools.compiler, STANDARD, work))
        paths = (str(work / "tools"), environment.get("PYTHONPATH", ""))
        environment["PYTHONPATH"] = os.pathsep.join(filter(None, paths))
        if not tools.cmake:
            programs = (str(work / "tools" / "bin"), environment.get("PATH", ""))
            environment["PATH"] = os.pathsep.join(programs)
        environment.setdefault("MAKEFLAGS", f"-j{os.cpu_count() or 1}")
        source = ["--no-build-isolation", "--no-deps", "--no-binary", "horovod", "--no-cache-dir"]
        command = ["wheel", "-v", *source, "-w", str(work / "wheel"), f"horovod=={VERSION}"]
        progress(3, "getting the source")
        for line in _lines(command, log, environment):
            found = _PERCENT.match(line)
            if found:
                progress(5 + int(found[1]) * 90 // 100, "compiling")
        built = next(iter((work / "wheel").glob("horovod-*.whl")), None)
        if built is None:
            raise _failed("building Horovod failed", log)
        target = folder / built.name
        draft = target.with_suffix(f".{os.getpid()}.draft")
        shutil.copyfile(built, draft)
        draft.replace(target)  # whole or not at all: others may be looking
        return target


def _pip(arguments: Sequence[str], log: Path) -> None:
    for _ in _lines(arguments, log, dict(os.environ)):
        pass


def _lines(arguments: Sequence[str], log: Path, environment: Mapping[str, str]) -> Iterator[str]:
    """Runs pip, writes what it says to the log, and passes it on; raises if it fails."""
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", *arguments]
    log.parent.mkdir(parents=True, exist_ok=True)
    with (
        log.open("a", encoding="utf-8") as record,
        subprocess.Popen(
            command,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL,
            text=True,
            errors="replace",
            env=environment,
        ) as process,
    ):
        assert process.stdout is not None
        record.write(f"$ {' '.join(command)}\n")
        try:
            for line in process.stdout:
                record.write(line)
                yield line
        except BaseException:  # the user gave up: the compilers go, too
            process.terminate()
            raise
    if process.returncode:
        raise _failed(f"pip {arguments[0]} failed", log)


def _failed(what: str, log: Path) -> UserError:
    """The message with the first line of the log that names an error."""
    lines = log.read_text(encoding="utf-8", errors="replace").split("\n")
    start = max(index for index, line in enumerate(lines) if line.startswith("$ "))
    errors = [line.strip() for line in lines[start + 1 :] if _ERROR.search(line)]
    first = errors[0][:300] if errors else "it gives no reason"
    return UserError(f"{what}: {first} — the whole log is in {log}", Status.FAILED)
