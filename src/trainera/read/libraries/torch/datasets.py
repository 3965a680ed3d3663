"""Datasets that change while they are read: what a sample is then hangs on what was read before."""

import ast
from collections.abc import Iterator

from trainera.read.source.file import SourceFile

CHANGES = {
    *("add", "append", "appendleft", "clear", "discard", "extend", "insert", "pop", "popitem"),
    *("popleft", "readline", "remove", "reverse", "setdefault", "shuffle", "sort", "update"),
}
GENERATORS = {"default_rng", "Generator", "Random", "RandomState"}
SEEDERS = {"manual_seed", "seed"}


def changes(file: SourceFile) -> Iterator[ast.AST]:
    """Where datasets of a file change something that lasts, in the order of the file."""
    generators = {
        target.id
        for statement in file.tree.body
        if isinstance(statement, ast.Assign) and _makes_generator(statement.value)
        for target in statement.targets
        if isinstance(target, ast.Name)
    }
    for cls in file.nodes:
        if isinstance(cls, ast.ClassDef):
            methods = {item.name: item for item in cls.body if isinstance(item, ast.FunctionDef)}
            if "__getitem__" in methods and "__len__" in methods:
                yield from _Reading(cls, methods, generators, file).changes()


class _Reading:
    """How a sample is read: ``__getitem__`` and the methods it calls."""

    def __init__(
        self,
        cls: ast.ClassDef,
        methods: dict[str, ast.FunctionDef],
        generators: set[str],
        file: SourceFile,
    ) -> None:
        self.cls = cls
        self.file = file
        self.generators = generators
        self.reached = _reached(methods)
        parameters = methods["__getitem__"].args.args
        self.index = parameters[1].arg if len(parameters) > 1 else ""
        self.own_generators = {
            target.attr
            for node in ast.walk(cls)
            if isinstance(node, ast.Assign) and _makes_generator(node.value)
            for target in node.targets
            if isinstance(target, ast.Attribute)
        }

    def changes(self) -> Iterator[ast.AST]:
        for method in self.reached:
            shared = {
                name
                for node in ast.walk(method)
                if isinstance(node, ast.Global | ast.Nonlocal)
                for name in node.names
            }
            for node in ast.walk(method):
                if isinstance(node, ast.AugAssign) and self._lasts(node.target, shared):
                    yield node
                elif isinstance(node, ast.Assign):
                    if any(self._carries(target, node, method, shared) for target in node.targets):
                        yield node
                elif isinstance(node, ast.Call) and self._acts(node, method):
                    yield node

    def _lasts(self, target: ast.expr, shared: set[str]) -> bool:
        if isinstance(target, ast.Name):
            return target.id in shared
        return _attribute_of_self(target) is not None

    def _carries(
        self, target: ast.expr, node: ast.Assign, method: ast.FunctionDef, shared: set[str]
    ) -> bool:
        """Whether a later sample may see what is kept here; a cache by index is none of that."""
        if isinstance(target, ast.Name):
            return target.id in shared
        name = _attribute_of_self(target)
        if name is None or self._guarded(node, name):
            return False
        if isinstance(target, ast.Subscript):
            return not self._by_index(target.slice)
        end = node.end_lineno or node.lineno
        return any(
            isinstance(part, ast.Attribute)
            and part.attr == name
            and isinstance(part.ctx, ast.Load)
            and not (self.file.within(part, method) and part.lineno > end)
            for part in self.file.nodes
        )

    def _guarded(self, node: ast.AST, name: str) -> bool:
        """Whether it is made at the first read and kept: ``if self.file is None: …``."""
        above: ast.AST | None = node
        while above is not None and not isinstance(above, ast.FunctionDef):
            if isinstance(above, ast.If):
                test = ast.unparse(above.test)
                empty = f"self.{name} is None" in test or f"not self.{name}" in test
                if empty or f"hasattr(self, '{name}')" in test:
                    return True
            above = self.file.parents.get(above)
        return False

    def _by_index(self, key: ast.AST) -> bool:
        return any(isinstance(part, ast.Name) and part.id == self.index for part in ast.walk(key))

    def _acts(self, node: ast.Call, method: ast.FunctionDef) -> bool:
        """Whether a call moves something on: a list, an iterator, a generator of random numbers."""
        if isinstance(node.func, ast.Name):
            given = node.args[0] if node.args else None
            return node.func.id == "next" and _attribute_of_self(given) is not None
        if any(self._is_generator(keyword.value) for keyword in node.keywords):
            return True
        if not isinstance(node.func, ast.Attribute):
            return False
        owner = node.func.value
        if self._is_generator(owner):
            return node.func.attr not in SEEDERS and not self._seeded_here(owner, method)
        if _attribute_of_self(owner) is None or node.func.attr not in CHANGES:
            return False
        if node.func.attr == "readline" and ".seek(" in ast.unparse(method):
            return False
        cached = node.func.attr in ("setdefault", "update") and any(map(self._by_index, node.args))
        return not cached

    def _is_generator(self, node: ast.expr) -> bool:
        if isinstance(node, ast.Name):
            return node.id in self.generators
        name = _attribute_of_self(node)
        return name in self.own_generators

    def _seeded_here(self, owner: ast.expr, method: ast.FunctionDef) -> bool:
        """Whether the generator is seeded anew for every sample."""
        return any(
            isinstance(part, ast.Call)
            and isinstance(part.func, ast.Attribute)
            and part.func.attr in SEEDERS
            and ast.dump(part.func.value) == ast.dump(owner)
            for part in ast.walk(method)
        )


def _reached(methods: dict[str, ast.FunctionDef]) -> list[ast.FunctionDef]:
    found = [methods["__getitem__"]]
    for method in found:
        for node in ast.walk(method):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                called = methods.get(node.func.attr)
                of_self = isinstance(node.func.value, ast.Name) and node.func.value.id == "self"
                if called is not None and of_self and called not in found:
                    found.append(called)
    return found


def _attribute_of_self(node: ast.AST | None) -> str | None:
    """The ``x`` of ``self.x``, ``self.x[…]`` and ``self.x.y``."""
    name = None
    while isinstance(node, ast.Attribute | ast.Subscript):
        name = node.attr if isinstance(node, ast.Attribute) else name
        node = node.value
    return name if isinstance(node, ast.Name) and node.id == "self" else None


def _makes_generator(node: ast.expr) -> bool:
    while isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        if node.func.attr in GENERATORS:
            return True
        node = node.func.value  # torch.Generator().manual_seed(0)
    return isinstance(node, ast.Call) and ast.unparse(node.func) in GENERATORS
