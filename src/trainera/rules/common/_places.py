"""Where a run begins, and names that would meet those of the script."""

import ast
import re
from collections.abc import Iterator

from trainera.read.libraries.distributed import PLACE
from trainera.read.source.file import SourceFile
from trainera.read.source.lifetimes import is_main_guard
from trainera.read.source.modules import imported
from trainera.rules.common._tools import Finding, refuse

DRAWS = re.compile(r"rand|seed|shuffle|choice|sample|normal|uniform|nn\.[A-Z]|Parameter")
QUIET = {
    *("ArgumentParser", "NewType", "Path", "TypeVar", "compile", "device", "device_count", "dict"),
    *("float", "frozenset", "get", "getLogger", "int", "is_available", "items", "keys", "len"),
    *("list", "namedtuple", "partial", "range", "set", "sorted", "split", "str", "tuple", "values"),
}
"""Calls that modules make while they are imported, and that nobody notices."""


def clashes(rule: str, files: dict[str, SourceFile], names: frozenset[str]) -> Iterator[Finding]:
    """Names of the script's own that mean something else in the converted one."""
    for file in files.values():
        for node in file.nodes:
            bound = None
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                bound = node.id
            elif isinstance(node, ast.FunctionDef | ast.ClassDef):
                bound = node.name
            elif isinstance(node, ast.arg):
                bound = node.arg
            elif isinstance(node, ast.alias):
                bound = node.asname or node.name
            if bound in names:
                yield refuse(
                    rule,
                    file,
                    node,
                    f"the script has a '{bound}' of its own",
                    "the converted script uses that name",
                    "rename it",
                )
                return


def first_deed(
    script: SourceFile, files: dict[str, SourceFile], behind: ast.stmt | None = None
) -> ast.stmt:
    """The first statement that does more than import or define, behind a given one."""
    busy = _busy_modules(files)
    begin = 0 if behind is None else script.tree.body.index(behind) + 1
    for statement in script.tree.body[begin:]:
        if isinstance(statement, ast.If) and is_main_guard(statement.test):
            return statement.body[0]
        if not _defines(statement) or busy & set(imported(script, statement)):
            return statement
    return script.tree.body[-1]


def _busy_modules(files: dict[str, SourceFile]) -> set[str]:
    """Own modules that do something while they are imported, or import one that does."""
    own = {name: file for name, file in files.items() if name != "__main__"}
    busy = {name for name, file in own.items() if not all(map(_keeps_still, file.tree.body))}
    while True:
        more = {
            name
            for name, file in own.items()
            if name not in busy and any(busy & set(imported(file, s)) for s in file.tree.body)
        }
        if not more:
            return busy
        busy |= more


def _keeps_still(statement: ast.stmt) -> bool:
    """Whether a statement of a module can neither draw random numbers nor be heard or seen."""
    if isinstance(statement, ast.If) and is_main_guard(statement.test):
        return True
    if _defines(statement):
        return True
    calls = (node for node in ast.walk(statement) if isinstance(node, ast.Call))
    return isinstance(statement, ast.Assign | ast.AnnAssign | ast.If) and all(map(_quiet, calls))


def _quiet(call: ast.Call) -> bool:
    name = ast.unparse(call.func)
    if PLACE.search(ast.unparse(call)):
        return False  # it asks who it is: the crew has to be joined by then
    return name.rsplit(".", 1)[-1] in QUIET or name.startswith(("os.path.", "os.environ."))


def _defines(statement: ast.stmt) -> bool:
    if isinstance(statement, ast.FunctionDef | ast.ClassDef | ast.AsyncFunctionDef):
        return not any(_draws(part) for part in _run_at_once(statement))
    if isinstance(statement, ast.Import | ast.ImportFrom | ast.Pass):
        return True
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant):
        return True
    if isinstance(statement, ast.Assign | ast.AnnAssign):
        return statement.value is None or _is_literal(statement.value)
    text = ast.unparse(statement)
    if "os.environ" in text and not PLACE.search(text):
        return True  # what is set for the libraries is set before anything starts
    if isinstance(statement, ast.Try):
        return all(_defines(inner) for inner in statement.body)
    return False


def _run_at_once(definition: ast.stmt) -> Iterator[ast.AST]:
    """What a definition evaluates on the spot: defaults, and the bodies of classes."""
    if isinstance(definition, ast.FunctionDef | ast.AsyncFunctionDef):
        yield from definition.args.defaults
        yield from (default for default in definition.args.kw_defaults if default is not None)
    elif isinstance(definition, ast.ClassDef):
        for statement in definition.body:
            yield from _run_at_once(statement)
    else:
        yield definition


def _draws(node: ast.AST) -> bool:
    """Whether an expression may draw random numbers or seed them; layers do when they are made."""
    return any(
        isinstance(part, ast.Call) and DRAWS.search(ast.unparse(part.func))
        for part in ast.walk(node)
    )


def _is_literal(node: ast.expr) -> bool:
    try:
        ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return False
    return True
