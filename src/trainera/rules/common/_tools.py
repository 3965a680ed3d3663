"""What rules share: turning nodes into edits and refusals."""

import ast
import re

from trainera.plan import Action, Edit, Insert, Note, Refusal, Wrap
from trainera.read.source.file import SourceFile

Finding = Edit | Refusal | Note

WIDTH = 100
"""Columns that a new line has at most, where that can be helped."""
LINE_END = re.compile(r"[\r\n]")


def edit(
    rule: str,
    file: SourceFile,
    node: ast.AST,
    action: Action,
    reason: str,
    imports: tuple[str, ...],
) -> Edit:
    return Edit(rule=rule, place=file.place(node), action=action, reason=reason, imports=imports)


def wrap(template: str) -> Wrap:
    return Wrap(template=template)


def around(
    rule: str,
    file: SourceFile,
    node: ast.expr,
    template: str,
    reason: str,
    imports: tuple[str, ...],
) -> Edit:
    """Puts an expression into a template, after the statement if it would be hard to read there."""
    statement = file.statement_of(node)
    target = own_line_target(file, node, template)
    if target is None:
        return edit(rule, file, node, wrap(template), reason, imports)
    text = rebinding(target, template, file.place(statement).column)
    return edit(rule, file, statement, after(text), reason, imports)


def own_line_target(file: SourceFile, node: ast.expr, template: str) -> str | None:
    """The variable that an expression is given to, if what goes around it needs its own line.

    It does where the expression takes several lines, or the line would become too long.
    """
    statement = file.statement_of(node)
    if not isinstance(statement, ast.Assign | ast.AnnAssign) or statement.value is not node:
        return None
    targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
    if len(targets) > 1 or ":=" in template or not _is_variable(targets[0]):
        return None
    text, (start, end) = file.positions.text, file.positions.offsets(statement)
    ahead, behind = LINE_END.split(text[:start])[-1], LINE_END.split(text[end:], 1)[0]
    if ahead.strip() or behind.partition("#")[0].strip():
        return None  # it shares its line with other statements
    width = len(ahead) + (end - start) + len(behind) + len(template) - len("{}")
    if statement.lineno == statement.end_lineno and width <= WIDTH:
        return None
    return ast.unparse(targets[0])


def rebinding(target: str, template: str, column: int) -> str:
    """The statement that puts a variable into a template, in several lines where one is long."""
    head, tail = f"{target} = {template}".replace("{}", target).split("(", 1)
    text = f"{head}({tail}"
    if column + len(text) > WIDTH and text.endswith(")"):
        text = f"{head}(\n    {tail[:-1]}\n)"
    return text


def _is_variable(target: ast.expr) -> bool:
    """A name, or an attribute of one."""
    while isinstance(target, ast.Attribute):
        target = target.value
    return isinstance(target, ast.Name)


def before(text: str) -> Insert:
    return Insert(text=text, where="before")


def after(text: str) -> Insert:
    return Insert(text=text, where="after")


def refuse(rule: str, file: SourceFile, node: ast.AST, what: str, why: str, do: str) -> Refusal:
    return Refusal(rule=rule, place=file.place(node), what=what, why=why, do=do)


def named(template: str, name: str | None) -> str:
    """An expression that also gives its value a name, if one is needed."""
    return template if name is None else f"{name} := {template}"
