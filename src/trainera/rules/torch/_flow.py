"""What a loss is computed from, followed backwards through the code, one path at a time.

A path is the set of names that gradients certainly flow back to. Whatever is not understood adds
no name, or ends in `Unclear`: who asks must take it then that gradients may not arrive.
"""

import ast
from collections.abc import Callable, Iterable, Sequence
from functools import partial

from trainera.read.libraries.torch import operations
from trainera.read.libraries.torch.losses import LOSSES
from trainera.read.source.syntax import parts_of
from trainera.rules.torch._paths import (
    MAX_PATHS,
    NOTHING,
    SOME,
    Path,
    Paths,
    Unclear,
    both,
    is_none,
    suffixes,
    without,
)

HANDED_ON = {"sum", "list", "tuple", "zip", "enumerate", "reversed"}
"""Functions of Python that make something of all that they are given."""
TURNED = {"T", "mT", "H", "mH", "real", "imag"}
NO_TENSORS = {"shape", "data", "grad", "device", "dtype", "ndim", "training", "requires_grad"}
ENDS = {"multinomial", "bernoulli"}
OVERWRITES = {"detach_", "zero_", "copy_", "fill_", "set_", "clear", "insert", "update", "pop"}
JUMPS = ast.Break | ast.Continue | ast.Return | ast.Yield | ast.YieldFrom


