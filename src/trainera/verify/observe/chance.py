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

from trainera.verify.observe import numbers
from trainera.verify.observe.record import Recorder, put
from trainera.verify.observe.samples import Samples

SHARED = -2


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

    def uniform(
        self, shape: "torch.Size | tuple[int, ...]", *, shared: bool = False
    ) -> torch.Tensor | None:
        """Numbers in [0, 1) for the samples of the current batch; None when there is none.

        With `shared` they are for the whole batch, whatever their shape.
        """
        one = self.samples.current
        if one is None:
            return None
        one.draws += 1
        number = one.draws
        with torch._C.DisableTorchFunction():
            if one.rows is None:  # a stand-in: no matter what
                return torch.rand(shape, generator=numbers.generator(0), dtype=torch.float64)
            place = SHARED if shared else self._place(number, tuple(shape), len(one.rows))
            salt = hash((self.recorder.settings.seed, self.recorder.step, number))
            if place == SHARED:
                return torch.rand(shape, generator=numbers.generator(salt), dtype=torch.float64)
            return numbers.by_row(one.rows, tuple(shape), place, salt)

    def _place(self, number: int, shape: tuple[int, ...], rows: int) -> int:
        found = [place for place, size in enumerate(shape) if size == rows]
        if found:
            place = found[0]
        elif shape and rows and shape[0] % rows == 0 and shape[0]:
            place = numbers.GROUPED
        else:
            place = SHARED
        key = f"{number} {len(shape)}"
        if not self.given:
            self.choices.setdefault(key, [place, list(shape), rows])
            return place
        before = self.choices.get(key)
        if before is None:
            return place
        if list(shape) == before[1] and (before[0] == SHARED or rows != before[2]):
            # As much for a slice as for the batch: it is not for the samples, and the same for all.
            if before[0] != SHARED:
                self.choices[key] = [SHARED, list(shape), rows]
                self.recorder.write("mistaken", draw=key)
            return SHARED
        fits = before[0] in found or (
            before[0] == numbers.GROUPED and shape and shape[0] % max(1, rows) == 0
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

    def from_no_loader(self, what: str) -> None:
        """Notes a draw for samples of which nothing is known: the script makes its own batches."""
        if self.samples.count == 0:
            self.recorder.write("chance", what=f"{what} for a batch from no loader")

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
                    chance.from_no_loader("dropout")
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
                        return numbers.finished(make(drawn), options)
                return original(*size, **options)

            return draw

        def shape_of_input(original: Callable[..., Any], make: Callable[..., Any]) -> Any:
            def draw(input: torch.Tensor, **options: Any) -> Any:
                drawn = chance.uniform(tuple(input.shape))
                if drawn is None:
                    chance.from_no_loader(f"a draw of shape {list(input.shape)}")
                    return original(input, **options)
                options = {"dtype": input.dtype, "device": input.device, **options}
                return numbers.finished(make(drawn), options)

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

        def whole(original: Callable[..., Any]) -> Any:
            """Whole numbers, of which the bounds come before the size."""

            def draw(*args: Any, **options: Any) -> Any:
                given = dict(zip(("low", "high", "size"), args, strict=False))
                if (len(args) < 3 and "size" not in options) or "high" not in options | given:
                    given = dict(zip(("high", "size"), args, strict=False))
                named = {"low": 0, **given, **options}
                drawn = None
                if options.get("generator") is None and options.get("out") is None:
                    drawn = chance.uniform(tuple(named["size"]))
                if drawn is None:
                    return original(*args, **options)
                low, high = named["low"], named["high"]
                rest = {"dtype": torch.int64, **options}
                return numbers.finished((drawn * (high - low)).floor() + low, rest)

            return draw

        def spread(original: Callable[..., Any]) -> Any:
            """Normal numbers around means that may be a number or a tensor."""

            def draw(mean: Any, std: Any = 1.0, size: Any = None, **options: Any) -> Any:
                tensors = [one for one in (mean, std) if isinstance(one, torch.Tensor)]
                broadcast: Any = torch.broadcast_shapes  # it has no types
                shape = broadcast(*(one.shape for one in tensors))
                drawn = None
                if options.get("generator") is None and options.get("out") is None:
                    drawn = chance.uniform(tuple(size if size is not None else shape))
                if drawn is None:
                    given = () if size is None else (size,)
                    return original(mean, std, *given, **options)
                like = {"dtype": tensors[0].dtype, "device": tensors[0].device} if tensors else {}
                return numbers.finished(numbers.normal(drawn), like | options) * std + mean

            return draw

        original_randperm = torch.randperm

        def randperm(n: int, **options: Any) -> Any:
            drawn = None
            if options.get("generator") is None and options.get("out") is None:
                drawn = chance.uniform((n,), shared=True)
            if drawn is None:
                return original_randperm(n, **options)
            return numbers.finished(drawn.argsort(), {"dtype": torch.int64, **options})

        put(torch, "randperm", randperm)
        put(torch, "randint", whole(torch.randint))
        put(torch, "normal", spread(torch.normal))
        put(torch, "rand", shape_given(torch.rand, lambda drawn: drawn))
        put(torch, "randn", shape_given(torch.randn, numbers.normal))
        put(torch, "rand_like", shape_of_input(torch.rand_like, lambda drawn: drawn))
        put(torch, "randn_like", shape_of_input(torch.randn_like, numbers.normal))
        tensor: Any = torch.Tensor
        tensor.normal_ = in_place(tensor.normal_, numbers.scaled_normal)
        tensor.uniform_ = in_place(tensor.uniform_, numbers.scaled_uniform)
        tensor.bernoulli_ = in_place(tensor.bernoulli_, numbers.chosen)
        tensor.exponential_ = in_place(tensor.exponential_, numbers.waited)
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
