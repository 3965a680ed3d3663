"""Every worker joins the crew before it does anything else.

**What.** One statement, `crew.join()`, is added where the run begins: after the imports, or as the
first line under `if __name__ == "__main__":`. If a module of the script's own does something while
it is imported, or a class while it is defined, it stands before that.

**Why.** A worker has to know who it is: it joins the process group (nccl on GPUs, gloo between
machines, shared memory on the CPUs of one), takes its own GPU as the current one, so that `"cuda"`
means this worker's, and takes its share of the cores. The random states of the first worker are
given to all, so that models, splits and orders are the same everywhere even in a script that sets
no seed. What the other workers print, log or show as progress is dropped, so that every line
appears once. When the process ends, for whatever reason, it leaves the process group.

**Example.**

    if __name__ == "__main__":
    +   crew.join()
        main()

**Safety.** Started plainly, the script is a world of one and behaves as the original.

**Limits.** What a library draws or prints while it is imported comes before the crew is joined.
"""

import ast
import re
from collections.abc import Iterator

from trainera.engines.base import Engine
from trainera.plan import Options
from trainera.read.facts import Facts
from trainera.read.source.file import SourceFile
from trainera.read.source.lifetimes import is_main_guard
from trainera.read.source.modules import imported
from trainera.rules.torch._tools import Finding, before, edit, refuse

NAME = "join"
DRAWS = re.compile(r"rand|seed|shuffle|choice|sample|normal|uniform|nn\.[A-Z]|Parameter")
QUIET = {
    *("ArgumentParser", "NewType", "Path", "TypeVar", "compile", "device", "device_count", "dict"),
    *("float", "frozenset", "get", "getLogger", "int", "is_available", "items", "keys", "len"),
    *("list", "namedtuple", "partial", "range", "set", "sorted", "split", "str", "tuple", "values"),
}
"""Calls that modules make while they are imported, and that nobody notices."""


def plan(facts: Facts, engine: Engine, options: Options) -> Iterator[Finding]:
    script = facts.script
    yield from _clashes(facts, engine)
    yield edit(
        NAME,
        script,
        first_deed(script, facts.files),
        before(engine.join.text),
        "joins the crew: process group, this worker's device and cores, one random state for "
        "all, and one worker's output",
        engine.join.imports,
    )


def _clashes(facts: Facts, engine: Engine) -> Iterator[Finding]:
    """Names of the script's own that mean something else in the converted one."""
    for file in facts.files.values():
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
            if bound in engine.names:
                yield refuse(
                    NAME,
                    file,
                    node,
                    f"the script has a '{bound}' of its own",
                    "the converted script uses that name",
                    "rename it",
                )
                return


def first_deed(script: SourceFile, files: dict[str, SourceFile]) -> ast.stmt:
    """The first statement that does more than import or define."""
    busy = _busy_modules(files)
    for statement in script.tree.body:
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
    if "os.environ" in ast.unparse(statement):
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
