"""How kinds combine: where paths meet, and what stands inside of what."""

from dataclasses import replace
from functools import reduce

from trainera.read import tables
from trainera.read.inside import flat, put_together, wholes_in
from trainera.read.kinds import (
    PLAIN,
    Bunch,
    Class,
    Const,
    Count,
    Either,
    External,
    Func,
    Hashed,
    Instance,
    Iter,
    Kind,
    Listing,
    Loader,
    Loss,
    Lost,
    Mapping,
    Mean,
    Model,
    Nodes,
    Optimizer,
    Own,
    Params,
    Record,
    Shape,
    Shard,
    Share,
    Solo,
    Sum,
    Thing,
    Whole,
)

Callable = Func | Class | Either


def join(left: Kind | None, right: Kind | None) -> Kind:
    """What a value is that comes from one of two places."""
    if left is None or left == right:
        return right if right is not None else PLAIN
    if right is None:
        return left
    for one, other in ((left, right), (right, left)):
        if isinstance(one, Const) and one.value is None:
            return other
    if isinstance(left, Share) or isinstance(right, Share):
        return _join_shares(left, right)
    if isinstance(left, Whole) and isinstance(right, Whole):
        return aligned_like(whole_of(left, right), left.aligned and right.aligned)
    if isinstance(left, Whole) or isinstance(right, Whole):
        return whole_of(left, right)
    if isinstance(left, Loader) and isinstance(right, Loader):
        return Loader(left.origins | right.origins)
    if isinstance(left, Iter) and isinstance(right, Iter):
        return Iter(left.loaders | right.loaders, join(left.element, right.element))
    if isinstance(left, Model) and isinstance(right, Model):
        return _join_models(left, right)
    if isinstance(left, External) and isinstance(right, External):
        # One of several optimizers, chosen when the script runs.
        optimizers = all(kind.name.startswith("torch.optim.") for kind in (left, right))
        if {left.name, right.name} <= tables.TYPED:
            return left  # one of the processor, one of the GPU
        return External("torch.optim.Optimizer") if optimizers else PLAIN
    if isinstance(left, Callable) and isinstance(right, Callable):
        functions = (*functions_of(left), *functions_of(right))
        unseen = any(isinstance(kind, Either) and kind.unseen for kind in (left, right))
        return Either(tuple({_identity(one): one for one in functions}.values()), unseen)
    if isinstance(left, Params) and isinstance(right, Params):
        return put_together(left, right)
    if isinstance(left, Loss) and isinstance(right, Loss) and left.reduction == right.reduction:
        trouble, weighted = left.trouble or right.trouble, left.weighted or right.weighted
        return Loss(left.reduction, trouble, weighted, left.paired and right.paired)
    if isinstance(left, Loss) and isinstance(right, Loss):
        return Loss("unknown", "it is one of several losses that reduce in different ways")
    if isinstance(left, Bunch) and isinstance(right, Bunch) and len(left.items) == len(right.items):
        return Bunch(tuple(join(a, b) for a, b in zip(left.items, right.items, strict=True)))
    if isinstance(left, Bunch | Listing) and isinstance(right, Bunch | Listing):
        inside = [element(kind) for kind in (left, right) if kind != Bunch((), kind.born)]
        joined = join(inside[0], inside[-1]) if inside else PLAIN
        return Listing(joined, left.born if left.born is right.born else None)
    if isinstance(left, Mapping) and isinstance(right, Mapping):
        keys = dict(left.items) | dict(right.items)
        both = Record if isinstance(left, Record) and isinstance(right, Record) else Mapping
        return both(tuple((key, join(left.get(key), right.get(key))) for key in keys))
    for one, other in ((left, right), (right, left)):
        if isinstance(one, Own | Hashed | Solo):
            return one
        if isinstance(one, Params) and isinstance(other, Bunch | Listing | Mapping):
            return put_together(one, other)
        if isinstance(one, Params) and type(other) in (Kind, Thing):
            return Params(one.models, False)
        # A role outlives the plain value that stands for "not there yet".
        if type(one) in (Kind, Const, Thing) and isinstance(
            other, Loader | Model | Optimizer | Callable | Instance | Iter | Loss
        ):
            return other
    return PLAIN


