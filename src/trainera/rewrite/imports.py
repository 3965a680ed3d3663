"""Where the imports that edits need are put, and which of them are there already."""

import ast
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import libcst as cst

from trainera.plan import Edit, Insert
from trainera.rewrite.modules import RUNTIMES
from trainera.rewrite.statements import own_line
from trainera.rewrite.text import Change
from trainera.rewrite.tree import Tree, is_string, small_statements


@dataclass(frozen=True)
class ImportPlace:
    """The spot for new imports: after the imports at the head of the file."""

    offset: int
    line: int
    """The line that the new lines belong to."""
    after_docstring: bool
    """Whether only the docstring stands before."""
    present: frozenset[tuple[str, ...]]
    """What is imported above the spot."""

    def missing(self, edits: Sequence[Edit]) -> list[str]:
        """The imports that the edits need and the file has not, each once, trainera's last."""
        needed = dict.fromkeys(text for edit in edits for text in edit.imports)
        wanting = [text for text in needed if not set(_bindings(text)) <= self.present]
        return sorted(wanting, key=lambda text: (is_runtime(text), _sort_key(text)))

    def change(self, tree: Tree, blocks: Sequence[str]) -> Change:
        """Puts pieces of source at the spot."""
        text = "\n".join(blocks)
        return own_line(tree, self.offset, f"\n{text}" if self.after_docstring else text, self.line)


def find_import_place(tree: Tree, edits: Sequence[Edit]) -> ImportPlace:
    """Finds the end of the imports at the head of a file.

    The head reaches to the first definition, loop or edited statement: set-up lines between
    imports (``os.environ[…] = …``) and guarded imports are part of it, so that what they do
    before torch is imported still happens before.
    """
    last: cst.SimpleStatementLine | None = None
    only_docstring = False
    present: set[tuple[str, ...]] = set()
    for index, statement in enumerate(tree.module.body):
        touching = _edits_of(tree, statement, edits)
        if any(not _is_after(tree, edit, statement) for edit in touching):
            break
        if isinstance(statement, cst.SimpleStatementLine):
            imports = [
                small
                for small in small_statements(statement)
                if isinstance(small, cst.Import | cst.ImportFrom)
            ]
            docstring = index == 0 and is_string(statement.body[0])
            if imports or docstring:
                last, only_docstring = statement, not imports
            for small in imports:
                present.update(_bindings(tree.text[slice(*tree.span(small))]))
        elif not isinstance(statement, cst.If | cst.Try):
            break
        if touching:
            break
    if last is None:
        first = tree.module.body[0]
        offset = tree.above(first)
        line = tree.line_of(tree.first_offset(first))
    else:
        offset = tree.below(last)
        line = tree.line_of(tree.start(last))
    return ImportPlace(offset, line, only_docstring, frozenset(present))


def is_runtime(text: str) -> bool:
    """Whether an import statement is that of a runtime, whatever name it gets."""
    return runtime_of(text) is not None


def runtime_of(text: str) -> tuple[str, str] | None:
    """The runtime that an import statement imports, and the name that it gives to it."""
    return next(runtimes_in(ast.parse(text)), None)


def runtimes_in(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """The runtimes that are imported anywhere in a source, with their names there."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module == "trainera":
            for alias in node.names:
                if alias.name in RUNTIMES:
                    yield alias.name, alias.asname or alias.name


def _edits_of(tree: Tree, statement: cst.CSTNode, edits: Iterable[Edit]) -> list[Edit]:
    start, end = tree.first_offset(statement), tree.below(statement)
    return [edit for edit in edits if start <= tree.offsets(edit.place)[0] < end]


def _is_after(tree: Tree, edit: Edit, statement: cst.CSTNode) -> bool:
    """Whether an edit only adds lines after a whole statement."""
    return (
        isinstance(edit.action, Insert)
        and edit.action.where == "after"
        and tree.offsets(edit.place)[0] in (tree.start(statement), tree.first_offset(statement))
    )


def _bindings(text: str) -> list[tuple[str, ...]]:
    """What an import statement binds: (module, attribute, name) each."""
    statement = ast.parse(text).body[0]
    if isinstance(statement, ast.Import):
        return [(alias.name, "", alias.asname or "") for alias in statement.names]
    assert isinstance(statement, ast.ImportFrom), f"not an import: {text}"
    module = "." * statement.level + (statement.module or "")
    return [(module, alias.name, alias.asname or alias.name) for alias in statement.names]


def _sort_key(text: str) -> tuple[bool, str]:
    return text.startswith("from "), text
