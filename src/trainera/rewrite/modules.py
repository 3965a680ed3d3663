"""Takes the files of the runtime apart: imports, and top-level definitions with what they use."""

import ast
import symtable
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

RUNTIMES = {
    "crew": "torch",
    "jax_crew": "Keras and JAX",
    "mirror_crew": "Keras and TensorFlow",
    "tf_crew": "TensorFlow",
}
"""The runtimes that converted scripts import, and what each needs."""
PACKAGES = tuple(f"trainera.{name}" for name in RUNTIMES)


@dataclass(frozen=True)
class Binding:
    """A name that an import of another package gives to a file."""

    name: str
    source: str
    """The module that it comes from."""
    member: str = ""
    """Its name there; empty if it is the module itself."""
    alias: str = ""

    @property
    def text(self) -> str:
        """The import statement of a module."""
        return f"import {self.source}" + (f" as {self.alias}" if self.alias else "")

    @property
    def member_text(self) -> str:
        """What follows ``import`` in a ``from`` statement."""
        return self.member + (f" as {self.alias}" if self.alias else "")

    def agrees_with(self, other: "Binding") -> bool:
        """Whether one name may stand for both: ``import torch`` and ``import torch.nn`` agree."""
        if self.member or other.member or self.alias or other.alias:
            return (self.source, self.member) == (other.source, other.member)
        return True


@dataclass(frozen=True)
class Piece:
    """A top-level statement of a file."""

    module: str
    line: int
    text: str
    """Its source, with the comment right above it."""
    serves: frozenset[str]
    """The names that it defines, or, if it defines none, those that it is about."""
    uses: frozenset[str]
    """The names from outside that it refers to."""


@dataclass(frozen=True)
class Module:
    """A file of the runtime."""

    name: str
    imports: tuple[Binding, ...]
    needs: tuple[str, ...]
    """The files of the runtime that it imports from."""
    borrowed: frozenset[str]
    """The names that it imports from them."""
    pieces: tuple[Piece, ...]
    defined: frozenset[str]
    problems: tuple[str, ...]
    """Where it breaks the rules for the runtime's files."""


@cache
def read_module(name: str, text: str) -> Module:
    """Reads one file."""
    tree = ast.parse(text)
    lines = text.splitlines()
    imports: list[Binding] = []
    needs: dict[str, None] = {}
    borrowed: set[str] = set()
    pieces: list[Piece] = []
    defined: set[str] = set()
    for statement in tree.body:
        if isinstance(statement, ast.ImportFrom) and (statement.module or "").startswith(PACKAGES):
            needs[(statement.module or "").rpartition(".")[2]] = None
            borrowed |= {alias.name for alias in statement.names}
        elif isinstance(statement, ast.Import | ast.ImportFrom):
            imports.extend(_bindings(statement))
        elif not (isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)):
            names = frozenset(_defined_by(statement))
            source = _source(statement, lines)
            uses = frozenset(_used_by(source)) - names
            pieces.append(Piece(name, statement.lineno, source, names or uses, uses))
            defined |= names
    # A statement that defines nothing is kept with what it is about, not with all it uses.
    pieces = [
        Piece(piece.module, piece.line, piece.text, piece.serves & defined, piece.uses)
        for piece in pieces
    ]
    return Module(
        name,
        tuple(imports),
        tuple(needs),
        frozenset(borrowed),
        tuple(pieces),
        frozenset(defined),
        tuple(_problems(tree)) if name != "__init__" else (),
    )


def _bindings(statement: ast.Import | ast.ImportFrom) -> Iterator[Binding]:
    for alias in statement.names:
        given = alias.asname or ""
        if isinstance(statement, ast.Import):
            yield Binding(given or alias.name.partition(".")[0], alias.name, "", given)
        else:
            yield Binding(given or alias.name, statement.module or "", alias.name, given)


def _defined_by(statement: ast.stmt) -> Iterator[str]:
    if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        yield statement.name
    elif isinstance(statement, ast.Assign | ast.AnnAssign | ast.AugAssign):
        targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
        for target in targets:
            if isinstance(target, ast.Attribute | ast.Subscript):
                continue
            for node in ast.walk(target):
                if isinstance(node, ast.Name):
                    yield node.id


def _source(statement: ast.stmt, lines: list[str]) -> str:
    decorators = getattr(statement, "decorator_list", [])
    first = min([statement.lineno, *(decorator.lineno for decorator in decorators)])
    while first > 1 and lines[first - 2].startswith("#"):
        first -= 1
    return "\n".join(lines[first - 1 : statement.end_lineno])


def _used_by(source: str) -> Iterator[str]:
    """The names that a statement takes from around it."""
    waiting = [symtable.symtable(source, "<runtime>", "exec")]
    while waiting:
        table = waiting.pop()
        waiting.extend(table.get_children())
        top = table.get_type() == "module"
        for symbol in table.get_symbols():
            if symbol.is_referenced() and (top or symbol.is_global()):
                yield symbol.get_name()


def _problems(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        line = getattr(node, "lineno", 0)
        if isinstance(node, ast.Global):
            yield f"global statement (line {line})"
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            if node.func.id in ("globals", "vars", "locals", "exec", "eval") and not node.args:
                yield f"{node.func.id}() (line {line})"
        elif isinstance(node, ast.ImportFrom):
            inside = node not in tree.body
            crew = (node.module or "").startswith(PACKAGES)
            if node.level or (crew and inside):
                yield f"import of the runtime that is not absolute and at the top (line {line})"
            elif node.module == "__future__":
                yield f"future import (line {line})"
            elif any(alias.name == "*" or (crew and alias.asname) for alias in node.names):
                yield f"import with a star, or renamed (line {line})"
            elif not crew and (node.module or "").partition(".")[0] == "trainera":
                yield f"import of trainera (line {line})"
        elif isinstance(node, ast.Import) and any(
            alias.name.partition(".")[0] == "trainera" for alias in node.names
        ):
            yield f"import of trainera (line {line})"
    for statement in tree.body:
        if isinstance(statement, ast.If | ast.Try | ast.For | ast.While | ast.With):
            yield f"{type(statement).__name__} at the top level (line {statement.lineno})"
