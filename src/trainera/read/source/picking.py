"""Comprehensions that pick files: whether what they give is text, and who takes all of it."""

import ast

from trainera.read.source.file import SourceFile
from trainera.read.source.syntax import names_in, parts_of

Picking = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp
TAKE_ALL = {
    "sorted",
    "list",
    "tuple",
    "set",
    "frozenset",
    "any",
    "all",
    "sum",
    "max",
    "min",
    "next",
}
"""Functions that take what a generator gives, and give no generator."""
LISTINGS = {"listdir", "glob", "iglob", "iterdir", "rglob"}
ENDLESS = {"count", "cycle", "repeat", "iter"}
TEXT = {
    *("str", "int", "float", "len", "Path", "PurePath", "format"),
    *("abspath", "basename", "dirname", "expanduser", "join", "realpath", "relpath", "splitext"),
    *("getsize", "getmtime", "lower", "lstrip", "removeprefix", "removesuffix", "replace"),
    *("rsplit", "rstrip", "split", "strip", "upper", "as_posix", "resolve", "with_suffix"),
}
"""What makes names and numbers of names."""


def picks_text(node: Picking, tests: list[ast.expr], at: ast.expr) -> bool:
    """Whether a comprehension surely gives names of files, or what is made of them.

    Only that is the same if it is sent to another process: an object would be a copy.
    """
    bound = {name for one in node.generators for name in names_in(one.target)}
    paths = {name for test in tests for name in asked_about(test)}
    for one in node.generators:
        calls = {called(part) for part in parts_of(one.iter)}
        if calls & LISTINGS:
            paths |= names_in(one.target)
        if "scandir" in calls and names_in(one.target) & _bare(node):
            return False  # an entry of a directory cannot be sent
        if at is node and calls & ENDLESS:
            return False
    given = [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]
    return all(_is_text(one, bound, paths) for one in given)


def _bare(node: Picking) -> set[str]:
    """The names that a comprehension gives as they are."""
    given = [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]
    parts = [part for one in given for part in (one.elts if isinstance(one, ast.Tuple) else [one])]
    return {part.id for part in parts if isinstance(part, ast.Name)}


def whole_of(node: ast.expr, file: SourceFile) -> ast.expr:
    """The call that takes all that a generator gives, or the comprehension itself."""
    above = file.parents.get(node)
    if isinstance(node, ast.GeneratorExp | ast.Call) and isinstance(above, ast.Call):
        if isinstance(above.func, ast.Name) and above.func.id in TAKE_ALL:
            return above
    return node


def called(node: ast.AST) -> str:
    """The name of what is called, without what it belongs to."""
    if not isinstance(node, ast.Call):
        return ""
    function = node.func
    if isinstance(function, ast.Attribute):
        return function.attr
    return function.id if isinstance(function, ast.Name) else ""


def asked_about(test: ast.expr) -> set[str]:
    """The names in a test that stand for paths themselves, and not for what has one."""
    owners = {part.value for part in parts_of(test) if isinstance(part, ast.Attribute)}
    asked = {
        part.func.value
        for part in parts_of(test)
        if isinstance(part, ast.Call) and isinstance(part.func, ast.Attribute) and not part.args
    }
    names = (part for part in parts_of(test) if isinstance(part, ast.Name))
    return {name.id for name in names if name not in owners or name in asked}


def _is_text(node: ast.expr, bound: set[str], paths: set[str]) -> bool:
    if isinstance(node, ast.Tuple):
        return all(_is_text(one, bound, paths) for one in node.elts)
    if isinstance(node, ast.Name):
        return node.id in paths
    if not all(called(part) in TEXT for part in parts_of(node) if isinstance(part, ast.Call)):
        return False
    made = ast.Call | ast.JoinedStr | ast.BinOp | ast.Subscript | ast.Attribute | ast.Constant
    return isinstance(node, made) and names_in(node) & bound <= paths
