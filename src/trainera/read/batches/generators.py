"""Batches that come one after another from the script's own code, as from a loader.

That is a generator of the script's that picks rows, an object with such an `__iter__`, a random
order in parts, or several tables in the same parts. Whether rows are samples is told as for
batches made by hand (`handmade`).
"""

import ast
from collections import Counter
from collections.abc import Iterator

from trainera.read.batches.vocabulary import (
    ORDERS,
    TURNS,
    Files,
    Function,
    by_chance,
    functions_by_name,
    goes_backward,
    is_several,
    items,
    last,
    libraries_of,
    names,
    orders_around,
    root,
    shuffled,
    stacks_behind,
    training_functions,
)
from trainera.read.source.file import SourceFile

SPLITTERS = {"split", "chunk", "array_split"}
MAKERS = {
    *("tensor", "as_tensor", "from_numpy", "array", "asarray", "LongTensor", "FloatTensor"),
    *("Tensor", "Variable", "list", "stack", "float", "long", "double", "to", "cuda", "astype"),
    *("unsqueeze", "view", "reshape", "contiguous", "int", "clone", "copy", "type"),
}
"""What makes rows of rows, and nothing else."""


def batch_streams(files: Files) -> frozenset[ast.AST]:
    """The calls that give batches one after another."""
    functions = functions_by_name(files)
    train = training_functions(functions)
    makers = {name for name, nodes in functions.items() if all(map(_yields_batches, nodes))}
    methods = makers & _methods(files)
    makers |= _iterable_classes(files)
    found: set[ast.AST] = set()
    for file in files.values():
        libraries = libraries_of(file)
        for node in file.nodes:
            if isinstance(node, ast.Call) and last(node.func) in makers:
                named = isinstance(node.func, ast.Name)
                if named or (last(node.func) in methods and root(node.func) not in libraries):
                    found.add(node)
            elif isinstance(node, ast.For) and goes_backward(node, train):
                found.update(_in_parts(node, file))
    return frozenset(found)


def _methods(files: Files) -> set[str]:
    return {
        one.name
        for file in files.values()
        for node in file.nodes
        if isinstance(node, ast.ClassDef)
        for one in node.body
        if isinstance(one, Function)
    }


def _iterable_classes(files: Files) -> set[str]:
    """The classes of the script's, without a base, that are gone through batch by batch."""
    found: dict[str, bool] = {}
    for file in files.values():
        for node in file.nodes:
            if isinstance(node, ast.ClassDef):
                methods = {one.name: one for one in node.body if isinstance(one, Function)}
                begin = methods.get("__iter__")
                plain = all(
                    isinstance(base, ast.Name) and base.id == "object" for base in node.bases
                )
                gives = begin is not None and "__next__" not in methods and _yields_batches(begin)
                found[node.name] = found.get(node.name, True) and plain and gives
    return {name for name, all_do in found.items() if all_do}


def _in_parts(loop: ast.For, file: SourceFile) -> Iterator[ast.AST]:
    """``for i in torch.randperm(n).split(32)``, ``for x, y in zip(xs.split(32), ys.split(32))``"""
    orders = orders_around(loop, file)
    for node in ast.walk(loop.iter):
        if not isinstance(node, ast.Call):
            continue
        if last(node.func) == "zip" and len(node.args) > 1:
            ways = {_parted(one) for one in node.args}
            if len(ways) == 1 and None not in ways:
                yield node
                return
        elif _parted(node) is not None and _is_order(_whole_of(node), orders):
            yield node
            return


def _parted(node: ast.expr) -> str | None:
    """In which parts rows are taken, if so, as source: ``x.split(32)``, ``torch.split(x, 32)``"""
    if not isinstance(node, ast.Call) or last(node.func) not in SPLITTERS or node.keywords:
        return None
    sizes = [one for one in node.args if one is not _whole_of(node)]
    if len(sizes) != 1 or (isinstance(sizes[0], ast.Constant) and isinstance(sizes[0].value, str)):
        return None  # of words, perhaps
    return f"{last(node.func)} {ast.unparse(sizes[0])}"


