"""The state of a reading: what is known of the program, where the reading stands, and frames."""

import ast
from collections import Counter
from dataclasses import dataclass, field
from functools import cached_property

from trainera.errors import Status, UserError
from trainera.read.facts import Context, Decisions, LoopFact
from trainera.read.interpret.freshness import Freshness
from trainera.read.interpret.policy import STRICT, Policy
from trainera.read.source.file import SourceFile
from trainera.read.source.rebinding import Rebinding, rebinding_of
from trainera.read.values import PartialCall, Value
from trainera.read.values.join import join

Env = dict[str, Value]
Holder = tuple[Context, str] | None
"""A name that a container is followed by, and the way in which the function around is called."""
BUDGET = 1_000_000
"""Expressions looked at before a script counts as too intricate (a 300-line script needs 5,000)."""


@dataclass(eq=False)
class Frame:
    """One activation of a function, or a module's top level."""

    file: SourceFile
    context: Context
    env: Env | None
    """Values of the local names; None after a return, raise, break or continue."""
    policy: Policy = STRICT
    scope: int = 0
    outer: int | None = None
    is_module: bool = False
    globals: set[str] = field(default_factory=set)
    nonlocals: set[str] = field(default_factory=set)
    returns: Value | None = None
    ended: bool = False
    """Some path ended in what never returns."""
    yields: Value | None = None
    breaks: list[list[Env]] = field(default_factory=list)
    continues: list[list[Env]] = field(default_factory=list)
    loops: list[LoopFact] = field(default_factory=list)
    """Batch loops of this frame, the open ones and those that ended."""
    left: Env | None = None
    """The names where the function was left."""
    midway: list[Env] = field(default_factory=list)
    """All that was bound so far in each block around that an error may leave at any place."""
    home: Context = field(init=False)
    """The context, also where it is another one for each of several values that are asked."""

    def names(self) -> Env:
        """The names as functions inside see them: now, or as they were when it was left."""
        return self.env if self.env is not None else self.left or {}

    def __post_init__(self) -> None:
        self.home = self.context


@dataclass(frozen=True)
class Scope:
    """What a function that is defined in another one sees of it."""

    frame: Frame
    defined: Env
    """The names when it was defined: those of a comprehension are gone afterwards."""

    def get(self, name: str) -> Value | None:
        """A name as it is now, not as it was when the function was defined."""
        found = self.frame.names().get(name)
        return found if found is not None else self.defined.get(name)


@dataclass(eq=False)
class Program:
    """What is known of a program across all paths, some of it across readings."""

    files: dict[str, SourceFile]
    decisions: Decisions
    attributes: dict[tuple[ast.AST, str], Value] = field(default_factory=dict)
    """What objects of a class hold. Followed without regard to order, so kept across readings."""
    puts: dict[tuple[Context, ast.AST], dict[tuple[object, Holder], Value | None]] = field(
        default_factory=dict
    )
    """What was put into containers, by where these were made, by key and by who did it."""
    modules: dict[str, Env] = field(default_factory=dict)
    scopes: "dict[int, Scope]" = field(default_factory=dict)
    """The frames that functions were defined in."""
    contexts: dict[object, Context] = field(default_factory=dict)
    """The ways in which functions are called."""
    results: dict[Context, Value] = field(default_factory=dict)
    sites: dict[ast.AST, dict[ast.AST, bool]] = field(default_factory=dict)
    """Of each class, the calls that make its objects, and whether they do so for a batch."""
    by_hand: set[ast.AST] = field(default_factory=set)
    """Loaders of which batches are taken by `next` outside of loops."""
    promoted: set[ast.AST] = field(default_factory=set)
    """Calls of libraries that turned out to make networks."""
    wrapped_attributes: set[tuple[ast.AST, str]] = field(default_factory=set)
    partials: dict[ast.AST, PartialCall] = field(default_factory=dict)
    """Calls of functions that had some of their arguments before."""
    visited: set[ast.AST] = field(default_factory=set)
    """Functions that have been called."""
    used: set[ast.AST] = field(default_factory=set)
    """Networks that have been given a batch, in whatever round of a loop."""
    evaluated: set[ast.AST] = field(default_factory=set)
    """Networks that are in evaluation mode for sure."""
    endless: set[Context] = field(default_factory=set)
    """Calls of functions that never return: the script makes workers of its own there."""
    seen: dict[tuple[Context, ast.AST], bool] = field(default_factory=dict)
    """Expressions that were evaluated, and whether there was a share in what came out at last."""
    changed: bool = False
    """Whether an attribute was learned to be something new in this reading."""
    learned: int = 0
    """How often anything has changed that functions look up: attributes, names of modules."""
    _spent: int = 0

    loose: set[str] = field(default_factory=set)
    """Attributes that were set of something of which it is not known what it is."""

    @cached_property
    def rebinding(self) -> Rebinding:
        return rebinding_of(self.files)

    def begin_reading(self) -> None:
        """Forgets what another reading finds again."""
        self.modules = {}
        self.changed = False
        self.visited.clear()
        self.used.clear()
        self.evaluated.clear()
        self.seen.clear()
        self.endless.clear()

    def spend(self, frame: Frame) -> None:
        """Keeps the analysis of a script from taking forever."""
        self._spent += 1
        if self._spent > BUDGET:
            raise UserError(
                f"{frame.file.path}: too intricate to follow — the analysis was given up",
                Status.REFUSED,
            )


@dataclass(eq=False)
class Path:
    """Where the reading stands."""

    open_loops: list[LoopFact] = field(default_factory=list)
    """The loops over batches that are under way, outermost first."""
    frames: list[Frame] = field(default_factory=list)
    """The frames that wait for a call to return, outermost first."""
    fresh: Freshness = field(default_factory=Freshness)
    mode: str = "train"
    """Of the networks: ``train``, ``eval`` or ``either``."""
    loop_depth: int = 0
    active: set[Context] = field(default_factory=set)
    """The ways in which functions are being called at the moment,"""
    nested: Counter[ast.AST] = field(default_factory=Counter)
    """and how often each function is."""
    last_call: Context = 0
    """The way in which a function was called that has been read last."""
    cut_short: int = 0
    """How often a call was not followed, because it was within itself or too deep."""

    def begin_reading(self) -> None:
        self.mode = "train"
        self.fresh = Freshness()
        self.active.clear()

    @property
    def loop(self) -> ast.AST | None:
        """The innermost loop over batches that is under way."""
        return self.open_loops[-1].node if self.open_loops else None

    def needs_all_workers(self) -> None:
        """Marks that what is read now needs all workers at the same time."""
        for loop in self.open_loops:
            loop.collective = True

    def outermost(self) -> bool:
        """Whether no loop is under way in whose own rounds batches come."""
        return not any(one.direct for one in self.open_loops)


def join_env(*environments: Env | None) -> Env | None:
    """The names after two paths meet."""
    alive = [env for env in environments if env is not None]
    if not alive:
        return None
    joined = dict(alive[0])
    for env in alive[1:]:
        for name, value in env.items():
            joined[name] = join(joined.get(name), value)
    return joined
