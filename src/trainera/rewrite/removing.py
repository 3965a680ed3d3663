"""How a statement goes that an edit has left without effect, ``x = f(x)`` that became ``x = x``."""

from collections.abc import Callable, Iterator, Sequence

import libcst as cst

from trainera.read.source.positions import Span
from trainera.rewrite.text import Change
from trainera.rewrite.tree import Tree

_HARMLESS = {"device_count", "is_available", "len", "isinstance", "hasattr"}
"""Functions that a condition may call and still be left out."""


class Removing:
    """A statement that goes, and the condition around it if nothing else is under that."""

    def __init__(self, tree: Tree, span: Span, text: str) -> None:
        self._change = Change(*span, text, tree.line_of(span[0]))

    def opening(self) -> Iterator[Change]:
        """What takes the statement's place."""
        yield self._change

    def closing(self) -> Iterator[Change]:
        return iter(())


def removing(
    tree: Tree,
    call: cst.Call,
    ancestors: Sequence[cst.CSTNode],
    edited: Callable[[Span], int],
    followed: Callable[[cst.CSTNode], bool],
) -> Removing | None:
    """How the statement goes of which a call leaves nothing; None if it leaves something.

    `edited` counts the edits inside of a span, `followed` tells whether new lines stand at a
    statement.
    """
    if len(ancestors) < 3 or not _gives_back(tree, call, ancestors[-1]):
        return None
    statement, line, block = ancestors[-1], ancestors[-2], ancestors[-3]
    assert isinstance(line, cst.SimpleStatementLine | cst.SimpleStatementSuite)
    if edited(tree.span(statement)) > 1 or len(line.body) > 1:
        return None
    if isinstance(line, cst.SimpleStatementSuite):
        if followed(statement):
            return None
        condition = _condition(ancestors[:-2])
    else:
        assert isinstance(block, cst.Module | cst.IndentedBlock)
        if followed(statement) or len(block.body) > 1:
            return Removing(tree, (tree.line_start(tree.start(statement)), tree.below(line)), "")
        condition = _condition(ancestors[:-3])
    if condition is not None and edited(tree.span(condition)) == 1:
        return Removing(tree, (tree.line_start(tree.start(condition)), tree.below(condition)), "")
    return Removing(tree, tree.span(statement), "pass")


def _gives_back(tree: Tree, call: cst.Call, statement: cst.CSTNode) -> bool:
    """Whether the first argument of a call is given to the variable that it was."""
    if not isinstance(statement, cst.Assign) or statement.value is not call:
        return False
    if len(statement.targets) > 1 or call.args[0].star:
        return False
    target, argument = statement.targets[0].target, call.args[0].value
    return _is_variable(target) and target.deep_equals(argument)


def _is_variable(node: cst.BaseExpression) -> bool:
    while isinstance(node, cst.Attribute):
        node = node.value
    return isinstance(node, cst.Name)


def _condition(ancestors: Sequence[cst.CSTNode]) -> cst.If | None:
    """The condition that a statement is alone under, if it can go: it is asked for nothing else."""
    if len(ancestors) < 2:
        return None
    around, condition = ancestors[-2:]
    if not isinstance(condition, cst.If) or condition.orelse is not None:
        return None
    if not isinstance(around, cst.Module | cst.IndentedBlock) or len(around.body) < 2:
        return None
    return condition if _is_harmless(condition.test) else None


def _is_harmless(node: cst.CSTNode) -> bool:
    if isinstance(node, cst.NamedExpr | cst.Await | cst.Yield):
        return False
    if isinstance(node, cst.Call):
        name = node.func.attr if isinstance(node.func, cst.Attribute) else node.func
        if not isinstance(name, cst.Name) or name.value not in _HARMLESS:
            return False
    return all(map(_is_harmless, node.children))
