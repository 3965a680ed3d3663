"""Which rows of a draw are this worker's: all are drawn, and it keeps its own.

So what is drawn for the samples of a batch moves the stream that all workers share as in the
sequential run, on every worker, also on one without samples.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import torch

from trainera.crew.layouts import LAYOUTS
from trainera.crew.rows import portable
from trainera.crew.state import CREW
from trainera.crew.streams import STREAMS
from trainera.crew.wire import gather_objects


class OwnRows(NamedTuple):
    """This worker's rows in what is drawn for the whole batch."""

    dim: int
    times: int
    apart: bool
    whole: int
    start: int
    here: int
    active: bool

    def empty(self, like: torch.Tensor) -> torch.Tensor:
        """A tensor for all rows, that lies in memory as this one for some does."""
        sizes = list(like.shape)
        sizes[self.dim] = self.whole * self.times
        if like.is_contiguous():
            return torch.empty(sizes, dtype=like.dtype, device=like.device)
        strides, step = [0] * len(sizes), 1
        for dim in sorted(range(len(sizes)), key=lambda dim: (like.stride(dim), -dim)):
            strides[dim], step = step, step * sizes[dim]
        return torch.empty_strided(sizes, strides, dtype=like.dtype, device=like.device)

    def of(self, whole: torch.Tensor) -> torch.Tensor:
        """This worker's part of what was drawn for all."""
        if not self.active:  # rows that stand in, perhaps more than there are in the batch
            numbers = torch.arange(self.here * self.times, device=whole.device)
            return whole.index_select(self.dim, numbers % whole.shape[self.dim])
        if not self.apart:
            return whole.narrow(self.dim, self.start * self.times, self.here * self.times)
        return self._parts(whole).flatten(self.dim, self.dim + 1)

    def _parts(self, whole: torch.Tensor) -> torch.Tensor:
        shape = whole.shape
        parted = (*shape[: self.dim], self.times, self.whole, *shape[self.dim + 1 :])
        return whole.view(parted).narrow(self.dim + 1, self.start, self.here)

    def put(self, whole: torch.Tensor, rows: torch.Tensor) -> torch.Tensor:
        """The whole with this worker's rows in their place."""
        if not self.active:
            return whole
        if self.apart:
            place = self._parts(whole)
            place.copy_(rows.reshape(place.shape))
        else:
            self.of(whole).copy_(rows)
        return whole

    def gathered(self, rows: torch.Tensor) -> torch.Tensor:
        """The rows of all workers."""
        pieces = gather_objects(portable(rows) if self.active else None)
        parts = self.times if self.apart else 1
        chunks = [piece.chunk(parts, self.dim) for piece in pieces if piece is not None]
        whole = torch.cat([one[part] for part in range(parts) for one in chunks], self.dim)
        return whole.to(rows.device)


class Drawing:
    """Which draws are for this worker's rows."""

    def __init__(self) -> None:
        self.busy = False

    def forget(self) -> None:
        """In a process that is forked, say to load data: it draws for itself."""
        self.busy = True

    def rows(self, name: str, shape: torch.Size, generator: Any) -> OwnRows | None:
        """This worker's rows in a draw of this shape; None if it is drawn as it is."""
        if not STREAMS.holds_own or not CREW.open or not CREW.exact or not shape.numel():
            return None
        if self.busy or STREAMS.fetching or CREW.apart or CREW.alike or len(shape) == 0:
            return None
        if generator is not None and generator not in torch_defaults():
            return None
        self.busy = True
        try:
            check_all_draw(name)
            layout = LAYOUTS.of(name.strip("_").partition(".")[0], tuple(shape))
        finally:
            self.busy = False
        if layout is None:
            return None
        step = list(reversed(CREW.open.values()))[layout.depth]
        dim, times, apart, _ = layout
        return OwnRows(dim, times, apart, step.whole, step.start, step.here, step.mine > 0)

    def alone(self, kernel: Callable[..., Any], *args: Any, **options: Any) -> Any:
        """What a kernel gives that may draw through others, which leave that as it is."""
        before, self.busy = self.busy, True
        try:
            return kernel(*args, **options)
        finally:
            self.busy = before


def torch_defaults() -> list[torch.Generator]:
    """The generators that are taken where none is named."""
    return [torch.default_generator, *torch.cuda.default_generators]


def check_all_draw(name: str) -> None:
    """Raises where some workers skip the batch, and what is drawn for it."""
    step = next(reversed(CREW.open.values()))
    if getattr(step.values, "_skip_empty", False) and step.whole < 2 * CREW.size:
        raise RuntimeError(
            f"trainera: {name.strip('_')} draws random numbers in an evaluation over a batch of "
            f"{step.whole} samples for {CREW.size} workers, some of which skip it: call "
            "model.eval() before the evaluation, or split this loader without skip_empty"
        )


DRAWING = Drawing()
