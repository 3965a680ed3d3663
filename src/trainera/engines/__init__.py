"""The engines: one file each, found by name."""

from difflib import get_close_matches
from importlib import import_module
from pkgutil import iter_modules

from trainera.engines.base import Engine
from trainera.errors import UserError


def names() -> tuple[str, ...]:
    """The engines there are, by file name."""
    return tuple(sorted(info.name for info in iter_modules(__path__) if info.name != "base"))


def get(name: str) -> Engine:
    if name not in names():
        close = get_close_matches(name, names(), n=1)
        hint = f"; did you mean '{close[0]}'?" if close else ""
        raise UserError(f"no engine is called '{name}'{hint} — choose one of: {', '.join(names())}")
    engine = import_module(f"{__name__}.{name}").ENGINE
    assert isinstance(engine, Engine)
    return engine
