"""Where an observed process speaks to."""

import os
from pathlib import Path


def redirect(directory: Path, rank: int) -> None:
    """Both streams of every worker into files: what it prints is compared.

    Nobody answers questions: two runs could be given different answers.
    """
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    for number, name in ((1, "stdout"), (2, "stderr")):
        descriptor = os.open(directory / f"{name}-{rank}", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        os.dup2(descriptor, number)
        os.close(descriptor)
