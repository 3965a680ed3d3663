"""Random numbers of the sequential run: drawn for the whole batch; a worker takes its rows.

Every random number that torch draws comes from one of two dozen kernels, whoever asks for it: a
script, a layer, the inside of an LSTM or of attention. They are replaced here, once, by functions
that do the same, unless the body of a loop over batches is running. There, what is drawn for this
worker's rows (see `layouts`) is drawn for all rows of the batch, from the stream that all share,
and the worker keeps its own. So the stream moves as in the sequential run, on every worker.
"""

import os
import warnings
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import torch

from trainera.crew.layouts import LAYOUTS, end
from trainera.crew.rows import portable
from trainera.crew.state import CREW
from trainera.crew.streams import STREAMS
from trainera.crew.wire import gather_objects

Kernel = Callable[..., Any]

FILLING = (
    *("bernoulli_.float", "normal_", "uniform_", "exponential_", "cauchy_", "log_normal_"),
    *("geometric_", "random_", "random_.from", "random_.to"),
)
"""They fill a tensor with numbers that depend on nothing else."""
BY_VALUE = ("poisson", "binomial", "_standard_gamma", "_sample_dirichlet")
"""How many numbers they use up depends on what the tensors hold that they are given."""
AROUND = {"normal.Tensor_float": 1, "normal.float_Tensor": 0, "normal.Tensor_Tensor": 0}
"""Normal numbers around a mean; whether their spread is a number."""


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
    """Whether draws are looked at, and by what they are replaced."""

    def __init__(self) -> None:
        self.library: Any = None
        self.busy = False

    def install(self) -> None:
        """Replaces the kernels, once; those that draw on the CPU and those of a GPU."""
        if self.library is not None:
            return
        if not hasattr(torch.library, "get_kernel"):
            raise SystemExit(
                f"trainera: torch {torch.__version__} cannot draw the random numbers of one "
                "process on several: use torch 2.10 or later, or convert with --random own"
            )
        self.library = torch.library.Library("aten", "IMPL")  # type: ignore[no-untyped-call]
        os.register_at_fork(after_in_child=self._forget)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that there was a kernel before
            for device in ("CPU", "CUDA") if torch.cuda.is_available() else ("CPU",):
                for name, replacement in replacements(device):
                    self.library.impl(name, replacement, device)

    def _forget(self) -> None:
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

    def alone(self, kernel: Kernel, *args: Any, **options: Any) -> Any:
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


def replacements(device: str) -> Iterable[tuple[str, Kernel]]:
    """What takes the place of each kernel that draws."""
    for name in FILLING:
        yield name, filling(name, kernel_of(name, device))
    for name, spread in AROUND.items():
        yield name, around(name, kernel_of(name, device), bool(spread))
        yield f"{name}_out", into(torch.normal)
    for name in BY_VALUE:
        yield name, by_value(name, kernel_of(name, device))
    yield "bernoulli_.Tensor", chosen(kernel_of("bernoulli_.Tensor", device))
    yield "bernoulli.out", into(torch.bernoulli)
    yield "multinomial", picked(kernel_of("multinomial", device))
    yield "multinomial.out", into(torch.multinomial)
    yield "randperm.generator_out", ordered(kernel_of("randperm.generator_out", device))
    leaking = leaky(kernel_of("rrelu_with_noise", device))
    yield "rrelu_with_noise", leaking
    yield "rrelu_with_noise_", into_first(leaking)
    yield "rrelu_with_noise.out", into(leaking)
    if device == "CUDA":  # on the CPU it draws through bernoulli_
        yield "native_dropout", dropping(kernel_of("native_dropout", device))


def kernel_of(name: str, device: str) -> Kernel:
    """torch's own, before it is replaced."""
    kernel: Any = torch.library.get_kernel(f"aten::{name}", device)
    keys = torch._C.DispatchKeySet(getattr(torch._C.DispatchKey, device))

    def call(*args: Any, **options: Any) -> Any:
        return kernel.call_boxed(keys, *args, **options)

    return call


def filling(name: str, kernel: Kernel) -> Kernel:
    def draw(self: torch.Tensor, *args: Any, generator: Any = None) -> torch.Tensor:
        rows = DRAWING.rows(name, self.shape, generator)
        if rows is None:
            kernel(self, *args, generator=generator)
            return self
        whole = rows.empty(self)
        kernel(whole, *args, generator=generator)
        return self.copy_(rows.of(whole))

    return draw


