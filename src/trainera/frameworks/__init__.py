"""The frameworks in which scripts train, one file each."""

from importlib import import_module

from trainera.frameworks.base import Files, Framework

NAMES = ("keras", "torch")
"""In the order in which they are asked; what nobody claims is taken for PyTorch."""


def get(name: str) -> Framework:
    """The framework that an engine works with."""
    found: Framework = import_module(f"{__name__}.{name}").FRAMEWORK
    return found


def of(files: Files) -> str:
    """The framework that a script is written for."""
    return next((name for name in NAMES if get(name).uses(files)), NAMES[-1])
