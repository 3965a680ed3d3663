"""Sees that a figure of one worker's rows is not taken for one of the whole batch.

A converted script puts the whole batch's figure wherever one is shown, decides or is written. Where
that is, reading the script has found out. Should something have escaped it, a worker would print
what it made of its own slice, and nobody would notice. So in the steps that are looked at, tensors
that come from a slice are followed through everything the script does with them, and a number that
is taken out of one (`loss.item()`) remembers where: it can be computed with and added up over the
workers, but whoever prints it, compares it or stores it ends the run.
"""

import operator
import sys
import weakref
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NoReturn

import torch

from trainera.crew.state import CREW, REFUSED

OF_ALL = frozenset(
    "zeros_like ones_like empty_like full_like new_zeros new_ones new_empty new_full new_tensor "
    "zero_ fill_ copy_".split()
)
"""What comes of these has a slice's size, but nothing of what is in it, unless it is given that."""
OWN_NAMES = frozenset(
    "__torch_function__ _operation _call_network _looked_at message leak leaves came_of left right "
    "decides __str__ __format__ __bool__ __reduce_ex__".split()
)
"""Of functions here: in a standalone script they are in the user's file."""
DISPATCH = ("torch.overrides", "torch._tensor")
"""What stands between an operation and whoever asks for it."""
LIBRARIES = ("torch.", "trainera.")
"""Whose own checks are no affair of the script's."""
ARITHMETIC = "add sub mul truediv floordiv mod pow".split()
COMPARING = "lt le gt ge eq ne".split()


def outside(frame: Any, *others: str) -> Any:
    """The frame that called this code, or code of these other modules, from a frame within."""
    here = sys._getframe().f_code.co_filename
    while frame.f_back is not None and (
        frame.f_globals.get("__name__", "").startswith(("trainera.", *others))
        or (frame.f_code.co_filename == here and frame.f_code.co_name in OWN_NAMES)
    ):
        frame = frame.f_back
    return frame


def script_place(frame: Any) -> str:
    """The line of the script that is being run, from a frame of what it called."""
    frame = outside(frame, "torch.")
    return f"{Path(frame.f_code.co_filename).name}:{frame.f_lineno}"


def leak(made: str, deed: str) -> NoReturn:
    """Ends the run: what was made of a slice would be taken for the whole batch's."""
    place = script_place(sys._getframe(1))
    print(
        f"trainera: {place}: a figure of worker {CREW.rank}'s rows alone (from {made}) {deed} here "
        "as if it were the whole batch's: reading the script has not shown where it comes from. "
        "Take it through plain names (loss = criterion(…); value = loss.item()) and use it where "
        "it is made, or add it up in the loop and use it behind; and please report the script",
        file=sys.__stderr__,  # each for itself: only the others may have rows here
        flush=True,
    )
    raise SystemExit(REFUSED)


class SliceFigure:
    """What numbers of a slice have in common; `made` is where one left its tensor."""

    made = ""
    plain: Callable[[], Any]
    """Gives the number as it is."""

    def __str__(self) -> str:
        leak(self.made, "is printed")

    __repr__ = __str__

    def __format__(self, wish: str) -> str:
        leak(self.made, "is printed")

    def __bool__(self) -> bool:
        leak(self.made, "decides")

    def __reduce_ex__(self, protocol: Any) -> Any:
        leak(self.made, "is stored or sent")

    def __copy__(self) -> "SliceFigure":
        return self

    def __deepcopy__(self, known: Any) -> "SliceFigure":
        return self


def with_operators(kind: type) -> type:
    """Numbers that are computed with those of a slice are of a slice; comparing them decides."""
    for name in (*ARITHMETIC, "neg", "pos", "abs"):
        _computing(kind, name, getattr(operator, name))
    _computing(kind, "round", round)
    for name in COMPARING:
        _comparing(kind, name)
    return kind


