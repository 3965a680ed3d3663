"""The state of a reading: frames, names, and how a share becomes a whole."""

import ast
import builtins
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import count

from trainera.errors import Status, UserError
from trainera.read.facts import (
    Context,
    Decisions,
    Facts,
    LoopFact,
)
from trainera.read.freshness import Freshness
from trainera.read.inside import first_share, holds_share
from trainera.read.kinds import (
    PLAIN,
    Class,
    Either,
    External,
    Func,
    Instance,
    Iter,
    Kind,
    Loader,
    Model,
    Partial,
    Share,
)
from trainera.read.lattice import join
from trainera.read.source import SourceFile

Env = dict[str, Kind]
BUDGET = 1_000_000
"""Expressions looked at before a script counts as too intricate (a 300-line script needs 5,000)."""


@dataclass(eq=False)
class Frame:
    """One activation of a function, or a module's top level."""

    file: SourceFile
    context: Context
    env: Env | None
    """Kinds of the local names; None after a return, raise, break or continue."""
    lenient: bool = False
    """Inside a network's own code: rows are taken to stay apart unless the code shows otherwise."""
    scope: int = 0
    outer: int | None = None
    is_module: bool = False
    globals: set[str] = field(default_factory=set)
    nonlocals: set[str] = field(default_factory=set)
    returns: Kind | None = None
    yields: Kind | None = None
    breaks: list[list[Env]] = field(default_factory=list)
    continues: list[list[Env]] = field(default_factory=list)
    loops: list[LoopFact] = field(default_factory=list)
    """Batch loops of this frame, the open ones and those that ended."""


@dataclass
class Trial:
    """A look at some code that may have started from too little."""

    holds: bool = False


def join_env(*environments: Env | None) -> Env | None:
    """The names after two paths meet."""
    alive = [env for env in environments if env is not None]
    if not alive:
        return None
    joined = dict(alive[0])
    for env in alive[1:]:
        for name, kind in env.items():
            joined[name] = join(joined.get(name), kind)
    return joined


