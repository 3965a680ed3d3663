"""Calls that reach outside of the script: only one worker may make them, or all must agree."""

import ast

from trainera.read.interpret.part import Part
from trainera.read.interpret.state import Frame
from trainera.read.libraries import drawing, effects
from trainera.read.libraries.randomness import is_unseeded
from trainera.read.values import PLAIN, FirstOnly, LibraryObject, PerWorker, Value


class SideEffects(Part):
    """Calls that reach outside of the script: only one worker may make them, or all must agree."""

    def call(self, name: str, node: ast.Call, frame: Frame) -> Value | None:
        key = (frame.context, node)
        self.notes.facts.once.pop(key, None)
        self.notes.facts.in_turn.pop(key, None)
        if name in effects.CLOCKS:
            return PerWorker("the clock")
        if name in drawing.ENTROPY or (name in drawing.SELF_SEEDED and is_unseeded(node)):
            # Agreed upon where it is drawn: nobody could follow it from there.
            self.machine.agreement.agreed(node, PerWorker("a seed of its own"), frame)
            return (
                self.machine.randomness.by_chance(node, frame)
                if frame.lenient
                else LibraryObject(node, name)
            )
        if name in drawing.SYSTEM_RANDOM or (name in drawing.SEEDS and is_unseeded(node)):
            return self.machine.randomness.by_chance(node, frame)
        if name in drawing.SEEDS or name in drawing.SELF_SEEDED:
            self.machine.randomness.agreed_arguments(node, frame)
            return LibraryObject(node, name) if name in drawing.SELF_SEEDED else PLAIN
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
            self.notes.facts.in_turn[key] = self.notes.spot(node, frame, name.rsplit(".", 1)[-1])
            self.path.together()
            return LibraryObject(node, name)
        logs_to_file = name == "logging.basicConfig" and any(
            keyword.arg == "filename" for keyword in node.keywords
        )
        writes = name == "sqlite3.connect" and self.machine.files.writes_tables(node)
        writes |= name == "lmdb.open" and all(k.arg != "readonly" for k in node.keywords)
        if name in effects.ONCE or logs_to_file or writes:
            if not frame.lenient:
                for argument, value in zip(
                    node.args, self.machine.calls.gathered_arguments(node, frame), strict=False
                ):
                    self.machine.agreement.agreed(argument, value, frame)
                    self.machine.wrapping.saves_wrapper(argument, value, frame)
                self.notes.facts.once[key] = self.notes.spot(node, frame, name)
                self.path.together()
            if not name.startswith(effects.TELL):
                return FirstOnly()
            if not isinstance(frame.file.parents.get(node), ast.Expr):
                self.machine.agreement.agreed(node, PerWorker("what one worker was told"), frame)
            return LibraryObject(node, name)
        return None
