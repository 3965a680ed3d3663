"""The user's own modules that a script imports, found beside it without importing anything."""

import ast
from collections.abc import Iterator
from pathlib import Path

from trainera.errors import UserError
from trainera.read.source.file import SourceFile, load


def own_modules(script: SourceFile) -> dict[str, SourceFile]:
    """The script and every module of its own that it reaches through imports, by dotted name."""
    root = script.path.parent
    found = {"__main__": script}
    waiting = [script]
    while waiting:
        current = waiting.pop()
        for name in imported(current, current.tree):
            if name in found:
                continue
            path = _locate(root, name)
            if path is None or path == script.path:
                continue
            try:
                module = load(path, name)
            except UserError:
                continue  # what cannot be parsed is treated like a library
            found[name] = module
            waiting.append(module)
    return found


def absolute(importer: SourceFile, node: ast.ImportFrom) -> str:
    """The dotted name of the module that a ``from … import`` names, relative ones resolved."""
    if not node.level:
        return node.module or ""
    package = importer.name.split(".") if importer.name != "__main__" else []
    drop = node.level - (1 if importer.path.name == "__init__.py" else 0)
    package = package[: len(package) - drop] if drop else package
    return ".".join([*package, *([node.module] if node.module else [])])


def imported(module: SourceFile, within: ast.AST) -> Iterator[str]:
    """The names that the imports in a part of a module may make into modules."""
    for node in ast.walk(within):
        if isinstance(node, ast.Call) and len(node.args) == 1:
            name = node.args[0]
            called = ast.unparse(node.func).rpartition(".")[2]
            if called in ("import_module", "__import__") and isinstance(name, ast.Constant):
                yield from _prefixes(str(name.value))
        elif isinstance(node, ast.Import):
            for alias in node.names:
                yield from _prefixes(alias.name)
        elif isinstance(node, ast.ImportFrom):
            base = absolute(module, node)
            yield from _prefixes(base)
            for alias in node.names:
                yield f"{base}.{alias.name}" if base else alias.name


def _prefixes(name: str) -> Iterator[str]:
    parts = name.split(".")
    for end in range(1, len(parts) + 1):
        yield ".".join(parts[:end])


def _locate(root: Path, name: str) -> Path | None:
    if not name or not all(part.isidentifier() for part in name.split(".")):
        return None
    stem = root.joinpath(*name.split("."))
    for path in (stem / "__init__.py", stem.with_suffix(".py")):
        if path.is_file():
            return path
    return None
