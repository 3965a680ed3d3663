"""The full names of what a file imports."""

import ast

from trainera.read.source.file import SourceFile
from trainera.read.source.modules import absolute


class Names:
    """Resolves names of a file to the modules and members that they were imported from."""

    def __init__(self, file: SourceFile, *, top: bool = False) -> None:
        """With `top`, of names that are bound by statements of the module itself alone."""
        self._bound: dict[str, str] = {}
        for node in file.tree.body if top else file.nodes:
            if isinstance(node, ast.Import):
                for alias in node.names:
                    name = alias.asname or alias.name.partition(".")[0]
                    self._bound[name] = alias.name if alias.asname else name
            elif isinstance(node, ast.ImportFrom):
                for alias in node.names:
                    self._bound[alias.asname or alias.name] = f"{absolute(file, node)}.{alias.name}"

    def of(self, node: ast.AST) -> str:
        """The full name of an expression such as ``tf.keras.Model``; empty if it has none."""
        parts: list[str] = []
        while isinstance(node, ast.Attribute):
            parts.append(node.attr)
            node = node.value
        if not isinstance(node, ast.Name) or node.id not in self._bound:
            return ""
        return ".".join([self._bound[node.id], *reversed(parts)])

    def bound_to(self, *full: str) -> str | None:
        """A name under which the file has one of these modules."""
        return next((name for name, meant in self._bound.items() if meant in full), None)
