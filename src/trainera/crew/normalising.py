"""Batch normalisation with the statistics of the whole batch, on any device.

torch's own SyncBatchNorm refuses CPU tensors, and it knows neither idle workers nor passes.
"""

import copyreg
from typing import Any

import torch
from torch.autograd.function import once_differentiable
from torch.nn import functional
from torch.nn.modules.batchnorm import _BatchNorm
from torch.nn.modules.lazy import LazyModuleMixin

from trainera.crew.sharing import Shared
from trainera.crew.state import CREW
from trainera.crew.transport import TRANSPORT

WHOLE_BATCH_CLASSES: dict[type, type] = {}


def batchnorm(model: Any) -> Any:
    """Makes every batch normalisation of the model, in place, use the whole batch."""
    if CREW.size == 1:
        return model
    for module in model.modules():
        if isinstance(module, _BatchNorm) and not isinstance(module, LazyModuleMixin):
            module.__class__ = whole_batch_class(type(module))
    return model


def whole_batch_class(original: type) -> type:
    """A subclass that differs from the original in nothing but where its statistics are from."""
    if issubclass(original, WholeBatch):
        return original
    if original not in WHOLE_BATCH_CLASSES:

        def reduce_to_original(self: Any, protocol: Any) -> Any:
            # A saved or copied model must not need trainera: it is of the original class again.
            state = object.__reduce_ex__(self, 2)[2]
            return copyreg._reconstructor, (original, object, None), state  # type: ignore[attr-defined]

        # WholeBatch comes after the original and just before torch's own class, whose forward it
        # takes the place of; so a forward of the user's subclass still runs, around it.
        WHOLE_BATCH_CLASSES[original] = type(
            original.__name__,
            (original, WholeBatch),
            {
                "__module__": original.__module__,
                "__qualname__": original.__qualname__,
                "__doc__": original.__doc__,
                "__reduce_ex__": reduce_to_original,
            },
        )
    return WHOLE_BATCH_CLASSES[original]


class WholeBatch(_BatchNorm):
    """The forward of batch normalisation over all workers, inside of a pass."""

    def forward(self, input: torch.Tensor) -> torch.Tensor:
        """As torch's, but in a pass the mean and variance are those of the whole batch."""
        by_batch = self.training or (self.running_mean is None and self.running_var is None)
        together = by_batch and CREW.size > 1 and not CREW.alike
        split = CREW.innermost() if together else None
        if not isinstance(split, Shared):
            return super().forward(input)
        self._check_input_dim(input)  # type: ignore[no-untyped-call]
        if split._skip_empty and split._step[0] < 2 * CREW.size:
            mode = "in training mode" if self.training else "without running statistics"
            way_out = (
                "call model.eval() before the evaluation"
                if self.training
                else "let the layer keep them (track_running_stats=True)"
            )
            raise RuntimeError(
                f"batch normalisation {mode} over a batch of {split._step[0]} samples for "
                f"{CREW.size} workers, some of which skip it: {way_out}, or split this loader "
                "without skip_empty"
            )
        mean, variance, count = whole_statistics(input, self.running_mean, split.active)
        if self.training and self.track_running_stats:
            self._track(mean, variance, count)
        result: torch.Tensor = Normalise.apply(  # type: ignore[no-untyped-call]
            input, self.weight, self.bias, mean, variance, count, self.eps, split.active
        )
        return result

    @torch.no_grad()
    def _track(self, mean: torch.Tensor, variance: torch.Tensor, count: torch.Tensor) -> None:
        factor = 0.0 if self.momentum is None else self.momentum
        if self.num_batches_tracked is not None:
            self.num_batches_tracked.add_(1)
            if self.momentum is None:
                factor = 1.0 / float(self.num_batches_tracked)
        unbiased = variance * (count / (count - 1))
        for running, seen in ((self.running_mean, mean), (self.running_var, unbiased)):
            if running is not None:
                running.copy_(running.to(seen.dtype) * (1 - factor) + seen * factor)


