"""What may give another value to a name or an attribute without an assignment that is followed.

A name that holds a constant decides what is read, so it has to be certain. `helper.MODE = "loud"`,
`globals()["MODE"] = …`, `exec(text)` and `setattr(sys.modules[name], key, value)` all change names
of modules from somewhere else, perhaps in code that nobody seems to call. Whatever of that kind
stands anywhere in the program's files makes names uncertain: one of them if it says which, all of
them if not. What stands outside of functions is done where it stands: names that are bound behind
it are certain again.
"""

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache

from trainera.read.source.file import SourceFile
from trainera.read.source.modules import absolute
from trainera.read.source.syntax import is_namespace

CODE = {"exec", "eval"}
ATTRIBUTES = {"setattr", "delattr", "__setattr__", "__delattr__"}
BY_NAME = {"import_module", "__import__", "exec_module", "module_from_spec"}
"""Calls that give a module, or run one."""
LOOKS = {"getattr", "hasattr", "isinstance", "print", "len", "sorted", "list", "dict", "str", "dir"}
"""Functions that change nothing of what they are given."""
ASKS = {"get", "items", "keys", "values", "copy"}
"""Methods of dictionaries that change nothing."""
FRESH = {"parse_args", "Namespace", "SimpleNamespace"}
"""Calls that give an object of its own, which is no module and no class."""
FUNCTIONS = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda


@dataclass(frozen=True)
class Change:
    """Something that may give another value to a name, or to any if it does not say to which."""

    node: ast.AST
    name: str | None
    of_classes: bool = False
    """Whether attributes of classes may be changed, too."""


class Rebinding:
    """What may be given another value anywhere in a program."""

    def __init__(self, files: dict[str, SourceFile]) -> None:
        self.files = files
        self.passed_on = any(self._passes_on(file) for file in files.values())
        """Whether modules are values: any name may stand for one then."""
        self.changes = [
            (file, change)
            for file in files.values()
            for node in file.nodes
            for change in self._changes_of(node, file)
        ]
        self.names = frozenset(one.name for _, one in self.changes if one.name is not None)
        self.at_top = frozenset(
            file.statement_of(one.node)
            for file, one in self.changes
            if one.name is None and not _in_function(one.node, file)
        )
        """The statements outside of functions that may give any name another value."""
        self.anything = any(
            one.name is None and _in_function(one.node, file) for file, one in self.changes
        )
        self.any_attribute = any(one.name is None and one.of_classes for _, one in self.changes)

    def is_certain(self, name: str) -> bool:
        """Whether a name of a module holds what it was seen to be given."""
        return not self.anything and name not in self.names

    def is_certain_attribute(self, name: str) -> bool:
        """The same for an attribute of one of the program's own classes."""
        return not self.any_attribute and name not in self.attributes

    @cached_property
    def attributes(self) -> frozenset[str]:
        """The attributes that are set of anything but the object whose method it is."""
        return self.names | {
            node.attr
            for file in self.files.values()
            for node in file.nodes
            if isinstance(node, ast.Attribute)
            and not isinstance(node.ctx, ast.Load)
            and not _is_own_object(node.value, file)
        }

    def _passes_on(self, file: SourceFile) -> bool:
        return any(
            isinstance(node, ast.expr)
            and (self._is_module(node, file) or _gives_module(node))
            and not _is_looked_at(node, file)
            for node in file.nodes
        )

    def _is_module(self, node: ast.AST, file: SourceFile) -> bool:
        """Whether an expression names a module of the program's own."""
        if isinstance(node, ast.Name):
            return isinstance(node.ctx, ast.Load) and node.id in self._modules_in(file)
        if not isinstance(node, ast.Attribute) or not isinstance(node.ctx, ast.Load):
            return False
        return node.attr in self._last_parts and _root(node) in self._modules_in(file)

    def _may_be_module(self, node: ast.expr, file: SourceFile) -> bool:
        if _is_own_object(node, file):
            return False
        named = _root(node)
        return self.passed_on or named in self._modules_in(file) or named == "sys"

    @cached_property
    def _last_parts(self) -> frozenset[str]:
        return frozenset(name.rpartition(".")[2] for name in self.files)

    @cached_property
    def _bound(self) -> dict[str, frozenset[str]]:
        return {}

    def _modules_in(self, file: SourceFile) -> frozenset[str]:
        """The names that stand for modules of the program's own in one of its files."""
        if file.name not in self._bound:
            self._bound[file.name] = frozenset()  # modules may import each other
            self._bound[file.name] = frozenset(self._imported(file))
        return self._bound[file.name]

    def _imported(self, file: SourceFile) -> Iterator[str]:
        for node in file.nodes:
            if isinstance(node, ast.Import):
                for alias in node.names:
                    if alias.name in self.files or alias.name.split(".")[0] in self.files:
                        yield alias.asname or alias.name.split(".")[0]
            elif isinstance(node, ast.ImportFrom):
                base = absolute(file, node)
                passed = self._modules_in(self.files[base]) if base in self.files else frozenset()
                for alias in node.names:
                    if alias.name == "*":
                        yield from passed
                    elif f"{base}.{alias.name}" in self.files or alias.name in passed:
                        yield alias.asname or alias.name

    def _changes_of(self, node: ast.AST, file: SourceFile) -> Iterator[Change]:
        if isinstance(node, ast.Global) and _in_function(node, file):
            yield from (Change(node, name) for name in node.names)
        elif isinstance(node, ast.Attribute) and not isinstance(node.ctx, ast.Load):
            if self._may_be_module(node.value, file):
                yield Change(node, node.attr)
        elif isinstance(node, ast.Name) and node.id in CODE | ATTRIBUTES:
            if not _is_called(node, file) and node.id not in _own_functions(file):
                yield Change(node, None, of_classes=True)
        elif isinstance(node, ast.Call):
            yield from self._by_call(node, file)
        if self._is_namespace(node, file):
            yield from _by_namespace(node, file)

    def _by_call(self, node: ast.Call, file: SourceFile) -> Iterator[Change]:
        called = _called(node)
        if called in _own_functions(file):
            return
        if called == "exec" or (called == "eval" and _is_builtin(node.func)):
            if not _is_harmless(node):
                yield Change(node, None, of_classes=True)
        elif called == "reload":
            yield Change(node, None)
        elif called in ATTRIBUTES and node.args:
            of_super = isinstance(node.func, ast.Attribute) and len(node.args) < 3
            owner = node.args[0]
            key = node.args[1] if len(node.args) > 1 else node.args[0]
            if of_super and called.startswith("__") and isinstance(node.func, ast.Attribute):
                owner, key = node.func.value, node.args[0]
            if isinstance(key, ast.Constant):
                yield Change(node, str(key.value))
            elif not _is_own_object(owner, file):
                yield Change(node, None, of_classes=True)

    def _is_namespace(self, node: ast.AST, file: SourceFile) -> bool:
        """Whether it is the dictionary that a module's names stand in."""
        if isinstance(node, ast.Attribute) and node.attr == "__dict__":
            return self._may_be_module(node.value, file)
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
            return False
        if is_namespace(node):
            return node.func.id == "globals" or not _in_function(node, file)
        return node.func.id == "vars" and self._may_be_module(node.args[0], file)


