"""Where the rows of a batch are in the result of an operation, as far as that is certain.

Only operations whose names are known here are followed. Most of them say by themselves where the
rows go; for the others it is found by size, if no other dimension happens to have as many entries.
"""

import math
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import torch

STRETCHING = frozenset(
    "add radd iadd sub rsub isub subtract mul rmul imul multiply div rdiv idiv truediv rtruediv "
    "itruediv divide true_divide floordiv rfloordiv ifloordiv floor_divide mod rmod remainder fmod "
    "pow rpow ipow float_power eq ne lt le gt ge less less_equal greater greater_equal not_equal "
    "max min maximum minimum fmax fmin where addcmul addcdiv lerp clamp clip masked_fill "
    "logical_and logical_or logical_xor bitwise_and bitwise_or bitwise_xor and or xor rand ror "
    "rxor iand ior ixor xlogy xlog1py atan2 arctan2 hypot logaddexp logaddexp2 isclose allclose "
    "copysign heaviside ldexp nextafter gcd lcm complex polar clamp_min clamp_max masked_select "
    "lshift rshift rlshift rrshift ilshift irshift bitwise_left_shift bitwise_right_shift igamma "
    "igammac gammainc gammaincc zeta chebyshev_polynomial_t chebyshev_polynomial_u "
    "chebyshev_polynomial_v chebyshev_polynomial_w shifted_chebyshev_polynomial_t "
    "shifted_chebyshev_polynomial_u shifted_chebyshev_polynomial_v shifted_chebyshev_polynomial_w "
    "hermite_polynomial_h hermite_polynomial_he laguerre_polynomial_l legendre_polynomial_p".split()
)
"""Stretches operands of size 1 to the size of the others. The last dimensions go together."""

LOSSES = frozenset(
    "mse_loss l1_loss smooth_l1_loss huber_loss kl_div poisson_nll_loss gaussian_nll_loss "
    "soft_margin_loss margin_ranking_loss hinge_embedding_loss multilabel_soft_margin_loss "
    "triplet_margin_loss cosine_similarity pairwise_distance dist".split()
)
"""Do the same first."""

ONE_BY_ONE = frozenset(
    "to float double half bfloat16 long int short bool byte char type type_as cpu cuda contiguous "
    "clone detach data requires_grad neg negative abs absolute exp exp2 expm1 log log2 log10 log1p "
    "sqrt rsqrt square reciprocal sigmoid logit expit tanh relu leaky_relu elu selu gelu silu "
    "hardtanh softplus logsigmoid softmax log_softmax sin cos tan erf floor ceil round trunc frac "
    "sign sgn nan_to_num logical_not bitwise_not invert isnan isinf isfinite dropout normalize "
    "cumsum zeros_like ones_like full_like empty_like rand_like randn_like".split()
)
"""The result has the operand's shape, and every entry its place."""

SHAPING = frozenset(
    "view reshape flatten unflatten squeeze unsqueeze ravel view_as reshape_as".split()
)
"""The entries stay in their order."""

BY_SIZE = frozenset(
    "sum nansum mean nanmean prod max min amax amin argmax argmin median norm linalg_norm "
    "linalg_vector_norm var std any all logsumexp topk sort argsort T mT t transpose swapaxes "
    "swapdims permute movedim moveaxis select narrow unbind chunk split tensor_split expand "
    "expand_as repeat cat concat concatenate stack hstack column_stack cross_entropy nll_loss "
    "binary_cross_entropy binary_cross_entropy_with_logits pad interpolate".split()
)
LOOKING_UP = frozenset(
    "getitem gather take_along_dim index_select embedding matmul rmatmul mm mv linear".split()
)
"""By size as well, unless a tensor that is not followed has as many entries somewhere."""

FOLLOWED = STRETCHING | LOSSES | ONE_BY_ONE | SHAPING | BY_SIZE | LOOKING_UP


class Rows(NamedTuple):
    """A tensor's shape, and which of its dimensions are the rows of a batch."""

    shape: torch.Size
    place: int

    @property
    def number(self) -> int:
        return int(self.shape[self.place])

    @property
    def from_end(self) -> int:
        return len(self.shape) - self.place

    @property
    def clear(self) -> bool:
        """Whether no other dimension has the same size."""
        return self.shape.count(self.number) == 1


def plain_name(function: Any) -> str:
    """The name of an operation: that of `a - b`, `a.sub(b)` and `a.sub_(b)` is sub."""
    name: str = getattr(function, "__name__", "")
    if name == "__get__":  # of an attribute, as x.T
        name = getattr(function.__self__, "__name__", "")
    return name.strip("_").removeprefix("special_")


def tensors_among(arguments: Sequence[Any]) -> Iterator[torch.Tensor]:
    """The tensors that an operation is given, or gives, alone or in lists."""
    for one in arguments:
        if isinstance(one, torch.Tensor):
            yield one
        elif isinstance(one, list | tuple):
            yield from (item for item in one if isinstance(item, torch.Tensor))


def meeting_rows(operands: Sequence[Rows]) -> tuple[Rows, Rows] | None:
    """Two operands, each of which is stretched along the rows of the other: every row meets all."""
    for number, one in enumerate(operands):
        for other in operands[:number]:
            if min(one.number, other.number) > 1 and across(one, other) and across(other, one):
                pairs = zip(reversed(one.shape), reversed(other.shape), strict=False)
                if all(left == right or 1 in (left, right) for left, right in pairs):
                    return other, one
    return None


def moved_rows(
    operands: Sequence[Rows], others: Sequence[torch.Size]
) -> tuple[Rows, torch.Size] | None:
    """Rows that come first, and what has more dimensions: in the result they do no longer."""
    longest = max(operands, key=lambda one: len(one.shape))
    more = next((shape for shape in others if len(shape) > len(longest.shape)), None)
    return (longest, more) if more is not None and longest.place == 0 else None


def across(one: Rows, other: Rows) -> bool:
    """Whether the one has nothing, or a single entry, where the other has its rows."""
    return other.from_end > len(one.shape) or one.shape[-other.from_end] == 1


def rows_in_result(
    name: str, followed: Sequence[Rows], others: Sequence[torch.Size], shape: torch.Size
) -> int | None:
    """Which dimension of a result is the rows; None if there is none, or it is not certain.

    `followed` are the operands whose rows are known, `others` the shapes of the rest.
    """
    first = followed[0]
    count = first.number
    if any(one.number != count for one in followed):
        return None
    if name in ("max", "min") and len(followed) + len(others) == 1:
        return by_size(followed, shape)
    if name in STRETCHING:
        place = len(shape) - first.from_end
        agree = all(one.from_end == first.from_end for one in followed)
        return place if agree and place >= 0 and shape[place] == count else None
    if name in ONE_BY_ONE:
        return first.place if shape == first.shape else None
    if name in SHAPING:
        before = math.prod(first.shape[: first.place])
        if math.prod(shape) != math.prod(first.shape):
            return None
        places = (n for n, size in enumerate(shape) if size == count)
        return next((n for n in places if math.prod(shape[:n]) == before), None)
    if name in LOOKING_UP and any(count in other for other in others):
        return None
    return by_size(followed, shape)


def by_size(followed: Sequence[Rows], shape: torch.Size) -> int | None:
    """The only dimension that has as many entries as there are rows."""
    count = followed[0].number
    if shape.count(count) != 1 or not all(one.clear for one in followed):
        return None
    return shape.index(count)