class Core:
    """What all parts of the analyser share."""

    def __init__(self, files: dict[str, SourceFile], decisions: Decisions) -> None:
        self.files = files
        self.decisions = decisions
        self.facts = Facts(files=files)
        self.attributes: dict[tuple[ast.AST, str], Kind] = {}
        self.modules: dict[str, Env] = {}
        self.scopes: dict[int, tuple[Env, int | None]] = {}
        self.contexts: dict[object, Context] = {}
        self.open_loops: list[LoopFact] = []
        self.frames: list[Frame] = []
        """The frames that wait for a call to return, outermost first."""
        self.fresh = Freshness()
        self.sites: dict[ast.AST, dict[ast.AST, bool]] = {}
        """Of each class, the calls that make its objects, and whether they do so for a batch."""
        self.by_hand: set[ast.AST] = set()
        """Loaders of which batches are taken by `next` outside of loops."""
        self.promoted: set[ast.AST] = set()
        self.mode: str = "train"
        self.wrapped_attributes: set[tuple[ast.AST, str]] = set()
        self.loop_depth = 0
        self.active: set[Context] = set()
        self.partials: dict[ast.AST, Partial] = {}
        """Calls of functions that had some of their arguments before."""
        self.visited: set[ast.AST] = set()
        self.used: set[ast.AST] = set()
        """Networks that have been given a batch, in whatever round of a loop."""
        self.results: dict[Context, Kind] = {}
        self.changed = False
        self.learned = 0
        """How often anything has changed that functions look up: attributes, names of modules."""
        self._scope_numbers = count(1)
        self._spent = 0

    # To be given by the parts built on this one.
    def eval(self, node: ast.expr, frame: Frame) -> Kind:
        raise AssertionError

    def run(self, statements: list[ast.stmt], frame: Frame) -> None:
        raise AssertionError

    def operation(
        self,
        operator: str,
        left_node: ast.expr,
        left: Kind,
        right_node: ast.expr,
        right: Kind,
        frame: Frame,
    ) -> Kind:
        raise AssertionError

    def call_function(
        self,
        function: Func,
        arguments: list[Kind],
        keywords: dict[str, Kind],
        frame: Frame,
        lenient: bool = False,
    ) -> Kind:
        raise AssertionError

    def as_batches(self, kind: Kind, frame: Frame) -> Kind:
        raise AssertionError

    def through_wrapper(self, node: ast.expr, owner: Model, frame: Frame, name: str) -> None:
        raise AssertionError

    def spend(self, frame: Frame) -> None:
        self._spent += 1
        if self._spent > BUDGET:
            raise UserError(
                f"{frame.file.path}: too intricate to follow — the analysis was given up",
                Status.REFUSED,
            )

    def new_scope(self) -> int:
        return next(self._scope_numbers)

    @contextmanager
    def on_trial(self) -> Iterator[Trial]:
        """What is found out inside is forgotten, unless it turns out that it holds.

        What values are is remembered.
        """
        facts = self.facts
        loops = [(loop, loop.training, loop.collective) for loop in self.open_loops]
        backwards = [(loop, set(loop.backwards)) for loop in self.open_loops]
        self.facts = facts.copy()
        trial = Trial()
        yield trial
        if not trial.holds:
            self.facts = facts
            for loop, training, collective in loops:
                loop.training, loop.collective = training, collective
            for loop, steps in backwards:
                loop.backwards.clear()
                loop.backwards.update(steps)

    # Names.
    def lookup(self, name: str, frame: Frame) -> Kind:
        if frame.env is not None and name in frame.env and name not in frame.globals:
            return frame.env[name]
        outer = frame.outer
        while outer is not None and outer in self.scopes:
            env, outer = self.scopes[outer]
            if name in env:
                return env[name]
        module = self.modules.get(frame.file.name, {})
        if name in module:
            return module[name]
        if hasattr(builtins, name):
            return External(f"builtins.{name}")
        return PLAIN

    def bind(self, name: str, kind: Kind, frame: Frame) -> None:
        if frame.env is None:
            return
        if name in frame.globals:
            module = self.modules[frame.file.name]
            module[name] = join(module.get(name), kind)
            self.learned += 1
        if frame.is_module and frame.env.get(name) != kind:
            self.learned += 1
        frame.env[name] = kind

    def attribute(self, cls: Class, name: str) -> Kind | None:
        for owner in self.lineage(cls):
            if (owner.node, name) in self.attributes:
                return self.attributes[owner.node, name]
            for statement in owner.node.body:
                if isinstance(statement, ast.FunctionDef) and statement.name == name:
                    return Func(statement, owner.module, owner=owner.node)
        return None

    def set_attribute(self, cls: Class, name: str, kind: Kind) -> None:
        old = self.attributes.get((cls.node, name))
        if isinstance(kind, Model) and (cls.node, name) in self.wrapped_attributes:
            kind = replace(kind, wrapped=True)
            old = replace(old, wrapped=True) if isinstance(old, Model) else old
        self.fresh.set((cls.node, name))
        new = join(old, kind)
        if new != self.attributes.get((cls.node, name)):
            self.attributes[cls.node, name] = new
            self.changed = True
            self.learned += 1

    def carried(self, kind: Kind) -> Share | None:
        """Something of a batch inside of an object, or that a function names or was given."""
        inside: list[Kind] = []
        if isinstance(kind, Instance):
            owners = {owner.node for owner in self.lineage(kind.cls)}
            inside = [held for (node, _), held in self.attributes.items() if node in owners]
        elif isinstance(kind, Func):
            around, _ = self.scopes.get(kind.scope, ({}, None))
            names = {part.id for part in ast.walk(kind.node) if isinstance(part, ast.Name)}
            inside = [held for name, held in around.items() if name in names]
        elif isinstance(kind, Either):
            held_by = (self.carried(function) for function in kind.functions)
            return next((share for share in held_by if share is not None), None)
        elif isinstance(kind, Partial):
            inside = [*kind.positional, *(value for _, value in kind.keywords)]
        return next((first_share(held) for held in inside if holds_share(held)), None)

    def of_a_batch(self, kind: Kind) -> Share | None:
        """The same if it was made for a batch, so that it is worth nothing when that is over."""
        if isinstance(kind, Instance) and not any(self.sites.get(kind.cls.node, {}).values()):
            return None
        return self.carried(kind)

    def lineage(self, cls: Class) -> list[Class]:
        """A class and its bases of the script's own, nearest first."""
        found = [cls]
        for current in found:
            for base in current.node.bases:
                kind = self.base_kind(base, current)
                if isinstance(kind, Class) and kind not in found:
                    found.append(kind)
        return found

    def base_kind(self, base: ast.expr, cls: Class) -> Kind:
        frame = Frame(self.files[cls.module], 0, self.modules.get(cls.module, {}), is_module=True)
        return self.eval(base, frame)

    def base_names(self, cls: Class) -> list[str]:
        """The library classes that a class comes from."""
        names = []
        for current in self.lineage(cls):
            for base in current.node.bases:
                kind = self.base_kind(base, current)
                if isinstance(kind, External):
                    names.append(kind.name)
        return names

    # Shares and wholes.


def is_batches(kind: Kind) -> bool:
    """Whether iterating gives batches that are split."""
    return isinstance(kind, Loader | Iter)
