"""Makes a script that fails as small as it can be: whatever can go without mending it goes."""

import ast
import builtins
import copy
import symtable
import time
import warnings
from collections.abc import Callable, Iterator
from functools import partial

from tests.generated.sweeping import Change, fields_gone, parameters_gone, unused_gone

Fails = Callable[[str], bool]
PROTECTED = ("set_default_dtype", "manual_seed")
"""Without them two runs differ for no fault of ours."""
BODIES = ("body", "orelse", "finalbody")


def shrunk(source: str, fails: Fails, limit_s: float = 180.0, most: int = 500) -> str:
    """The smallest script found that still fails; `fails` is asked for up to `most` candidates."""
    search = Search(source, fails, time.monotonic() + limit_s, most)
    search.one_by_one(fewer_rounds)
    while True:
        before = ast.unparse(search.tree)
        tidy = ast.parse(before)
        if unused_gone(tidy):
            search.accept(tidy)
        search.statements()
        search.one_by_one(fields_gone)
        search.one_by_one(parameters_gone)
        search.one_by_one(lifted)
        search.one_by_one(simpler)
        if ast.unparse(search.tree) == before or search.late:
            return ast.unparse(search.tree) + "\n"


class Search:
    """The smallest tree so far."""

    def __init__(self, source: str, fails: Fails, deadline: float, most: int) -> None:
        self.tree = ast.parse(source)
        self.fails = fails
        self.deadline = deadline
        self.most = most
        self.seen: set[str] = {ast.unparse(self.tree)}
        self.kept = {ast.unparse(one) for one in ast.walk(self.tree) if protected(one)}
        self.asked = 0

    @property
    def late(self) -> bool:
        return self.asked >= self.most or time.monotonic() > self.deadline

    def accept(self, tree: ast.Module) -> bool:
        """Whether a candidate still fails; it is the smallest from then on."""
        try:
            text = ast.unparse(tree)
        except Exception:  # a part is missing that the grammar asks for
            return False
        if text in self.seen or self.late:
            return False
        self.seen.add(text)
        sizes = text.count("batch_size=")  # a batch of one sample is no batch to be shared
        if sizes < text.count("DataLoader(") or not all(one in text for one in self.kept):
            return False
        if not plausible(text):
            return False
        self.asked += 1
        if not self.fails(text + "\n"):
            return False
        self.tree = ast.parse(text)
        tidy = ast.parse(text)
        if unused_gone(tidy):
            self.accept(tidy)
        return True

    def statements(self) -> None:
        """Takes out runs of statements, long ones first, from every block."""
        place = 0
        while place < len(found := list(blocks(self.tree))) and not self.late:
            size = max(1, len(found[place]) // 2)
            while size:
                start = len(list(blocks(self.tree))[place]) - size
                while start > -size and not self.late:
                    tree = copy.deepcopy(self.tree)
                    body = list(blocks(tree))[place]
                    chosen = slice(max(0, start), start + size)
                    if body[chosen] and not any(map(protected, body[chosen])):
                        del body[chosen]
                        if self.accept(repaired(tree)) and place >= len(list(blocks(self.tree))):
                            return
                    start -= size
                size //= 2
            place += 1

    def one_by_one(self, changes: Callable[[ast.Module], Iterator[Change]]) -> None:
        """Tries each change by its number; after one that was accepted the numbers begin anew."""
        number = 0
        while not self.late:
            tree = copy.deepcopy(self.tree)
            listed = list(changes(tree))
            if number >= len(listed):
                return
            if not (listed[number](tree) and self.accept(repaired(tree))):
                number += 1


def blocks(tree: ast.Module) -> Iterator[list[ast.stmt]]:
    """Every list of statements, outer ones first."""
    for node in ast.walk(tree):
        for name in BODIES:
            body = getattr(node, name, None)
            if isinstance(body, list) and body and isinstance(body[0], ast.stmt):
                yield body


def protected(node: ast.AST) -> bool:
    return isinstance(node, ast.Expr) and any(
        isinstance(one, ast.Attribute) and one.attr in PROTECTED for one in ast.walk(node)
    )


def repaired(tree: ast.Module) -> ast.Module:
    """Puts a `pass` where a block has lost all its statements."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Try) and not node.finalbody and not node.handlers:
            node.finalbody = [ast.Pass()]
        if isinstance(getattr(node, "body", None), list) and not node.body:
            if not isinstance(node, ast.Module):
                node.body = [ast.Pass()]
    return tree


def lifted(tree: ast.Module) -> Iterator[Change]:
    """Blocks replaced by what they hold."""
    for node in ast.walk(tree):
        for name in BODIES:
            body = getattr(node, name, None)
            if not isinstance(body, list):
                continue
            for statement in body:
                if isinstance(statement, ast.If | ast.With | ast.Try | ast.For | ast.While):
                    for inner in (*BODIES,):
                        held = getattr(statement, inner, None)
                        if held:
                            yield _replacing(body, statement, held)


def _replacing(body: list[ast.stmt], old: ast.stmt, new: list[ast.stmt]) -> Change:
    def change(tree: ast.Module) -> bool:
        place = body.index(old)
        body[place : place + 1] = new
        return True

    return change


def fewer_rounds(tree: ast.Module) -> Iterator[Change]:
    """Loops over numbers that end after the first; every later run is faster then."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and ast.unparse(node.func).endswith(("range", ".fit")):
            for place, argument in enumerate(node.args):
                if isinstance(argument, ast.Constant) and argument.value in (2, 3, 4):
                    yield _putting(partial(node.args.__setitem__, place), ast.Constant(1))
            for keyword in node.keywords:
                if isinstance(keyword.value, ast.Constant):
                    yield _putting(partial(setattr, keyword, "value"), ast.Constant(1))


def simpler(tree: ast.Module) -> Iterator[Change]:
    """Expressions made shorter: fewer items, arguments and operands, smaller numbers."""
    for node in ast.walk(tree):
        for name, value in ast.iter_fields(node):
            if isinstance(value, list) and name in (
                "elts",
                "keywords",
                "args",
                "bases",
                "values",
                "decorator_list",
                "names",
                "items",
                "defaults",
            ):
                for place in range(len(value)):
                    if not (name == "args" and isinstance(node, ast.arguments)):
                        yield _without(node, name, place)
            for part, put in _parts(node, name, value):
                for other in _instead(part):
                    yield _putting(put, other)


def _without(node: ast.AST, name: str, place: int) -> Change:
    def change(tree: ast.Module) -> bool:
        del getattr(node, name)[place]
        if isinstance(node, ast.Dict):
            del node.keys[place]
        return not (isinstance(node, ast.BoolOp) and len(node.values) < 2)

    return change


def _parts(
    node: ast.AST, name: str, value: object
) -> Iterator[tuple[ast.expr, Callable[[ast.expr], None]]]:
    """Each expression of a node, and how another one is put in its place."""
    if isinstance(value, ast.expr) and not isinstance(getattr(value, "ctx", None), ast.Store):
        yield value, lambda new: setattr(node, name, new)
    elif isinstance(value, list):
        for place, item in enumerate(value):
            if isinstance(item, ast.expr):
                yield item, lambda new, place=place: value.__setitem__(place, new)  # type: ignore[misc]


def _instead(part: ast.expr) -> list[ast.expr]:
    """Simpler expressions for one."""
    if isinstance(part, ast.BinOp):
        return [part.left, part.right]
    if isinstance(part, ast.IfExp):
        return [part.body, part.orelse]
    if isinstance(part, ast.BoolOp):
        return part.values
    if isinstance(part, ast.Compare):
        return [ast.Constant(True)]
    if isinstance(part, ast.UnaryOp):
        return [part.operand]
    if isinstance(part, ast.JoinedStr):
        holes = [hole.value for hole in part.values if isinstance(hole, ast.FormattedValue)]
        return [*holes, ast.Constant("")] if holes else [ast.Constant("")]
    if isinstance(part, ast.Call):
        inner = [part.func.value] if isinstance(part.func, ast.Attribute) else []
        return [*inner, *part.args]
    return []


def _putting(put: Callable[[ast.expr], None], new: ast.expr) -> Change:
    def change(tree: ast.Module) -> bool:
        put(new)
        return True

    return change


def plausible(text: str) -> bool:
    """Whether a script compiles and every name it uses is given somewhere; cheap, before a run."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", SyntaxWarning)  # as for a subscript of a number
            compile(text, "train.py", "exec", dont_inherit=True)
        table = symtable.symtable(text, "train.py", "exec")
    except (SyntaxError, SyntaxWarning, ValueError):
        return False
    given = {
        one.get_name() for one in table.get_symbols() if one.is_assigned() or one.is_imported()
    }
    given |= {*dir(builtins), "__name__", "__class__"}
    scopes = [table]
    while scopes:
        scope = scopes.pop()
        scopes += scope.get_children()
        for symbol in scope.get_symbols():
            from_module = scope is table or symbol.is_global()
            if symbol.is_referenced() and from_module and symbol.get_name() not in given:
                return False
    return True
