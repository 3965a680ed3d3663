"""How values combine where paths meet, and what iterating gives."""

from collections.abc import Callable
from dataclasses import replace
from functools import reduce
from typing import TypeVar

from trainera.read.values import (
    PLAIN,
    UNKNOWN_YET,
    Answer,
    BatchIterable,
    Choice,
    Class,
    Const,
    Count,
    Dictionary,
    FirstOnly,
    Function,
    Gathered,
    HashOrdered,
    Items,
    LibraryObject,
    Loader,
    LossFunction,
    Lost,
    Many,
    Mean,
    Network,
    Nodes,
    Object,
    Optimizer,
    Parameters,
    PartialCall,
    PerWorker,
    Qualified,
    Record,
    Shard,
    Share,
    Sum,
    Union,
    Value,
)
from trainera.read.values.base import NOWHERE, changed
from trainera.read.values.contents import first_share, flat, holds_share, put_together
from trainera.read.values.gathered import aligned_like, gathered_of

Item = TypeVar("Item")
CALLABLE = Function | Class | Choice
ACTS = CALLABLE | Object | Qualified | PartialCall | Network | LossFunction | Loader | Union
"""What does something when it is called, asked or gone through."""
SAME_ROLE: list[Callable[[str, str], str | None]] = []
"""Of two of a library's names, the one that stands for both, if any does. Libraries add to it."""


def is_batches(value: Value) -> bool:
    """Whether iterating gives batches that are split."""
    return isinstance(value, Loader | BatchIterable)


def join(left: Value | None, right: Value | None) -> Value:
    """What a value is that comes from one of two places."""
    if left is None or right is None:
        return left or right or PLAIN
    made_at = getattr(left, "made_at", NOWHERE) | getattr(right, "made_at", NOWHERE)
    joined = right if left == right else _or_none(left, right)
    if made_at and isinstance(joined, Items | Many | Dictionary | Const):
        return changed(joined, made_at=made_at)
    return joined


def _or_none(left: Value, right: Value) -> Value:
    """One of two different values, which remembers whether it may be None."""
    if not (_may_be_none(left) or _may_be_none(right)):
        return _join(left, right)
    one, other = (changed(value, maybe_none=False) for value in (left, right))
    joined = one if one == other else _join(one, other)
    return joined if is_unnamed(joined) else changed(joined, maybe_none=True)


def _may_be_none(value: Value) -> bool:
    if isinstance(value, Const):
        return value.value is None and value is not UNKNOWN_YET
    return value.maybe_none or is_unnamed(value)


def is_unnamed(value: Value) -> bool:
    """Whether nothing is known of a value but that it is the same everywhere: it may be None."""
    return type(value) in (Value, Const, LibraryObject)


