"""What the parts of torch's library have in common."""

from typing import TYPE_CHECKING

from trainera.read.interpret.part import MachinePart

if TYPE_CHECKING:
    from trainera.read.libraries.torch.library import Torch


class TorchPart(MachinePart):
    """A part of what is known of torch, which reaches the other parts by the library."""

    def __init__(self, torch: "Torch") -> None:
        super().__init__(torch.machine)
        self.torch = torch
