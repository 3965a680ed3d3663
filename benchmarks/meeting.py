"""Trains a script as it is, meeting another process wherever workers would have to.

    MEETING=FILE RANK=0 python benchmarks/meeting.py train.py …        and once more with RANK=1

Nothing is sent: the two wait for each other at every batch normalisation of a training step, on the
way forth and back, and before every step of the optimizer. So it tells what waiting alone costs on
a machine whose cores are not equally fast at every moment.
"""

import os
import runpy
import sys
from pathlib import Path
from typing import Any

import torch
from torch.nn.modules.batchnorm import _BatchNorm
from torch.optim.optimizer import register_optimizer_step_pre_hook

from trainera.crew.memory import MEET, Memory

LIMIT_S = 600.0


def open_memory(workers: int = 2) -> Memory:
    """The file of the two, which either of them may make."""
    file = os.open(os.environ["MEETING"], os.O_RDWR | os.O_CREAT, 0o600)
    os.ftruncate(file, Memory.bytes_for(workers))
    return Memory(file, int(os.environ["RANK"]), workers, LIMIT_S)


MEMORY = open_memory()


class Meet(torch.autograd.Function):
    """Passes on what it is given, when the other has come as far."""

    @staticmethod
    def forward(ctx: Any, input: torch.Tensor) -> torch.Tensor:
        MEMORY.meet(MEET)
        return input.view_as(input)

    @staticmethod
    def backward(ctx: Any, gradient: torch.Tensor) -> torch.Tensor:
        MEMORY.meet(MEET)
        return gradient


def before_normalising(module: torch.nn.Module, inputs: tuple[torch.Tensor, ...]) -> Any:
    """A hook of all modules."""
    if isinstance(module, _BatchNorm) and module.training:
        return Meet.apply(inputs[0])  # type: ignore[no-untyped-call]
    return None


def main() -> None:
    torch.nn.modules.module.register_module_forward_pre_hook(before_normalising)
    register_optimizer_step_pre_hook(lambda *_: MEMORY.meet(MEET))
    sys.argv = sys.argv[1:]
    sys.path[0] = str(Path(sys.argv[0]).parent)
    runpy.run_path(sys.argv[0], run_name="__main__")


if __name__ == "__main__":
    main()