@lru_cache(maxsize=4)
def _rebinding(files: tuple[tuple[str, SourceFile], ...]) -> Rebinding:
    return Rebinding(dict(files))


def rebinding_of(files: dict[str, SourceFile]) -> Rebinding:
    """What may be given another value in these files, which are read several times."""
    return _rebinding(tuple(files.items()))


def _by_namespace(node: ast.AST, file: SourceFile) -> Iterator[Change]:
    """What is done with a module's dictionary."""
    above = file.parents.get(node)
    if _only_reads(node, above):
        return
    call = file.parents.get(above) if above is not None else None
    if isinstance(above, ast.Subscript) and isinstance(above.slice, ast.Constant):
        yield Change(node, str(above.slice.value))
    elif isinstance(above, ast.Attribute) and isinstance(call, ast.Call):
        words = [word.arg for word in call.keywords]
        if above.attr == "update" and not call.args and None not in words:
            yield from (Change(node, word) for word in words)
        else:
            yield Change(node, None)
    else:
        yield Change(node, None)


def _only_reads(node: ast.AST, above: ast.AST | None) -> bool:
    """Whether a dictionary is only looked at where it stands."""
    if isinstance(above, ast.Subscript):
        return above.value is not node or isinstance(above.ctx, ast.Load)
    if isinstance(above, ast.Attribute):
        return above.attr in ASKS
    if isinstance(above, ast.keyword):
        return above.arg is None
    if isinstance(above, ast.Call):
        return _called(above) in LOOKS
    looks = ast.Compare | ast.Dict | ast.FormattedValue | ast.comprehension | ast.For | ast.Expr
    return isinstance(above, looks)


