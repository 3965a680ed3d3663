"""What part of every batch each worker is to get, as the user says it: checked before the start.

The runtime reads the same words (`crew/shares.py`); it has to do without the rest of trainera.
"""

import math

from trainera.engines.base import Engine
from trainera.errors import UserError

AUTO = "auto"
VARIABLE = "TRAINERA_SHARES"
"""Tells the workers; also those that torchrun or horovodrun starts."""


def variables(words: str | None, workers: int, engine: Engine) -> dict[str, str]:
    """What the workers of an engine are told of their shares, if there are any."""
    if not words:
        return {}
    if not engine.unequal:
        raise UserError(
            f"--shares {words}: with {engine.title} every device gets the same part of a batch — "
            "leave --shares out, or take an engine whose workers have slices of their own: "
            "ddp or horovod, for PyTorch"
        )
    require(words, workers)
    return {VARIABLE: words}


def require(words: str, workers: int) -> None:
    """Raises unless these are shares for so many workers."""
    why = complaint(words, workers)
    if why is not None:
        raise UserError(f"--shares {words}: {why}")


def complaint(words: str, workers: int) -> str | None:
    """What is wrong with these shares, in the words of the runtime."""
    if words == AUTO:
        return None
    try:
        parts = [float(word) for word in words.split(":")]
    except ValueError:
        return "shares are numbers with colons between them, such as 5:2:1, or auto"
    if not all(math.isfinite(part) and part >= 0 for part in parts):
        return "a share is a number from 0 on"
    if len(parts) != workers:
        return f"there are {len(parts)} shares and {workers} workers: give each one"
    if not any(parts):
        return "all shares are 0: somebody has to compute"
    return None
