"""How many workers this machine has room for, and how many threads and how much memory for each."""

import os
import sys
from collections.abc import MutableMapping
from contextlib import suppress
from pathlib import Path

from trainera.errors import UserError

_LIMIT = Path("/sys/fs/cgroup/memory.max")
_LARGE_BYTES = 32 << 20
"""The most that older allocators take, and that any comes to keep: larger blocks leave gaps."""


def require_torch() -> None:
    """Raises a message that says what to install, unless torch.distributed can be imported."""
    try:
        import torch.distributed
    except ImportError as error:
        raise UserError(
            f"running needs PyTorch, which cannot be imported ({error}): "
            "pip install 'trainera[torch]'"
        ) from error
    if not torch.distributed.is_available():
        raise UserError(
            "this build of PyTorch has no torch.distributed: install one that has, "
            "e.g. pip install 'trainera[torch]'"
        )


def cores() -> int:
    """The cores that this process may use, which in a container or under a scheduler are fewer."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def gpus(framework: str) -> int:
    """The GPUs that a framework can use; what it is asked for is only looked up, not started."""
    if framework == "torch":
        require_torch()
        import torch

        return torch.cuda.device_count()
    visible = os.environ.get("CUDA_VISIBLE_DEVICES")
    found = len(list(Path("/proc/driver/nvidia/gpus").glob("*")))
    return found if visible is None else min(found, len([one for one in visible.split(",") if one]))


def auto_workers(framework: str = "torch") -> int:
    """One worker for every GPU, or, where there is none, for every core."""
    return gpus(framework) or cores()


def threads_of_a_worker(workers: int) -> int:
    """As many threads as keep every core busy once: more make the workers slower, not faster."""
    return max(1, cores() // workers)


def keep_memory(environment: MutableMapping[str, str], workers: int, limit: Path = _LIMIT) -> None:
    """Has the workers keep the memory that a step frees, because the next step wants it again.

    The allocator of Linux gives large blocks back to the system, which hands them out again page
    by page and filled with zeros; that can take a tenth of a step, or more
    (benchmarks/allocator.py). Of free memory in one piece all workers together keep no more than
    an eighth of what there is, very large blocks go back as ever, and whoever has settings of
    their own keeps those.
    """
    theirs = any(name.startswith(("MALLOC_", "GLIBC_TUNABLES")) for name in environment)
    if theirs or sys.platform != "linux":
        return
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    with suppress(OSError, ValueError):  # a container without a limit says "max"
        memory = min(memory, int(limit.read_text()))
    kept = memory // (8 * workers)
    environment["MALLOC_TRIM_THRESHOLD_"] = str(kept)
    environment["MALLOC_MMAP_THRESHOLD_"] = str(min(kept, _LARGE_BYTES))