def _is_looked_at(node: ast.AST, file: SourceFile) -> bool:
    """Whether a module is only asked for what is in it."""
    above = file.parents.get(node)
    if isinstance(above, ast.Attribute | ast.Compare | ast.Expr):
        return True
    return isinstance(above, ast.Call) and _called(above) in LOOKS | ATTRIBUTES | {"vars", "reload"}


def _gives_module(node: ast.AST) -> bool:
    """``sys.modules["helper"]``, ``importlib.import_module(name)``: who knows which module."""
    if isinstance(node, ast.Subscript):
        return isinstance(node.value, ast.Attribute) and ast.unparse(node.value) == "sys.modules"
    return isinstance(node, ast.Call) and _called(node) in BY_NAME


def _called(node: ast.Call) -> str:
    """The last part of the name of what is called."""
    function = node.func
    if isinstance(function, ast.Attribute):
        return function.attr
    return function.id if isinstance(function, ast.Name) else ""


def _is_called(node: ast.Name, file: SourceFile) -> bool:
    above = file.parents.get(node)
    return isinstance(above, ast.Call) and above.func is node


def _is_builtin(function: ast.expr) -> bool:
    """``eval(…)``, and not a network's ``model.eval()``."""
    return isinstance(function, ast.Name) or _root(function) in ("builtins", "__builtins__")


def _is_harmless(node: ast.Call) -> bool:
    """Whether the code stands there, and calls and binds nothing."""
    text = node.args[0] if node.args else None
    if not isinstance(text, ast.Constant) or not isinstance(text.value, str):
        return False
    try:
        tree = ast.parse(text.value.strip(), mode="eval")
    except (SyntaxError, ValueError):
        return False
    return not any(isinstance(part, ast.Call | ast.NamedExpr) for part in ast.walk(tree))


def _root(node: ast.AST) -> str:
    """The name that a dotted expression begins with."""
    while isinstance(node, ast.Attribute | ast.Subscript | ast.Call):
        node = node.func if isinstance(node, ast.Call) else node.value
    return node.id if isinstance(node, ast.Name) else ""


def _in_function(node: ast.AST, file: SourceFile) -> bool:
    current = file.parents.get(node)
    while current is not None and not isinstance(current, FUNCTIONS):
        current = file.parents.get(current)
    return current is not None


def _is_own_object(node: ast.expr, file: SourceFile) -> bool:
    """The object whose method it is, or one that was just made: no module and no class."""
    if isinstance(node, ast.Call):
        return _called(node) == "super"
    return isinstance(node, ast.Name) and (_is_self(node, file) or node.id in _fresh(file))


def _is_self(node: ast.Name, file: SourceFile) -> bool:
    current: ast.AST | None = node
    while current is not None:
        above = file.parents.get(current)
        if isinstance(current, FUNCTIONS) and isinstance(above, ast.ClassDef):
            spec = current.args
            first = next(iter((*spec.posonlyargs, *spec.args)), None)
            decorators = {_root(one) for one in getattr(current, "decorator_list", [])}
            known = not decorators & {"classmethod", "staticmethod"}
            special = getattr(current, "name", "") in ("__new__", "__init_subclass__")
            of_object = known and not special and node.id != "cls"
            return of_object and first is not None and first.arg == node.id
        current = above
    return False


@lru_cache(maxsize=64)
def _own_functions(file: SourceFile) -> frozenset[str]:
    """Of the names that are looked for, those that a file gives to something of its own."""
    found = set()
    for node in file.nodes:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            if not isinstance(file.parents.get(node), ast.ClassDef):
                found.add(node.name)
        elif isinstance(node, ast.arg):
            found.add(node.arg)
        elif isinstance(node, ast.alias):
            found.add(node.asname or node.name)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found.add(node.id)
    return frozenset(found & (CODE | ATTRIBUTES))


@lru_cache(maxsize=64)
def _fresh(file: SourceFile) -> frozenset[str]:
    """The names that are given nothing but such objects anywhere in a file."""
    bound: dict[str, bool] = {}
    for node in file.nodes:
        if isinstance(node, ast.arg):
            bound[node.arg] = False
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            above = file.parents.get(node)
            given = above.value if isinstance(above, ast.Assign) else None
            made = isinstance(given, ast.Call) and _called(given) in FRESH
            bound[node.id] = bound.get(node.id, True) and made
    return frozenset(name for name, made in bound.items() if made)
