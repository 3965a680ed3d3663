"""What the parts of the machine have in common."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from trainera.read.interpret.machine import Machine


class MachinePart:
    """A part of the machine: it knows the state, and reaches the other parts by the machine."""

    def __init__(self, machine: "Machine") -> None:
        self.machine = machine
        self.program = machine.program
        self.path = machine.path
        self.notes = machine.notes
