"""The engines: one file each, in the folder of its framework, found by name."""

from collections.abc import Iterator
from difflib import get_close_matches
from importlib import import_module
from pkgutil import iter_modules

from trainera.engines.base import Engine
from trainera.errors import UserError


def names(framework: str | None = None) -> tuple[str, ...]:
    """The engines that scripts are converted for, of one framework or of all."""
    found = {one.name for one in every() if not one.another and framework in (None, one.framework)}
    return tuple(sorted(found))


def every() -> Iterator[Engine]:
    """All engines; one may serve several frameworks, in other words for each."""
    for framework, name in _files():
        yield get(name, framework)


def get(name: str, framework: str | None = None) -> Engine:
    """The engine of that name; of the first framework that has one unless told."""
    file = name.replace("-", "_")
    homes = [home for home, known in _files() if known == file]
    if not homes:
        close = get_close_matches(name, names(), n=1)
        hint = f"; did you mean '{close[0]}'?" if close else ""
        raise UserError(f"no engine is called '{name}'{hint} — choose one of: {', '.join(names())}")
    if framework is not None and framework not in homes:
        raise UserError(
            f"--engine {name} is for {' and '.join(homes)}, and the script trains with {framework} "
            f"— choose one of: {', '.join(names(framework))}"
        )
    engine = import_module(f"{__name__}.{framework or homes[0]}.{file}").ENGINE
    assert isinstance(engine, Engine)
    return engine


def _files() -> list[tuple[str, str]]:
    """Framework and name of every engine, PyTorch's first."""
    return sorted(
        (
            (home.name, info.name)
            for home in iter_modules(__path__)
            if home.ispkg
            for info in iter_modules([f"{path}/{home.name}" for path in __path__])
            if info.name != "base"
        ),
        key=lambda one: (one[0] != "torch", one),
    )