def _whole_of(node: ast.Call) -> ast.expr:
    """What is split."""
    if len(node.args) > 1 or not isinstance(node.func, ast.Attribute):
        return node.args[0]
    return node.func.value


def _is_order(value: ast.expr, orders: set[str]) -> bool:
    if isinstance(value, ast.Name):
        return value.id in orders
    return isinstance(value, ast.Call) and last(value.func) in ORDERS


def _yields_batches(function: Function) -> bool:
    """Whether all that a generator yields are rows that it has picked, in front."""
    code = list(_own_code(function))
    yields = [node for node in code if isinstance(node, ast.Yield)]
    if not yields or any(isinstance(node, ast.YieldFrom | ast.Await) for node in code):
        return False
    if any(isinstance(node, ast.Attribute) and node.attr in TURNS for node in code):
        return False
    if goes_backward(function, set()) or any(map(stacks_behind, code)):
        return False
    orders = by_chance(function, ORDERS) | shuffled(function)
    stretches = _stretches(code, orders)
    chosen = {name for name, values in stretches.items() if _several(values, orders)}
    building = {part for values in stretches.values() for one in values for part in ast.walk(one)}
    picked: dict[str, list[ast.Subscript]] = {}
    for node in code:
        if isinstance(node, ast.Subscript) and node not in building:
            index = _first(node)
            if _is_stretch(index, orders, stretches):
                picked.setdefault(ast.unparse(index), []).append(node)
    rows: set[ast.AST] = set()
    for index_text, same in picked.items():
        tables = {ast.unparse(node.value) for node in same}
        by_number = index_text in chosen or any(
            _several([one], orders) for one in (_first(same[0]), same[0])
        )
        if not by_number and len(tables) < 2:
            return False  # a stretch of time, perhaps
        rows.update(same)
    chosen = _made_of(code, rows, chosen)
    lists = _lists(code, shuffled(function))
    given = [one for node in yields for one in items(node.value)]
    return all(node.value is not None for node in yields) and all(
        _is_rows(one, rows, chosen) and not _is_list(one, lists) for one in given
    )


def _lists(code: list[ast.AST], shuffled_lists: set[str]) -> set[str]:
    """The names of lists of samples: which of their contents are rows would not be known."""
    found: set[str] = set()
    for node in code:
        if isinstance(node, ast.Assign):
            part = isinstance(node.value, ast.Subscript) and bool(
                names(node.value.value) & shuffled_lists
            )
            if isinstance(node.value, ast.ListComp) or part or _unzipped(node.value) is not None:
                found |= names(node.targets[0])
    return found


def _is_list(value: ast.expr, lists: set[str]) -> bool:
    if isinstance(value, ast.Subscript):
        return bool(names(value.value) & lists)
    return isinstance(value, ast.ListComp) or (isinstance(value, ast.Name) and value.id in lists)


def _own_code(function: Function) -> Iterator[ast.AST]:
    """The nodes of a function without those of functions inside of it."""
    waiting: list[ast.AST] = list(function.body)
    while waiting:
        node = waiting.pop()
        yield node
        if not isinstance(node, Function | ast.Lambda | ast.ClassDef):
            waiting.extend(ast.iter_child_nodes(node))


def _stretches(code: list[ast.AST], orders: set[str]) -> dict[str, list[ast.expr]]:
    """The names that always stand for several places of a table, and what they are bound to."""
    bound: dict[str, list[ast.expr]] = {}
    for node in code:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            bound.setdefault(node.targets[0].id, []).append(node.value)
        elif isinstance(node, ast.For) and isinstance(node.target, ast.Name):
            bound.setdefault(node.target.id, []).append(node.iter)
    indices = [_unwrapped(_first(node)) for node in code if isinstance(node, ast.Subscript)]
    used = {index.id for index in indices if isinstance(index, ast.Name)}
    stored = Counter(
        node.id for node in code if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    )
    return {
        name: values
        for name, values in bound.items()
        if name in used
        and stored[name] == len(values)
        and all(_is_stretch(value, orders, {}) or _is_parts(value) for value in values)
    }


