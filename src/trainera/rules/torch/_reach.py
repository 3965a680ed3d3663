"""Which networks of a script's own get gradients for all of their layers, on every path."""

import ast
import builtins
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

from trainera.read.facts import Facts, Step
from trainera.read.libraries.torch.layers import has_parameters
from trainera.read.libraries.torch.losses import MADE
from trainera.read.source.file import SourceFile
from trainera.read.source.syntax import methods_of, parts_of
from trainera.rules.torch._flow import Flow
from trainera.rules.torch._paths import NOTHING, SOME, Path, Paths, Unclear, both, suffixes

ON_THE_FLY = {"setattr", "getattr", "add_module", "register_module", "register_parameter"}
"""By which layers come and go under names that are not seen."""


NUMBERS = ("math.", "np.", "numpy.")


@dataclass(frozen=True, eq=False)
class Scope:
    """Where code stands."""

    file: SourceFile
    function: ast.AST
    cls: ast.ClassDef | None


def reached(facts: Facts) -> set[ast.ClassDef]:
    """The networks of which it is certain that a backward pass reaches all layers, each time."""
    reach = Reach(facts)
    try:
        for step in facts.steps:
            if step.backward:
                reach.backward(step)
    except (Unclear, RecursionError):
        return set()
    return reach.visited


