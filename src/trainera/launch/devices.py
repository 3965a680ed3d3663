"""How many workers this machine has room for, and how many threads each of them."""

import os

from trainera.errors import UserError


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


def auto_workers() -> int:
    """One worker for every CUDA device, or, where there is none, for every core."""
    require_torch()
    import torch

    return torch.cuda.device_count() or cores()


def threads_of_a_worker(workers: int) -> int:
    """As many threads as keep every core busy once: more make the workers slower, not faster."""
    return max(1, cores() // workers)
