"""What only decorates the output: times and widths that end up in printed text, and nowhere else.

One worker's output is shown, so such a value may differ from worker to worker. Every use of it is
followed; one that is not understood, or that anything but text hangs on, ends the search.
"""

import ast
from collections.abc import Iterator

from trainera.read.facts import Facts
from trainera.read.source.file import SourceFile
from trainera.read.source.picking import called
from trainera.read.source.syntax import names_in, parts_of
from trainera.read.totals import chains

SHOWN = {"print", "set_postfix", "set_postfix_str", "set_description", "set_description_str"}
"""Functions and methods that show text."""
STREAMS = {"sys.stdout", "sys.stderr", "tqdm"}
LOGGERS = {"logging", "logger", "log", "LOGGER"}
LOGGED = {"debug", "info", "warning", "error"}
PURE = {
    *("abs", "divmod", "float", "format", "int", "len", "max", "min", "range", "repr", "round"),
    *("str", "sum", "ceil", "floor", "join", "ljust", "rjust", "center", "zfill", "strip"),
    *("strftime", "isoformat", "total_seconds", "timedelta", "fromtimestamp", "gmtime", "lower"),
    *("time", "perf_counter", "monotonic", "now", "localtime", "upper", "isatty"),
}
"""Functions and methods that make text or numbers of what they are given, and do nothing else."""
BY_NAME = {"eval", "exec", "globals", "locals", "vars"}
THROUGH = (
    ast.BinOp
    | ast.UnaryOp
    | ast.BoolOp
    | ast.Compare
    | ast.FormattedValue
    | ast.JoinedStr
    | ast.Tuple
    | ast.List
    | ast.Dict
    | ast.Subscript
    | ast.Attribute
    | ast.Starred
    | ast.keyword
)
"""What is made of something, and tells no more than it."""


