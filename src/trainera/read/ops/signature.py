"""Arguments bound to an operation's signature, so that no rule counts them by hand."""

import ast
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache

from trainera.read.values import Const, Items, Shard, Value

ALIASES = {"axis": "dim", "axes": "dim", "keepdims": "keepdim", "x2": "other"}
"""Names by which torch takes an argument for the sake of numpy, where it has the other one."""
FIRST = ("input", "self", "x", "a", "x1", "arr", "m")
ABSENT = Const(None)
ALL = "all"


@dataclass(frozen=True)
class Parameter:
    """One parameter of an operation."""

    name: str
    default: Value | None
    collects: bool = False
    """It takes all positional arguments that are left: ``x.permute(0, 2, 1)``."""
    keyword_only: bool = False


@dataclass(frozen=True)
class Bound:
    """A call of an operation: a value for every parameter."""

    name: str
    values: Mapping[str, Value]
    given: frozenset[str] = field(default_factory=frozenset)

    def __getitem__(self, parameter: str) -> Value:
        return self.values[parameter]

    @property
    def input(self) -> Value:
        """What the operation is done to."""
        return next(iter(self.values.values()))

    def number(self, parameter: str) -> int | None:
        """A whole number that the script gives as a constant."""
        return number_of(self.values[parameter])

    def numbers(self, parameter: str) -> list[int] | None:
        """Whole numbers that the script gives one by one or as a tuple; None: not known."""
        value = self.values[parameter]
        if isinstance(value, Items) and len(value.items) == 1 and isinstance(value.items[0], Items):
            value = value.items[0]
        items = value.items if isinstance(value, Items) else (value,)
        numbers = [number_of(item) for item in items]
        return None if None in numbers else [one for one in numbers if one is not None]

    def dims(self, parameter: str = "dim") -> "list[int] | str | None":
        """Along which dimensions: numbers, ALL if none are named, None if it is not known."""
        value = self.values[parameter]
        if isinstance(value, Const) and value.value is None:
            return ALL
        return self.numbers(parameter)

    def flag(self, parameter: str) -> bool | None:
        """A switch; None: not known."""
        value = self.values[parameter]
        known = isinstance(value, Const) and isinstance(value.value, bool | int)
        return bool(value.value) if known and isinstance(value, Const) else None

    @property
    def shards(self) -> list[Shard]:
        """All that the operation is given of a batch."""
        return [part for value in self.values.values() for part in _shards_in(value)]


def _shards_in(value: Value) -> list[Shard]:
    if isinstance(value, Items):
        return [part for item in value.items for part in _shards_in(item)]
    return [value] if isinstance(value, Shard) else []


def number_of(value: Value | None) -> int | None:
    if isinstance(value, Const) and isinstance(value.value, int):
        return None if isinstance(value.value, bool) else value.value
    return None


class Signature:
    """The parameters of an operation, as Python writes them: ``input, dim=None, *sizes``."""

    def __init__(self, text: str) -> None:
        spec = ast.parse(f"def f({text}): ...").body[0]
        assert isinstance(spec, ast.FunctionDef)
        names = spec.args.args
        without = len(names) - len(spec.args.defaults)
        defaults = [None] * without + [_constant(one) for one in spec.args.defaults]
        self.parameters = [
            Parameter(one.arg, default) for one, default in zip(names, defaults, strict=True)
        ]
        if spec.args.vararg is not None:
            self.parameters.append(Parameter(spec.args.vararg.arg, None, collects=True))
        self.parameters += [
            Parameter(one.arg, None if default is None else _constant(default), keyword_only=True)
            for one, default in zip(spec.args.kwonlyargs, spec.args.kw_defaults, strict=True)
        ]
        self.takes_any = spec.args.kwarg is not None
        """It has options that make no difference to any rule."""

    def bind(
        self, name: str, positional: Sequence[Value], keywords: Mapping[str, Value]
    ) -> Bound | None:
        """The call, bound; None if it does not fit."""
        values: dict[str, Value] = {}
        rest = list(positional)
        for parameter in self.parameters:
            if parameter.collects and rest:
                values[parameter.name] = rest[0] if len(rest) == 1 else Items(tuple(rest))
                rest = []
            elif rest and not parameter.keyword_only:
                values[parameter.name] = rest.pop(0)
        if rest:
            return None
        known = {parameter.name for parameter in self.parameters}
        for word, value in keywords.items():
            target = word if word in known else ALIASES.get(word, word)
            if target not in known and word in FIRST and self.parameters:
                target = self.parameters[0].name
            if target in values or (target not in known and not self.takes_any):
                return None
            values[target] = value
        given = frozenset(values)
        for parameter in self.parameters:
            if parameter.name not in values:
                if parameter.default is None and not parameter.collects:
                    return None
                values[parameter.name] = parameter.default or Items(())
        return Bound(name, {word: values[word] for word in (*self._names, *values)}, given)

    @property
    def _names(self) -> list[str]:
        return [one.name for one in self.parameters]


def _constant(node: ast.expr) -> Value:
    """A default as a value."""
    value = ast.literal_eval(node)
    if isinstance(value, tuple):
        return Items(tuple(Const(one) for one in value))
    return Const(value)


@cache
def signature(text: str) -> Signature:
    return Signature(text)
