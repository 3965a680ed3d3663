"""What is to change in a script, and why: plain frozen data that can be printed, tested and saved.

Rules produce `Edit`s and `Refusal`s; the rewriter applies the edits; nothing here knows how a
place was found or how a tree is changed.
"""

from collections.abc import Iterable
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from trainera.read.source.place import Place


@dataclass(frozen=True, kw_only=True)
class Wrap:
    """Puts the expression at the place into a template, e.g. ``crew.split({})``."""

    template: str
    op: Literal["wrap"] = "wrap"


@dataclass(frozen=True, kw_only=True)
class Through:
    """Hands the call at the place to a function: ``f(a, b=1)`` becomes ``function(f, a, b=1)``."""

    function: str
    op: Literal["through"] = "through"


@dataclass(frozen=True, kw_only=True)
class Insert:
    """Puts a statement before or after the one at the place, at its indentation."""

    text: str
    where: Literal["before", "after"]
    op: Literal["insert"] = "insert"


@dataclass(frozen=True, kw_only=True)
class Keyword:
    """Sets a keyword argument of the call at the place, replacing one of that name."""

    name: str
    value: str
    op: Literal["keyword"] = "keyword"


@dataclass(frozen=True, kw_only=True)
class Unwrap:
    """Leaves of the call at the place its first argument only: ``f(x, y)`` becomes ``x``.

    Nothing is left of ``x = f(x)``.
    """

    op: Literal["unwrap"] = "unwrap"


@dataclass(frozen=True, kw_only=True)
class Replace:
    """Puts another expression in the place of a name."""

    text: str
    op: Literal["replace"] = "replace"


@dataclass(frozen=True, kw_only=True)
class Enclose:
    """Begins or ends, with an argument, what goes around several: ``*loader.mean(`` and ``)``."""

    head: str = ""
    tail: str = ""
    op: Literal["enclose"] = "enclose"


Action = Wrap | Through | Insert | Keyword | Unwrap | Replace | Enclose


@dataclass(frozen=True, kw_only=True)
class Edit:
    """One change of the source, with the rule that asked for it and the reason a user reads."""

    rule: str
    place: Place
    action: Action
    reason: str
    imports: tuple[str, ...] = ()
    """Import statements that the new text needs, e.g. ``from trainera import crew``."""


@dataclass(frozen=True, kw_only=True)
class Note:
    """Something the user should know about that is neither changed nor refused."""

    rule: str
    place: Place
    what: str
    why: str


@dataclass(frozen=True, kw_only=True)
class Refusal:
    """Why a script is not converted: what stands there, why it cannot be split, the way out."""

    rule: str
    place: Place
    what: str
    why: str
    do: str


@dataclass(frozen=True, kw_only=True)
class Plan:
    """All that would happen to a script for one engine."""

    script: Path
    engine: str
    framework: str = "torch"
    edits: tuple[Edit, ...] = ()
    notes: tuple[Note, ...] = ()
    refusals: tuple[Refusal, ...] = ()

    def refused(self, *refusals: Refusal) -> "Plan":
        """The same, to no avail."""
        return replace(self, refusals=refusals)

    def changed(self, edits: Iterable[Edit], notes: Iterable[Note]) -> "Plan":
        """The same with what is to happen."""
        return replace(self, edits=tuple(edits), notes=tuple(notes))

    @property
    def files(self) -> tuple[Path, ...]:
        """The files that change, the script itself first."""
        touched = {edit.place.path for edit in self.edits}
        return tuple(sorted(touched, key=lambda path: (path != self.script, path)))

    def as_data(self) -> dict[str, Any]:
        """The plan as JSON-ready data."""
        data: dict[str, Any] = _plain(asdict(self))
        return data


def _plain(value: Any) -> Any:
    if isinstance(value, Path):
        return str(value)
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value


@dataclass(frozen=True, kw_only=True)
class Options:
    """What the user chose on the command line."""

    batchnorm: Literal["global", "local"] = "global"
    """Whether batch statistics are those of the global batch or of each worker's slice."""
    batch: Literal["global", "per-worker"] = "global"
    """Whether the script's batch is shared out, or every worker has one of its own."""
    lr: Literal["keep", "linear", "sqrt"] = "keep"
    """How learning rates grow with a batch that has grown."""
    warmup_epochs: float = 0.0
    """How long they take to get there."""
    random: Literal["exact", "own"] = "exact"
    """Whether random numbers are those of the sequential run, or each worker draws its own."""
    extras: tuple[str, ...] = ()
    """What the engine offers besides, by the name of the option, e.g. ``fp16``."""


@dataclass(frozen=True, kw_only=True)
class Converted:
    """One file after its edits."""

    path: Path
    before: bytes
    after: bytes
    lines: tuple[int, ...] = field(repr=False)
    """For each line of `after` (index 0 is line 1) the line of `before` that it came from."""