class Decoration:
    """Asks of places where workers would agree whether text alone hangs on them."""

    def __init__(self, facts: Facts) -> None:
        self.facts = facts
        self.asked: set[ast.AST] = set()
        self.together: dict[ast.AST, None] = {}
        """Places where something is done that all workers, or their batches, take part in."""
        for records in (
            *(facts.escapes, facts.tallies, facts.backwards, facts.weighed, facts.once),
            *(facts.in_turn, facts.cuts, facts.loops, facts.first_batches, facts.meters),
            *(facts.alike, facts.bare, facts.through),
        ):
            self.together |= {node: None for _, node in records}
        self.is_seen = False
        """Whether some text was found: what nobody is seen to use may be used unseen."""
        self.shares = {node for _, node in facts.shares}
        self.agreed = {spot.node for spot in facts.agree.values()}

    def is_all(self, node: ast.expr, file: SourceFile) -> bool:
        """Whether what is decided, or stored, here is seen in printed text only."""
        self.asked.clear()
        self.is_seen = False
        return not BY_NAME & file.names_read and self._shown(node, file) and self.is_seen

    def _shown(self, node: ast.AST, file: SourceFile) -> bool:
        """Whether a value goes into text alone."""
        if node in self.shares or node in self.together:
            return False
        if node in self.asked:
            return True
        self.asked.add(node)
        above = file.parents.get(node)
        if isinstance(above, THROUGH):
            return self._shown(above, file)
        if isinstance(above, ast.IfExp):
            return self._quiet(above, file) and self._shown(above, file)
        if isinstance(above, ast.Call):
            return self._given(node, above, file)
        if isinstance(above, ast.Expr):
            return True
        if isinstance(above, ast.If) and node is above.test:
            return self._only_shows(above, file)
        if isinstance(above, ast.For) and node is above.iter:
            return self._only_shows(above, file)
        if isinstance(above, ast.Assign | ast.AnnAssign | ast.AugAssign):
            targets = above.targets if isinstance(above, ast.Assign) else [above.target]
            return all(self._stored(target, file) for target in targets)
        return isinstance(above, ast.Return) and self._returned(above, file)

    def _given(self, node: ast.AST, call: ast.Call, file: SourceFile) -> bool:
        """Whether a call does nothing with an argument but to show it, or make text of it."""
        name = called(call)
        if node is call.func:
            return name in PURE and self._is_no_own(name) and self._shown(call, file)
        if self._shows(call):
            return True
        if name == "append" and isinstance(call.func, ast.Attribute):
            return self._kept(call.func.value, file)
        if name in PURE and self._is_no_own(name):
            return self._shown(call, file)
        function = self._own(call)
        if function is None:
            return False
        home, definition = function
        position = call.args.index(node) if node in call.args else None
        names = [*definition.args.posonlyargs, *definition.args.args]
        if position is not None:
            parameter = names[position] if position < len(names) else None
        else:
            words = [word.arg for word in call.keywords if word is node or word.value is node]
            parameter = next((one for one in names if one.arg in words), None)
        return parameter is not None and self._uses(parameter, parameter.arg, home)

    def _kept(self, owner: ast.expr, file: SourceFile) -> bool:
        """Whether all that is ever done with a list of this function's is to show it."""
        scope = _scope(owner, file)
        if not isinstance(owner, ast.Name) or not isinstance(scope, ast.FunctionDef):
            return False
        stores = _stores(owner.id, scope)
        return bool(stores) and all(self._uses(one, one.id, file) for one in stores)

    def _is_known_to_others(self, name: str, file: SourceFile) -> bool:
        """Whether another module may look at a variable of this one."""
        others = (one for one in self.facts.files.values() if one is not file)
        return any(name in one.names_read or name in one.attributes_read for one in others)

    def _stored(self, target: ast.AST, file: SourceFile) -> bool:
        if isinstance(target, ast.Tuple):
            return all(self._stored(one, file) for one in target.elts)
        return isinstance(target, ast.Name) and self._uses(target, target.id, file)

    def _uses(self, definition: ast.AST, name: str, file: SourceFile) -> bool:
        """Whether all uses of a variable show it."""
        found = chains(file)
        if not found.followed or name in found.declared or definition not in found.definitions:
            return False
        if isinstance(_scope(definition, file), ast.Module) and self._is_known_to_others(
            name, file
        ):
            return False
        for use in found.uses(definition):
            if isinstance(file.parents.get(use), ast.Attribute) and _appends(use, file):
                continue  # what is appended is asked for itself
            if not self._shown(use, file):
                return False
        return True

    def _returned(self, node: ast.Return, file: SourceFile) -> bool:
        """Whether what a function gives is shown wherever it is called."""
        function = _scope(node, file)
        if not isinstance(function, ast.FunctionDef) or self._defined(function.name) is None:
            return False
        if not self._is_quiet_function(function, file):
            return False  # what comes after is left out
        for home in self.facts.files.values():
            for part in home.nodes:
                named = isinstance(part, ast.Name) and part.id == function.name
                if named or (isinstance(part, ast.Attribute) and part.attr == function.name):
                    call = home.parents[part]
                    if not isinstance(call, ast.Call) or call.func is not part:
                        return False
                    if not self._shown(call, home):
                        return False
        return True

    def _only_shows(self, node: ast.If | ast.For, file: SourceFile) -> bool:
        """Whether nothing but text hangs on whether, or how often, some code is run."""
        if not self._quiet(node, file):
            return False
        if isinstance(node, ast.For) and not self._stored(node.target, file):
            return False
        statements = [*node.body, *node.orelse]
        return all(self._is_shown(statement, file) for statement in statements)

    def _is_shown(self, node: ast.stmt, file: SourceFile) -> bool:
        if isinstance(node, ast.Pass):
            return True
        if isinstance(node, ast.Expr):
            call = node.value
            if isinstance(call, ast.Call) and called(call) == "append":
                return isinstance(call.func, ast.Attribute) and self._kept(call.func.value, file)
            return isinstance(call, ast.Constant) or (
                isinstance(call, ast.Call) and self._shows(call)
            )
        if isinstance(node, ast.Assign | ast.AnnAssign | ast.AugAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            return all(self._stored(target, file) for target in targets)
        if isinstance(node, ast.Return):
            return self._returned(node, file)
        return isinstance(node, ast.If | ast.For) and self._only_shows(node, file)

    def _quiet(self, node: ast.AST, file: SourceFile) -> bool:
        """Whether no worker is waited for in some code, and nothing is done but to show text."""
        for part in parts_of(node):
            if part in self.together:
                return False
            if isinstance(part, ast.Call) and not self._shows(part):
                name = called(part)
                if name != "append" and (name not in PURE or not self._is_no_own(name)):
                    own = self._own(part)
                    if own is None or not self._is_quiet_function(own[1], own[0]):
                        return False
            if part in self.agreed and not self._shown(part, file):
                return False
        return True

    def _is_quiet_function(self, function: ast.FunctionDef, file: SourceFile) -> bool:
        """Whether a function changes nothing that outlives it."""
        key = function.args
        if key in self.asked:
            return True
        self.asked.add(key)
        if not all(self._quiet(statement, file) for statement in function.body):
            return False
        for part in parts_of(function):
            if isinstance(part, ast.Global | ast.Nonlocal | ast.Yield | ast.YieldFrom | ast.Await):
                return False
            if isinstance(part, ast.Attribute | ast.Subscript):
                if isinstance(part.ctx, ast.Store):
                    return False
            if isinstance(part, ast.Call) and called(part) == "append":
                owner = part.func.value if isinstance(part.func, ast.Attribute) else None
                if not isinstance(owner, ast.Name) or not _stores(owner.id, function):
                    return False
        return True

    def _own(self, call: ast.Call) -> tuple[SourceFile, ast.FunctionDef] | None:
        """The function of the script's that a call by name calls."""
        return self._defined(call.func.id) if isinstance(call.func, ast.Name) else None

    def _is_no_own(self, name: str) -> bool:
        return not any(True for _ in self._definitions(name))

    def _defined(self, name: str) -> tuple[SourceFile, ast.FunctionDef] | None:
        """The only function of a name, if that name is given to nothing else."""
        found = list(self._definitions(name))
        if len(found) != 1:
            return None
        file, function = found[0]
        if not isinstance(function, ast.FunctionDef) or function.decorator_list:
            return None
        return (file, function) if isinstance(file.parents[function], ast.Module) else None

    def _definitions(self, name: str) -> Iterator[tuple[SourceFile, ast.AST]]:
        """All that a name is given to, anywhere in the script's own code."""
        for file in self.facts.files.values():
            for part in file.nodes:
                if (
                    (isinstance(part, ast.FunctionDef | ast.ClassDef) and part.name == name)
                    or (isinstance(part, ast.arg) and part.arg == name)
                    or (isinstance(part, ast.alias) and part.asname == name)
                    or (isinstance(part, ast.Name) and part.id == name and _is_store(part))
                ):
                    yield file, part

    def _shows(self, call: ast.Call) -> bool:
        """Whether a call shows text: one worker does, whoever calls it."""
        # The script may have its own way of doing so.
        shows = _is_output(call) and self._is_no_own(called(call)) and self._is_no_own("write")
        self.is_seen |= shows
        return shows


def _is_output(call: ast.Call) -> bool:
    name, function = called(call), call.func
    if name == "print":
        words = {word.arg: ast.unparse(word.value) for word in call.keywords}
        return isinstance(function, ast.Name) and words.get("file", "sys.stdout") in STREAMS
    if name in ("write", "flush") and isinstance(function, ast.Attribute):
        return ast.unparse(function.value) in STREAMS
    if name in LOGGED and isinstance(function, ast.Attribute):
        return bool(names_in(function) & LOGGERS)
    return name in SHOWN


def _scope(node: ast.AST, file: SourceFile) -> ast.AST:
    """The function, lambda or module that some code is part of."""
    scopes = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.Module | ast.ClassDef
    above = file.parents[node]
    while not isinstance(above, scopes):
        above = file.parents[above]
    return above


def _is_store(node: ast.Name) -> bool:
    return isinstance(node.ctx, ast.Store)


def _stores(name: str, scope: ast.AST) -> list[ast.Name]:
    """Where a function gives a variable a value."""
    names = (part for part in parts_of(scope) if isinstance(part, ast.Name))
    return [part for part in names if part.id == name and _is_store(part)]


def _appends(use: ast.AST, file: SourceFile) -> bool:
    method = file.parents[use]
    call = file.parents.get(method)
    return isinstance(call, ast.Call) and call.func is method and called(call) == "append"
