"""Holds what the table of operations claims against what torch does."""

import contextlib
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import torch

from tests.claims.cases import KNOWLEDGE, Case, Part, cases, leaves, to_value
from trainera.read.libraries.torch.operations import operation
from trainera.read.ops.outcome import Outcome
from trainera.read.values import Count, Items, Many, Mean, Shard, Sum, Value

RIGHT, WRONG, MISSED, GUARDED = "right", "wrong", "missed", "guarded"
NO_CLAIM, NO_FIT, UNKNOWN = "no claim", "slices do not fit", "no entry"
CLOSE = 1e-9
RANDOM = ("rand", "dropout", "bernoulli", "rrelu", "empty", "normal", "uniform", "exponential")


@dataclass
class Tally:
    """How claims fare, and which are wrong or could have been made."""

    counts: Counter[tuple[str, str]] = field(default_factory=Counter)
    lines: dict[str, list[str]] = field(default_factory=dict)

    def add(self, name: str, verdict: str, line: str) -> None:
        self.counts[name, verdict] += 1
        self.lines.setdefault(verdict, []).append(line)

    def total(self, verdict: str) -> int:
        return sum(count for (_, one), count in self.counts.items() if one == verdict)


def same(one: torch.Tensor, other: torch.Tensor) -> bool:
    if one.shape != other.shape or one.dtype != other.dtype:
        return False
    if one.is_floating_point() or one.is_complex():
        return torch.allclose(one, other, rtol=CLOSE, atol=CLOSE, equal_nan=True)
    return torch.equal(one, other)


def try_entry(entry: Any, tally: Tally, most: int) -> None:
    """Every claim about an operation of the database."""
    known = operation(f"torch.{entry.name}")
    if known is None or getattr(entry.op, "__name__", "") == "<lambda>":
        tally.add(entry.name, UNKNOWN, entry.name)
        return
    if any(word in entry.name for word in RANDOM):
        return  # what is drawn for a slice is another number
    for case in cases(entry, most):
        try:
            whole = case.run(None)
        except Exception:
            continue
        if whole is None:
            continue
        judge = Judge(case, whole)
        parts = [leaf for leaf in leaves(case.args) if isinstance(leaf, Part)]
        for knows in KNOWLEDGE:
            if knows == "2" and any(part.tensor.dim() < 2 for part in parts):
                continue
            words = {word: to_value(value, knows) for word, value in case.kwargs.items()}
            claim = known.apply([to_value(one, knows) for one in case.args], words)
            verdict = judge.verdict(claim)
            if verdict == WRONG and knows in ("1", "2") and _stretched(parts):
                verdict = GUARDED  # [n, 1] meets [n]: seen by the crew when it runs
            if verdict == MISSED and knows != "rank":
                verdict = NO_CLAIM
            tally.add(entry.name, verdict, f"{case.what}, {knows}: {outline(claim)}")


def _stretched(parts: list[Part]) -> bool:
    """Whether the rows of one part meet all of another's."""
    return len({part.dim - part.tensor.dim() for part in parts}) > 1


def outline(claim: Outcome) -> str:
    if isinstance(claim, Shard):
        return f"Shard(dim={claim.dim}, rank={claim.rank}, least={claim.least})"
    return type(claim).__name__


class Judge:
    """What slices make of a case, compared with the whole."""

    def __init__(self, case: Case, whole: list[torch.Tensor]) -> None:
        self.case, self.whole = case, whole
        self._rowwise: bool | None = None

    def verdict(self, claim: Outcome) -> str:
        if not isinstance(claim, Value):
            return MISSED if self.rowwise() else NO_CLAIM
        claims: list[Value] = [claim] * len(self.whole)
        if isinstance(claim, Many):
            claims = [claim.element] * len(self.whole)
        elif isinstance(claim, Items):
            claims = list(claim.items)
        try:
            fits = len(claims) == len(self.whole) and all(
                self._holds(one, place) for place, one in enumerate(claims)
            )
        except (RuntimeError, ValueError, IndexError, TypeError):
            return NO_FIT  # loud, not silent: a tensor of the whole batch's size, fixed weights
        return RIGHT if fits else WRONG

    def rowwise(self) -> bool:
        """Whether slices of each result, put together along some dimension, are the whole."""
        if self._rowwise is None:
            try:
                self._rowwise = all(map(self._along_some, range(len(self.whole))))
            except Exception:
                self._rowwise = False
        return self._rowwise

    def _along_some(self, place: int) -> bool:
        """Whether slices of a result make up the whole along some dimension."""
        for dim in range(self.whole[place].dim()):
            with contextlib.suppress(RuntimeError):
                if self._together(place, dim):
                    return True
        return False

    def _together(self, place: int, dim: int) -> bool:
        return self._all(place, lambda made, _: torch.cat(made, dim))

    def _holds(self, claim: Value, place: int) -> bool:
        whole = self.whole[place]
        if isinstance(claim, Shard):
            if claim.dim is None:
                self._all(place, lambda made, _: made[0])  # perhaps slices do not even fit
                return self.rowwise()
            if not -whole.dim() <= claim.dim < whole.dim():
                self._all(place, lambda made, _: made[0])  # perhaps slices do not even fit
                return False
            ranked = claim.least <= whole.dim() and claim.rank in (None, whole.dim())
            return claim.parts > 1 or (self._together(place, claim.dim) and ranked)
        if isinstance(claim, Sum | Count):
            return self._all(place, lambda made, _: sum(made[1:], made[0]).to(whole.dtype))
        if isinstance(claim, Mean):
            return self._all(place, _average)
        return self._all(place, lambda made, _: made[0])

    def _all(
        self, place: int, put: Callable[[list[torch.Tensor], list[int]], torch.Tensor]
    ) -> bool:
        """Whether the slices of one result make up the whole, in every way of cutting."""
        for way in self.case.ways():
            made = [self.case.run(rows) for rows in way]
            sizes = [rows.stop - rows.start for rows in way]
            parts = [one[place] for one in made if one is not None]
            if not same(put(parts, sizes), self.whole[place]):
                return False
        return True


def _average(made: list[torch.Tensor], sizes: list[int]) -> torch.Tensor:
    weighed = [one * (size / sum(sizes)) for one, size in zip(made, sizes, strict=True)]
    return sum(weighed[1:], weighed[0])
