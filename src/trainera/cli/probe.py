"""What a machine has: each probe gives plain data and can neither hang nor crash its caller."""

import importlib.util
import json
import os
import platform
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

from trainera import __version__

PATIENCE_S = 60.0
"""How long a library may take to say what it sees; a cold start of torch takes ten seconds."""

# They run in processes of their own: a broken driver can hang or kill whoever loads its library.
_ASK_TORCH = """
import json, torch
cuda = torch.cuda.is_available()
names = [torch.cuda.get_device_name(i) for i in range(torch.cuda.device_count())] if cuda else []
build = "ROCm" if torch.version.hip else "CUDA" if torch.version.cuda else "CPU"
print(json.dumps({"version": torch.__version__, "build": build, "devices": names}))
"""
_ASK_VERSIONS = """
import json, platform
from importlib.metadata import distributions
wanted = "torch keras jax tensorflow tensorflow-cpu horovod numpy".split()
found = {str(one.metadata["Name"]).lower().replace("_", "-"): one.version
         for one in distributions()}
known = {name: found[name] for name in wanted if name in found}
print(json.dumps({"python": platform.python_version(), **known}))
"""
_ASK_NVML = """
import ctypes, json
nvml = ctypes.CDLL("libnvidia-ml.so.1")
count = ctypes.c_uint()
assert nvml.nvmlInit_v2() == 0 and nvml.nvmlDeviceGetCount_v2(ctypes.byref(count)) == 0
print(json.dumps({"devices": count.value}))
"""


def machine() -> dict[str, Any]:
    """Everything but engines, as JSON-ready data."""
    return {
        "trainera": __version__,
        "python": platform.python_version(),
        "executable": sys.executable,
        "system": f"{platform.system()} {platform.release()} {platform.machine()}",
        "cores": cores(),
        "memory_bytes": memory_bytes(),
        "torch": torch(),
        "gpus": gpus(),
        "meters": {"rapl": rapl(), "nvml": nvml()},
    }


def cores() -> dict[str, int]:
    """Cores that this process may use, of those that there are."""
    total = os.cpu_count() or 1
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else total
    return {"usable": usable, "total": total}


def memory_bytes(meminfo: Path = Path("/proc/meminfo")) -> dict[str, int | None]:
    """Memory in all and what of it is free to take; None where the system does not say."""
    found: dict[str, int] = {}
    try:
        for line in meminfo.read_text().splitlines():
            name, _, value = line.partition(":")
            if name in ("MemTotal", "MemAvailable"):
                found[name] = int(value.split()[0]) * 1024
    except (OSError, ValueError, IndexError):
        if "SC_PHYS_PAGES" in getattr(os, "sysconf_names", {}):
            found = {"MemTotal": os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")}
    return {"total": found.get("MemTotal"), "available": found.get("MemAvailable")}


def torch() -> dict[str, Any] | None:
    """Version, build and devices of PyTorch; None without it, an ``error`` if it is broken."""
    if importlib.util.find_spec("torch") is None:
        return None
    return _ask([sys.executable, "-c", _ASK_TORCH])


def versions(python: str) -> dict[str, Any]:
    """Those of a Python and of what it trains with; nothing of it is imported."""
    return _ask([python, "-c", _ASK_VERSIONS])


def broken(proof: str, get: str) -> str | None:
    """What is wrong if an engine's proof does not run, e.g. after torch was upgraded."""
    if not proof:
        return None
    _, error = _run([sys.executable, "-c", proof])
    return None if error is None else f"it is installed but does not start ({error}): {get}"


def gpus() -> list[str]:
    """GPUs by the word of NVIDIA's driver, whether or not a framework can use them."""
    program = shutil.which("nvidia-smi")
    if program is None:
        return []
    query = [program, "--query-gpu=name,memory.total", "--format=csv,noheader"]
    output, error = _run(query)
    return [] if error else [line.strip() for line in output.splitlines() if line.strip()]


def rapl(root: Path = Path("/sys/class/powercap")) -> dict[str, Any]:
    """Whether the energy counters of the processor are there and may be read."""
    counters = sorted(root.glob("intel-rapl:*/energy_uj"))
    readable = [counter for counter in counters if _readable(counter)]
    return {"counters": len(counters), "readable": len(readable)}


def nvml() -> dict[str, Any]:
    """Whether NVIDIA's management library answers, which measures the energy of GPUs."""
    return _ask([sys.executable, "-c", _ASK_NVML])


def _readable(counter: Path) -> bool:
    try:
        return int(counter.read_text()) >= 0
    except (OSError, ValueError):
        return False


def _ask(command: list[str]) -> dict[str, Any]:
    output, error = _run(command)
    if error:
        return {"error": error}
    try:
        answer: dict[str, Any] = json.loads(output.splitlines()[-1])
    except (ValueError, IndexError):
        return {"error": "gave no answer"}
    return answer


def _run(command: list[str]) -> tuple[str, str | None]:
    """What a program prints, and what is wrong if it fails, dies or takes too long."""
    try:
        done = subprocess.run(
            command,
            capture_output=True,
            text=True,
            errors="replace",
            stdin=subprocess.DEVNULL,
            timeout=PATIENCE_S,
        )
    except subprocess.TimeoutExpired:
        return "", f"no answer within {PATIENCE_S:.0f} s"
    except OSError as error:
        return "", error.strerror or type(error).__name__
    if done.returncode != 0:
        lines = [line for line in done.stderr.splitlines() if line.strip()]
        return "", lines[-1].strip() if lines else f"ended with status {done.returncode}"
    return done.stdout, None