def _join_models(left: Model, right: Model) -> Kind:
    return Model(
        left.origins | right.origins,
        left.cls if left.cls == right.cls else None,
        left.wrapped if left.wrapped == right.wrapped else None,
        left.part or right.part,
        left.parallel or right.parallel,
        left.layer if left.layer == right.layer else "",
        left.layout or right.layout,
        tuple(dict.fromkeys(left.inside + right.inside)),
        () if left.classes == right.classes else _either(left.classes + right.classes),
    )


def functions_of(kind: Callable) -> tuple[Func | Class, ...]:
    """The functions or classes that may be called."""
    return kind.functions if isinstance(kind, Either) else (kind,)


def by_any_name(kind: Kind) -> Kind:
    """A function or class that is looked up by a name: others may be found under it, too."""
    return Either(functions_of(kind), unseen=True) if isinstance(kind, Callable) else kind


def _identity(function: Func | Class) -> tuple[object, ...]:
    return (function.node, function.bound if isinstance(function, Func) else None)


def _either(classes: tuple[Class | None, ...]) -> tuple[Class | None, ...]:
    return tuple(dict.fromkeys(classes))


def _join_shares(left: Kind, right: Kind) -> Kind:
    both = tuple(kind for kind in (left, right) if isinstance(kind, Share))
    loaders = frozenset().union(*(kind.loaders for kind in both))
    models = frozenset().union(*(kind.models for kind in both))
    for kind in both:
        if isinstance(kind, Lost):
            return kind
    if isinstance(left, Shard) and isinstance(right, Shard) and left.parts == right.parts:
        return Shard(
            loaders,
            dim=left.dim if left.dim == right.dim else None,
            nested=left.nested or right.nested,
            ragged=left.ragged or right.ragged,
            rank=left.rank if left.rank == right.rank else None,
            vague=left.vague or right.vague,
            parts=left.parts,
            mask=left.mask and right.mask,
            models=models,
        )
    kinds = {type(kind) for kind in both}
    if kinds == {Count, Sum} or (len(kinds) == 1 and len(both) == 2 and kinds != {Shard}):
        cls = Sum if Sum in kinds else kinds.pop()
        return cls(loaders, models=models)
    if len(both) == 1:
        share, other = both[0], right if both[0] is left else left
        # A value that is the same everywhere is its own weighted mean; zero is its own sum.
        if isinstance(share, Mean) and type(other) in (Kind, Const):
            return share
        if isinstance(share, Sum | Count) and isinstance(other, Const) and is_zero(other):
            return share
        if isinstance(share, Shard) and isinstance(other, Bunch | Listing | Mapping):
            return _one_or_several(share, other)
    return Lost(loaders, "it is a share of a batch on one path and something else on another")


def _one_or_several(one: Shard, several: Kind) -> Kind:
    """A tensor, or several of them: as a network gives more while it trains."""
    parts = flat(several)
    shards = [part for part in parts if isinstance(part, Shard) and part.parts == one.parts]
    loaders = one.loaders.union(*(shard.loaders for shard in shards))
    models = one.models.union(*(shard.models for shard in shards))
    if len(shards) < len(parts) or any(shard.dim != one.dim for shard in shards):
        return Lost(loaders, "it is one tensor on one path and several on another", models=models)
    return replace(one, loaders=loaders, nested=True, rank=None, vague=True, models=models)


def in_parts(kind: Kind, parts: int) -> Kind:
    """What a network gives that was given several slices one after the other: as many."""
    if isinstance(kind, Shard):
        return replace(kind, parts=parts)
    if isinstance(kind, Bunch):
        return replace(kind, items=tuple(in_parts(item, parts) for item in kind.items))
    if isinstance(kind, Mapping):
        return replace(kind, items=tuple((key, in_parts(item, parts)) for key, item in kind.items))
    if isinstance(kind, Listing):
        return replace(kind, element=in_parts(kind.element, parts))
    return kind


def not_vague(kind: Kind) -> Kind:
    """What a network is given is taken to have more dimensions than that of the batch."""
    return replace(kind, vague=False) if isinstance(kind, Shard) else kind


