"""Applies the edits of a plan to a file.

One pass over the concrete syntax tree finds the place of every edit and collects the changes of
the text; see `trainera.rewrite.text` for why the tree itself is not rewritten.
"""

import ast
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

import libcst as cst

from trainera.plan import Converted, Edit, Enclose, Insert, Keyword, Replace, Through, Unwrap, Wrap
from trainera.read.source.positions import Span, decode
from trainera.rewrite.bundle import bundle
from trainera.rewrite.expressions import Calling, Enclosing, Unwrapping, Wrapping, spans_of
from trainera.rewrite.imports import find_import_place, is_runtime, runtime_of, runtimes_in
from trainera.rewrite.removing import Removing, removing
from trainera.rewrite.statements import Inserting
from trainera.rewrite.text import Change, encoding_of, splice, writable
from trainera.rewrite.tree import Tree


@dataclass(frozen=True, kw_only=True)
class FileEdits:
    """A file of the script and what is to change in it."""

    path: Path
    source: bytes
    edits: tuple[Edit, ...]


def apply_all(files: Sequence[FileEdits], *, standalone: bool = False) -> tuple[Converted, ...]:
    """Applies the edits of all files of one script.

    With `standalone` each file carries the runtime. When there are several, they must share one
    at run time (a pass opened by one file is seen by the others), so each carries all that any of
    them uses, and the first that is imported shares its own.
    """
    if not standalone or len(files) < 2:
        return tuple(apply(f.path, f.source, f.edits, standalone=standalone) for f in files)
    used: set[str] = set()
    for file in files:
        used |= names_used(apply(file.path, file.source, file.edits))
    return tuple(
        apply(file.path, file.source, file.edits, standalone=True, shared=used) for file in files
    )


def apply(
    path: Path,
    source: bytes,
    edits: Sequence[Edit],
    *,
    standalone: bool = False,
    shared: Collection[str] | None = None,
) -> Converted:
    """Applies all edits of one file; each of them exactly once.

    With `standalone` the runtime is written into the file instead of imported: the names of it
    that the file uses, or, where the runtime is `shared` with other files, those given here.
    """
    text, encoding = decode(source), encoding_of(source)
    tree = Tree(text)
    changes = _collect(tree, edits)
    place = find_import_place(tree, edits)
    missing = place.missing(edits)
    if missing:
        imports = place.change(tree, missing)
        after, lines = splice(text, [imports, *changes])
        if standalone and any(is_runtime(line) for line in missing):
            names = set(shared) if shared is not None else _names_used(after)
            blocks = [
                bundle(names, runtime=found[0], alias=found[1], shared=shared is not None)
                if (found := runtime_of(line))
                else line
                for line in missing
            ]
            imports = place.change(tree, [writable(block, encoding) for block in blocks])
            after, lines = splice(text, [imports, *changes])
    else:
        after, lines = splice(text, changes)
    _check(path, after)
    return Converted(path=path, before=source, after=after.encode(encoding), lines=lines)


def names_used(converted: Converted) -> set[str]:
    """The names of the runtime that a converted file uses."""
    return _names_used(decode(converted.after))


def _names_used(text: str) -> set[str]:
    tree = ast.parse(text)
    aliases = {name for _, name in runtimes_in(tree)}
    return {
        node.attr
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and node.value.id in aliases
    }


def _check(path: Path, after: str) -> None:
    try:
        compile(after, str(path), "exec", dont_inherit=True)
    except SyntaxError as error:
        line = after.splitlines()[(error.lineno or 1) - 1]
        raise AssertionError(f"{path}: the edits give no valid Python: {line.strip()}") from error


def _collect(tree: Tree, edits: Sequence[Edit]) -> list[Change]:
    collector = _Collector(tree, edits)
    tree.module.visit(collector)
    collector.check()
    return collector.changes


Work = Enclosing | Wrapping | Calling | Unwrapping | Removing | Inserting


