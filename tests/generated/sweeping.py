"""Changes that take something out wherever it stands: unused names, fields, parameters."""

import ast
from collections.abc import Callable, Iterator

Change = Callable[[ast.Module], bool]
"""Changes a tree; whether there was anything to change."""

HARMLESS = frozenset(
    "abs argmax detach double eq float int item len max mean size softmax sqrt sum values".split()
)
"""Calls that do nothing but give a value."""


def unused_gone(tree: ast.Module) -> bool:
    """Takes out imports, functions and classes that nobody names, until there are none."""
    changed = False
    while True:
        names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
        names |= {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
        names |= {
            node.value
            for node in ast.walk(tree)
            if isinstance(node, ast.Constant) and isinstance(node.value, str)
        }
        kept = [statement for statement in tree.body if _needed(statement, names)]
        read = {
            node.id
            for node in ast.walk(tree)
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)
        }
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef | ast.For | ast.With):
                inner = [one for one in node.body if not _idle(one, read)] or [ast.Pass()]
                changed = changed or len(inner) < len(node.body)
                node.body = inner
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef):
                inner = [
                    one for one in node.body if _needed(one, names) or one.name.startswith("__")
                ]
                inner = inner or [ast.Pass()]
                changed = changed or len(inner) < len(node.body)
                node.body = inner
        if len(kept) == len(tree.body):
            return changed
        tree.body = kept
        changed = True


def _idle(statement: ast.stmt, read: set[str]) -> bool:
    """Whether a name is given a value here, and nobody reads it."""
    if not isinstance(statement, ast.Assign) or len(statement.targets) > 1:
        return False
    target = statement.targets[0]
    calls = [node.func for node in ast.walk(statement) if isinstance(node, ast.Call)]
    return (
        isinstance(target, ast.Name)
        and target.id not in read
        and all(_last_name(call) in HARMLESS for call in calls)
    )


def _needed(statement: ast.stmt, names: set[str]) -> bool:
    if isinstance(statement, ast.Import | ast.ImportFrom):
        given = {(one.asname or one.name).partition(".")[0] for one in statement.names}
        return bool(given & names)
    if isinstance(statement, ast.FunctionDef | ast.ClassDef):
        return statement.name in names or statement.name in ("forward",)
    return True


def fields_gone(tree: ast.Module) -> Iterator[Change]:
    """Fields of named tuples and dataclasses, keys of dictionaries: made and used no more."""
    for name, fields in _records(tree).items():
        for field in fields:
            yield _field_gone(name, field)
    keys = {
        key.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Dict)
        for key in node.keys
        if isinstance(key, ast.Constant) and isinstance(key.value, str)
    }
    for key in sorted(keys):
        yield _key_gone(key)


def _records(tree: ast.Module) -> dict[str, list[str]]:
    """Fields by class."""
    found = {}
    for statement in tree.body:
        if isinstance(statement, ast.ClassDef):
            fields = [
                one.target.id
                for one in statement.body
                if isinstance(one, ast.AnnAssign) and isinstance(one.target, ast.Name)
            ]
            if fields:
                found[statement.name] = fields
        elif isinstance(statement, ast.Assign) and isinstance(statement.value, ast.Call):
            call = statement.value
            if getattr(call.func, "id", "") == "namedtuple" and isinstance(call.args[-1], ast.List):
                found[ast.unparse(statement.targets[0])] = [
                    ast.literal_eval(one) for one in call.args[-1].elts
                ]
    return found


def _field_gone(name: str, field: str) -> Change:
    def change(tree: ast.Module) -> bool:
        fields = _records(tree).get(name, [])
        if field not in fields or len(fields) < 2:
            return False
        place = fields.index(field)
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef) and node.name == name:
                node.body = [
                    one
                    for one in node.body
                    if not (isinstance(one, ast.AnnAssign) and ast.unparse(one.target) == field)
                ]
            elif (
                isinstance(node, ast.Assign)
                and isinstance(node.value, ast.Call)
                and ast.unparse(node.targets[0]) == name
            ):
                del node.value.args[-1].elts[place]  # type: ignore[attr-defined]
            elif isinstance(node, ast.Call) and getattr(node.func, "id", "") == name:
                node.keywords = [one for one in node.keywords if one.arg != field]
            elif (
                isinstance(node, ast.Tuple)
                and isinstance(node.ctx, ast.Store)
                and len(node.elts) == len(fields)
            ):
                del node.elts[place]
        return True

    return change


def _key_gone(key: str) -> Change:
    def change(tree: ast.Module) -> bool:
        changed = False
        for node in ast.walk(tree):
            if not isinstance(node, ast.Dict):
                continue
            for place in reversed(range(len(node.keys))):
                one = node.keys[place]
                if isinstance(one, ast.Constant) and one.value == key and len(node.keys) > 1:
                    del node.keys[place], node.values[place]
                    changed = True
        return changed

    return change


def parameters_gone(tree: ast.Module) -> Iterator[Change]:
    """Parameters of functions, and the arguments that are given for them."""
    for node in ast.walk(tree):
        functions = [(node, getattr(node, "name", ""))] if isinstance(node, ast.FunctionDef) else []
        if isinstance(node, ast.ClassDef):
            functions = [
                (one, node.name)
                for one in node.body
                if isinstance(one, ast.FunctionDef) and one.name == "__init__"
            ]
        for function, name in functions:
            for place in range(len(function.args.args)):
                yield _parameter_gone(function, name, place)


def _parameter_gone(node: ast.FunctionDef, name: str, place: int) -> Change:
    def change(tree: ast.Module) -> bool:
        gone = node.args.args[place].arg
        own = bool(node.args.args) and node.args.args[0].arg == "self"
        if own and place == 0:
            return False
        from_end = place - len(node.args.args)
        if -from_end <= len(node.args.defaults):
            node.args.defaults.pop(from_end)
        del node.args.args[place]
        node.body = [one for one in node.body if ast.unparse(one) != f"self.{gone} = {gone}"] or [
            ast.Pass()
        ]
        for call in ast.walk(tree):
            if isinstance(call, ast.Call) and _last_name(call.func) == name:
                if place - own < len(call.args):
                    del call.args[place - own]
                call.keywords = [one for one in call.keywords if one.arg != gone]
        return True

    return change


def _last_name(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")