def _computing(kind: type, name: str, function: Callable[..., Any]) -> None:
    def left(self: Any, *others: Any) -> Any:
        if any(not isinstance(other, int | float) for other in others):
            return NotImplemented
        return figure(function(self.plain(), *map(plain_figures, others)), self.made)

    def right(self: Any, other: Any) -> Any:
        if not isinstance(other, int | float):
            return NotImplemented
        return figure(function(plain_figures(other), self.plain()), self.made)

    setattr(kind, f"__{name}__", left)
    if name in ARITHMETIC:
        setattr(kind, f"__r{name}__", right)


def _comparing(kind: type, name: str) -> None:
    def decides(self: Any, other: Any) -> Any:
        if not isinstance(other, int | float):
            return NotImplemented
        leak(self.made, "decides")

    setattr(kind, f"__{name}__", decides)


@with_operators
class SliceFloat(SliceFigure, float):
    """A number of a slice."""

    def plain(self) -> float:
        return float.__pos__(self)

    __hash__ = float.__hash__


@with_operators
class SliceInt(SliceFigure, int):
    """A whole number of a slice."""

    def plain(self) -> int:
        return int.__pos__(self)

    __hash__ = int.__hash__


def figure(value: Any, made: str) -> Any:
    """A number as one of a slice; what is no number stays as it is."""
    kind = {int: SliceInt, float: SliceFloat}.get(type(value))
    if kind is None:
        return value
    own = kind(value)
    own.made = made
    return own


def plain_figures(value: Any) -> Any:
    """A number, or what holds some, without what is remembered of slices."""
    if isinstance(value, SliceFigure):
        return value.plain()
    if type(value) in (list, tuple):
        return type(value)(map(plain_figures, value))
    return {k: plain_figures(v) for k, v in value.items()} if type(value) is dict else value


class Slices:
    """The tensors that are known to come from slices."""

    def __init__(self) -> None:
        self.known: dict[int, weakref.ref[torch.Tensor]] = {}

    def has(self, tensor: Any) -> bool:
        known = self.known.get(id(tensor))
        return known is not None and known() is tensor

    def forget_dead(self) -> None:
        """Lets go of what is no more."""
        self.known = {key: ref for key, ref in self.known.items() if ref() is not None}

    def add(self, value: Any) -> None:
        """The tensors in a value are of a slice."""
        for one in tensors_within(value):
            self.known[id(one)] = weakref.ref(one)

    def holds(self, value: Any) -> bool:
        """Whether something in a value is of a slice."""
        return any(map(self.has, tensors_within(value))) or holds_figure(value)

    def leaves(self, name: str, args: Any) -> None:
        """An operation is about to be called: it may show, or decide by, what is of a slice."""
        if name in ("__bool__", "__format__", "__repr__") and self.has(args[0]):
            caller = outside(sys._getframe(), *DISPATCH)
            if caller.f_globals.get("__name__", "").startswith(LIBRARIES):
                return
            leak(script_place(caller), "decides" if name == "__bool__" else "is printed")

    def came_of(self, name: str, args: Any, kwargs: Any, result: Any) -> Any:
        """What an operation gave, as what it is by what the operation was given."""
        if name in ("item", "tolist"):  # lists are rows, which may be taken one by one
            asking: str = sys._getframe(2).f_globals.get("__name__", "")
            if self.has(args[0]) and not asking.startswith(LIBRARIES):
                return figure(result, script_place(sys._getframe(1)))
            return result
        given = [*args, *kwargs.values()]
        if name in OF_ALL:
            given = given[1:]
        if not self.holds(given):
            if name in OF_ALL:
                self.known.pop(id(result), None)
            return result
        if name == "__setitem__":
            self.add(args[0])
        self.add(result)
        return result


def tensors_within(value: Any) -> "list[torch.Tensor]":
    """The tensors in a value, however deep."""
    if isinstance(value, torch.Tensor):
        return [value]
    if isinstance(value, list | tuple):
        return [one for item in value for one in tensors_within(item)]
    if isinstance(value, Mapping):
        return [one for item in value.values() for one in tensors_within(item)]
    return []


def holds_figure(value: Any) -> bool:
    """Whether a number of a slice is in a value."""
    if isinstance(value, list | tuple):
        return any(map(holds_figure, value))
    return isinstance(value, SliceFigure)


SLICES = Slices()
