"""Random numbers that depend on the sample: dropout, noise and the like, drawn row by row.

Which worker draws for a sample, and together with which others, then makes no difference. What is
not drawn for samples is drawn from a stream that begins anew with every draw, alike everywhere.
"""

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from torch.nn import functional

from trainera.verify.observe.record import Recorder, put
from trainera.verify.observe.samples import Samples

_MULTIPLIERS = (-4658895280553007687, -7723592293110705685)
_GOLDEN = -7046029254386353131
SHARED = -2
GROUPED = -1
"""Instead of a dimension: each sample has several rows in a line."""


class Chance:
    """Replaces torch's random functions while a batch is worked on."""

    def __init__(self, recorder: Recorder, samples: Samples) -> None:
        self.recorder = recorder
        self.samples = samples
        self.choices: dict[str, list[Any]] = {}
        """By number of the draw and its dimensions: which dimension is the batch, and the shape."""
        path = recorder.settings.choices
        self.given = path is not None
        if path is not None:
            self.choices = json.loads(Path(path).read_text(encoding="utf-8"))

    def save_choices(self) -> None:
        """For the parallel run, where the shapes may leave it open which dimension it is."""
        path = Path(self.recorder.settings.directory) / "choices.json"
        path.write_text(json.dumps(self.choices), encoding="utf-8")

    def uniform(self, shape: "torch.Size | tuple[int, ...]") -> torch.Tensor | None:
        """Numbers in [0, 1) for the samples of the current batch; None when there is none."""
        one = self.samples.current
        if one is None:
            return None
        one.draws += 1
        number = one.draws
        with torch._C.DisableTorchFunction():
            if one.rows is None:  # a stand-in: no matter what
                return torch.rand(shape, generator=_generator(0), dtype=torch.float64)
            place = self._place(number, tuple(shape), len(one.rows))
            salt = hash((self.recorder.settings.seed, self.recorder.step, number))
            if place == SHARED:
                return torch.rand(shape, generator=_generator(salt), dtype=torch.float64)
            return _by_row(one.rows, tuple(shape), place, salt)

    def _place(self, number: int, shape: tuple[int, ...], rows: int) -> int:
        found = [place for place, size in enumerate(shape) if size == rows]
        if found:
            place = found[0]
        elif shape and rows and shape[0] % rows == 0 and shape[0]:
            place = GROUPED
        else:
            place = SHARED
        key = f"{number} {len(shape)}"
        if not self.given:
            self.choices.setdefault(key, [place, list(shape), rows])
            return place
        before = self.choices.get(key)
        if before is None:
            return place
        fits = before[0] in found or (
            before[0] == GROUPED and shape and shape[0] % max(1, rows) == 0
        )
        if fits:
            return int(before[0])
        if place == SHARED or before[0] == SHARED:
            if list(shape) != before[1]:
                self.recorder.write("chance", what=f"a draw of shape {list(shape)}")
        elif before[0] != place:
            # Two dimensions were of one size, and the other one was taken for the batch.
            self.choices[key] = [place, list(shape), rows]
            self.recorder.write("mistaken", draw=key)
        return place

    def install(self) -> None:
        """Puts the replacements in the places where scripts and torch itself look for them."""
        self._replace_dropouts()
        self._replace_draws()
        self._replace_attention()
        self._watch_recurrent()

    def _replace_dropouts(self) -> None:
        chance = self

        def by_shape(
            original: Callable[..., Any], shape_of: Callable[[torch.Tensor], tuple[int, ...]]
        ) -> Callable[..., Any]:
            def dropout(
                input: torch.Tensor, p: float = 0.5, training: bool = True, inplace: bool = False
            ) -> torch.Tensor:
                if not training or p == 0.0 or p == 1.0:
                    return original(input, p, training, inplace)  # type: ignore[no-any-return]
                drawn = chance.uniform(shape_of(input))
                if drawn is None:
                    return original(input, p, training, inplace)  # type: ignore[no-any-return]
                mask = (drawn >= p).to(input.dtype).to(input.device).div_(1 - p)
                return input.mul_(mask) if inplace else input * mask

            return dropout

        def channels(input: torch.Tensor) -> tuple[int, ...]:
            return (*input.shape[:2], *([1] * (input.dim() - 2)))

        put(functional, "dropout", by_shape(functional.dropout, lambda input: tuple(input.shape)))
        for name in ("dropout1d", "dropout2d", "dropout3d", "feature_dropout"):
            if hasattr(functional, name):
                put(functional, name, by_shape(getattr(functional, name), channels))
        put(torch, "dropout", functional.dropout)
        for name in ("alpha_dropout", "feature_alpha_dropout"):
            self._warn_about(functional, name)

    def _replace_draws(self) -> None:
        chance = self

        def shape_given(original: Callable[..., Any], make: Callable[..., Any]) -> Any:
            def draw(*size: Any, **options: Any) -> Any:
                if options.get("generator") is None and options.get("out") is None:
                    shape = size[0] if len(size) == 1 and not isinstance(size[0], int) else size
                    drawn = chance.uniform(tuple(options.get("size", shape)))
                    if drawn is not None:
                        return _finished(make(drawn), options)
                return original(*size, **options)

            return draw

        def shape_of_input(original: Callable[..., Any], make: Callable[..., Any]) -> Any:
            def draw(input: torch.Tensor, **options: Any) -> Any:
                drawn = chance.uniform(tuple(input.shape))
                if drawn is None:
                    return original(input, **options)
                options = {"dtype": input.dtype, "device": input.device, **options}
                return _finished(make(drawn), options)

            return draw

        def in_place(original: Callable[..., Any], make: Callable[..., Any]) -> Any:
            def draw(self: torch.Tensor, *args: Any, **options: Any) -> Any:
                drawn = None
                if options.get("generator") is None:
                    drawn = chance.uniform(tuple(self.shape))
                if drawn is None:
                    return original(self, *args, **options)
                with torch.no_grad():
                    made = make(drawn, *args, **options)
                    return self.copy_(made.to(self.dtype).to(self.device))

            return draw

        put(torch, "rand", shape_given(torch.rand, lambda drawn: drawn))
        put(torch, "randn", shape_given(torch.randn, _normal))
        put(torch, "rand_like", shape_of_input(torch.rand_like, lambda drawn: drawn))
        put(torch, "randn_like", shape_of_input(torch.randn_like, _normal))
        tensor: Any = torch.Tensor
        tensor.normal_ = in_place(tensor.normal_, _scaled_normal)
        tensor.uniform_ = in_place(tensor.uniform_, _scaled_uniform)
        tensor.bernoulli_ = in_place(tensor.bernoulli_, _chosen)
        original_bernoulli = torch.bernoulli

        def bernoulli(input: torch.Tensor, *args: Any, **options: Any) -> Any:
            drawn = None
            if not args and options.get("generator") is None:
                drawn = chance.uniform(tuple(input.shape))
            if drawn is None:
                return original_bernoulli(input, *args, **options)
            return (drawn.to(input.device) < input).to(input.dtype)

        put(torch, "bernoulli", bernoulli)
        tensor.bernoulli = bernoulli
        original_multinomial = torch.multinomial

        def multinomial(input: torch.Tensor, num_samples: int, *args: Any, **options: Any) -> Any:
            drawn = None
            if num_samples == 1 and not args and not options and input.dim() == 2:
                drawn = chance.uniform((input.shape[0], 1))
            if drawn is None:
                return original_multinomial(input, num_samples, *args, **options)
            steps = (input / input.sum(-1, keepdim=True)).cumsum(-1)
            return torch.searchsorted(steps, drawn.to(steps.dtype).to(steps.device)).clamp_max(
                input.shape[1] - 1
            )

        put(torch, "multinomial", multinomial)

    def _replace_attention(self) -> None:
        original = functional.scaled_dot_product_attention

        def attention(
            query: torch.Tensor,
            key: torch.Tensor,
            value: torch.Tensor,
            attn_mask: torch.Tensor | None = None,
            dropout_p: float = 0.0,
            is_causal: bool = False,
            scale: float | None = None,
            enable_gqa: bool = False,
        ) -> torch.Tensor:
            if dropout_p == 0.0 or self.samples.current is None or enable_gqa:
                return original(
                    query, key, value, attn_mask, dropout_p, is_causal, scale=scale,
                    enable_gqa=enable_gqa,
                )  # fmt: skip
            factor = 1 / math.sqrt(query.size(-1)) if scale is None else scale
            scores = query @ key.transpose(-2, -1) * factor
            if is_causal:
                seen = torch.ones(scores.shape[-2:], dtype=torch.bool, device=scores.device).tril()
                scores = scores.masked_fill(~seen, -math.inf)
            if attn_mask is not None:
                if attn_mask.dtype == torch.bool:
                    scores = scores.masked_fill(~attn_mask, -math.inf)
                else:
                    scores = scores + attn_mask
            return functional.dropout(scores.softmax(-1), dropout_p) @ value

        put(functional, "scaled_dot_product_attention", attention)

    def _watch_recurrent(self) -> None:
        """Dropout between the layers of a recurrent network is drawn where nobody can reach."""
        chance = self
        for kind in (torch.nn.LSTM, torch.nn.GRU, torch.nn.RNN):
            forward = kind.forward

            def watched(one: Any, *args: Any, _forward: Any = forward, **options: Any) -> Any:
                if one.training and one.dropout > 0 and one.num_layers > 1:
                    what = f"dropout inside of {type(one).__name__}"
                    chance.recorder.write("chance", what=what)
                return _forward(one, *args, **options)

            put(kind, "forward", watched)

    def _warn_about(self, module: Any, name: str) -> None:
        original = getattr(module, name)

        def warned(
            input: Any, p: float = 0.5, training: bool = False, inplace: bool = False
        ) -> Any:
            if training and p > 0 and self.samples.current is not None:
                self.recorder.write("chance", what=name)
            return original(input, p, training, inplace)

        put(module, name, warned)