def chosen(kernel: Kernel) -> Kernel:
    """Zeros and ones by probabilities that a tensor holds."""

    def draw(self: torch.Tensor, p: torch.Tensor, *, generator: Any = None) -> torch.Tensor:
        rows = DRAWING.rows("bernoulli", self.shape, generator)
        if rows is None:
            kernel(self, p, generator=generator)
            return self
        whole = rows.empty(self)
        chances = rows.put(torch.full_like(whole, 0.5, dtype=p.dtype), p.expand(self.shape))
        kernel(whole, chances, generator=generator)
        return self.copy_(rows.of(whole))

    return draw


def around(name: str, kernel: Kernel, spread_is_number: bool) -> Kernel:
    def draw(mean: Any, std: Any = 1.0, *, generator: Any = None) -> torch.Tensor:
        given = [one for one in (mean, std) if isinstance(one, torch.Tensor)]
        shape = torch.broadcast_shapes(*(one.shape for one in given))  # type: ignore[no-untyped-call]
        rows = DRAWING.rows(name, shape, generator)
        if rows is None:
            return kernel(mean, std, generator=generator)  # type: ignore[no-any-return]
        like = torch.empty(shape, dtype=given[0].dtype, device=given[0].device)
        whole = rows.empty(like)
        scale = float(std) if spread_is_number else 1.0
        DRAWING.alone(whole.normal_, 0.0, scale, generator=generator)
        result = rows.of(whole).clone()
        return (result if spread_is_number else result.mul_(std)).add_(mean)

    return draw


def picked(kernel: Kernel) -> Kernel:
    """Categories, row by row. One of each row, or different ones, it picks by filling a tensor."""

    def draw(
        self: torch.Tensor, num_samples: int, replacement: bool = False, *, generator: Any = None
    ) -> torch.Tensor:
        rows = None
        if replacement and num_samples > 1 and self.dim() == 2:
            rows = DRAWING.rows("multinomial", self.shape, generator)
        if rows is None:
            return kernel(self, num_samples, replacement, generator=generator)  # type: ignore[no-any-return]
        whole = rows.put(torch.ones_like(rows.empty(self)), self)
        return rows.of(kernel(whole, num_samples, replacement, generator=generator)).clone()

    return draw


def by_value(name: str, kernel: Kernel) -> Kernel:
    """Numbers that are drawn until they fit: the others' rows have to be known."""

    def draw(*tensors: torch.Tensor, generator: Any = None) -> torch.Tensor:
        rows = DRAWING.rows(name, tensors[0].shape, generator)
        if rows is None:
            return kernel(*tensors, generator=generator)  # type: ignore[no-any-return]
        wholes = [rows.gathered(one) for one in tensors]
        return rows.of(DRAWING.alone(kernel, *wholes, generator=generator)).clone()

    return draw


def leaky(kernel: Kernel) -> Kernel:
    """A slope for each negative number; others draw none."""

    def draw(
        self: torch.Tensor,
        noise: torch.Tensor,
        lower: Any = 0.125,
        upper: Any = 1 / 3,
        training: bool = False,
        generator: Any = None,
    ) -> torch.Tensor:
        rows = DRAWING.rows("rrelu", self.shape, generator) if training else None
        if rows is None:
            return kernel(self, noise, lower, upper, training, generator)  # type: ignore[no-any-return]
        whole = rows.gathered(self)
        slopes = torch.empty_like(whole)
        result = kernel(whole, slopes, lower, upper, training, generator)
        noise.copy_(rows.of(slopes))
        return rows.of(result).clone()

    return draw


def ordered(kernel: Kernel) -> Kernel:
    """An order of so many; that of a slice's rows is none of the batch's."""

    def draw(n: int, *, generator: Any = None, out: torch.Tensor) -> torch.Tensor:
        if DRAWING.rows("randperm", torch.Size((n,)), generator) is not None:
            end("randperm", [(n,)], "it is an order of the rows of one worker")
        kernel(n, generator=generator, out=out)
        return out

    return draw


def dropping(kernel: Kernel) -> Kernel:
    """Dropout in one kernel, as on a GPU."""

    def draw(input: torch.Tensor, p: float, train: bool | None) -> Any:
        rows = None if train is False else DRAWING.rows("dropout", input.shape, None)
        if rows is None:
            return kernel(input, p, train)
        whole = rows.put(torch.zeros_like(rows.empty(input)), input)
        return tuple(rows.of(one).clone() for one in kernel(whole, p, train))

    return draw


def into(function: Kernel) -> Kernel:
    """The same, written to a tensor that is given."""

    def draw(*args: Any, out: torch.Tensor, **options: Any) -> torch.Tensor:
        result = function(*args, **options)
        return out.resize_(result.shape).copy_(result)

    return draw


def into_first(function: Kernel) -> Kernel:
    """The same, written to the tensor that it is computed from."""

    def draw(self: torch.Tensor, *args: Any, **options: Any) -> torch.Tensor:
        return self.copy_(function(self, *args, **options))

    return draw
