"""Metrics of libraries that know of process groups."""

import ast

from trainera.read.interpret.library import Library
from trainera.read.interpret.state import Frame
from trainera.read.source.syntax import text_of
from trainera.read.values import Class, LibraryObject, Value


class Meters(Library):
    """Metrics of libraries that know of process groups."""

    def call(self, name: str, node: ast.Call, frame: Frame) -> Value | None:
        return self._make(name, node, frame) if is_meter(name) else None

    def instance(self, cls: Class, bases: list[str], node: ast.Call, frame: Frame) -> Value | None:
        if any(map(is_meter, bases)) and "sync_on_compute" not in text_of(cls.node):
            self._adds_up_itself(node, frame)
        return None

    def given_rows(
        self, callee: Value, node: ast.Call, arguments: list[Value], frame: Frame
    ) -> None:
        if isinstance(callee, LibraryObject) and is_meter(callee.name):
            self.machine.writes.remembers(node, arguments, frame)

    def _make(self, name: str, node: ast.Call, frame: Frame) -> Value:
        """A metric of a library that knows of process groups."""
        self.machine.calls.gathered_arguments(node, frame)
        if name.startswith("ignite."):
            self._adds_up_itself(node, frame)
        elif not name.endswith("MetricCollection"):
            self.notes.meters.mark(node, frame, name)
        return LibraryObject(node, name)

    def _adds_up_itself(self, node: ast.AST, frame: Frame) -> None:
        """A metric that cannot be told to leave the workers' figures alone."""
        self.notes.trouble("torchmetrics", "adds-up-itself", node, frame, frozenset())


def is_meter(name: str) -> bool:
    """Whether a library's class keeps figures and adds them up over a process group."""
    known = name.startswith(("torchmetrics.", "ignite.metrics.")) and "functional" not in name
    return known and name.rsplit(".", 1)[-1][:1].isupper()
