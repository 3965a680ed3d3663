"""Calls that reach outside of the script: only one worker may make them, or all must agree."""

import ast

from trainera.read.interpret.library import Library
from trainera.read.interpret.state import Frame
from trainera.read.libraries import effects
from trainera.read.values import PLAIN, FirstOnly, LibraryObject, PerWorker, Value

CLOCK, TERMINAL = "the clock", "the terminal"
READ = ast.Name | ast.Attribute | ast.Subscript
"""Arguments that are looked at once more at no cost."""


class SideEffects(Library):
    """Calls that reach outside of the script: only one worker may make them, or all must agree."""

    def call(self, name: str, node: ast.Call, frame: Frame) -> Value | None:
        self.notes.once.drop(node, frame)
        self.notes.in_turn.drop(node, frame)
        if name in effects.CLOCKS:
            return PerWorker(CLOCK)
        if name in effects.TERMINAL:
            return PerWorker(TERMINAL)
        if name in effects.NAMES:
            self.machine.calls.gathered_arguments(node, frame)
            return PerWorker("a name made up on the spot")
        if name in effects.FILES:
            self.machine.calls.gathered_arguments(node, frame)
            return PerWorker("the file system")
        downloads = any(
            keyword.arg == "download"
            and not (isinstance(keyword.value, ast.Constant) and not keyword.value.value)
            for keyword in node.keywords
        )
        if name in effects.DOWNLOADS or downloads:
            self.machine.calls.gathered_arguments(node, frame)
            self.notes.in_turn.mark(node, frame, name.rsplit(".", 1)[-1])
            self.path.needs_all_workers()
            return LibraryObject(node, name)
        logs_to_file = name == "logging.basicConfig" and any(
            keyword.arg == "filename" for keyword in node.keywords
        )
        writes = name == "sqlite3.connect" and self._writes_tables(node)
        writes |= name == "lmdb.open" and all(k.arg != "readonly" for k in node.keywords)
        if name in effects.ONCE or logs_to_file or writes:
            if frame.policy.arranges_side_effects:
                for argument, value in zip(
                    node.args, self.machine.calls.gathered_arguments(node, frame), strict=False
                ):
                    self.machine.agreement.agreed(argument, value, frame)
                    self.machine.libraries.saved(argument, value, frame)
                self.notes.once.mark(node, frame, name)
                self.path.needs_all_workers()
            if not name.startswith(effects.TELL):
                return FirstOnly()
            if not isinstance(frame.file.parents.get(node), ast.Expr):
                self.machine.agreement.agreed(node, PerWorker("what one worker was told"), frame)
            return LibraryObject(node, name)
        return None

    def _writes_tables(self, node: ast.Call) -> bool:
        """Whether a script changes the database it opens, told from the words of its SQL."""
        if (
            node.args
            and isinstance(node.args[0], ast.Constant)
            and node.args[0].value == ":memory:"
        ):
            return False
        return any(effects.SQL.search(file.source) for file in self.program.files.values())

    def named(self, name: str) -> Value | None:
        return FirstOnly() if name in effects.OF_ONE else None

    def called(self, name: str, node: ast.Call, value: Value, frame: Frame) -> Value:
        if name.startswith(effects.FOR_ALL) and name not in effects.ONCE:
            given = [*node.args, *(keyword.value for keyword in node.keywords)]
            read = [
                part for part in given if isinstance(part, READ) and not self._whole(part, frame)
            ]
            values = [self.machine.eval(part, frame) for part in read]
            self.machine.agreement.needed_by_all(node, values, frame)
        return value

    def _whole(self, part: ast.expr, frame: Frame) -> bool:
        """Whether it is made of what is gathered: to look once more would forget that."""
        while isinstance(part, ast.Attribute | ast.Subscript | ast.Call):
            part = part.func if isinstance(part, ast.Call) else part.value
            if self.notes.escapes.get(part, frame) is not None:
                return True
        return False

    def method(
        self, node: ast.Call, function: ast.Attribute, owner: Value, frame: Frame
    ) -> Value | None:
        self.notes.once.drop(node, frame)
        if not isinstance(owner, FirstOnly):
            return None
        values = self.machine.calls.gathered_arguments(node, frame)
        self.machine.agreement.handed_over(node, values, frame)
        made = self.notes.once.get(function.value, frame)
        if made is not None and made.what == "os.popen" and function.attr.startswith("read"):
            self.machine.agreement.agreed(node, PerWorker("what one worker was told"), frame)
            return PLAIN
        return owner

    def plain_method(self, node: ast.Call, name: str, owner: Value, frame: Frame) -> Value | None:
        if name == "extractall" and frame.policy.arranges_side_effects:
            self.machine.calls.gathered_arguments(node, frame)
            self.notes.in_turn.mark(node, frame, name)
            self.path.needs_all_workers()
            return PLAIN
        opens = name == "open" and bool(node.args) and "r" not in ast.unparse(node.args[0])
        moves = isinstance(owner, LibraryObject) and owner.name.startswith("pathlib.")
        opens = opens or (moves and name in ("rename", "replace"))
        if (name in effects.ONCE_METHODS or opens) and frame.policy.arranges_side_effects:
            self.machine.calls.gathered_arguments(node, frame)
            self.notes.once.mark(node, frame, name)
            self.path.needs_all_workers()
            return FirstOnly()
        if name in effects.FILE_METHODS and not node.args:
            return PerWorker("the file system")
        return None
