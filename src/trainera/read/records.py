"""Objects that only hold values: named tuples, data classes, a library's outputs."""

import ast
from collections.abc import Sequence

from trainera.read.inside import holds_share
from trainera.read.kinds import Kind, Record, Shard
from trainera.read.source import SourceFile
from trainera.read.tables import MOVES

MOVES_ROWS = MOVES | {"long", "int", "bool", "contiguous", "detach", "clone", "pin_memory"}


def as_record(
    names: Sequence[str], positional: Sequence[Kind], keywords: dict[str, Kind]
) -> Record | None:
    """What is put together of a batch's values, if it is known under which names."""
    if len(positional) > len(names) or "**" in keywords:
        return None
    items = dict(zip(names, positional, strict=False)) | keywords
    if not any(holds_share(kind) for kind in items.values()):
        return None
    order = [name for name in names if name in items] or list(items)
    return Record(tuple((name, items[name]) for name in order))


def field_names(cls: ast.ClassDef) -> list[str]:
    """The fields of a data class or a typed named tuple, in order."""
    return [
        statement.target.id
        for statement in cls.body
        if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name)
    ]


def named_fields(made: ast.AST) -> list[str]:
    """The fields of ``namedtuple("Output", ["loss", "logits"])``."""
    if not isinstance(made, ast.Call) or len(made.args) < 2:
        return []
    if ast.unparse(made.func).rsplit(".", 1)[-1] != "namedtuple":
        return []
    fields = made.args[1]
    if isinstance(fields, ast.Constant) and isinstance(fields.value, str):
        return fields.value.replace(",", " ").split()
    if isinstance(fields, ast.List | ast.Tuple):
        return [str(item.value) for item in fields.elts if isinstance(item, ast.Constant)]
    return []


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


def moved_parts(node: ast.Call, name: str, given: Sequence[Kind]) -> Shard | None:
    """``tuple(part.to(device) for part in batch)``, or the same by `map`: it stays the batch."""
    last = given[-1] if given else None
    if not isinstance(last, Shard) or not last.nested or len(node.args) != len(given):
        return None
    first = node.args[0]
    mapped = isinstance(first, ast.Call) and ast.unparse(first.func) == "map"
    if name in ("list", "tuple"):
        return last if mapped or isinstance(first, ast.ListComp | ast.GeneratorExp) else None
    if name == "map" and len(given) == 2 and isinstance(first, ast.Lambda) and first.args.args:
        return last if _moves(first.body, first.args.args[0].arg) else None
    return None
