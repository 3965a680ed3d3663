"""How rows are picked: by random numbers, by parts of a random order, by parts of tables.

Told from the words that a script uses, ahead of all else that is known of its values.
"""

import ast
from collections.abc import Set

from trainera.read.source.file import SourceFile

Files = dict[str, SourceFile]
Function = ast.FunctionDef | ast.AsyncFunctionDef
Loop = ast.For | ast.While

ORDERS = {"randperm", "permutation"}
PICKS = {"randint", "choice", "choices", "integers", "multinomial", "sample"}
DRAWS = ORDERS | PICKS
WORDS = {"long", "to", "cuda", "cpu", "numpy", "tolist", "astype", "int"}
TURNS = {"transpose", "permute", "T", "mT", "t", "swapaxes", "swapdims", "movedim", "moveaxis"}
STACKS = {"stack", "cat", "concat", "concatenate", "column_stack", "hstack"}


def functions_by_name(files: Files) -> dict[str, list[Function]]:
    """All functions and methods of the script's."""
    found: dict[str, list[Function]] = {}
    for file in files.values():
        for node in file.nodes:
            if isinstance(node, Function):
                found.setdefault(node.name, []).append(node)
    return found


def training_functions(functions: dict[str, list[Function]]) -> set[str]:
    """The names of those that compute gradients themselves."""
    return {
        name
        for name, nodes in functions.items()
        if any(goes_backward(node, set()) for node in nodes)
    }


def libraries_of(file: SourceFile) -> set[str]:
    """The names under which a file knows modules."""
    return {
        (alias.asname or alias.name).split(".")[0]
        for node in file.nodes
        if isinstance(node, ast.Import)
        for alias in node.names
    }


def items(value: ast.expr | None) -> list[ast.expr]:
    """The parts of what a function returns."""
    if isinstance(value, ast.Tuple | ast.List):
        return value.elts
    if isinstance(value, ast.Dict):
        return value.values
    return [] if value is None else [value]


def stacks_behind(node: ast.AST) -> bool:
    """Whether rows are put together in another dimension than the first."""
    if not isinstance(node, ast.Call) or last(node.func) not in STACKS:
        return False
    words = [word.value for word in node.keywords if word.arg in ("dim", "axis")]
    given = [*node.args[1:2], *words]
    return any(not (isinstance(one, ast.Constant) and one.value == 0) for one in given)


def is_several(value: ast.expr, orders: set[str]) -> bool:
    """Whether an expression gives the numbers of several samples, drawn by chance."""
    while (
        isinstance(value, ast.Call)
        and isinstance(value.func, ast.Attribute)
        and value.func.attr in WORDS
    ):
        value = value.func.value
    if isinstance(value, ast.Subscript) and isinstance(value.slice, ast.Slice):
        inner = value.value
        return (isinstance(inner, ast.Name) and inner.id in orders) or (
            isinstance(inner, ast.Call) and last(inner.func) in ORDERS
        )
    if not isinstance(value, ast.Call):
        return False
    name, words = last(value.func), {word.arg for word in value.keywords}
    if words & {"size", "k"} or (
        name in ("choice", "sample", "multinomial") and len(value.args) > 1
    ):
        return name in PICKS
    return name in ("randint", "integers") and (
        len(value.args) > 2 or any(isinstance(one, ast.Tuple | ast.List) for one in value.args)
    )


def by_chance(code: ast.AST, draws: set[str]) -> set[str]:
    """The names that are bound to random numbers, or to what is computed from them."""
    return computed(code, set(), draws)


def computed(code: ast.AST, chosen: set[str], draws: Set[str] = frozenset()) -> set[str]:
    """The names that are bound to what is computed from others, or drawn."""
    chosen = set(chosen)
    while True:
        before = len(chosen)
        for node in ast.walk(code):
            if isinstance(node, ast.Assign):
                targets, value = node.targets, node.value
            elif isinstance(node, ast.For | ast.comprehension):
                targets, value = [node.target], node.iter
            else:
                continue
            if is_by_chance(value, chosen, draws):
                chosen |= set().union(*map(names, targets))
        if len(chosen) == before:
            return chosen


def is_by_chance(value: ast.expr, chosen: set[str], draws: Set[str]) -> bool:
    return bool(names(value) & chosen) or any(
        isinstance(node, ast.Call) and last(node.func) in draws for node in ast.walk(value)
    )


def orders_around(loop: ast.AST, file: SourceFile) -> set[str]:
    """The names of random orders in the function that a loop is in, or in the module."""
    around = loop
    while not isinstance(around, Function | ast.Module):
        around = file.parents[around]
    return by_chance(around, ORDERS) | shuffled(around)


def shuffled(code: ast.AST) -> set[str]:
    """``random.shuffle(order)``"""
    return {
        node.args[0].id
        for node in ast.walk(code)
        if isinstance(node, ast.Call)
        and last(node.func) == "shuffle"
        and node.args
        and isinstance(node.args[0], ast.Name)
    }


def indices(node: ast.Subscript) -> set[str]:
    """The names of what rows are looked up by: in ``t[i]``, ``t[i, j]``, but not in ``t[:, i]``."""
    parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    if isinstance(parts[0], ast.Slice):
        return set()
    return {part.id for part in parts if isinstance(part, ast.Name)}


def goes_backward(code: ast.AST, by: set[str]) -> bool:
    """Whether gradients are computed there, or in a function that is called there."""
    called = {last(node.func) for node in ast.walk(code) if isinstance(node, ast.Call)}
    return bool(called & {"backward", *by})


def names(code: ast.AST) -> set[str]:
    return {node.id for node in ast.walk(code) if isinstance(node, ast.Name)}


def last(function: ast.expr) -> str:
    if isinstance(function, ast.Attribute):
        return function.attr
    return function.id if isinstance(function, ast.Name) else ""


def root(function: ast.expr) -> str:
    """The first name of a dotted one."""
    return ast.unparse(function).split(".")[0]
