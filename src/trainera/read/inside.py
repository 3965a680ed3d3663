"""What stands inside of a value."""

from trainera.read.kinds import (
    NOBODY,
    Bunch,
    Kind,
    Listing,
    Mapping,
    Model,
    Nodes,
    Params,
    Share,
    Whole,
)


def flat(kind: Kind) -> list[Kind]:
    """The kinds inside of containers."""
    if isinstance(kind, Bunch):
        return [inner for item in kind.items for inner in flat(item)]
    if isinstance(kind, Listing):
        return flat(kind.element)
    if isinstance(kind, Mapping):
        return [inner for _, item in kind.items for inner in flat(item)]
    return [kind]


def wholes_in(kind: Kind) -> list[Whole]:
    """The whole batch's values inside of a value."""
    return [inner for inner in flat(kind) if isinstance(inner, Whole)]


def models_held(kind: Kind) -> tuple[Model, ...]:
    """Networks among the arguments of a container such as `nn.Sequential`."""
    if isinstance(kind, Model):
        return (kind,)
    if isinstance(kind, Bunch):
        return tuple(model for item in kind.items for model in models_held(item))
    if isinstance(kind, Listing):
        return models_held(kind.element)
    if isinstance(kind, Mapping):
        return tuple(model for _, item in kind.items for model in models_held(item))
    return ()


def holds_share(kind: Kind) -> bool:
    """Whether a share is somewhere inside a value."""
    if isinstance(kind, Share):
        return True
    if isinstance(kind, Bunch):
        return any(holds_share(item) for item in kind.items)
    if isinstance(kind, Listing):
        return holds_share(kind.element)
    if isinstance(kind, Mapping):
        return any(holds_share(item) for _, item in kind.items)
    return False


def models_in(kind: Kind) -> Nodes:
    """The networks whose parameters are somewhere inside a value."""
    if isinstance(kind, Params):
        return kind.models
    if isinstance(kind, Model):
        return kind.origins
    if isinstance(kind, Bunch):
        return NOBODY.union(*(models_in(item) for item in kind.items))
    if isinstance(kind, Listing):
        return models_in(kind.element)
    if isinstance(kind, Mapping):
        return NOBODY.union(*(models_in(item) for _, item in kind.items))
    return NOBODY


def has_parameters(kind: Kind) -> bool:
    """Whether it is parameters of networks, or a list with some."""
    return any(isinstance(part, Params) for part in flat(kind))


def understood(kind: Kind) -> bool:
    """Whether all that an optimizer is given is known to be parameters of networks."""
    if isinstance(kind, Params):
        return kind.known
    if isinstance(kind, Bunch):
        return all(understood(item) for item in kind.items)
    if isinstance(kind, Listing):
        return understood(kind.element)
    if isinstance(kind, Mapping):
        group = kind.get("params")
        inside = [group] if group is not None else [value for _, value in kind.items]
        return all(understood(value) for value in inside)
    return False


def put_together(*kinds: Kind) -> Params:
    """The parameters in all of these, one after the other."""
    models = NOBODY.union(*(models_in(kind) for kind in kinds))
    return Params(models, all(understood(kind) for kind in kinds))


def first_share(kind: Kind) -> Share:
    """Some share inside a value that holds one."""
    if isinstance(kind, Share):
        return kind
    inside: list[Kind] = []
    if isinstance(kind, Bunch):
        inside = list(kind.items)
    elif hasattr(kind, "element"):
        inside = [kind.element]
    elif hasattr(kind, "items"):
        inside = [item for _, item in kind.items]
    return next(first_share(item) for item in inside if holds_share(item))
