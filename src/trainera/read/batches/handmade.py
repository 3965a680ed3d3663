"""Batches that a script makes itself, in a training loop that is none over a loader.

Any rows could be shared out if the network treats them one by one and the loss is a mean over them.
But whether the first dimension holds samples, and not steps in time, must be seen: rows that are
picked by random numbers are samples, and so are those that several tables have at the same place.
"""

import ast
from collections.abc import Iterator

from trainera.read.batches.vocabulary import (
    DRAWS,
    ORDERS,
    TURNS,
    WORDS,
    Files,
    Function,
    Loop,
    by_chance,
    computed,
    functions_by_name,
    goes_backward,
    indices,
    is_by_chance,
    is_several,
    items,
    last,
    libraries_of,
    names,
    orders_around,
    root,
    stacks_behind,
    training_functions,
)
from trainera.read.source.file import SourceFile

Cut = tuple[ast.AST, ast.AST]
"""A loop, and an expression in it that gives the batch, or the numbers of its samples."""


def cuts_by_hand(files: Files) -> frozenset[Cut]:
    """Where the batches of training loops are made, as far as it can be told what their rows are.

    The first way that is seen in a loop counts: by a function of the script's, by the numbers of
    samples, by the same part of several tables.
    """
    functions = functions_by_name(files)
    train = training_functions(functions)
    found: dict[ast.AST, list[ast.expr]] = {}
    for file in files.values():
        for loop in reversed(file.nodes):  # inner ones first
            if not isinstance(loop, Loop) or not goes_backward(loop, train):
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
    return isinstance(cut, ast.Call) and last(cut.func) not in DRAWS | WORDS


def _made_by_functions(
    loop: Loop, functions: dict[str, list[Function]], file: SourceFile
) -> Iterator[ast.expr]:
    """``x, y = get_batch("train")``"""
    libraries = libraries_of(file)
    for value in _values(loop):
        for part in ast.walk(value):
            if isinstance(part, ast.Call) and root(part.func) not in libraries:
                named = functions.get(last(part.func))
                if named and all(map(_picks_rows, named)):
                    yield part


def _picks_rows(function: Function) -> bool:
    """Whether a function looks up rows by random numbers, and leaves them in front."""
    if any(isinstance(node, ast.Attribute) and node.attr in TURNS for node in ast.walk(function)):
        return False
    if goes_backward(function, set()) or any(map(stacks_behind, ast.walk(function))):
        return False
    if any(isinstance(node, ast.Yield | ast.YieldFrom) for node in ast.walk(function)):
        return False  # it gives one batch after another (`generators`)
    chosen = by_chance(function, DRAWS)
    returned = [node.value for node in ast.walk(function) if isinstance(node, ast.Return)]
    if not all(is_by_chance(one, chosen, DRAWS) for value in returned for one in items(value)):
        return False
    orders = by_chance(function, ORDERS)
    drawn = [node for node in ast.walk(function) if isinstance(node, ast.Assign)]
    several = orders.union(
        *(names(node.targets[0]) for node in drawn if is_several(node.value, orders))
    )
    repeated = {part for code in _repeated(function) for part in ast.walk(code)}
    return any(
        isinstance(node, ast.Subscript)
        and is_by_chance(node.slice, chosen, DRAWS)
        and (node in repeated or bool(indices(node) & several) or is_several(node.slice, orders))
        for node in ast.walk(function)
    )


def _repeated(function: Function) -> Iterator[ast.AST]:
    """What is done once for each sample. (A single part of a table is a stretch of time.)"""
    for node in ast.walk(function):
        if isinstance(node, ast.For):
            yield from node.body
        elif isinstance(node, ast.ListComp | ast.GeneratorExp):
            yield node.elt


def _picked_by_number(loop: Loop, file: SourceFile) -> Iterator[ast.expr]:
    """``i = torch.randint(len(x), (32,))`` or ``i = order[k : k + 32]``, and then ``x[i]``"""
    orders = orders_around(loop, file)
    subscripts = [node for node in ast.walk(loop) if isinstance(node, ast.Subscript)]
    used = set().union(*map(indices, subscripts))
    for statement in _statements(loop.body):
        if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
            continue
        target, value = statement.targets[0], statement.value
        if isinstance(target, ast.Name) and target.id in used and is_several(value, orders):
            yield value
            continue
        for part in ast.walk(value):
            index = part.slice if isinstance(part, ast.Subscript) else None
            if isinstance(index, ast.Subscript | ast.Call) and is_several(index, orders):
                yield index


def _parts_of_tables(loop: Loop) -> Iterator[ast.expr]:
    """``x = inputs[i : i + 32]`` and ``y = targets[i : i + 32]``, with the same bounds"""
    moved = [node.target for node in ast.walk(loop) if isinstance(node, ast.AugAssign)]
    counters = set().union(*map(names, [loop.target] if isinstance(loop, ast.For) else moved))
    counters |= computed(loop, counters)
    parts: dict[str, list[ast.Subscript]] = {}
    for value in _values(loop):
        for node in ast.walk(value):
            if (
                isinstance(node, ast.Subscript)
                and isinstance(node.slice, ast.Slice)
                and node.slice.lower is not None
                and counters & names(node.slice.lower)
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


def _returns(node: ast.AST) -> bool:
    return isinstance(node, ast.Return)