class _Collector(cst.CSTVisitor):
    """Meets every node that an edit may be meant for, in order, and writes down the changes."""

    def __init__(self, tree: Tree, edits: Sequence[Edit]) -> None:
        super().__init__()
        self.changes: list[Change] = []
        self._tree = tree
        self._edits = edits
        self._applied = [0] * len(edits)
        self._replaced: list[Span] = []
        self._ancestors: list[cst.CSTNode] = []
        self._open: dict[cst.CSTNode, list[Work]] = {}
        self._of_expressions: dict[Span, list[int]] = defaultdict(list)
        self._of_statements: dict[int, list[int]] = defaultdict(list)
        spans = [tree.offsets(edit.place) for edit in edits]
        self._starts = sorted(start for start, _ in spans)
        for number, (edit, span) in enumerate(zip(edits, spans, strict=True)):
            if isinstance(edit.action, Insert):
                self._of_statements[span[0]].append(number)
            else:
                self._of_expressions[span].append(number)

    def on_visit(self, node: cst.CSTNode) -> bool:
        if isinstance(node, cst.BaseStatement) and not self._has_edits(node):
            self._ancestors.append(node)
            return False
        work: list[Work] = []
        if isinstance(node, cst.BaseExpression):
            work = self._expression(node)
        elif isinstance(node, cst.BaseSmallStatement | cst.BaseCompoundStatement):
            work = self._statement(node)
        for item in work:
            self.changes.extend(item.opening())
        if work:
            self._open[node] = work
        self._ancestors.append(node)
        return True

    def on_leave(self, original_node: cst.CSTNode) -> None:
        self._ancestors.pop()
        for item in reversed(self._open.pop(original_node, [])):
            self.changes.extend(item.closing())

    def _has_edits(self, statement: cst.BaseStatement) -> bool:
        """Whether something starts inside; most of a file need not be looked at."""
        after = bisect_left(self._starts, self._tree.first_offset(statement))
        return after < len(self._starts) and self._starts[after] <= self._tree.end(statement)

    def _expression(self, node: cst.BaseExpression) -> list[Work]:
        work: list[Work] = []
        for index, span in enumerate(spans_of(self._tree, node, self._ancestors)):
            numbers = self._of_expressions.get(span, [])
            actions = [self._edits[number].action for number in numbers]
            for number in numbers:
                self._applied[number] += 1
            wraps = [action for action in actions if isinstance(action, Wrap)]
            inner = [action for action in actions if isinstance(action, Through | Keyword)]
            unwrapped = any(isinstance(action, Unwrap) for action in actions)
            new = [action.text for action in actions if isinstance(action, Replace)]
            assert len(new) < 2, f"two names for {self._tree.text[slice(*span)]}"
            if new or wraps:
                wrapping = Wrapping(self._tree, node, wraps, self._ancestors, index > 0, *new)
                work.insert(0, wrapping)
            if inner:
                assert isinstance(node, cst.Call), f"not a call: {self._tree.text[slice(*span)]}"
                calling = Calling(self._tree, node, inner, self._ancestors)
                self._replaced.extend(span for span, _ in calling.replaced)
                work.append(calling)
            for action in actions:
                if isinstance(action, Enclose):
                    work.insert(0, Enclosing(self._tree, node, action))
            if unwrapped:
                assert isinstance(node, cst.Call), f"not a call: {self._tree.text[slice(*span)]}"
                gone = removing(self._tree, node, self._ancestors, self._edited, self._followed)
                work.append(gone or Unwrapping(self._tree, node))
        return work

    def _edited(self, span: Span) -> int:
        """How many expressions inside of a span have edits of their own, or several."""
        return sum(
            len(numbers)
            for (start, end), numbers in self._of_expressions.items()
            if span[0] <= start and end <= span[1]
        )

    def _followed(self, statement: cst.CSTNode) -> bool:
        """Whether lines are put before or after a statement."""
        return self._tree.start(statement) in self._of_statements

    def _statement(self, node: cst.BaseSmallStatement | cst.BaseCompoundStatement) -> list[Work]:
        starts = {self._tree.start(node), self._tree.first_offset(node)}
        numbers = sorted(n for start in starts for n in self._of_statements.get(start, []))
        actions = []
        for number in numbers:
            self._applied[number] += 1
            action = self._edits[number].action
            assert isinstance(action, Insert)
            actions.append(action)
        return [Inserting(self._tree, node, actions, self._ancestors)] if actions else []

    def check(self) -> None:
        """Every edit must have met its place once."""
        for edit, times in zip(self._edits, self._applied, strict=True):
            what = f"{edit.place}: {edit.rule}: {edit.action}"
            assert times == 1, f"{what} applied {times} times"
            start, end = self._tree.offsets(edit.place)
            lost = any(first <= start and end <= last for first, last in self._replaced)
            assert not lost, f"{what} is inside a value that another edit replaces"
