"""The patterns of a ``match`` statement: what they bind."""

import ast

from trainera.read.interpret.part import MachinePart
from trainera.read.interpret.state import Frame
from trainera.read.values import PLAIN, Lost, Many, Value
from trainera.read.values.contents import first_share, holds_share
from trainera.read.values.gathered import gathered_of
from trainera.read.values.join import unpacked


class Patterns(MachinePart):
    """The patterns of a ``match`` statement: what they bind."""

    def bind(self, pattern: ast.pattern, subject: Value, frame: Frame) -> None:
        """Binds all names of a pattern; what is not followed is something in the subject."""
        if isinstance(pattern, ast.MatchAs):
            if pattern.pattern is not None:
                self.bind(pattern.pattern, subject, frame)
            self._name(pattern.name, subject, frame)
        elif isinstance(pattern, ast.MatchOr):
            for way in pattern.patterns:
                self.bind(way, subject, frame)
        elif isinstance(pattern, ast.MatchSequence):
            self._items(pattern, subject, frame)
        elif isinstance(pattern, ast.MatchStar):
            self._name(pattern.name, Many(_inside(subject)), frame)
        elif isinstance(pattern, ast.MatchMapping):
            for one in pattern.patterns:
                self.bind(one, _inside(subject), frame)
            self._name(pattern.rest, _inside(subject), frame)
        elif isinstance(pattern, ast.MatchClass):
            for one in (*pattern.patterns, *pattern.kwd_patterns):
                self.bind(one, _inside(subject), frame)

    def _items(self, pattern: ast.MatchSequence, subject: Value, frame: Frame) -> None:
        parts = pattern.patterns
        starred = any(isinstance(part, ast.MatchStar) for part in parts)
        for place, part in enumerate(parts):
            item = _inside(subject) if starred else unpacked(subject, place, len(parts))
            self.bind(part, item, frame)

    def _name(self, name: str | None, value: Value, frame: Frame) -> None:
        if name is not None:
            self.machine.names.bind(name, value, frame)


def _inside(subject: Value) -> Value:
    """Whatever stands somewhere in it."""
    if holds_share(subject):
        return Lost(first_share(subject).loaders, "it is taken out of a batch by a pattern")
    return gathered_of(subject) if subject != PLAIN else PLAIN
