"""Which running totals can be added up once, after the loop, instead of at every batch.

A total may wait if nobody looks at it before the loop ends: the definitions that reach the update
are a zero outside the loop and the updates themselves, and no use of an update stands inside.
"""

import ast
from collections import defaultdict
from functools import cache

import beniget

from trainera.read.facts import Facts, Key, Tally
from trainera.read.source.file import SourceFile
from trainera.read.source.syntax import parts_of
from trainera.read.values import Count, Mean, Sum


def deferrable(facts: Facts) -> frozenset[Key]:
    """The keys of the tallies that can wait for the end of their loop."""
    by_loop: dict[tuple[int, ast.AST, str], list[Key]] = defaultdict(list)
    for key, tally in facts.tallies.items():
        by_loop[key[0], tally.loop, tally.name].append(key)
    found: set[Key] = set()
    for (_, loop, _), keys in by_loop.items():
        tallies = [facts.tallies[key] for key in keys]
        file = tallies[0].file
        if isinstance(loop, ast.For) and _can_wait(tallies, loop, chains(file)):
            found.update(keys)
    return frozenset(found)


@cache
def chains(file: SourceFile) -> "DefUse":
    """The chains of a file, found once: several rules ask."""
    return DefUse(file)


class DefUse:
    """Reaching definitions of one file."""

    def __init__(self, file: SourceFile) -> None:
        self.file = file
        chains = beniget.DefUseChains(str(file.path))
        # Unknown names are the user's affair; beniget would print about them.
        chains.unbound_identifier = lambda *_: None
        self.followed = True
        try:
            chains.visit(file.tree)
        except Exception:  # beniget gives up on some uses of `global`
            self.followed = False
        self.declared = {
            name
            for node in file.nodes
            if isinstance(node, ast.Global | ast.Nonlocal)
            for name in node.names
        }
        self.definitions = dict(chains.chains.items())
        self.readers: dict[str, list[ast.AST]] = defaultdict(list)
        """The functions that read a name which is not their own."""
        for function in file.nodes:
            if isinstance(function, ast.FunctionDef | ast.Lambda):
                for name in _read_in(function) - _bound_in(function):
                    self.readers[name].append(function)

    def uses(self, target: ast.AST) -> list[ast.AST]:
        definition = self.definitions.get(target)
        return [user.node for user in definition.users()] if definition is not None else []


def _can_wait(tallies: list[Tally], loop: ast.For, chains: DefUse) -> bool:
    if not chains.followed or not all(tally.starts_at_zero for tally in tallies) or loop.orelse:
        return False
    if not all(isinstance(tally.share, Sum | Mean | Count) for tally in tallies):
        return False
    file, name = chains.file, tallies[0].name
    statements = {tally.node for tally in tallies}
    for node in parts_of(loop):
        if isinstance(node, ast.Return | ast.Yield | ast.YieldFrom):
            return False  # the line after the loop might not be reached
        if isinstance(node, ast.Name) and node.id == name:
            statement = file.statement_of(node)
            if statement not in statements or _reads_itself(node, tallies):
                return False
            if isinstance(node.ctx, ast.Store) and not _only_updates(
                node, loop, statements, chains
            ):
                return False
    return name not in chains.declared and not _read_by_functions(name, loop, chains)


def _read_by_functions(name: str, loop: ast.For, chains: DefUse) -> bool:
    """Whether a function that may be called in the loop looks at the total of that name."""
    file = chains.file
    home: ast.AST = loop
    while home in file.parents and not isinstance(home, ast.FunctionDef | ast.Lambda):
        home = file.parents[home]
    return any(
        function is not home and file.within(function, home)
        for function in chains.readers.get(name, ())
    )


def _read_in(function: ast.FunctionDef | ast.Lambda) -> set[str]:
    return {
        part.id
        for part in parts_of(function)
        if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Load)
    }


def _bound_in(function: ast.FunctionDef | ast.Lambda) -> set[str]:
    """The names that are a function's own."""
    spec = function.args
    names = {part.arg for part in (*spec.posonlyargs, *spec.args, *spec.kwonlyargs)}
    names |= {
        part.id
        for part in parts_of(function)
        if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)
    }
    return names


def _reads_itself(name: ast.Name, tallies: list[Tally]) -> bool:
    """Whether a total is looked at to find out what to add to it, as in a moving average."""
    return any(name in parts_of(tally.value) for tally in tallies)


def _only_updates(
    target: ast.Name, loop: ast.For, statements: set[ast.stmt], chains: DefUse
) -> bool:
    """Whether inside the loop an updated total is used by updates alone."""
    return all(
        chains.file.statement_of(use) in statements
        for use in chains.uses(target)
        if use in chains.file.parents and chains.file.within(use, loop)
    )
