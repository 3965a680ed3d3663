"""How dimensions that hold several entries for each row of the batch were made.

Of [5, 7, 64] a script makes [35, 64]: 7 entries for the first sample, then 7 for the second. Of two
views of 5 samples it makes [10, 64]: one entry for each sample, then another one for each. Sizes do
not tell the two apart, so in the first steps of a loop the operations that join dimensions are
asked what they make of the numbers of the rows.
"""

import sys
from collections.abc import Callable
from typing import Any

import torch

from trainera.crew.state import CREW

METHODS = ("view", "reshape", "flatten", "repeat", "tile", "repeat_interleave")
FUNCTIONS = (
    *("cat", "concat", "concatenate", "vstack", "reshape", "flatten"),
    *("tile", "repeat_interleave"),
)


class JoinedRows:
    """Watches how rows are joined, in the steps that tell something of them."""

    def __init__(self) -> None:
        self.seen: dict[int, set[tuple[bool, int]]] = {}
        """By the size of the dimension: whether the entries of one row lie apart in it, and where.

        Where is the frame of the function that made it so.
        """
        self._originals: list[tuple[Any, str, Any]] = []
        self._busy = False

    def begin(self) -> None:
        """A step begins."""
        self.seen = {}
        self.go_on()

    def go_on(self) -> None:
        """Watches if there is something to be told now: a step has begun, or a loop has ended."""
        tells = CREW.exact and any(step.unequal for step in CREW.open.values())
        if tells and not self._originals:
            for owner, names in ((torch.Tensor, METHODS), (torch, FUNCTIONS)):
                for name in names:
                    self._originals.append((owner, name, vars(owner).get(name)))
                    setattr(owner, name, self._watching(getattr(owner, name)))
        elif not tells and self._originals:
            for owner, name, before in self._originals:
                if before is None:
                    delattr(owner, name)
                else:
                    setattr(owner, name, before)
            self._originals = []

    def ways(self, size: int) -> set[bool]:
        """Whether in a dimension of that size, made in this step, entries of one row lie apart.

        Both, if it was made in both ways; but for what the functions have made that still run.
        """
        found = self.seen.get(size, set())
        running = set()
        frame: Any = sys._getframe(1)
        while frame is not None:
            running.add(id(frame))
            frame = frame.f_back
        near = {apart for apart, where in found if where in running}
        return near if len(near) == 1 else {apart for apart, _ in found}

    def _watching(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def joining(*args: Any, **options: Any) -> Any:
            result = original(*args, **options)
            if CREW.open and not self._busy and isinstance(result, torch.Tensor):
                self._busy = True
                try:
                    self._look(original, args, options, result, id(sys._getframe(1)))
                finally:
                    self._busy = False
            return result

        return joining

    def _look(
        self, original: Any, args: Any, options: Any, result: torch.Tensor, where: int
    ) -> None:
        for step in CREW.open.values():
            rows = step.here
            sizes = [size for size in result.shape if size > rows and size % rows == 0]
            if not sizes or rows < 2 or any(isinstance(one, torch.dtype) for one in args):
                continue
            numbered = [numbers_like(one, rows) if is_tensor(one) else one for one in args]
            if args and isinstance(args[0], list | tuple):
                numbered[0] = [numbers_like(one, rows) for one in args[0]]
                given = numbered[0]
            else:
                given = numbered[:1]
            if not given or any(one is None for one in given):
                continue
            made = original(*numbered, **options)
            for dim, size in enumerate(made.shape):
                if size in sizes:
                    self._note(made.movedim(dim, 0).reshape(size, -1), rows, where)

    def _note(self, numbers: torch.Tensor, rows: int, where: int) -> None:
        """Which way the rows lie along the first dimension, if each entry is of one row."""
        size, own = len(numbers), numbers[:, 0]
        if bool((numbers != own[:, None]).any()):
            return
        order = torch.arange(rows)
        if torch.equal(own, order.repeat(size // rows)):
            self.seen.setdefault(size, set()).add((True, where))
        elif torch.equal(own, order.repeat_interleave(size // rows)):
            self.seen.setdefault(size, set()).add((False, where))


def is_tensor(value: Any) -> bool:
    return isinstance(value, torch.Tensor) and value.dim() > 0


def numbers_like(tensor: Any, rows: int) -> torch.Tensor | None:
    """A tensor of the same shape that holds the number of the row at each entry.

    None if the rows are not seen in its shape.
    """
    if not is_tensor(tensor) or rows not in tensor.shape:
        return None
    dim = tensor.shape.index(rows)
    numbers = torch.arange(rows).reshape([-1 if one == dim else 1 for one in range(tensor.dim())])
    return numbers.expand(tensor.shape).contiguous()


JOINED_ROWS = JoinedRows()