class Reach:
    """Follows losses back into the networks that they are computed with."""

    def __init__(self, facts: Facts) -> None:
        self.facts = facts
        self.visited: set[ast.ClassDef] = set()
        self.classes: dict[str, list[tuple[ast.ClassDef, SourceFile]]] = {}
        self.functions: dict[str, list[tuple[ast.FunctionDef, SourceFile]]] = {}
        for file in facts.files.values():
            for node in file.nodes:
                if isinstance(node, ast.ClassDef):
                    self.classes.setdefault(node.name, []).append((node, file))
                elif isinstance(node, ast.FunctionDef):
                    if not isinstance(file.parents[node], ast.ClassDef):
                        self.functions.setdefault(node.name, []).append((node, file))
        self.networks: dict[ast.AST, list[tuple[ast.ClassDef, SourceFile]]] = {}
        """Calls of networks in the training code, and of which classes these are."""
        for step in facts.steps:
            for origin, call in step.calls:
                made = self._made_by(origin)
                known = self.networks.setdefault(call, [])
                known.extend(one for one in made if one not in known)
        self.imports: dict[SourceFile, dict[str, str]] = {}
        self.met: set[ast.AST] = set()
        self.entries: dict[tuple[ast.AST | tuple[str, ...] | None, ...], Paths | None] = {}

    def backward(self, step: Step) -> None:
        """Goes from a backward pass to the calls of networks that its loss comes from."""
        wanted = {call for _, call in step.calls if self.networks.get(call)}
        values = [one.value for (_, node), one in self.facts.backwards.items() if node is step.node]
        if not wanted or not values:
            return
        self.met = set()
        function, cls = _around(step.node, step.file)
        if isinstance(function, ast.Lambda):
            raise Unclear
        flow = self._flow(Scope(step.file, function, cls), [""], frozenset(wanted))
        paths = flow.flow(values[0])
        statement: ast.AST = step.file.statement_of(step.node)
        while not wanted <= self.met and statement is not function:
            above = step.file.parents[statement]
            for block in (getattr(above, name, []) for name in ("body", "orelse", "finalbody")):
                if statement in block:
                    for earlier in reversed(block[: block.index(statement)]):
                        paths = flow.step(earlier, paths)
            statement = above
        if not wanted <= self.met:
            raise Unclear

    def _flow(self, scope: Scope, used: list[str], watched: frozenset[ast.AST]) -> Flow:
        library = partial(self._library, scope)
        return Flow(partial(self._called, scope), library, used, watched)

    def _made_by(self, origin: ast.AST) -> list[tuple[ast.ClassDef, SourceFile]]:
        if not isinstance(origin, ast.Call):
            return []
        return self.classes.get(ast.unparse(origin.func).rsplit(".", 1)[-1], [])

    def _library(self, scope: Scope, function: ast.expr) -> str | None:
        """The full name of a function of torch's."""
        if scope.file not in self.imports:
            self.imports[scope.file] = dict(_imported(scope.file))
        head, _, rest = ast.unparse(function).partition(".")
        full = self.imports[scope.file].get(head, "")
        return f"{full}.{rest}".rstrip(".") if full.split(".")[0] == "torch" else None

    def _called(self, scope: Scope, flow: Flow, node: ast.Call, used: list[str]) -> Paths:
        """What a call of something of the script's, or of a layer, is computed from."""
        function = node.func
        if node in self.networks:
            self.met.add(node)
            return self._instance(flow, node, self.networks[node], used)
        name = ast.unparse(function)
        itself: Paths = frozenset({frozenset({name})})
        if isinstance(function, ast.Name):
            if function.id in flow.members:
                name = flow.members[function.id]
            elif function.id in self.functions and not _is_bound(function.id, scope):
                found = self.functions[function.id]
                if len(found) > 1:
                    raise Unclear
                return self._own(flow, node, *found[0], None, used)
            elif hasattr(builtins, function.id):
                return NOTHING
        elif isinstance(function, ast.Attribute):
            method = self._method(scope.cls, function.attr)
            if ast.unparse(function.value) == "self" and method is not None:
                return self._own(flow, node, *method, scope.cls, used, same=True)
            if not name.startswith("self.") or name.count(".") > 1:
                return NOTHING
        else:
            return NOTHING
        made = self._assigned(name, scope)
        classes = [one for value in made for one in self._classes_in(value)]
        if classes:
            return both(itself, self._instance(flow, node, classes, used))
        given = [*node.args, *(keyword.value for keyword in node.keywords)]
        if made and all(isinstance(one, ast.Call) and self._of_torch(one, scope) for one in made):
            if not {"", "[0]", SOME} & set(used):
                raise Unclear  # the states of a recurrent layer: perhaps of a part of it
            return both(itself, *map(flow.flow, given))
        if not given or used != [""]:
            return itself
        # Nobody calls something with what it does not look at first.
        first = frozenset(frozenset(map(_some, path)) for path in flow.flow(given[0]))
        return both(itself, first)

    def _of_torch(self, node: ast.Call, scope: Scope) -> bool:
        return self._library(scope, node.func) is not None

    def _classes_in(self, value: ast.expr) -> Iterator[tuple[ast.ClassDef, SourceFile]]:
        for part in parts_of(value):
            if isinstance(part, ast.Call):
                yield from self._made_by(part)

    def _assigned(self, name: str, scope: Scope) -> list[ast.expr]:
        """All that a variable is ever given, as far as it is seen."""
        where = scope.cls if name.startswith("self.") else scope.file.tree
        if where is None or _is_bound(name, scope, parameters=True):
            return []
        return [value for target, value in _assignments(where) if target == name]

    def _method(
        self, cls: ast.ClassDef | None, name: str
    ) -> tuple[ast.FunctionDef, SourceFile] | None:
        """A method of a class, or of a base of it."""
        if cls is None:
            return None
        file = next(f for f in self.facts.files.values() if cls in f.parents)
        if name in methods_of(cls):
            return methods_of(cls)[name], file
        for base in cls.bases:
            found = self.classes.get(ast.unparse(base).rsplit(".", 1)[-1], [])
            if len(found) == 1 and found[0][0] is not cls:
                return self._method(found[0][0], name)
        return None

    def _instance(
        self,
        flow: Flow,
        node: ast.Call,
        classes: list[tuple[ast.ClassDef, SourceFile]],
        used: list[str],
    ) -> Paths:
        """A network, or a loss of the script's own, is called."""
        found: Paths = frozenset()
        for cls, _ in classes:
            forward = self._method(cls, "forward")
            if forward is None:
                raise Unclear
            found |= self._own(flow, node, *forward, cls, used)
            self._cover(cls, *forward, used)
        return found

    def _cover(
        self, cls: ast.ClassDef, forward: ast.FunctionDef, file: SourceFile, used: list[str]
    ) -> None:
        needed = self._layers(cls, Scope(file, forward, cls))
        paths = self._entry(forward, file, cls, used)
        if not paths or not all(needed <= path for path in paths):
            raise Unclear
        self.visited.add(cls)

    def _layers(self, cls: ast.ClassDef, scope: Scope) -> Path:
        """The attributes of a network that may have parameters, and are used by a method of it."""
        learn, read = set(), set()
        for part in parts_of(cls):
            if isinstance(part, ast.Call) and ast.unparse(part.func).split(".")[-1] in ON_THE_FLY:
                raise Unclear
        for name, value in _assignments(cls):
            if _of_self(name) and any(self._learns(one, scope) for one in parts_of(value)):
                learn.add(name)
        for name, method in methods_of(cls).items():
            if name != "__init__":
                for part in parts_of(method):
                    if isinstance(part, ast.Attribute) and ast.unparse(part.value) == "self":
                        read.add(ast.unparse(part))
                    if isinstance(part, ast.Call) and ast.unparse(part.func).count(".") == 1:
                        text = ast.unparse(part.func)
                        made = self._assigned(text, scope) if _of_self(text) else None
                        if made == [] and self._method(cls, text[len("self.") :]) is None:
                            learn.add(text)
        return frozenset(learn & read)

    def _learns(self, part: ast.AST, scope: Scope) -> bool:
        """Whether a call may make something that has parameters."""
        if not isinstance(part, ast.Call):
            return False
        own, full = self._made_by(part), self._library(scope, part.func)
        if own:
            return any(self._layers(cls, Scope(file, cls, cls)) for cls, file in own)
        if full is None:  # of another library, or a function that puts layers together
            name = ast.unparse(part.func)
            return not hasattr(builtins, name) and not name.startswith(NUMBERS)
        name = full.rsplit(".", 1)[-1]
        return name[:1].isupper() and name not in MADE and has_parameters(name)

    def _own(
        self,
        flow: Flow,
        node: ast.Call,
        function: ast.FunctionDef,
        file: SourceFile,
        cls: ast.ClassDef | None,
        used: list[str],
        same: bool = False,
    ) -> Paths:
        """What a call of the script's own code is computed from, perhaps with the same self."""
        names = [one.arg for one in (*function.args.posonlyargs, *function.args.args)]
        names = names[1:] if cls is not None and names[:1] == ["self"] else names
        if any(isinstance(one, ast.Starred) for one in node.args) or len(node.args) > len(names):
            raise Unclear
        given = dict(zip(names, node.args, strict=False))
        given |= {keyword.arg: keyword.value for keyword in node.keywords if keyword.arg}
        found: Paths = frozenset()
        for path in self._entry(function, file, cls, used):
            made = frozenset({frozenset(one for one in path if same and _of_self(one))})
            for name, value in given.items():
                if asked := suffixes(name, path):
                    made = both(made, flow.value(value, asked))
            found |= made
        return found

    def _entry(
        self, function: ast.FunctionDef, file: SourceFile, cls: ast.ClassDef | None, used: list[str]
    ) -> Paths:
        """What is used, of all that there is when a function begins, for what it gives."""
        key = (function, cls, tuple(sorted(used)))
        if key not in self.entries:
            if any(isinstance(part, ast.Yield | ast.YieldFrom) for part in parts_of(function)):
                raise Unclear
            if any("grad" in ast.unparse(one) for one in function.decorator_list):
                raise Unclear
            self.entries[key] = None
            flow = self._flow(Scope(file, function, cls), used, frozenset())
            self.entries[key] = flow.back(function.body, frozenset())
        found = self.entries[key]
        if found is None:
            raise Unclear  # it calls itself
        return found