class Flow:
    """Follows the code of one function backwards.

    `called` says what a call is computed from that is none of torch's own operations, given those
    items of it that are asked for, as subscripts. `watched` are calls that must not be in vain.
    """

    def __init__(
        self,
        called: Callable[["Flow", ast.Call, list[str]], Paths],
        library: Callable[[ast.expr], str | None],
        returned: list[str] | None = None,
        watched: frozenset[ast.AST] = frozenset(),
    ) -> None:
        self.called = called
        self.library = library
        self.returned = returned or [""]
        self.watched = watched
        self.members: dict[str, str] = {}
        """Names that stand for the items of something else: those of loops."""

    # Statements, from the last to the first.
    def back(self, statements: Sequence[ast.stmt], paths: Paths) -> Paths:
        for statement in reversed(statements):
            paths = self.step(statement, paths)
            if len(paths) > MAX_PATHS:
                raise Unclear
        return paths

    def step(self, node: ast.stmt, paths: Paths) -> Paths:
        if isinstance(node, ast.Return):
            return self.value(node.value, self.returned) if node.value else frozenset()
        if isinstance(node, ast.Raise):
            return frozenset()
        if isinstance(node, ast.Assign):
            for target in node.targets:
                paths = self._each(paths, partial(self._set, target, node.value))
            return paths
        if isinstance(node, ast.AnnAssign):
            value = node.value
            if value is None:
                return paths
            return self._each(paths, partial(self._set, node.target, value))
        if isinstance(node, ast.AugAssign):
            return self._each(paths, partial(self._add, node.target, [node.value]))
        if isinstance(node, ast.Expr):
            return self._expression(node.value, paths)
        if isinstance(node, ast.If):
            return self._if(node, paths)
        if isinstance(node, ast.For):
            return self._for(node, paths)
        if isinstance(node, ast.With):
            return self._with(node, paths)
        if not isinstance(node, ast.FunctionDef | ast.ClassDef):
            self._changes_nothing(node, paths)
        return paths

    def _changes_nothing(self, node: ast.stmt, paths: Paths) -> None:
        for part in parts_of(node):
            if isinstance(part, ast.Return) or part in self.watched:
                raise Unclear
            if _is_stored(part) and any(suffixes(ast.unparse(part), path) for path in paths):
                raise Unclear

    def _in_vain(self, value: ast.expr, path: Path) -> Paths:
        """Nothing on a path uses a value."""
        if any(part in self.watched for part in parts_of(value)):
            raise Unclear
        return frozenset({path})

    def _each(self, paths: Paths, change: Callable[[Path], Paths]) -> Paths:
        return frozenset(made for path in paths for made in change(path))

    def _set(self, target: ast.expr, value: ast.expr, path: Path) -> Paths:
        if isinstance(target, ast.Tuple | ast.List):
            return self._unpack(target, value, path)
        name = ast.unparse(target)
        found = suffixes(name, path)
        if isinstance(target, ast.Subscript):
            if found:
                return both(frozenset({without(name, path)}), self.value(value, found))
            others = suffixes(ast.unparse(target.value), path)
            if isinstance(target.slice, ast.Constant) and "" not in others and SOME not in others:
                return self._in_vain(value, path)
            return self._add(target.value, [value], path)
        if not found:
            return self._in_vain(value, path)
        return both(frozenset({without(name, path)}), self.value(value, found))

    def _unpack(self, target: ast.Tuple | ast.List, value: ast.expr, path: Path) -> Paths:
        if isinstance(value, ast.Tuple | ast.List) and len(value.elts) == len(target.elts):
            made = frozenset({path})
            for one, part in zip(target.elts, value.elts, strict=True):
                made = self._each(made, partial(self._set, one, part))
            return made
        used, rest = [], path
        for place, one in enumerate(target.elts):
            names = [ast.unparse(part) for part in parts_of(one) if _is_variable(part)]
            if isinstance(one, ast.Starred):
                raise Unclear
            if any(suffixes(name, path) for name in names):
                used.append(f"[{place}]")
            for name in names:
                rest = without(name, rest)
        if not used:
            return self._in_vain(value, path)
        used = [""] if len(used) == len(target.elts) else used
        return both(frozenset({rest}), self.value(value, used))

    def _add(self, target: ast.expr, values: Iterable[ast.expr], path: Path) -> Paths:
        """Something is added to what a variable holds."""
        found = suffixes(ast.unparse(target), path)
        if not found:
            for value in values:
                self._in_vain(value, path)
            return frozenset({path})
        if "" not in found:
            raise Unclear  # some item of it is used: perhaps another one
        return both(frozenset({path}), *map(self.flow, values))

    def _expression(self, node: ast.expr, paths: Paths) -> Paths:
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            name, owner = node.func.attr, node.func.value
            if name in OVERWRITES and any(suffixes(ast.unparse(owner), path) for path in paths):
                raise Unclear
            if name in ("append", "extend") or name.endswith("_"):
                return self._each(paths, partial(self._add, owner, node.args))
        for path in paths:
            self._in_vain(node, path)
        return paths

    def _if(self, node: ast.If, paths: Paths) -> Paths:
        taken, left_out = self.back(node.body, paths), self.back(node.orelse, paths)
        absent = _absent(node.test)
        if absent is not None:  # a layer that is not there needs no gradients
            name, where = absent
            there = frozenset({frozenset({name})})
            taken = both(taken, there) if where else taken
            left_out = left_out if where else both(left_out, there)
        return taken | left_out

    def _for(self, node: ast.For, paths: Paths) -> Paths:
        """A loop is taken to have rounds."""
        if node.orelse or any(isinstance(part, JUMPS) for part in parts_of(node)):
            raise Unclear
        self._stand_for(node.target, node.iter)
        once = self.back(node.body, paths)
        rounds = once | self.back(node.body, once)
        return self._each(rounds, partial(self._of_items, node.target, node.iter))

    def _stand_for(self, target: ast.expr, items: ast.expr) -> None:
        if isinstance(items, ast.Call) and isinstance(items.func, ast.Name) and items.args:
            if items.func.id == "enumerate" and isinstance(target, ast.Tuple):
                target, items = target.elts[-1], items.args[0]
        if isinstance(target, ast.Name):
            self.members[target.id] = ast.unparse(items)

    def _of_items(self, target: ast.expr, items: ast.expr, path: Path) -> Paths:
        """What is made of items is made of what has them."""
        names = [ast.unparse(part) for part in parts_of(target) if _is_variable(part)]
        if not any(suffixes(name, path) for name in names):
            return frozenset({path})
        for name in names:
            path = without(name, path)
        return both(frozenset({path}), self.flow(items))

    def _with(self, node: ast.With, paths: Paths) -> Paths:
        text = " ".join(ast.unparse(item.context_expr) for item in node.items)
        if "set_grad_enabled" in text:
            raise Unclear
        if "no_grad" not in text and "inference_mode" not in text:
            return self.back(node.body, paths)
        stored = {ast.unparse(part) for part in parts_of(node) if _is_stored(part)}
        for name in stored:
            paths = frozenset(without(name, path) for path in paths)
        return paths

    # Expressions.
    def value(self, node: ast.expr, used: list[str]) -> Paths:
        """What some items of a value, or all of it, are computed from.

        Nothing at all if it is None: there no gradients are computed.
        """
        if is_none(node):
            return frozenset()
        if isinstance(node, ast.IfExp):
            return self.value(node.body, used) | self.value(node.orelse, used)
        items: dict[str, ast.expr] = {}
        if isinstance(node, ast.Tuple | ast.List):
            items = {f"[{place}]": one for place, one in enumerate(node.elts)}
        elif isinstance(node, ast.Dict) and all(isinstance(k, ast.Constant) for k in node.keys):
            pairs = zip(node.keys, node.values, strict=True)
            items = {f"[{ast.unparse(k)}]": one for k, one in pairs if k is not None}
        if items and "" in used:
            return both(*(self.flow(one) for one in items.values()))
        if items:
            if any(one not in items for one in used):
                raise Unclear
            return both(*(self.value(items[one], [""]) for one in used))
        if isinstance(node, ast.ListComp | ast.GeneratorExp) and used != [""]:
            raise Unclear  # by which of them is not known
        if isinstance(node, ast.Call):
            return self._call(node, used)
        if isinstance(node, ast.Name | ast.Attribute) and used != [""]:
            return frozenset({frozenset(ast.unparse(node) + one for one in used)})
        return self.flow(node)

    def flow(self, node: ast.expr) -> Paths:
        """What a tensor, or all of a structure, is computed from."""
        if isinstance(node, ast.Name):
            return frozenset({frozenset({node.id})})
        if isinstance(node, ast.Attribute):
            if node.attr in NO_TENSORS:
                return NOTHING
            if node.attr in TURNED:
                return self.flow(node.value)
            return frozenset({frozenset({ast.unparse(node)})}) if _is_variable(node) else NOTHING
        if isinstance(node, ast.Subscript):
            return self._item(node)
        if isinstance(node, ast.BinOp):
            return both(self.flow(node.left), self.flow(node.right))
        if isinstance(node, ast.UnaryOp):
            return NOTHING if isinstance(node.op, ast.Not) else self.flow(node.operand)
        if isinstance(node, ast.IfExp):
            return self.value(node, [""])
        if isinstance(node, ast.Tuple | ast.List | ast.Set):
            return both(*map(self.flow, node.elts))
        if isinstance(node, ast.Starred):
            return self.flow(node.value)
        if isinstance(node, ast.Dict):
            return both(*map(self.flow, node.values))
        if isinstance(node, ast.ListComp | ast.GeneratorExp):
            return self._comprehension(node)
        return self._call(node, [""]) if isinstance(node, ast.Call) else NOTHING

    def _item(self, node: ast.Subscript) -> Paths:
        key = node.slice
        if isinstance(node.value, ast.Attribute) and node.value.attr in NO_TENSORS:
            return NOTHING
        if isinstance(key, ast.Tuple):
            return self.flow(node.value)  # of a tensor
        if not _is_variable(node.value):
            return NOTHING
        if isinstance(key, ast.Constant):
            return frozenset({frozenset({ast.unparse(node)})})
        return frozenset({frozenset({ast.unparse(node.value) + SOME})})

    def _comprehension(self, node: ast.ListComp | ast.GeneratorExp) -> Paths:
        for generator in node.generators:
            if generator.ifs:
                return NOTHING
            self._stand_for(generator.target, generator.iter)
        paths = self.flow(node.elt)
        for generator in reversed(node.generators):
            paths = self._each(paths, partial(self._of_items, generator.target, generator.iter))
        return paths

    def _call(self, node: ast.Call, used: list[str]) -> Paths:
        given = [*node.args, *(keyword.value for keyword in node.keywords)]
        name = self.library(node.func)
        if name is not None:
            last = name.rsplit(".", 1)[-1]
            known = operations.operation(name)
            if last in LOSSES or (known is not None and _differentiable(last)):
                return both(*map(self.flow, given))
            return NOTHING
        function = node.func
        if isinstance(function, ast.Name) and function.id in HANDED_ON:
            if used != [""]:
                raise Unclear
            return both(*map(self.flow, given))
        if isinstance(function, ast.Attribute):
            if function.attr == "values" and not given:
                return self.flow(function.value)
            if operations.method(function.attr) is not None and not _of_self(function):
                if not _differentiable(function.attr):
                    return NOTHING
                return both(self.flow(function.value), *map(self.flow, given))
        return self.called(self, node, used)


def _differentiable(name: str) -> bool:
    found = operations.method(name)
    made = name.startswith("new_") or name.endswith("_like") or name in ENDS
    return not made and not (found is not None and (found.ends_gradient or found.mask))


def _of_self(node: ast.Attribute) -> bool:
    return isinstance(node.value, ast.Name) and node.value.id == "self"


def _is_variable(node: ast.AST) -> bool:
    while isinstance(node, ast.Attribute):
        node = node.value
    return isinstance(node, ast.Name)


def _is_stored(node: ast.AST) -> bool:
    return _is_variable(node) and isinstance(getattr(node, "ctx", None), ast.Store)


def _absent(test: ast.expr) -> tuple[str, bool] | None:
    """An attribute of which a test asks whether it is there, and whether that is a no."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        inner = _absent(test.operand)
        return None if inner is None else (inner[0], not inner[1])
    if isinstance(test, ast.Compare) and len(test.ops) == 1 and is_none(test.comparators[0]):
        found = test.left
        if isinstance(found, ast.Attribute) and isinstance(test.ops[0], ast.Is | ast.IsNot):
            return ast.unparse(found), isinstance(test.ops[0], ast.Is)
    return None
