"""Every worker joins the crew before it does anything else.

**What.** One statement, `crew.join()`, is added where the run begins: after the imports, or as the
first line under `if __name__ == "__main__":`.

**Why.** A worker has to know who it is: it joins the process group (gloo on CPU, nccl on GPU),
takes its own GPU as the current one, so that `"cuda"` means this worker's, and takes its share of
the cores. The random states of the first worker are given to all, so that models, splits and
orders are the same everywhere even in a script that sets no seed. What the other workers print,
log or show as progress is dropped, so that every line appears once. When the process ends, for
whatever reason, it leaves the process group.

**Example.**

    if __name__ == "__main__":
    +   crew.join()
        main()

**Safety.** Started plainly, the script is a world of one and behaves as the original.

**Limits.** What a module prints while it is imported comes before the crew is joined.
"""

import ast
from collections.abc import Iterator

from trainera.engines.base import Engine
from trainera.plan import Options
from trainera.read.facts import Facts
from trainera.read.lifetimes import is_main_guard
from trainera.rules.torch._tools import Finding, before, edit, refuse

NAME = "join"


def plan(facts: Facts, engine: Engine, options: Options) -> Iterator[Finding]:
    script = facts.script
    yield from _clashes(facts, engine)
    yield edit(
        NAME,
        script,
        first_deed(script.tree),
        before(engine.join.text),
        "joins the crew: process group, this worker's device and cores, one random state for "
        "all, and one worker's output",
        engine.join.imports,
    )


def _clashes(facts: Facts, engine: Engine) -> Iterator[Finding]:
    """Names of the script's own that mean something else in the converted one."""
    for file in facts.files.values():
        for node in ast.walk(file.tree):
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


def first_deed(tree: ast.Module) -> ast.stmt:
    """The first statement that does more than import or define."""
    for statement in tree.body:
        if isinstance(statement, ast.If) and is_main_guard(statement.test):
            return statement.body[0]
        if not _defines(statement):
            return statement
    return tree.body[-1]


def _defines(statement: ast.stmt) -> bool:
    if isinstance(statement, ast.Import | ast.ImportFrom | ast.FunctionDef | ast.ClassDef):
        return True
    if isinstance(statement, ast.AsyncFunctionDef | ast.Pass):
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


def _is_literal(node: ast.expr) -> bool:
    try:
        ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return False
    return True
