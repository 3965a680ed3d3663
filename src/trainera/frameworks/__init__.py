"""The frameworks in which scripts train, one file each."""

from importlib import import_module

from trainera.frameworks.base import Framework


def get(name: str) -> Framework:
    """The framework that an engine works with."""
    found: Framework = import_module(f"{__name__}.{name}").FRAMEWORK
    return found
