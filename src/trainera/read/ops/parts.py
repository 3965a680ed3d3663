"""Batches that are taken apart into their parts, not into rows."""

import ast
from collections.abc import Sequence

from trainera.read.source.file import SourceFile
from trainera.read.values import Items, Qualified, Shard, Value
from trainera.read.values.contents import holds_share

MOVES = {"to", "cuda", "cpu", "double", "float", "half", "bfloat16", "xpu", "type"}
"""Methods that only move or cast a tensor, or a network."""
MOVES_ROWS = MOVES | {"long", "int", "bool", "contiguous", "detach", "clone", "pin_memory"}


def is_structure(node: ast.expr, shard: Shard, file: SourceFile) -> bool:
    """Whether a batch is taken apart into its parts, not into rows.

    ``[part.to(device) for part in batch]``, for nobody moves the rows of a tensor one by one; or
    the script has made sure: ``if isinstance(batch, (list, tuple)): return [… for part in batch]``
    """
    if not shard.nested or not isinstance(node, ast.Name):
        return False
    if _moves_each(file.parents.get(node), file):
        return True
    above: ast.AST | None = file.parents.get(node)
    while above is not None and not isinstance(above, ast.FunctionDef):
        if isinstance(above, ast.If | ast.IfExp):
            for part in ast.walk(above.test):
                if isinstance(part, ast.Call) and ast.unparse(part.func) == "isinstance":
                    sequence = any(word in ast.unparse(part) for word in ("list", "tuple"))
                    if sequence and ast.unparse(part.args[0]) == node.id:
                        return True
        above = file.parents.get(above)
    return False


def _moves_each(generator: ast.AST | None, file: SourceFile) -> bool:
    """Whether a comprehension does nothing but move or cast what it goes through."""
    around = file.parents.get(generator) if isinstance(generator, ast.comprehension) else None
    if not isinstance(around, ast.ListComp | ast.GeneratorExp) or len(around.generators) != 1:
        return False
    return _moves(around.elt, ast.unparse(around.generators[0].target))


def _moves(node: ast.expr, name: str) -> bool:
    """``part.to(device).long()``, and the like, of the name."""
    moved = node
    while isinstance(moved, ast.Call) and isinstance(moved.func, ast.Attribute):
        if moved.func.attr not in MOVES_ROWS:
            return False
        moved = moved.func.value
    return moved is not node and isinstance(moved, ast.Name) and moved.id == name


def moved_parts(node: ast.Call, name: str, given: Sequence[Value]) -> Value | None:
    """``tuple(part.to(device) for part in batch)``, or the same by `map`: it stays the batch."""
    if not given or len(node.args) != len(given):
        return None
    first, last = node.args[0], given[-1]
    if name == "map" and len(given) == 2:
        return last if _is_of_rows(last) and _is_mover(first, given[0]) else None
    if name not in ("list", "tuple") or not isinstance(last, Shard) or not last.nested:
        return None
    mapped = isinstance(first, ast.Call) and ast.unparse(first.func) == "map"
    return last if mapped or isinstance(first, ast.ListComp | ast.GeneratorExp) else None


def _is_of_rows(value: Value) -> bool:
    """A batch of several parts, or what the script put together of parts of one."""
    if isinstance(value, Items):
        return all(isinstance(item, Shard) or not holds_share(item) for item in value.items)
    return isinstance(value, Shard) and value.nested


def _is_mover(function: ast.expr, value: Value) -> bool:
    """``lambda part: part.to(device)``, or the `Variable` of old scripts."""
    if isinstance(function, ast.Lambda) and function.args.args:
        return _moves(function.body, function.args.args[0].arg)
    return isinstance(value, Qualified) and value.name == "torch.autograd.Variable"
