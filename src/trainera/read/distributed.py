"""Tells whether a script already runs on several workers by other means."""

import ast
from collections.abc import Iterator

from trainera.plan import Refusal
from trainera.read.modules import absolute
from trainera.read.source import SourceFile
from trainera.read.tables import DISTRIBUTED


def already(files: dict[str, SourceFile]) -> Refusal | None:
    """A refusal that names what makes the script parallel and how it is launched."""
    for file in files.values():
        for name, node in _names(file):
            for known, (what, launcher) in DISTRIBUTED.items():
                if name == known or name.startswith(known + "."):
                    return Refusal(
                        rule="already-distributed",
                        place=file.place(node),
                        what=f"the script already runs on several workers, by {what}",
                        why="it was written for many processes, so there is nothing to convert",
                        do=f"launch it with: {launcher} {files['__main__'].path.name}",
                    )
    return None


def _names(file: SourceFile) -> Iterator[tuple[str, ast.AST]]:
    for node in file.nodes:
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield alias.name, node
        elif isinstance(node, ast.ImportFrom):
            base = absolute(file, node)
            for alias in node.names:
                yield f"{base}.{alias.name}", node
        elif isinstance(node, ast.Attribute) and node.attr in (
            "DistributedDataParallel",
            "init_process_group",
        ):
            name = ast.unparse(node)
            if node.attr == "DistributedDataParallel":
                name = "torch.nn.parallel.DistributedDataParallel"
            yield name, node