def _imported(file: SourceFile) -> Iterator[tuple[str, str]]:
    """The names that imports bind, and what they stand for."""
    for node in file.nodes:
        for one in node.names if isinstance(node, ast.Import | ast.ImportFrom) else ():
            if isinstance(node, ast.ImportFrom):
                yield one.asname or one.name, f"{'.' * node.level}{node.module}.{one.name}"
            else:
                head = one.name.partition(".")[0]
                yield one.asname or head, one.name if one.asname else head


def _assignments(where: ast.AST) -> Iterator[tuple[str, ast.expr]]:
    """Variables, and what they are given."""
    for part in parts_of(where):
        if isinstance(part, ast.AnnAssign) and part.value is not None:
            yield ast.unparse(part.target), part.value
        for target in part.targets if isinstance(part, ast.Assign) else ():
            values = [part.value] if isinstance(part, ast.Assign) else []
            names = target.elts if isinstance(target, ast.Tuple) else [target]
            if isinstance(target, ast.Tuple) and isinstance(values[0], ast.Tuple):
                values = values[0].elts
            for place, name in enumerate(names):
                yield ast.unparse(name), values[place] if len(values) == len(names) else values[0]


def _around(node: ast.AST, file: SourceFile) -> tuple[ast.AST, ast.ClassDef | None]:
    """The function or module around some code, and the class whose method it is."""
    while not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.Module):
        node = file.parents[node]
    above = file.parents.get(node)
    return node, above if isinstance(above, ast.ClassDef) else None


def _is_bound(name: str, scope: Scope, parameters: bool = False) -> bool:
    """Whether a name is a function's own; or, of all of these, a parameter."""
    if isinstance(scope.function, ast.Module):
        return False
    for part in parts_of(scope.function):
        if isinstance(part, ast.arg) and part.arg == name:
            return True
        if not parameters and isinstance(part, ast.Name) and part.id == name:
            if isinstance(part.ctx, ast.Store):
                return True
    return False


def _of_self(text: str) -> bool:
    return text.startswith("self.")


def _some(name: str) -> str:
    """Of a variable that something unknown is given, perhaps not all is used."""
    return name if _of_self(name) or name.endswith(("]", SOME)) else name + SOME
