"""Values and calls as Python source."""

import inspect
import math
from collections.abc import Iterator
from typing import Any

import torch


class NoWords(Exception):
    """A value that no plain source gives."""


class Words:
    """Puts arguments into source; tensors become placeholders, in the order of their coming."""

    def __init__(self) -> None:
        self.tensors: list[torch.Tensor] = []

    def of(self, value: Any) -> str:
        if isinstance(value, torch.Tensor):
            if value.layout != torch.strided or value.is_quantized:
                raise NoWords(value)
            for at, tensor in enumerate(self.tensors):
                if tensor is value:
                    return f"<{at}>"
            self.tensors.append(value.detach())
            return f"<{len(self.tensors) - 1}>"
        if isinstance(value, bool | int | str | None):
            return repr(value)
        if isinstance(value, float):
            return repr(value) if math.isfinite(value) else f'float("{value}")'
        if isinstance(value, complex):
            return repr(value)
        if isinstance(value, torch.dtype | torch.layout | torch.memory_format):
            return str(value)
        if isinstance(value, torch.device):
            return repr(str(value))
        if isinstance(value, slice):
            parts = ("" if part is None else self.of(part) for part in (value.start, value.stop))
            step = "" if value.step is None else f":{self.of(value.step)}"
            return ":".join(parts) + step
        if value is Ellipsis:
            return "..."
        if isinstance(value, list):
            return "[" + ", ".join(map(self.of, value)) + "]"
        if isinstance(value, tuple):
            inner = ", ".join(map(self.of, value))
            return f"({inner},)" if len(value) == 1 else f"({inner})"
        raise NoWords(type(value))

    def index(self, value: Any) -> str:
        """What stands between the brackets of a subscript."""
        if isinstance(value, tuple) and value:
            inner = ", ".join(map(self.of, value))
            return f"{inner}," if len(value) == 1 else inner
        return self.of(value)


def call(function: str, positional: list[str], named: dict[str, str]) -> str:
    return f"{function}({', '.join([*positional, *(f'{k}={v}' for k, v in named.items())])})"


def parameter_names(name: str, function: Any) -> Iterator[list[str]]:
    """The names of an operation's parameters, one list an overload."""
    try:
        yield [
            parameter.name
            for parameter in inspect.signature(function).parameters.values()
            if parameter.kind is parameter.POSITIONAL_OR_KEYWORD
        ]
        return
    except (TypeError, ValueError):
        pass
    packet = getattr(torch.ops.aten, name.replace(".", "_"), None)
    if packet is None:
        return
    seen = []
    for overload in packet.overloads():
        schema = getattr(packet, overload)._schema
        if any(argument.is_out for argument in schema.arguments):
            continue
        names = [argument.name for argument in schema.arguments if not argument.kwarg_only]
        names = ["input" if name == "self" else name for name in names]
        if names not in seen:
            seen.append(names)
            yield names


def opposite(value: Any, dims: int) -> Any:
    """An argument with its dimensions counted from the other end; None if it has none of them."""
    if isinstance(value, bool) or dims == 0:
        return None
    if isinstance(value, int):
        if 0 <= value < dims:
            return value - dims
        return value + dims if -dims <= value < 0 else None
    if isinstance(value, list | tuple) and value and not isinstance(value, torch.Size):
        turned = [opposite(item, dims) for item in value]
        return None if None in turned else type(value)(turned)
    return None
