"""Sees that rows of a batch do not meet each other unnoticed, by the shapes while the script runs.

`out - y` is taken row by row. But if the one is [n, 1] and the other [n], torch stretches both to
[n, n]: every row meets every other, and a slice of the batch gives something else. How many
dimensions a tensor has is often not known before the script runs. So in the first steps of every
loop over batches, tensors that come from the batch are followed through the operations of the loop,
and rows that meet rows end the run. What a network does inside is its own affair; its result has
the rows of what it was given.
"""

import os
import sys
import threading
import weakref
from collections.abc import Callable
from typing import Any, NamedTuple

import torch
from torch.overrides import (
    TorchFunctionMode,
    _get_current_function_mode_stack,
    _pop_mode,
    _push_mode,
)

from trainera.crew.following import (
    FOLLOWED,
    LOSSES,
    STRETCHING,
    Rows,
    meeting_rows,
    moved_rows,
    plain_name,
    rows_in_result,
    tensors_among,
)
from trainera.crew.rows import arrays_in
from trainera.crew.slice_figures import SLICES, script_place


class Followed(NamedTuple):
    """What is known of a tensor that comes from a batch."""

    tensor: "weakref.ref[torch.Tensor]"
    rows: Rows
    step: int


class Lookout(TorchFunctionMode):
    """Follows the tensors of the steps that are looked at, in one thread."""

    def __init__(self) -> None:
        super().__init__()
        self.steps: list[int] = []
        """The steps that are looked at, of several loops if they are nested or zipped."""
        self.latest = 0
        self.thread = 0
        self.known: dict[int, Followed] = {}
        self.found = ""
        self.in_place = False
        self.busy = 0
        """Above 0 while torch holds the modes: in an operation, and all of backward()."""
        self.inside = 0
        self.gave_way = False
        self.heeds_compiler = False
        self.heeds_forks = False
        self.original_call: Any = None

    def begin(self) -> int:
        """A step begins. Its number, or 0 if it cannot be looked at."""
        if self.gave_way or self.inside:
            return 0
        if not self.steps:
            self.thread = threading.get_ident()
        elif self.thread != threading.get_ident():
            return 0
        self.latest += 1
        self.steps.append(self.latest)
        self._put_in_place()
        return self.latest

    def end(self, step: int) -> None:
        """The step is over."""
        if step not in self.steps:
            return
        self.steps.remove(step)
        self.known = {key: one for key, one in self.known.items() if one.step != step}
        if not self.steps:
            SLICES.forget_dead()
            self._remove()

    def marked(self, batch: Any, number: int) -> Any:
        """A batch of so many rows, or a part of it; they are in front."""
        for one in arrays_in(batch) if self.steps else ():
            if isinstance(one, torch.Tensor) and one.shape[0] == number:
                self._follow(one, 0, self.steps[-1])
                SLICES.add(one)
        return batch

    def raise_found(self) -> None:
        """Once more, should the script have caught it."""
        if self.found:
            raise RuntimeError(self.found)

    def _put_in_place(self) -> None:
        """At the bottom: whatever the script enters or leaves meanwhile is above it."""
        if self.in_place or self.gave_way or self.busy:
            return
        self.in_place = True
        # There if anything is compiled: optimizers and torch.compile() import it.
        dynamo: Any = sys.modules.get("torch._dynamo")
        if not self.heeds_compiler and hasattr(dynamo, "on_compile_start"):
            dynamo.on_compile_start(self._give_way)
            self.heeds_compiler = True
        if not self.heeds_forks:
            os.register_at_fork(after_in_child=self._forget)
            self.heeds_forks = True
        self._change_modes([self])
        module: Any = torch.nn.Module
        self.original_call = module.__call__
        module.__call__ = looking_call(self, module.__call__)

    def _remove(self) -> None:
        if not self.in_place or self.busy or self.thread != threading.get_ident():
            return
        self.in_place = False
        self._change_modes([])
        module: Any = torch.nn.Module
        if getattr(module.__call__, "_lookout", None) is self:  # else it does nothing any more
            module.__call__ = self.original_call

    def _change_modes(self, added: list[Any]) -> None:
        self.busy += 1
        modes = _get_current_function_mode_stack()  # type: ignore[no-untyped-call]
        kept = [one for one in modes if one is not self]
        # That of torch.set_default_device() insists on being the lowest.
        default = getattr(getattr(torch, "_GLOBAL_DEVICE_CONTEXT", None), "device_context", None)
        lowest = int(bool(kept) and kept[0] is default)
        for _ in modes:
            _pop_mode()  # type: ignore[no-untyped-call]
        for mode in (*kept[:lowest], *added, *kept[lowest:]):
            _push_mode(mode)  # type: ignore[no-untyped-call]
        self.busy -= 1

    def _give_way(self, why: Any = None) -> None:
        """Something is about to be compiled, which this must not be a part of."""
        if self.in_place and self.thread == threading.get_ident():
            # A network is compiled out of sight, but for the way back.
            self.gave_way = "BACKWARD" not in str(getattr(why, "callback_trigger", ""))
            self._remove()

    def _forget(self) -> None:
        """In a process that is forked, say to load data."""
        self.steps, self.known = [], {}
        self._remove()

    def _follow(self, tensor: torch.Tensor, place: int, step: int) -> None:
        self.known[id(tensor)] = Followed(weakref.ref(tensor), Rows(tensor.shape, place), step)

    def _find(self, tensor: torch.Tensor) -> Followed | None:
        found = self.known.get(id(tensor))
        if found is None or found.tensor() is not tensor or found.rows.shape != tensor.shape:
            return None
        return found

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        if self.thread != threading.get_ident():
            return func(*args, **kwargs)
        self.busy += 1
        try:
            SLICES.leaves(func.__name__, args)
            name = plain_name(func)
            if name in FOLLOWED and self.known:
                result = self._operation(func, name, args, kwargs)
            else:
                result = func(*args, **kwargs)
            return SLICES.came_of(func.__name__, args, kwargs, result)
        finally:
            self.busy -= 1

    def _operation(self, func: Any, name: str, args: Any, kwargs: Any) -> Any:
        operands = [(one, self._find(one)) for one in tensors_among([*args, *kwargs.values()])]
        found = [one for _, one in operands if one is not None]
        if not found:
            return func(*args, **kwargs)
        rows = [one.rows for one in found]
        others = [one.shape for one, known in operands if known is None]
        if name in STRETCHING or name in LOSSES:
            if (meeting := meeting_rows(rows)) is not None:
                self.found = message(name, meeting[0].shape, meeting[1].shape, BROADCASTING)
            elif (moved := moved_rows(rows, others)) is not None:
                self.found = message(name, moved[0].shape, moved[1], MOVE)
            self.raise_found()
        result = func(*args, **kwargs)
        for one in tensors_among([result]):
            place = rows_in_result(name, rows, others, one.shape)
            if place is not None:
                self._follow(one, place, max(each.step for each in found))
            else:
                self.known.pop(id(one), None)
        return result

    def _call_network(self, call: Callable[..., Any], module: Any, args: Any, kwargs: Any) -> Any:
        """Calls a network out of sight, and follows what it makes of rows."""
        given = [
            found
            for one in arrays_in((args, kwargs))
            if isinstance(one, torch.Tensor) and (found := self._find(one)) is not None
        ]
        self._remove()
        self.inside += 1
        try:
            result = call(module, *args, **kwargs)
        finally:
            self.inside -= 1
            if self.steps:
                self._put_in_place()
        if SLICES.holds((args, kwargs)):
            SLICES.add(result)
        if given and all(one.rows.place == 0 for one in given):
            count = given[0].rows.number
            for one in arrays_in(result):
                if isinstance(one, torch.Tensor) and one.shape[0] == count:
                    rows = Rows(one.shape, 0)
                    if rows.clear:
                        self._follow(one, 0, given[0].step)
        return result


