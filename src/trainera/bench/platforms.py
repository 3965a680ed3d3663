"""What scripts are written for, which Python has it, and which engines take them."""

import importlib.util
import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from trainera.errors import Status, UserError

_NAMES = {"torch": "PyTorch", "jax": "JAX", "tensorflow": "TensorFlow"}
KEYS = ("torch", "keras", "jax", "tensorflow")
"""By what a Python may be named: a framework, or a backend of Keras."""
_PATIENCE_S = 60.0
_ASK = """
import importlib.util, json, sys
print(json.dumps([one for one in sys.argv[1:] if importlib.util.find_spec(one) is None]))
"""


@dataclass(frozen=True, kw_only=True)
class Platform:
    """What a script is written for."""

    framework: str
    backend: str = ""
    """Of Keras; empty where the script leaves it to the environment, or there is no choice."""

    @property
    def title(self) -> str:
        if self.framework != "keras":
            return _NAMES[self.framework]
        return f"Keras on {_NAMES.get(self.backend, self.backend)}" if self.backend else "Keras"

    @property
    def modules(self) -> tuple[str, ...]:
        """What a script needs to run at all."""
        return tuple(filter(None, (self.framework, self.backend)))

    def takes(self, other: "Platform") -> bool:
        """Whether what is for this one serves scripts for the other."""
        same = self.backend == other.backend
        return self.framework == other.framework and (same or not other.backend)


@dataclass(frozen=True, kw_only=True)
class Offer:
    """An engine for a platform."""

    engine: str
    platform: Platform
    missing: str | None = None
    """What stands in the way of running it."""
    grows: bool = False
    """Whether each worker can be given a batch of its own."""
    another: str = ""
    """Why it is another training than the script's, if it is: then it is tried by name only."""
    unequal: bool = False
    """Whether workers can be given unequal parts of a batch."""


class Pythons:
    """The Python for each platform: the one that the user names, else this one."""

    def __init__(self, chosen: Mapping[str, str]) -> None:
        for key, path in chosen.items():
            if key not in KEYS:
                raise UserError(f"--python {key}={path}: name one of {', '.join(KEYS)}")
            if not os.access(path, os.X_OK) or not Path(path).is_file():
                raise UserError(f"--python {key}={path}: no program is there")
        # Not resolved: a link is what tells an environment from the Python that it is made of.
        self._chosen = {key: str(Path(path).absolute()) for key, path in chosen.items()}

    def of(self, platform: Platform) -> str:
        """By the backend, or else by the framework."""
        keys = filter(None, (platform.backend, platform.framework))
        return next((self._chosen[key] for key in keys if key in self._chosen), sys.executable)

    def lacks(self, platform: Platform, modules: Sequence[str]) -> list[str]:
        """Which modules cannot be imported there."""
        python = self.of(platform)
        if python == sys.executable:
            return [module for module in modules if importlib.util.find_spec(module) is None]
        return list(_lacks(python, tuple(modules)))

    def way_out(self, platform: Platform) -> str:
        """What to do where something is missing."""
        key = platform.backend or platform.framework
        return f"or name a Python that has it: --python {key}=PATH"


@lru_cache
def _lacks(python: str, modules: tuple[str, ...]) -> tuple[str, ...]:
    command = [python, "-c", _ASK, *modules]
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=_PATIENCE_S, check=True
        )
        return tuple(json.loads(done.stdout.splitlines()[-1]))
    except (OSError, ValueError, IndexError, subprocess.SubprocessError) as error:
        raise UserError(f"--python {python}: it does not answer ({error})", Status.FAILED) from None
