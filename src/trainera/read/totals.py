"""Which running totals can be added up once, after the loop, instead of at every batch.

A total may wait if nobody looks at it before it is added up: the definitions that reach the update
are a zero outside the loop and the updates themselves, no use of an update stands inside, no code
that is run later or finds variables by their names can look, and every way out of the loop that
leads to a use passes the place behind the loop.
"""

import ast
from collections import defaultdict
from collections.abc import Iterator
from functools import cache

import beniget

from trainera.read.facts import Facts, Key, Tally
from trainera.read.source.file import SourceFile
from trainera.read.source.syntax import SCOPES, is_namespace, parts_of
from trainera.read.values import Count, Mean, Sum

FUNCTIONS = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
LATER = FUNCTIONS | ast.GeneratorExp
"""Code that is run later than it is come by."""
TRIES = (ast.Try, getattr(ast, "TryStar", ast.Try))
KEEP_ERRORS = {
    "accelerate",
    "alive_progress",
    "mlflow",
    "numpy",
    "rich",
    "torch",
    "tqdm",
    "warnings",
}
"""Libraries none of whose context managers drops an error."""
FRAMES = {"f_locals", "f_globals", "_getframe", "currentframe"}
"""What finds the variables of other code."""


def deferrable(facts: Facts) -> frozenset[Key]:
    """The keys of the tallies that can wait for the end of their loop."""
    by_loop: dict[tuple[int, ast.AST, str], list[Key]] = defaultdict(list)
    for key, tally in facts.tallies.items():
        by_loop[key[0], tally.loop, tally.name].append(key)
    found: set[Key] = set()
    for (_, loop, _), keys in by_loop.items():
        tallies = [facts.tallies[key] for key in keys]
        file = tallies[0].file
        if isinstance(loop, ast.For) and _can_wait(tallies, loop, chains(file), facts):
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

    def uses(self, target: ast.AST) -> list[ast.AST]:
        definition = self.definitions.get(target)
        return [user.node for user in definition.users()] if definition is not None else []


def _can_wait(tallies: list[Tally], loop: ast.For, chains: DefUse, facts: Facts) -> bool:
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
    if name in chains.declared or _seen_by_others(name, loop, file, facts):
        return False
    return not _errors_stay_inside(loop, file) or _stays_in_block(name, loop, file)


def _home(node: ast.AST, file: SourceFile) -> ast.AST:
    """The function, class or module whose variables a statement binds."""
    while node in file.parents and not isinstance(node, FUNCTIONS | ast.ClassDef):
        node = file.parents[node]
    return node


def _seen_by_others(name: str, loop: ast.For, file: SourceFile, facts: Facts) -> bool:
    """Whether code may look at a total that is run later, elsewhere or by variables' names."""
    home = _home(loop, file)
    if isinstance(home, ast.ClassDef) or _read_later(name, home, file):
        return True
    files = facts.files.values()
    if any(FRAMES & (one.attributes_read | one.names_read) for one in files):
        return True
    if isinstance(home, FUNCTIONS):
        return any(map(_finds_variables, parts_of(home)))
    if any(_finds_variables(node) or _finds_modules(node) for one in files for node in one.nodes):
        return True
    return file.name != "__main__" and any(
        name in one.attributes_read or (one is not file and name in one.names_read) for one in files
    )


def _finds_variables(node: ast.AST) -> bool:
    """Whether code looks at variables whose names do not stand there."""
    if isinstance(node, ast.Call) and is_namespace(node):
        return True
    return isinstance(node, ast.Name) and node.id in ("globals", "locals", "eval", "exec")


def _finds_modules(node: ast.AST) -> bool:
    """Whether code looks at modules by their names, and so at the script itself."""
    if isinstance(node, ast.Attribute):
        return node.attr == "modules" and ast.unparse(node.value) == "sys"
    return isinstance(node, ast.alias) and node.name in ("__main__", "modules")


def _read_later(name: str, home: ast.AST, file: SourceFile) -> bool:
    """Whether functions or generators inside of its home look at a variable."""
    return any(
        isinstance(node.ctx, ast.Load) and any(isinstance(one, LATER) for one in around)
        for node, around in _named(name, home, file)
    )