def batch_first(kind: Kind) -> Kind:
    """A network's output whose layout was lost track of: the batch comes first, as it went in."""
    if isinstance(kind, Shard) and kind.dim is None:
        return replace(kind, dim=0)
    if isinstance(kind, Bunch):
        return Bunch(tuple(batch_first(item) for item in kind.items))
    if isinstance(kind, Mapping):
        return replace(kind, items=tuple((key, batch_first(item)) for key, item in kind.items))
    return kind


def whole_of(*kinds: Kind) -> Kind:
    """What is computed from values of which some are the whole batch's."""
    found = [whole for kind in kinds for whole in wholes_in(kind)]
    if not found:
        return next((kind for kind in kinds if isinstance(kind, Own)), PLAIN)
    models = frozenset().union(*(kind.models for kind in found))
    rows = [kind for kind in found if kind.rows]
    number = any(kind.number for kind in found)
    drawn = all(kind.drawn for kind in found)
    made = (rows or found)[0].made
    return Whole(found[0].loaders, bool(rows), number, models, made, drawn=drawn)


def aligned_like(kind: Kind, aligned: bool) -> Kind:
    """The kind, of which it is known whether it has a row for each sample of the batch."""
    return replace(kind, aligned=aligned) if isinstance(kind, Whole) else kind


def keeps_rows(name: str) -> bool:
    """Whether a function of torch's gives as many rows as it is given."""
    return name in tables.ELEMENTWISE or name in tables.ROW_BY_ROW or name in tables.MOVES


def is_aligned(kind: Kind) -> bool:
    return isinstance(kind, Whole) and kind.aligned


def row_by_row(*kinds: Kind) -> Kind:
    """The same for what treats entries one by one: rows stay rows."""
    wholes = [kind for kind in kinds if isinstance(kind, Whole)]
    return aligned_like(whole_of(*kinds), any(kind.aligned for kind in wholes))


def sized(kind: Kind) -> Kind:
    """What a call gives that knows how many samples the batch has: perhaps a row for each."""
    return replace(kind, rows=True) if isinstance(kind, Whole) and kind.number else kind


def is_zero(kind: Kind | None) -> bool:
    return (
        isinstance(kind, Const)
        and isinstance(kind.value, int | float)
        and not isinstance(kind.value, bool)
        and kind.value == 0
    )


def element(kind: Kind) -> Kind:
    """What iterating over a value gives."""
    if isinstance(kind, Iter):
        return kind.element
    if isinstance(kind, Listing):
        return kind.element
    if isinstance(kind, Bunch | Record):
        joined: Kind | None = None
        items = kind.items if isinstance(kind, Bunch) else [item for _, item in kind.items]
        for item in items:
            joined = join(joined, item)
        return joined or PLAIN
    if isinstance(kind, Loader):
        return Shard(kind.origins, nested=True, vague=True)
    if isinstance(kind, Params | Whole):
        return kind
    if isinstance(kind, Share):
        why = "a batch is taken apart sample by sample"
        return Lost(kind.loaders, why, models=kind.models)
    if isinstance(kind, Model) and kind.inside:
        told = [one for one in kind.inside if one.cls or one.choices or one.layout or one.inside]
        layers: list[Kind] = [*told] or [kind.inside[0]]
        return reduce(join, layers)
    return PLAIN


def loaders_of(kind: Kind) -> Nodes:
    """The loaders whose batches iterating over a value gives, if any."""
    if isinstance(kind, Loader):
        return kind.origins
    return kind.loaders if isinstance(kind, Iter) else frozenset()


def unpacked(kind: Kind, place: int, length: int) -> Kind:
    """One item of a value that is taken apart."""
    if isinstance(kind, Bunch) and len(kind.items) == length:
        return kind.items[place]
    if isinstance(kind, Record) and len(kind.items) == length:
        return kind.items[place][1]
    if isinstance(kind, Shape):
        if kind.dim is None:
            return PLAIN
        return Count(kind.loaders) if place == kind.dim else PLAIN
    if isinstance(kind, Shard):
        if kind.nested:
            return kind
        return Lost(kind.loaders, "a batch is taken apart sample by sample", models=kind.models)
    if isinstance(kind, Lost):
        return kind
    if isinstance(kind, Share):
        return Lost(kind.loaders, "it is taken apart", models=kind.models)
    return element(kind)
