"""Random numbers of the sequential run: every kernel of torch that draws, replaced by one.

Whoever asks for a random number, a script, a layer, the inside of an LSTM or of attention: it comes
from one of two dozen kernels. They are replaced here, once, by functions that do the same, unless
the body of a loop over batches is running. There, what is drawn for this worker's rows (see
`layouts`) is drawn for all rows of the batch, and the worker keeps its own (`drawing`).
"""

import os
import warnings
from collections.abc import Callable, Iterable
from typing import Any

import torch

from trainera.crew.drawing import DRAWING
from trainera.crew.layouts import end

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
REPLACED: list[Any] = []
"""The library that keeps the replacements in place."""


def replace_kernels() -> None:
    """Replaces the kernels, once; those that draw on the CPU and those of a GPU."""
    if REPLACED:
        return
    if not hasattr(torch.library, "get_kernel"):
        raise SystemExit(
            f"trainera: torch {torch.__version__} cannot draw the random numbers of one process on "
            "several, because it has no torch.library.get_kernel: use a later version, or convert "
            "with --random own"
        )
    library: Any = torch.library.Library("aten", "IMPL")  # type: ignore[no-untyped-call]
    REPLACED.append(library)
    os.register_at_fork(after_in_child=DRAWING.forget)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that there was a kernel before
        for device in ("CPU", "CUDA") if torch.cuda.is_available() else ("CPU",):
            for name, replacement in replacements(device):
                library.impl(name, replacement, device)


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
    yield "multinomial", categories(kernel_of("multinomial", device))
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


def categories(kernel: Kernel) -> Kernel:
    """Numbers of categories. One of each row, or different ones, it picks by filling a tensor."""

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
