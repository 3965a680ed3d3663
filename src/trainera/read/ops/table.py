"""One table of operations: a name, the signature of its arguments, the rule for what it gives.

A library fills it. A second entry for a name is an error, so that there is one place for each.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from trainera.read.ops.outcome import UNKNOWN, Mixed, Outcome, made_of
from trainera.read.ops.signature import Bound, signature
from trainera.read.values import (
    Answer,
    Const,
    Count,
    Items,
    Many,
    NetworkCalls,
    Shard,
    ShardShape,
    Share,
    Value,
)
from trainera.read.values.base import changed

Rule = Callable[[Bound], Outcome]
NEVER = ("out", "generator", "where")
"""Arguments that no rule reckons with: where a result is put, what numbers are drawn from."""
ROWS = Shard | Count | ShardShape
"""What may stand among the arguments of an operation on rows: they are also given as sizes."""


@dataclass(frozen=True, kw_only=True)
class Operation:
    """What is known of an operation on tensors."""

    name: str
    rule: Rule
    arguments: str | None = None
    """Its signature; None if all that it is given is an operand."""
    mask: bool = False
    """Its entries are true or false."""
    keeps_mask: bool = False
    ends_gradient: bool = False
    takes_figures: bool = False
    """Also of sums or means of the slice."""
    to_size: bool = False
    """What is no part of a batch can be made to as many rows."""
    gives_list: bool = False
    """Of Python's, which is no tensor any more."""
    keeps_rows: bool = False
    """Of the whole batch it gives as many rows as it is given."""

    def bind(self, positional: Sequence[Value], keywords: Mapping[str, Value]) -> Bound | None:
        """The arguments by name; None if they do not fit."""
        if "**" in keywords:
            return None
        if any(not _is_none(keywords[word]) for word in NEVER if word in keywords):
            if "where" not in keywords or self.arguments is None or "where" not in self.arguments:
                return None
        words = {word: value for word, value in keywords.items() if word not in NEVER}
        if self.arguments is not None:
            return signature(self.arguments).bind(self.name, positional, words)
        numbered = {f"operand {place}": value for place, value in enumerate(positional)}
        return Bound(self.name, numbered | words, frozenset((*numbered, *words)))

    def apply(self, positional: Sequence[Value], keywords: Mapping[str, Value]) -> Outcome:
        """What it gives for operands some of which are shards."""
        call = self.bind(positional, keywords)
        if call is None or (_figures_among(call) and not self.takes_figures):
            return UNKNOWN
        shards = call.shards
        if not shards and not self.to_size and not self.takes_figures:
            return UNKNOWN
        result = self.rule(call)
        if isinstance(result, Mixed) and result.likely is not None and shards:
            models = frozenset().union(*(shard.models for shard in shards))
            return made_of(result, lambda one: self._finished(one, False, models))
        if not isinstance(result, Value):
            return result
        masks = bool(shards) and all(shard.mask for shard in shards)
        if not shards:
            return result
        models = frozenset().union(*(shard.models for shard in shards))
        return self._finished(result, masks, frozenset() if self.ends_gradient else models)

    def _finished(self, result: Value, masks: bool, models: NetworkCalls) -> Value:
        if isinstance(result, Items):
            return replace(
                result, items=tuple(self._finished(one, masks, models) for one in result.items)
            )
        if isinstance(result, Many):
            return replace(result, element=self._finished(result.element, masks, models))
        if isinstance(result, Shard):
            mask = self.mask or (self.keeps_mask and masks)
            listed = Answer.YES if self.gives_list else Answer.NO
            array = result.array and not self.gives_list
            return changed(result, mask=mask, models=models, listed=listed, array=array)
        return changed(result, models=models) if isinstance(result, Share) else result


def _is_none(value: Value) -> bool:
    return isinstance(value, Const) and value.value is None


def _figures_among(call: Bound) -> bool:
    """Whether rows would meet figures of the slice."""
    parts = [
        part
        for value in call.values.values()
        for part in (value.items if isinstance(value, Items) else (value,))
    ]
    return any(isinstance(part, Share) and not isinstance(part, ROWS) for part in parts)


class Table:
    """Operations by name."""

    def __init__(self, library: str) -> None:
        self.library = library
        self._operations: dict[str, Operation] = {}

    def add(self, names: str, rule: Rule, arguments: str | None = None, **traits: bool) -> None:
        """Enters operations of one family, their names separated by spaces."""
        for name in names.split():
            if name in self._operations:
                raise ValueError(f"{self.library}: a second entry for '{name}'")
            made = Operation(name=name, rule=rule, arguments=arguments, **traits)
            self._operations[name] = made

    def find(self, *names: str) -> Operation | None:
        """The first of these names that is known."""
        return next((self._operations[name] for name in names if name in self._operations), None)

    def __iter__(self) -> Iterator[Operation]:
        return iter(self._operations.values())
