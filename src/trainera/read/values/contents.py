"""What stands inside of a value."""

from collections.abc import Sequence
from dataclasses import replace

from trainera.read.values import (
    NOBODY,
    Const,
    Dictionary,
    Gathered,
    Items,
    Many,
    Network,
    Nodes,
    Parameters,
    Shard,
    Share,
    Union,
    Value,
)


def inside(value: Value) -> Sequence[Value] | None:
    """What a container holds, or what a value may be; None if it is neither."""
    if isinstance(value, Items):
        return value.items
    if isinstance(value, Many):
        return (value.element,)
    if isinstance(value, Dictionary):
        return [item for _, item in value.items]
    return value.members if isinstance(value, Union) else None


def flat(value: Value) -> list[Value]:
    """The values inside of containers."""
    held = value.held
    return [value] if held is None else [inner for item in held for inner in flat(item)]


def gathered_in(value: Value) -> list[Gathered]:
    """The whole batch's values inside of a value."""
    return [inner for inner in flat(value) if isinstance(inner, Gathered)]


def networks_held(value: Value) -> tuple[Network, ...]:
    """Networks among the arguments of a container such as `nn.Sequential`."""
    return tuple(inner for inner in flat(value) if isinstance(inner, Network))


def holds_share(value: Value) -> bool:
    """Whether a share is somewhere inside a value."""
    if isinstance(value, Share):
        return True
    held = value.held
    return held is not None and any(map(holds_share, held))


def networks_in(value: Value) -> Nodes:
    """The networks whose parameters are somewhere inside a value."""
    if isinstance(value, Parameters):
        return value.models
    if isinstance(value, Network):
        return value.origins
    return NOBODY.union(*map(networks_in, value.held or ()))


def has_parameters(value: Value) -> bool:
    """Whether it is parameters of networks, or a list with some."""
    return any(isinstance(part, Parameters) for part in flat(value))


def understood(given: Value) -> bool:
    """Whether all that an optimizer is given is known to be parameters of networks."""
    if isinstance(given, Parameters):
        return given.known
    if isinstance(given, Items):
        return all(understood(item) for item in given.items)
    if isinstance(given, Many):
        return understood(given.element)
    if isinstance(given, Dictionary):
        group = given.get("params")
        inside = [group] if group is not None else [value for _, value in given.items]
        return all(understood(value) for value in inside)
    return False


def put_together(*values: Value) -> Parameters:
    """The parameters in all of these, one after the other."""
    models = NOBODY.union(*(networks_in(value) for value in values))
    return Parameters(models, all(understood(value) for value in values))


def first_share(value: Value) -> Share:
    """Some share inside a value that holds one."""
    if isinstance(value, Share):
        return value
    return next(first_share(item) for item in value.held or () if holds_share(item))


def in_parts(value: Value, parts: int) -> Value:
    """What a network gives that was given several slices one after the other: as many."""
    if isinstance(value, Shard):
        return replace(value, parts=parts)
    if isinstance(value, Items):
        return replace(value, items=tuple(in_parts(item, parts) for item in value.items))
    if isinstance(value, Dictionary):
        return replace(
            value, items=tuple((key, in_parts(item, parts)) for key, item in value.items)
        )
    if isinstance(value, Many):
        return replace(value, element=in_parts(value.element, parts))
    return value


def batch_first(value: Value) -> Value:
    """A network's output whose layout was lost track of: the batch comes first, as it went in."""
    if isinstance(value, Shard) and value.dim is None:
        return replace(value, dim=0)
    if isinstance(value, Items):
        return Items(tuple(batch_first(item) for item in value.items))
    if isinstance(value, Dictionary):
        return replace(value, items=tuple((key, batch_first(item)) for key, item in value.items))
    return value


def is_given(value: Value | None) -> bool:
    return value is not None and not (isinstance(value, Const) and value.value is None)