@torch.no_grad()
def whole_statistics(
    input: torch.Tensor, shift: torch.Tensor | None, active: bool
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Mean, variance and number of values per channel over all workers, in float64."""
    channels = input.shape[1]
    kind = input if input.dtype in (torch.float32, torch.float64) else input.float()
    mine = input.numel() // channels if active else 0
    vector = torch.zeros(2 * channels + 1, dtype=torch.float64, device=input.device)
    # Sums about the running mean, because sums of squares about 0 lose digits.
    about = torch.zeros(channels, dtype=torch.float64, device=input.device)
    if shift is not None:
        about = shift.to(torch.float64)
    if mine:
        mean, variance = torch.batch_norm_update_stats(kind, None, None, 0.0)
        away = mean.to(torch.float64) - about
        vector[:channels] = away * mine
        vector[channels:-1] = (variance.to(torch.float64) + away * away) * mine
        vector[-1] = mine
    TRANSPORT.add_up(vector)
    count = vector[-1]
    if input.device.type == "cpu" and int(count.item()) <= 1:
        raise ValueError(
            "Expected more than 1 value per channel when training, "
            f"got a whole batch of {int(count.item())} over all workers"
        )
    away = vector[:channels] / count
    return about + away, vector[channels:-1] / count - away * away, count


class Normalise(torch.autograd.Function):
    """Normalises by given statistics, knowing that they depend on the inputs of all workers."""

    @staticmethod
    def forward(
        ctx: Any,
        input: torch.Tensor,
        weight: torch.Tensor | None,
        bias: torch.Tensor | None,
        mean: torch.Tensor,
        variance: torch.Tensor,
        count: torch.Tensor,
        eps: float,
        active: bool,
    ) -> torch.Tensor:
        kind = torch.float64 if input.dtype == torch.float64 else torch.float32
        if weight is not None:
            kind = weight.dtype
        mean, variance = mean.to(kind), variance.clamp_min(0).to(kind)
        ctx.save_for_backward(input, weight, mean, variance, count)
        ctx.eps = eps
        ctx.active = active
        # The kernel for evaluation does just this: it takes the statistics as given.
        return functional.batch_norm(input, mean, variance, weight, bias, False, 0.0, eps)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: torch.Tensor) -> tuple[Any, ...]:
        input, weight, mean, variance, count = ctx.saved_tensors
        channels = input.shape[1]
        # With the statistics fixed: these sums alone, which the other workers need as well.
        _, for_weight, for_bias = torch.ops.aten.native_batch_norm_backward(
            gradient.contiguous(), input, weight if weight is not None else torch.ones_like(mean),
            mean, variance, None, None, False, ctx.eps, [False, True, True],
        )  # fmt: skip
        sums = torch.cat([for_bias, for_weight]).to(torch.float64)
        if not ctx.active:  # stand-ins say nothing of the batch, whatever their gradient
            sums.zero_()
        TRANSPORT.add_up(sums)
        if ctx.active:
            kind = mean.dtype
            scale = (variance.to(torch.float64) + ctx.eps).rsqrt()
            outer = scale if weight is None else scale * weight.to(torch.float64)
            # What each value did to the mean and the variance, of the batches of all workers.
            slope = -outer * scale * sums[channels:] / count
            offset = -outer * sums[:channels] / count - slope * mean.to(torch.float64)
            # No other kernel is as fast for `input * slope + offset` by channel.
            to_input = functional.batch_norm(
                input.to(kind), torch.zeros_like(mean), torch.ones_like(mean),
                slope.to(kind), offset.to(kind), eps=0.0,
            )  # fmt: skip
            by_channel = [1, channels] + [1] * (input.dim() - 2)
            to_input.addcmul_(gradient.to(kind), outer.to(kind).reshape(by_channel))
            to_input = to_input.to(input.dtype)
        else:  # its rows are no part of the batch
            to_input = torch.zeros_like(input)
        if weight is None:
            for_weight = for_bias = None
        for_bias = for_bias if ctx.needs_input_grad[2] else None
        return to_input, for_weight, for_bias, None, None, None, None, None
