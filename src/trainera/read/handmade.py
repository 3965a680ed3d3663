"""Batches that a script makes itself, in a training loop that is none over a loader.

Any rows could be shared out if the network treats them one by one and the loss is a mean over them.
But whether the first dimension holds samples, and not steps in time, must be seen: rows that are
picked by random numbers are samples, and so are those that several tables have at the same place.
"""

import ast
from collections.abc import Iterator, Set

from trainera.read.source import SourceFile

Cut = tuple[ast.AST, ast.AST]
"""A loop, and an expression in it that gives the batch, or the numbers of its samples."""
Files = dict[str, SourceFile]
Function = ast.FunctionDef | ast.AsyncFunctionDef
Loop = ast.For | ast.While

ORDERS = {"randperm", "permutation"}
PICKS = {"randint", "choice", "choices", "integers", "multinomial", "sample"}
DRAWS = ORDERS | PICKS
WORDS = {"long", "to", "cuda", "cpu", "numpy", "tolist", "astype", "int"}
TURNS = {"transpose", "permute", "T", "mT", "t", "swapaxes", "swapdims", "movedim", "moveaxis"}
STACKS = {"stack", "cat", "concat", "concatenate", "column_stack", "hstack"}


def cuts_by_hand(files: Files) -> frozenset[Cut]:
    """Where the batches of training loops are made, as far as it can be told what their rows are.

    The first way that is seen in a loop counts: by a function of the script's, by the numbers of
    samples, by the same part of several tables.
    """
    functions: dict[str, list[Function]] = {}
    for file in files.values():
        for node in file.nodes:
            if isinstance(node, Function):
                functions.setdefault(node.name, []).append(node)
    train = {
        name
        for name, nodes in functions.items()
        if any(_goes_backward(node, set()) for node in nodes)
    }
    found: dict[ast.AST, list[ast.expr]] = {}
    for file in files.values():
        for loop in reversed(file.nodes):  # inner ones first
            if not isinstance(loop, Loop) or not _goes_backward(loop, train):
                continue
            if isinstance(loop, ast.While) and any(map(_returns, ast.walk(loop))):
                continue  # where it ends could not be told
            if any(part in found for part in ast.walk(loop)):
                continue  # it goes through epochs, and its batches are for something else
            ways = (
                list(_made_by_functions(loop, functions, file)),
                list(_picked_by_number(loop, file)),
                list(_parts_of_tables(loop)),
            )
            cuts = next(filter(None, ways), [])
            if cuts:
                found[loop] = cuts
    return frozenset((loop, cut) for loop, cuts in found.items() for cut in cuts)


def gives_structure(cut: ast.AST) -> bool:
    """Whether it may give several tables, and not the numbers of samples, or rows of one."""
    return isinstance(cut, ast.Call) and _last(cut.func) not in DRAWS | WORDS


def _made_by_functions(
    loop: Loop, functions: dict[str, list[Function]], file: SourceFile
) -> Iterator[ast.expr]:
    """``x, y = get_batch("train")``"""
    libraries = {
        (alias.asname or alias.name).split(".")[0]
        for node in file.nodes
        if isinstance(node, ast.Import)
        for alias in node.names
    }
    for value in _values(loop):
        for part in ast.walk(value):
            if isinstance(part, ast.Call) and ast.unparse(part.func).split(".")[0] not in libraries:
                named = functions.get(_last(part.func))
                if named and all(map(_picks_rows, named)):
                    yield part


def _picks_rows(function: Function) -> bool:
    """Whether a function looks up rows by random numbers, and leaves them in front."""
    if any(isinstance(node, ast.Attribute) and node.attr in TURNS for node in ast.walk(function)):
        return False
    if _goes_backward(function, set()) or any(map(_stacks_behind, ast.walk(function))):
        return False
    chosen = _by_chance(function, DRAWS)
    returned = [node.value for node in ast.walk(function) if isinstance(node, ast.Return)]
    if not all(_is_by_chance(one, chosen, DRAWS) for value in returned for one in _items(value)):
        return False
    orders = _by_chance(function, ORDERS)
    drawn = [node for node in ast.walk(function) if isinstance(node, ast.Assign)]
    several = orders.union(
        *(_names(node.targets[0]) for node in drawn if _is_several(node.value, orders))
    )
    repeated = {part for code in _repeated(function) for part in ast.walk(code)}
    return any(
        isinstance(node, ast.Subscript)
        and _is_by_chance(node.slice, chosen, DRAWS)
        and (node in repeated or bool(_indices(node) & several) or _is_several(node.slice, orders))
        for node in ast.walk(function)
    )


def _items(value: ast.expr | None) -> list[ast.expr]:
    """The parts of what a function returns."""
    if isinstance(value, ast.Tuple | ast.List):
        return value.elts
    if isinstance(value, ast.Dict):
        return value.values
    return [] if value is None else [value]


def _repeated(function: Function) -> Iterator[ast.AST]:
    """What is done once for each sample. (A single part of a table is a stretch of time.)"""
    for node in ast.walk(function):
        if isinstance(node, ast.For):
            yield from node.body
        elif isinstance(node, ast.ListComp | ast.GeneratorExp):
            yield node.elt


