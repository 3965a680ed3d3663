"""Files of source: loaded, decoded and parsed once, with errors a user can act on."""

import ast
import tokenize
import warnings
from dataclasses import dataclass, field
from functools import cached_property
from io import BytesIO
from pathlib import Path

from trainera.errors import Status, UserError
from trainera.read.source.place import Place
from trainera.read.source.positions import Positions


@dataclass(frozen=True, kw_only=True, eq=False)
class SourceFile:
    """One parsed file of the user's."""

    path: Path
    name: str
    """Dotted module name; ``__main__`` for the script itself."""
    source: bytes = field(repr=False)
    tree: ast.Module = field(repr=False)

    @cached_property
    def package(self) -> str:
        """The dotted name of the package that relative imports start from.

        A script is in none, unless it has such imports: then it is run as a module of one.
        """
        if self.name != "__main__":
            return self.name if self.path.name == "__init__.py" else self.name.rpartition(".")[0]
        if not any(isinstance(node, ast.ImportFrom) and node.level for node in self.nodes):
            return ""
        parts: list[str] = []
        folder = self.path.absolute().parent
        while (folder / "__init__.py").is_file() or not parts:
            parts.insert(0, folder.name)
            folder = folder.parent
        return ".".join(parts)

    @cached_property
    def positions(self) -> Positions:
        return Positions(self.source, self.tree)

    @cached_property
    def nodes(self) -> tuple[ast.AST, ...]:
        """All nodes of the tree. Many questions go through them; walking takes most of the time."""
        return tuple(ast.walk(self.tree))

    @cached_property
    def parents(self) -> dict[ast.AST, ast.AST]:
        """The node above each node."""
        return {child: node for node in self.nodes for child in ast.iter_child_nodes(node)}

    @cached_property
    def emptied(self) -> frozenset[str]:
        """The names and attributes that are set to None somewhere."""
        return frozenset(
            target.id if isinstance(target, ast.Name) else target.attr
            for node in self.nodes
            if isinstance(node, ast.Assign)
            and isinstance(node.value, ast.Constant)
            and node.value.value is None
            for target in node.targets
            if isinstance(target, ast.Name | ast.Attribute)
        )

    @cached_property
    def rebound(self) -> frozenset[str]:
        """The names that functions bind outside of themselves (`global`, `nonlocal`)."""
        return frozenset(
            name
            for node in self.nodes
            if isinstance(node, ast.Global | ast.Nonlocal)
            for name in node.names
        )

    @cached_property
    def attributes_read(self) -> frozenset[str]:
        """The names of all attributes that are looked at."""
        return frozenset(
            node.attr
            for node in self.nodes
            if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load)
        )

    @cached_property
    def names_read(self) -> frozenset[str]:
        """All names that are looked at."""
        return frozenset(
            node.id
            for node in self.nodes
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)
        )

    @cached_property
    def keys_written(self) -> frozenset[object]:
        """The keys of items that are stored anywhere; an ellipsis for those that are computed."""
        return frozenset(
            node.slice.value if isinstance(node.slice, ast.Constant) else ...
            for node in self.nodes
            if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store)
        )

    def place(self, node: ast.AST) -> Place:
        return self.positions.place(node, self.path)

    def statement_of(self, node: ast.AST) -> ast.stmt:
        """The innermost statement that a node is part of."""
        while not isinstance(node, ast.stmt):
            node = self.parents[node]
        return node

    def function_of(self, node: ast.AST) -> ast.FunctionDef | None:
        """The function that a node is part of."""
        current: ast.AST | None = node
        while current is not None and not isinstance(current, ast.FunctionDef):
            current = self.parents.get(current)
        return current

    def is_certain(self, node: ast.AST) -> bool:
        """Whether a node is run whenever the code around it is: no condition stands before it."""
        current: ast.AST | None = node
        while current is not None and not isinstance(current, ast.FunctionDef | ast.Lambda):
            if isinstance(current, ast.If | ast.IfExp | ast.BoolOp | ast.Try | ast.Match):
                return False
            current = self.parents.get(current)
        return True

    def innermost_loop(self, node: ast.AST) -> ast.AST | None:
        """The loop statement whose rounds a node is part of."""
        current = self.parents.get(node)
        while current is not None and not isinstance(current, ast.For | ast.AsyncFor | ast.While):
            current = self.parents.get(current)
        return current

    def within(self, node: ast.AST, ancestor: ast.AST) -> bool:
        """Whether a node stands inside another, or is it."""
        current: ast.AST | None = node
        while current is not None:
            if current is ancestor:
                return True
            current = self.parents.get(current)
        return False


def load(path: Path, name: str = "__main__") -> SourceFile:
    """Reads and parses a file; every way that can fail is a `UserError`."""
    try:
        source = path.read_bytes()
    except FileNotFoundError:
        raise UserError(f"{path}: no such file") from None
    except IsADirectoryError:
        raise UserError(f"{path}: is a directory; name the training script in it") from None
    except OSError as error:
        raise UserError(f"{path}: cannot be read: {error.strerror}") from None
    if b"\0" in source:
        raise UserError(f"{path}: is not Python source: it contains NUL bytes (a binary file?)")
    try:
        encoding, _ = tokenize.detect_encoding(BytesIO(source).readline)
        source.decode(encoding)
    except (SyntaxError, UnicodeDecodeError, LookupError) as error:
        raise UserError(f"{path}: is not readable text: {error}") from None
    try:
        tree = ast.parse(source, filename=str(path))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            # Finds what the parser lets pass, such as a return outside of a function.
            compile(source, str(path), "exec", dont_inherit=True)
    except SyntaxError as error:
        raise UserError(_syntax_message(path, error, source, encoding)) from None
    except (RecursionError, MemoryError):
        raise UserError(f"{path}: is nested too deeply to be parsed") from None
    except ValueError as error:
        raise UserError(f"{path}: cannot be parsed: {error}") from None
    if name == "__main__" and not tree.body:
        raise UserError(f"{path}: is empty: there is nothing to convert", Status.REFUSED)
    return SourceFile(path=path, name=name, source=source, tree=tree)


def _syntax_message(path: Path, error: SyntaxError, source: bytes, encoding: str) -> str:
    line = error.lineno or 1
    lines = source.decode(encoding).splitlines()
    text = lines[line - 1] if line <= len(lines) else ""
    column = max((error.offset or 1) - 1, 0)
    hint = ""
    if "print" in error.msg or "exec" in error.msg or text.lstrip().startswith(("print ", "exec ")):
        hint = " — this looks like Python 2; convert it to Python 3 first"
    caret = "".join("\t" if char == "\t" else " " for char in text[:column]) + "^"
    return f"{path}:{line}:{column + 1}: syntax: {error.msg}{hint}\n  {text}\n  {caret}"
