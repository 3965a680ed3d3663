"""The user's own modules that a script imports, found without importing anything."""

import ast
import heapq
from collections.abc import Iterator
from dataclasses import dataclass

from trainera.errors import UserError
from trainera.read.source.file import SourceFile, load
from trainera.read.source.roots import Roots

MUCH = 2_000_000
"""Bytes of source that are read of a script's own modules; parsing them takes about two seconds.
Hardly a project is that large, but a script may stand inside of a library of thousands of modules.
The nearest ones are read; what is not read is treated like any library, as something unknown."""
FEW = 50
"""So many modules are read however large they are."""
TYPE_CHECKING = ("TYPE_CHECKING", "typing.TYPE_CHECKING")


def own_modules(script: SourceFile, *, everything: bool = False) -> dict[str, SourceFile]:
    """The script and every module of its own that it reaches through imports, by dotted name.

    Imports for type checkers count where somebody asks for what they bind: packages that load
    their modules lazily tell by them where their names come from. With `everything` they all do,
    and there is no bound.
    """
    return _Search(script, everything=everything).run()


@dataclass(frozen=True, kw_only=True)
class _Import:
    """What one import may make into modules, and what it asks of them."""

    modules: tuple[str, ...]
    binds: str = ""
    """The name that it gives to the importing module; a star stands for any."""
    base: str = ""
    """The module that the name is asked of."""
    member: str = ""
    for_types: bool = False


class _Search:
    """Goes from module to module, the nearest first, and of these what somebody asked for."""

    def __init__(self, script: SourceFile, *, everything: bool) -> None:
        self.script = script
        self.roots = Roots(script)
        self.everything = everything
        self.found = {"__main__": script}
        self.left = MUCH
        self.queue: list[tuple[int, bool, int, str]] = []
        self.seen = {"__main__"}
        self.asked: dict[str, set[str]] = {}
        """The names that are asked of each module."""
        self.waiting: dict[str, list[_Import]] = {}
        """Imports of each module that nobody has asked for yet."""
        self.stars: dict[str, list[str]] = {}
        """The modules that each module takes all names from."""

    def run(self) -> dict[str, SourceFile]:
        self._expand(self.script, 0)
        while self.queue:
            distance, _, _, name = heapq.heappop(self.queue)
            module = self._load(name)
            if module is not None:
                self.found[name] = module
                self._expand(module, distance)
        return self.found

    def _load(self, name: str) -> SourceFile | None:
        path = self.roots.locate(name)
        if path is None or path == self.script.path:
            return None
        size = path.stat().st_size
        if not self.everything and len(self.found) > FEW and size > self.left:
            return None
        try:
            module = load(path, name)
        except UserError:
            return None  # what cannot be parsed is treated like a library
        self.left -= size
        return module

    def _expand(self, module: SourceFile, distance: int) -> None:
        asked = self.asked.get(module.name, set())
        for one in _imports(module):
            if one.for_types and not self.everything and not self._is_asked(one, asked):
                self.waiting.setdefault(module.name, []).append(one)
            else:
                self._follow(one, module, distance + 1, wanted=one.binds in asked)

    def _is_asked(self, one: _Import, names: set[str]) -> bool:
        """Whether an import gives one of these names; a star does if the file tells of it."""
        if one.binds != "*":
            return one.binds in names
        path = self.roots.locate(one.base)
        source = path.read_bytes() if path is not None and names else b""
        return any(name.encode() in source for name in names)

    def _follow(self, one: _Import, importer: SourceFile, distance: int, *, wanted: bool) -> None:
        for name in one.modules:
            if name not in self.seen:
                self.seen.add(name)
                heapq.heappush(self.queue, (distance, not wanted, len(self.seen), name))
        if self.everything:
            return
        if one.member == "*":
            self.stars.setdefault(importer.name, []).append(one.base)
            passed_on = self.asked.get(importer.name, set())
            self._ask(one.base, {*importer.names_read, *passed_on}, distance)
        elif one.member:
            self._ask(one.base, {one.member}, distance)
        for name in one.modules:  # whatever is a module, its names are asked for as attributes
            self._ask(name, set(importer.attributes_read), distance)

    def _ask(self, name: str, members: set[str], distance: int) -> None:
        known = self.asked.setdefault(name, set())
        new = members - known
        if not new:
            return
        known |= new
        if name in self.found:
            waiting = self.waiting.pop(name, [])
            self.waiting[name] = [one for one in waiting if not self._is_asked(one, new)]
            for one in waiting:
                if one not in self.waiting[name]:
                    self._follow(one, self.found[name], distance + 1, wanted=True)
            for base in self.stars.get(name, []):
                self._ask(base, new, distance + 1)


def absolute(importer: SourceFile, node: ast.ImportFrom) -> str:
    """The dotted name of the module that a ``from … import`` names, relative ones resolved."""
    if not node.level:
        return node.module or ""
    package = importer.package.split(".") if importer.package else []
    package = package[: len(package) - (node.level - 1)]
    return ".".join([*package, *([node.module] if node.module else [])])


def imported(module: SourceFile, within: ast.AST) -> Iterator[str]:
    """The names that the imports in a part of a module may make into modules."""
    for node in ast.walk(within):
        for one in _imports_of(module, node):
            yield from one.modules


def _imports(module: SourceFile) -> Iterator[_Import]:
    """All imports of a module, also those inside of functions."""
    for_types = {
        part
        for node in module.nodes
        if isinstance(node, ast.If) and ast.unparse(node.test) in TYPE_CHECKING
        for statement in node.body
        for part in ast.walk(statement)
    }
    for node in module.nodes:
        yield from _imports_of(module, node, for_types=node in for_types)


def _imports_of(module: SourceFile, node: ast.AST, *, for_types: bool = False) -> Iterator[_Import]:
    if isinstance(node, ast.Call) and len(node.args) == 1:
        name = node.args[0]
        called = getattr(node.func, "attr", None) or getattr(node.func, "id", None)
        if called in ("import_module", "__import__") and isinstance(name, ast.Constant):
            yield _Import(modules=_prefixes(str(name.value)), for_types=for_types)
    elif isinstance(node, ast.Import):
        for alias in node.names:
            binds = alias.asname or alias.name.partition(".")[0]
            yield _Import(modules=_prefixes(alias.name), binds=binds, for_types=for_types)
    elif isinstance(node, ast.ImportFrom):
        base = absolute(module, node)
        for alias in node.names:
            full = f"{base}.{alias.name}" if base else alias.name
            yield _Import(
                modules=(*_prefixes(base), full),
                binds=alias.asname or alias.name,
                base=base,
                member=alias.name,
                for_types=for_types,
            )


def _prefixes(name: str) -> tuple[str, ...]:
    parts = name.split(".")
    return tuple(".".join(parts[:end]) for end in range(1, len(parts) + 1))
