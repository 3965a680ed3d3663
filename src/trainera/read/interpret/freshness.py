"""Which attributes hold something of the batch at hand, and not of an earlier one.

What values are is told for an attribute once and for all (see reader.py); whether a batch has been
put there since the last one came depends on the path that was taken.
"""

import ast

Attribute = tuple[ast.AST, str]
"""A class and a name."""


class Freshness:
    """The attributes that are set on all paths from the start of this round to here."""

    def __init__(self) -> None:
        self.now: frozenset[Attribute] = frozenset()
        # Of the calls and the rounds of loops that are being read: what held where one was left.
        self._calls: list[list[frozenset[Attribute]]] = []
        self._rounds: list[list[frozenset[Attribute]]] = []

    def set(self, attribute: Attribute) -> None:
        self.now |= {attribute}

    def begin_call(self) -> None:
        self._calls.append([])

    def leave_call(self) -> None:
        """At a return."""
        if self._calls:
            self._calls[-1].append(self.now)

    def end_call(self, alive: bool) -> None:
        """Alive is who gets to the end of the code."""
        self._end(self._calls.pop(), alive)

    def begin_round(self, given: frozenset[Attribute]) -> None:
        self.now = given
        self._rounds.append([])

    def leave_round(self) -> None:
        """At a break or continue."""
        if self._rounds:
            self._rounds[-1].append(self.now)

    def end_round(self, alive: bool) -> None:
        self._end(self._rounds.pop(), alive)

    def _end(self, ends: list[frozenset[Attribute]], alive: bool) -> None:
        if ends:
            self.meet(*ends, *([self.now] if alive else []))

    def meet(self, *ends: frozenset[Attribute]) -> None:
        """Paths come together."""
        self.now = frozenset.intersection(*ends)
