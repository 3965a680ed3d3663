"""How long a value lives, told from the order of the code."""

import ast
from collections.abc import Sequence
from typing import TypeGuard

from trainera.read.source.file import SourceFile
from trainera.read.source.syntax import parts_of

FUNCTIONS = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda


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
        names = [node for part in own for node in parts_of(part) if _is(node, name)]
        if any(isinstance(node.ctx, ast.Load) for node in names):
            return "load"
        if names:
            return "load" if isinstance(statement, ast.AugAssign) else "store"
        found = first_seen(inner, name)
        if found:
            return found
    return None


def _mentions(node: ast.AST, text: str) -> bool:
    return any(_is(part, text) for part in parts_of(node))


def _is(node: ast.AST, text: str) -> TypeGuard[ast.Name | ast.Attribute]:
    """Whether a node is the name, or the attribute, of this text."""
    if isinstance(node, ast.Attribute):
        return "." in text and ast.unparse(node) == text
    return isinstance(node, ast.Name) and node.id == text


def made_here(name: ast.Name, file: SourceFile) -> bool:
    """Whether what a name holds is this function's own, and has no other name."""
    scope: ast.AST = name
    while scope in file.parents and not isinstance(scope, FUNCTIONS):
        scope = file.parents[scope]
    nodes = list(parts_of(scope))
    bound = any(_is(node, name.id) and isinstance(node.ctx, ast.Store) for node in nodes)
    shared = any(
        (isinstance(node, ast.Global | ast.Nonlocal) and name.id in node.names)
        or (isinstance(node, ast.Assign) and _is(node.value, name.id))
        for node in nodes
    )
    return bound and not shared


def names_bound(statement: ast.AST) -> set[str]:
    """The names that are bound in it, or one of whose items is."""
    found = set()
    for node in parts_of(statement):
        if isinstance(node, ast.MatchAs | ast.MatchStar | ast.ExceptHandler) and node.name:
            found.add(node.name)
        elif isinstance(node, ast.MatchMapping) and node.rest:
            found.add(node.rest)
        elif isinstance(node, ast.alias):
            found.add(node.asname or node.name.split(".")[0])
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            found.add(node.name)
        if isinstance(node, ast.Name | ast.Subscript) and isinstance(node.ctx, ast.Store):
            while isinstance(node, ast.Subscript):
                node = node.value
            if isinstance(node, ast.Name):
                found.add(node.id)
    return found


def is_main_guard(test: ast.expr) -> bool:
    return "__name__" in ast.unparse(test) and "__main__" in ast.unparse(test)
