"""How long a name lives, told from the order of the code."""

import ast
from collections.abc import Sequence

from trainera.read.source import SourceFile


def outlives(target: ast.Name, loop: ast.AST, file: SourceFile) -> bool:
    """Whether what is bound to a name in a loop may be looked at in a later round."""
    if first_seen(getattr(loop, "body", []), target.id) == "load":
        return True
    above: ast.AST = target
    while above in file.parents and file.parents[above] is not loop:
        above = file.parents[above]
        if isinstance(above, ast.If | ast.Try | ast.For | ast.While):
            return True  # it is not bound in every round
    return False


def first_seen(statements: Sequence[ast.AST], name: str) -> str | None:
    """Whether a name is first read or first bound, in the order in which code is run."""
    for statement in statements:
        inner = [part for part in ast.iter_child_nodes(statement) if isinstance(part, ast.stmt)]
        own = [part for part in ast.iter_child_nodes(statement) if not isinstance(part, ast.stmt)]
        names = [
            node
            for part in own
            for node in ast.walk(part)
            if isinstance(node, ast.Name) and node.id == name
        ]
        if any(isinstance(node.ctx, ast.Load) for node in names):
            return "load"
        if names:
            return "load" if isinstance(statement, ast.AugAssign) else "store"
        found = first_seen(inner, name)
        if found:
            return found
    return None


def is_main_guard(test: ast.expr) -> bool:
    return "__name__" in ast.unparse(test) and "__main__" in ast.unparse(test)