def _named(name: str, home: ast.AST, file: SourceFile) -> Iterator[tuple[ast.Name, list[ast.AST]]]:
    """Where a variable is named, and what stands around it within its home."""
    for node in parts_of(home):
        if isinstance(node, ast.Name) and node.id == name:
            around = _around(node, home, file)
            if not any(isinstance(one, LATER) and _binds(one, name, file) for one in around):
                yield node, around


def _around(node: ast.AST, home: ast.AST, file: SourceFile) -> list[ast.AST]:
    """What stands around a node within its home, innermost first."""
    found: list[ast.AST] = []
    while (node := file.parents[node]) is not home:
        found.append(node)
    return found


def _binds(scope: ast.AST, name: str, file: SourceFile) -> bool:
    """Whether a name is a function's or generator's own: a parameter, or given a value in it."""
    for node in parts_of(scope):
        stored = isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and node.id == name
        if stored or (isinstance(node, ast.arg) and node.arg == name):
            above = file.parents[node]
            if isinstance(above, ast.NamedExpr):
                continue  # in a generator it is a name of the code around
            while not isinstance(above, (*SCOPES, ast.ClassDef)):
                above = file.parents[above]
            if above is scope:
                return True
    return False


def _errors_stay_inside(loop: ast.For, file: SourceFile) -> bool:
    """Whether the code around a loop may go on after an error in it."""
    for node in _around(loop, _home(loop, file), file):
        if isinstance(node, TRIES):
            return True
        if isinstance(node, ast.With | ast.AsyncWith):
            if not all(_keeps_errors(item.context_expr, file) for item in node.items):
                return True
    return False


def _keeps_errors(manager: ast.expr, file: SourceFile) -> bool:
    """Whether an error in a `with` statement is known to go on behind it."""
    called = manager.func if isinstance(manager, ast.Call) else manager
    if isinstance(called, ast.Name) and called.id == "open":
        return called.id not in _bound_names(file)
    while isinstance(called, ast.Attribute):
        called = called.value
    return isinstance(called, ast.Name) and _imported(called.id, file) in KEEP_ERRORS


def _imported(name: str, file: SourceFile) -> str:
    """The library that a name of a file comes from; nothing if it may be something else."""
    found = {
        (part.module or "" if isinstance(part, ast.ImportFrom) else alias.name).split(".")[0]
        for part in file.nodes
        if isinstance(part, ast.Import | ast.ImportFrom) and not getattr(part, "level", 0)
        for alias in part.names
        if (alias.asname or alias.name.split(".")[0]) == name
    }
    return found.pop() if len(found) == 1 and name not in _bound_names(file) else ""


@cache
def _bound_names(file: SourceFile) -> frozenset[str]:
    """The names of a file that are given to anything of its own."""
    found: set[str] = set()
    for node in file.nodes:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            found.add(node.name)
        elif isinstance(node, ast.arg):
            found.add(node.arg)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found.add(node.id)
    return frozenset(found)


def _stays_in_block(name: str, loop: ast.For, file: SourceFile) -> bool:
    """Whether a total begins and is looked at in the block that its loop stands in.

    Who comes by a use then has passed the whole loop, and the line behind it.
    """
    block = next(
        part
        for _, part in ast.iter_fields(file.parents[loop])
        if isinstance(part, list) and loop in part
    )
    place = block.index(loop)
    before = {part for one in block[:place] for part in parts_of(one)}
    after = {part for one in block[place + 1 :] for part in parts_of(one)}
    inside = set(parts_of(loop))
    return any(_gives_value(one, name) for one in block[:place]) and all(
        node in inside or node in after or (node in before and not isinstance(node.ctx, ast.Load))
        for node, _ in _named(name, _home(loop, file), file)
    )


def _gives_value(statement: ast.stmt, name: str) -> bool:
    """Whether a variable is given a value, whatever came before."""
    return isinstance(statement, ast.Assign) and any(
        isinstance(part, ast.Name) and part.id == name
        for target in statement.targets
        for part in parts_of(target)
    )


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