def looking_call(lookout: Lookout, call: Callable[..., Any]) -> Callable[..., Any]:
    """What `module(...)` does while the lookout is in place.

    A module without parameters is a loss, or a function like any other: it is looked into.
    """

    def _looked_at(module: Any, *args: Any, **kwargs: Any) -> Any:
        if not lookout.in_place or lookout.busy or lookout.thread != threading.get_ident():
            return call(module, *args, **kwargs)
        learns = next(torch.nn.Module.parameters(module), None) is not None
        if not learns and not hasattr(module, "_orig_mod"):
            return call(module, *args, **kwargs)
        return lookout._call_network(call, module, args, kwargs)

    _looked_at._lookout = lookout  # type: ignore[attr-defined]
    return _looked_at


BROADCASTING = (
    "every row of the batch meets every other, and on every worker only the rows of its slice "
    "would meet. If that is not meant, give both the same shape, by .view(-1) or .squeeze(1); if "
    "it is, say so in the same line, as in a.view(-1, 1) - b.view(1, -1), and it will be computed "
    "from the whole batch"
)
MOVE = (
    "the rows of the batch come first no longer, which could not be known before the script ran. "
    "Say so in the same line, as in x[None] - y"
)


def message(name: str, one: torch.Size, other: torch.Size, why: str) -> str:
    """What the user reads about rows that meet, or that move."""
    place = script_place(sys._getframe(1))
    shape = torch.broadcast_shapes(one, other)  # type: ignore[no-untyped-call]
    return (
        f"trainera: {place}: {name} of tensors of the shapes {list(one)} and {list(other)} gives "
        f"{list(shape)}: {why}"
    )


LOOKOUT = Lookout()
