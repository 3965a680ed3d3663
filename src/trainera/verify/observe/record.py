"""The trace of one worker, and what the other hooks have to know of each other."""

import json
import weakref
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any


class Seen:
    """What is known of objects; one that takes another's place in memory is not taken for it."""

    def __init__(self) -> None:
        self._entries: dict[int, tuple[Callable[[], Any], Any]] = {}

    def get(self, one: Any, default: Any = None) -> Any:
        """What was noted of this very object."""
        same, value = self._entries.get(id(one), (None, default))
        return value if same is not None and same() is one else default

    def put(self, one: Any, value: Any) -> None:
        """Notes something, without keeping the object alive if that can be."""
        try:
            same: Callable[[], Any] = weakref.ref(one)
        except TypeError:  # a list, say
            same = partial(_itself, one)
        self._entries[id(one)] = (same, value)


def _itself(one: Any) -> Any:
    return one


def put(owner: Any, name: str, value: Any) -> None:
    """Puts a hook in the place of a framework's own function, which type checkers forbid."""
    setattr(owner, name, value)


@dataclass(frozen=True, kw_only=True)
class Settings:
    """What the observer is told; plain types, because it goes through marshal."""

    directory: str
    """Where trace, output and state go."""
    dtype: str = "float64"
    seed: int = 0
    exact: bool = True
    """Whether random numbers are made to depend on the sample instead of on who draws them."""
    draws_alike: bool = False
    """Whether that is left out for what is drawn in loops: both scripts draw the same anyway."""
    steps: int | None = None
    epochs: int | None = None
    choices: str | None = None
    """The sequential run's record of which dimension of each random draw is the batch."""


@dataclass
class Recorder:
    """Writes events; one object a process."""

    settings: Settings
    rank: int
    step: int = 0
    """Optimizer steps so far, of all optimizers."""
    epochs: int = 0
    """Passes in which a step was made."""
    path: Path = field(init=False)

    def __post_init__(self) -> None:
        self.path = Path(self.settings.directory) / f"trace-{self.rank}.jsonl"
        self._file = self.path.open("w", encoding="utf-8")

    def write(self, kind: str, /, **content: Any) -> None:
        """Adds an event. Flushed at once: what a killed process saw is what is needed most."""
        json.dump({"k": kind, **content}, self._file, separators=(",", ":"))
        self._file.write("\n")
        self._file.flush()