def _join(left: Value, right: Value) -> Value:
    for one, other in ((left, right), (right, left)):
        if isinstance(one, Const) and one.value is None:
            # A role or a share counts, whether it is there yet or not; a number may be none.
            return PLAIN if isinstance(other, Const) and other.value is not None else other
    if isinstance(left, Union) or isinstance(right, Union):
        return _join_union(left, right)
    if isinstance(left, Share) or isinstance(right, Share):
        return _join_shares(left, right)
    if isinstance(left, Gathered) and isinstance(right, Gathered):
        return aligned_like(gathered_of(left, right), left.aligned and right.aligned)
    if isinstance(left, Gathered) or isinstance(right, Gathered):
        return gathered_of(left, right)
    if isinstance(left, Loader) and isinstance(right, Loader):
        return Loader(left.origins | right.origins)
    if isinstance(left, BatchIterable) and isinstance(right, BatchIterable):
        return BatchIterable(left.loaders | right.loaders, join(left.element, right.element))
    if isinstance(left, Network) and isinstance(right, Network):
        return _join_models(left, right)
    if isinstance(left, Qualified) and isinstance(right, Qualified):
        names = (rule(left.name, right.name) for rule in SAME_ROLE)
        same = next((Qualified(name) for name in names if name is not None), None)
        return same or union(left, right)
    if isinstance(left, CALLABLE) and isinstance(right, CALLABLE):
        functions = (*functions_of(left), *functions_of(right))
        unseen = any(isinstance(value, Choice) and value.unseen for value in (left, right))
        return Choice(tuple({_identity(one): one for one in functions}.values()), unseen)
    if isinstance(left, Parameters) and isinstance(right, Parameters):
        return put_together(left, right)
    if isinstance(left, LossFunction) and isinstance(right, LossFunction):
        return union(left, right)
    if isinstance(left, Items) and isinstance(right, Items) and len(left.items) == len(right.items):
        return Items(tuple(join(a, b) for a, b in zip(left.items, right.items, strict=True)))
    if isinstance(left, Items | Many) and isinstance(right, Items | Many):
        inside = [element(value) for value in (left, right) if value != Items((), value.born)]
        joined = join(inside[0], inside[-1]) if inside else PLAIN
        return Many(joined, left.born if left.born is right.born else None)
    if isinstance(left, Dictionary) and isinstance(right, Dictionary):
        keys = dict(left.items) | dict(right.items)
        both = Record if isinstance(left, Record) and isinstance(right, Record) else Dictionary
        return both(tuple((key, _under(key, left, right)) for key in keys))
    for one, other in ((left, right), (right, left)):
        if isinstance(one, PerWorker | HashOrdered | FirstOnly):
            return one
        if isinstance(one, Parameters) and isinstance(other, Items | Many | Dictionary):
            return put_together(one, other)
        if isinstance(one, Parameters) and type(other) in (Value, LibraryObject):
            return Parameters(one.models, False)
        if isinstance(one, LibraryObject) and isinstance(other, CALLABLE | Object):
            return union(left, right)
        # A role outlives the plain value that stands for "not there yet".
        if type(one) in (Value, Const, LibraryObject) and isinstance(
            other, Loader | Network | Optimizer | CALLABLE | Object | BatchIterable | LossFunction
        ):
            return other
    return _neither(left, right)


def _under(key: str, left: Dictionary, right: Dictionary) -> Value:
    """What is under a key of one of two dictionaries; there may be nothing."""
    one, other = left.get(key), right.get(key)
    if one is not None and other is not None:
        return join(one, other)
    return perhaps(one or other or PLAIN)


def perhaps(value: Value) -> Value:
    """What is there on some path only, so that a default may take its place."""
    known = isinstance(value, Const) and value.value is not None
    return PLAIN if known else changed(value, maybe_none=not is_unnamed(value))


def _neither(left: Value, right: Value) -> Value:
    """What is nothing that both could be taken for."""
    both = (left, right)
    if any(isinstance(value, ACTS) for value in both) and not any(
        type(value) in (Value, Const) for value in both
    ):
        return union(left, right)
    held = [value for value in both if holds_share(value)]
    if held:
        why = "it holds something of a batch on one path and is something else on another"
        return Lost(first_share(held[0]).loaders, why)
    return PLAIN


def _join_union(left: Value, right: Value) -> Value:
    """Those that go together are one member."""
    members: list[Value] = list(members_of(left))
    for one in members_of(right):
        if type(one) in (Value, Const):
            continue
        for place, member in enumerate(members):
            together = join(member, one)
            if not isinstance(together, Union) and together != PLAIN:
                members[place] = together
                break
        else:
            members.append(one)
    return union(*members)


def union(*values: Value) -> Value:
    """One of these, each of which counts."""
    members = [one for value in values for one in members_of(value)]
    distinct = tuple(dict.fromkeys(changed(one, maybe_none=False) for one in members))
    one = distinct[0] if len(distinct) == 1 else Union(distinct)
    if any(value.maybe_none for value in (*values, *members)):
        return one if is_unnamed(one) else changed(one, maybe_none=True)
    return one


def members_of(value: Value) -> tuple[Value, ...]:
    """What a value may be."""
    return value.members if isinstance(value, Union) else (value,)


def _join_models(left: Network, right: Network) -> Value:
    alike = left.layer == right.layer and left.made == right.made and left.inside == right.inside
    alike = alike and not left.alternatives and not right.alternatives
    several = () if alike else _distinct(_alternatives(left) + _alternatives(right))
    return Network(
        left.origins | right.origins,
        left.cls if left.cls == right.cls else None,
        left.wrapped if left.wrapped == right.wrapped else None,
        left.part or right.part,
        left.parallel or right.parallel,
        left.layer if left.layer == right.layer else "",
        left.made if alike else None,
        tuple(dict.fromkeys(left.inside + right.inside)),
        left.ordered and alike,
        several,
        () if left.classes == right.classes else _distinct(left.classes + right.classes),
    )