def _generator(seed: int) -> torch.Generator:
    return torch.Generator().manual_seed(seed & (2**62 - 1))


def _by_row(rows: torch.Tensor, shape: tuple[int, ...], place: int, salt: int) -> torch.Tensor:
    """Uniform numbers by a mixing function of the row's seed and the place within the row."""
    count = len(rows)
    total = math.prod(shape)
    if count == 0 or total == 0:
        return torch.zeros(shape, dtype=torch.float64)
    salted = _mixed(rows + (salt & (2**62 - 1)))
    places = torch.arange(total // count, dtype=torch.int64) * _GOLDEN
    drawn = _mixed(salted[:, None] + places)
    numbers = ((drawn >> 11) & (2**53 - 1)).to(torch.float64).mul_(2.0**-53)
    if place == GROUPED:
        return numbers.reshape(shape)
    rest = [size for index, size in enumerate(shape) if index != place]
    return numbers.reshape(count, *rest).movedim(0, place)


def _mixed(value: torch.Tensor) -> torch.Tensor:
    """Spreads every bit over all, by the finaliser of a common generator."""
    value = (value ^ (value >> 30)) * _MULTIPLIERS[0]
    value = (value ^ (value >> 27)) * _MULTIPLIERS[1]
    return value ^ (value >> 31)


def _normal(uniform: torch.Tensor) -> torch.Tensor:
    with torch._C.DisableTorchFunction():
        drawn: torch.Tensor = torch.special.ndtri(uniform.clamp(1e-15, 1 - 1e-15))
    return drawn


def _scaled_normal(drawn: torch.Tensor, mean: float = 0.0, std: float = 1.0, **_: Any) -> Any:
    return _normal(drawn) * std + mean


def _scaled_uniform(drawn: torch.Tensor, start: float = 0.0, end: float = 1.0, **kw: Any) -> Any:
    low, high = kw.get("from", start), kw.get("to", end)
    return drawn * (high - low) + low


def _chosen(drawn: torch.Tensor, p: Any = 0.5, **_: Any) -> Any:
    return drawn < p


def _finished(drawn: torch.Tensor, options: dict[str, Any]) -> torch.Tensor:
    dtype = options.get("dtype") or torch.get_default_dtype()
    made = drawn.to(dtype).to(options.get("device") or "cpu")
    return made.requires_grad_() if options.get("requires_grad") else made
