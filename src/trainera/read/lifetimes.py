"""How long a value lives, told from the order of the code."""

import ast
from collections.abc import Sequence
from typing import TypeGuard

from trainera.read.core import Env
from trainera.read.kinds import Lost, left_over
from trainera.read.lattice import holds_share
from trainera.read.source import SourceFile
from trainera.read.wholes import first_share


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


def set_once(target: ast.Name | ast.Attribute, value: ast.expr, file: SourceFile) -> bool:
    """Whether something is set only if a look at it says so: ``if first is None: first = x``."""
    text = ast.unparse(target)
    asked = False
    above: ast.AST = target
    while above in file.parents:
        above = file.parents[above]
        if isinstance(above, ast.FunctionDef | ast.AsyncFunctionDef | ast.For | ast.While):
            break
        if isinstance(above, ast.If):
            asked |= _mentions(above.test, text)
    bound = isinstance(above, ast.For) and _mentions(above.target, text)
    updated = _mentions(value, text)
    body = getattr(above, "body", [])
    return asked and not bound and not updated and first_seen(body, text) == "load"


def first_seen(statements: Sequence[ast.AST], name: str) -> str | None:
    """Whether a name is first read or first bound, in the order in which code is run."""
    for statement in statements:
        inner = [part for part in ast.iter_child_nodes(statement) if isinstance(part, ast.stmt)]
        own = [part for part in ast.iter_child_nodes(statement) if not isinstance(part, ast.stmt)]
        names = [node for part in own for node in ast.walk(part) if _is(node, name)]
        if any(isinstance(node.ctx, ast.Load) for node in names):
            return "load"
        if names:
            return "load" if isinstance(statement, ast.AugAssign) else "store"
        found = first_seen(inner, name)
        if found:
            return found
    return None


def _mentions(node: ast.AST, text: str) -> bool:
    return any(_is(part, text) for part in ast.walk(node))


def _is(node: ast.AST, text: str) -> TypeGuard[ast.Name | ast.Attribute]:
    """Whether a node is the name, or the attribute, of this text."""
    if isinstance(node, ast.Attribute):
        return "." in text and ast.unparse(node) == text
    return isinstance(node, ast.Name) and node.id == text


def stale(env: Env | None, bound: set[str]) -> Env | None:
    """The names at the start of the next batch: shares of the last one are worth nothing now."""
    if env is None:
        return None
    result: Env = {}
    for name, kind in env.items():
        if holds_share(kind) and not isinstance(kind, Lost) and name in bound:
            loaders = first_share(kind).loaders
            result[name] = left_over(name, loaders, "batch")
        else:
            result[name] = kind
    return result


def is_main_guard(test: ast.expr) -> bool:
    return "__name__" in ast.unparse(test) and "__main__" in ast.unparse(test)