def _is_parts(value: ast.expr) -> bool:
    return isinstance(value, ast.Call) and _parted(value) is not None


def _is_stretch(value: ast.expr, orders: set[str], known: dict[str, list[ast.expr]]) -> bool:
    """Whether an index is of several rows: ``i : i + n``, ``order[i : i + n]``, ``slice(i, n)``"""
    value = _unwrapped(value)
    if isinstance(value, ast.Slice):
        return value.lower is not None and bool(names(value.lower))
    if isinstance(value, ast.Name):
        return value.id in known
    if isinstance(value, ast.Subscript):
        return isinstance(value.slice, ast.Slice)
    if isinstance(value, ast.Call) and last(value.func) == "slice":
        return len(value.args) > 1
    return is_several(value, orders)


def _several(values: list[ast.expr], orders: set[str]) -> bool:
    """Whether all of them are numbers of samples that chance has picked."""
    return all(
        is_several(_unwrapped(value), orders)
        or (
            isinstance(value, ast.Call) and _is_parts(value) and _is_order(_whole_of(value), orders)
        )
        for value in values
    )


def _first(node: ast.Subscript) -> ast.expr:
    return node.slice.elts[0] if isinstance(node.slice, ast.Tuple) else node.slice


def _unwrapped(value: ast.expr) -> ast.expr:
    """``torch.tensor(order[i : i + n])`` is about what is inside."""
    while (
        isinstance(value, ast.Call)
        and last(value.func) in MAKERS
        and len(value.args) == 1
        and not isinstance(value.args[0], ast.Constant)
    ):
        value = value.args[0]
    return value


def _made_of(code: list[ast.AST], rows: set[ast.AST], chosen: set[str]) -> set[str]:
    """The names that are bound to rows, or to what is made of rows one by one."""
    chosen = set(chosen)
    while True:
        before = len(chosen)
        for node in code:
            if isinstance(node, ast.Assign) and len(node.targets) == 1:
                target = node.targets[0]
                pairs = [(target, node.value)]
                if isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple):
                    pairs = list(zip(target.elts, node.value.elts, strict=False))
                elif isinstance(target, ast.Tuple) and _unzipped(node.value) is not None:
                    pairs = [(one, _unzipped(node.value) or node.value) for one in target.elts]
                chosen |= {
                    one.id
                    for one, value in pairs
                    if isinstance(one, ast.Name) and _is_rows(value, rows, chosen)
                }
        if len(chosen) == before:
            return chosen


def _unzipped(value: ast.expr) -> ast.expr | None:
    """``zip(*samples)`` makes of samples one list for each of their parts."""
    if isinstance(value, ast.Call) and last(value.func) == "zip" and len(value.args) == 1:
        only = value.args[0]
        return only.value if isinstance(only, ast.Starred) else None
    return None


def _is_rows(value: ast.expr, rows: set[ast.AST], chosen: set[str]) -> bool:
    """Whether an expression is rows, or makes rows of rows."""
    if value in rows or (isinstance(value, ast.Name) and value.id in chosen):
        return True
    if isinstance(value, ast.ListComp):
        over = value.generators[0].iter
        return isinstance(over, ast.Name) and over.id in chosen and not value.generators[0].ifs
    if isinstance(value, ast.BinOp):
        return _is_rows(value.left, rows, chosen)
    if isinstance(value, ast.Call) and last(value.func) in MAKERS:
        method = isinstance(value.func, ast.Attribute) and _is_rows(value.func.value, rows, chosen)
        return method or bool(value.args and _is_rows(value.args[0], rows, chosen))
    return False
