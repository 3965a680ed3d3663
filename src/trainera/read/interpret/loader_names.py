"""What a loader is called where its slices are combined."""

import ast
import itertools

from trainera.read.facts import CURRENT, LoopFact
from trainera.read.interpret.part import MachinePart
from trainera.read.interpret.state import Frame
from trainera.read.values import Loader, Nodes, Object, Value


class LoaderNames(MachinePart):
    """What a loader is called where its slices are combined."""

    def text(self, loaders: Nodes, frame: Frame) -> str | None:
        for loop in reversed(frame.loops):
            if loop.loaders == loaders and loop.text == CURRENT:
                innermost = bool(self.path.open_loops) and self.path.open_loops[-1] is loop
                return CURRENT if innermost else self._named(loop)
            if loop.loaders == loaders and loop.text is not None:
                name = loop.text.isidentifier()
                still = not name or self.machine.names.lookup(loop.text, frame) == Loader(loaders)
                return loop.text if still else None
        if self.path.open_loops and self.path.open_loops[-1].loaders == loaders:
            return CURRENT
        return self.name_of(Loader(loaders), frame)

    def _named(self, loop: LoopFact) -> str | None:
        """A new name for what the batches of a loop come from, if its source can give it one."""
        if not isinstance(loop.node, ast.For) or len(loop.loaders) > 1:
            return None
        [origin] = loop.loaders
        if not (loop.handmade or loop.file.within(origin, loop.node.iter)):
            return None  # it is made elsewhere, where a name would be another function's
        if origin not in self.notes.facts.names:
            word = "steps" if loop.handmade else "batches"
            taken = {part.id for part in loop.file.nodes if isinstance(part, ast.Name)}
            taken |= {part.arg for part in loop.file.nodes if isinstance(part, ast.arg)}
            taken |= set(self.notes.facts.names.values())
            numbered = (f"{word}_{number}" for number in itertools.count(2))
            names = itertools.chain([word], numbered)
            self.notes.name(origin, next(name for name in names if name not in taken))
        return self.notes.facts.names[origin]

    def name_of(self, wanted: Value, frame: Frame) -> str | None:
        """A local or module-level name that holds the loader, or an attribute of `self`."""
        for env in (frame.env or {}, self.program.modules.get(frame.file.name, {})):
            for name, value in env.items():
                if value == wanted:
                    return name
        own = (frame.env or {}).get("self")
        if isinstance(own, Object) and not frame.loops:
            for (cls, name), value in self.program.attributes.items():
                if cls is own.cls.node and value == wanted:
                    return f"self.{name}"
        return None