def _alternatives(network: Network) -> tuple[Network, ...]:
    return network.alternatives or ((network,) if network.layer else ())


def functions_of(value: CALLABLE) -> tuple[Function | Class, ...]:
    """The functions or classes that may be called."""
    return value.functions if isinstance(value, Choice) else (value,)


def by_any_name(value: Value) -> Value:
    """A function or class that is looked up by a name: others may be found under it, too."""
    return Choice(functions_of(value), unseen=True) if isinstance(value, CALLABLE) else value


def _identity(function: Function | Class) -> tuple[object, ...]:
    if isinstance(function, Function):
        return (function.node, function.bound, function.scope, function.defaults)
    return (function.node,)


def _distinct(items: tuple[Item, ...]) -> tuple[Item, ...]:
    return tuple(dict.fromkeys(items))


def _join_shares(left: Value, right: Value) -> Value:
    both = tuple(value for value in (left, right) if isinstance(value, Share))
    loaders = frozenset().union(*(value.loaders for value in both))
    models = frozenset().union(*(value.models for value in both))
    for value in both:
        if isinstance(value, Lost):
            return value
    if isinstance(left, Shard) and isinstance(right, Shard) and left.parts == right.parts:
        return Shard(
            loaders,
            dim=left.dim if left.dim == right.dim else None,
            nested=left.nested or right.nested,
            ragged=left.ragged or right.ragged,
            rank=left.rank if left.rank == right.rank else None,
            least=min(left.least, right.least),
            array=left.array and right.array,
            parts=left.parts,
            mask=left.mask and right.mask,
            listed=left.listed if left.listed is right.listed else Answer.MAYBE,
            models=models,
        )
    values = {type(value) for value in both}
    if values == {Count, Sum} or (len(values) == 1 and len(both) == 2 and values != {Shard}):
        cls = Sum if Sum in values else values.pop()
        return cls(loaders, models=models)
    if len(both) == 1:
        share, other = both[0], right if both[0] is left else left
        # A value that is the same everywhere is its own weighted mean; zero is its own sum.
        if isinstance(share, Mean) and type(other) in (Value, Const):
            return share
        if isinstance(share, Sum | Count) and isinstance(other, Const) and is_zero(other):
            return share
        if isinstance(share, Shard) and isinstance(other, Items | Many | Dictionary):
            return _one_or_several(share, other)
    if {Mean, Sum} <= values:
        return Lost(loaders, "it is a mean over the batch on one path and a sum on another")
    return Lost(loaders, "it is a share of a batch on one path and something else on another")


def _one_or_several(one: Shard, several: Value) -> Value:
    """A tensor, or several of them: as a network gives more while it trains."""
    parts = flat(several)
    shards = [part for part in parts if isinstance(part, Shard) and part.parts == one.parts]
    loaders = one.loaders.union(*(shard.loaders for shard in shards))
    models = one.models.union(*(shard.models for shard in shards))
    if len(shards) < len(parts) or any(shard.dim != one.dim for shard in shards):
        return Lost(loaders, "it is one tensor on one path and several on another", models=models)
    return replace(one, loaders=loaders, nested=True, rank=None, least=1, models=models)


def is_zero(value: Value | None) -> bool:
    return (
        isinstance(value, Const)
        and isinstance(value.value, int | float)
        and not isinstance(value.value, bool)
        and value.value == 0
    )


def element(value: Value) -> Value:
    """What iterating over a value gives."""
    values = value.iterate()
    return reduce(join, values) if values else PLAIN


def loaders_of(value: Value) -> Nodes:
    """The loaders whose batches iterating over a value gives, if any."""
    if isinstance(value, Loader):
        return value.origins
    return value.loaders if isinstance(value, BatchIterable) else frozenset()


def unpacked(value: Value, place: int, length: int) -> Value:
    """One item of a value that is taken apart."""
    if isinstance(value, Union):
        return reduce(join, (unpacked(one, place, length) for one in value.members))
    return value.unpack(place, length) or element(value)