def _stacks_behind(node: ast.AST) -> bool:
    """Whether rows are put together in another dimension than the first."""
    if not isinstance(node, ast.Call) or _last(node.func) not in STACKS:
        return False
    words = [word.value for word in node.keywords if word.arg in ("dim", "axis")]
    given = [*node.args[1:2], *words]
    return any(not (isinstance(one, ast.Constant) and one.value == 0) for one in given)


def _picked_by_number(loop: Loop, file: SourceFile) -> Iterator[ast.expr]:
    """``i = torch.randint(len(x), (32,))`` or ``i = order[k : k + 32]``, and then ``x[i]``"""
    around: ast.AST = loop
    while not isinstance(around, Function | ast.Module):
        around = file.parents[around]
    orders = _by_chance(around, ORDERS) | _shuffled(around)
    subscripts = [node for node in ast.walk(loop) if isinstance(node, ast.Subscript)]
    used = set().union(*map(_indices, subscripts))
    for statement in _statements(loop.body):
        if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
            continue
        target, value = statement.targets[0], statement.value
        if isinstance(target, ast.Name) and target.id in used and _is_several(value, orders):
            yield value
            continue
        for part in ast.walk(value):
            index = part.slice if isinstance(part, ast.Subscript) else None
            if isinstance(index, ast.Subscript | ast.Call) and _is_several(index, orders):
                yield index


def _is_several(value: ast.expr, orders: set[str]) -> bool:
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
            isinstance(inner, ast.Call) and _last(inner.func) in ORDERS
        )
    if not isinstance(value, ast.Call):
        return False
    name, words = _last(value.func), {word.arg for word in value.keywords}
    if words & {"size", "k"} or (name in ("choice", "sample") and len(value.args) > 1):
        return name in PICKS
    return name in ("randint", "integers") and (
        len(value.args) > 2 or any(isinstance(one, ast.Tuple | ast.List) for one in value.args)
    )


def _parts_of_tables(loop: Loop) -> Iterator[ast.expr]:
    """``x = inputs[i : i + 32]`` and ``y = targets[i : i + 32]``, with the same bounds"""
    moved = [node.target for node in ast.walk(loop) if isinstance(node, ast.AugAssign)]
    counters = set().union(*map(_names, [loop.target] if isinstance(loop, ast.For) else moved))
    counters |= _computed(loop, counters)
    parts: dict[str, list[ast.Subscript]] = {}
    for value in _values(loop):
        for node in ast.walk(value):
            if (
                isinstance(node, ast.Subscript)
                and isinstance(node.slice, ast.Slice)
                and node.slice.lower is not None
                and counters & _names(node.slice.lower)
            ):
                parts.setdefault(ast.unparse(node.slice), []).append(node)
    for same in parts.values():
        if len({ast.unparse(node.value) for node in same}) > 1:
            yield from same


def _statements(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """The statements that every round of a loop comes by, or their like in another branch."""
    for statement in body:
        yield statement
        if isinstance(statement, ast.With):
            yield from _statements(statement.body)
        elif isinstance(statement, ast.If) and statement.orelse:
            yield from _statements([*statement.body, *statement.orelse])


def _values(loop: Loop) -> Iterator[ast.expr]:
    """What is assigned in every round."""
    for statement in _statements(loop.body):
        if isinstance(statement, ast.Assign):
            yield statement.value


def _by_chance(code: ast.AST, draws: set[str]) -> set[str]:
    """The names that are bound to random numbers, or to what is computed from them."""
    return _computed(code, set(), draws)


def _computed(code: ast.AST, chosen: set[str], draws: Set[str] = frozenset()) -> set[str]:
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
            if _is_by_chance(value, chosen, draws):
                chosen |= set().union(*map(_names, targets))
        if len(chosen) == before:
            return chosen


def _is_by_chance(value: ast.expr, chosen: set[str], draws: Set[str]) -> bool:
    return bool(_names(value) & chosen) or any(
        isinstance(node, ast.Call) and _last(node.func) in draws for node in ast.walk(value)
    )


def _shuffled(code: ast.AST) -> set[str]:
    """``random.shuffle(order)``"""
    return {
        node.args[0].id
        for node in ast.walk(code)
        if isinstance(node, ast.Call)
        and _last(node.func) == "shuffle"
        and node.args
        and isinstance(node.args[0], ast.Name)
    }


def _indices(node: ast.Subscript) -> set[str]:
    """The names of what rows are looked up by: in ``t[i]``, ``t[i, j]``, but not in ``t[:, i]``."""
    parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    if isinstance(parts[0], ast.Slice):
        return set()
    return {part.id for part in parts if isinstance(part, ast.Name)}


def _goes_backward(code: ast.AST, by: set[str]) -> bool:
    """Whether gradients are computed there, or in a function that is called there."""
    called = {_last(node.func) for node in ast.walk(code) if isinstance(node, ast.Call)}
    return bool(called & {"backward", *by})


def _returns(node: ast.AST) -> bool:
    return isinstance(node, ast.Return)


def _names(code: ast.AST) -> set[str]:
    return {node.id for node in ast.walk(code) if isinstance(node, ast.Name)}


def _last(function: ast.expr) -> str:
    if isinstance(function, ast.Attribute):
        return function.attr
    return function.id if isinstance(function, ast.Name) else ""
