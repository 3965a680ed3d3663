"""Dictionaries that are written out, and comprehensions, some of which loop over batches."""

import ast
from dataclasses import replace
from functools import reduce

from trainera.read.interpret.names import is_known
from trainera.read.interpret.part import MachinePart
from trainera.read.interpret.state import Env, Frame
from trainera.read.ops.parts import is_structure
from trainera.read.source.syntax import parts_of
from trainera.read.values import (
    PLAIN,
    UNKNOWN_YET,
    BatchIterable,
    Dictionary,
    Gathered,
    HashOrdered,
    Items,
    Loader,
    Many,
    PerWorker,
    Shard,
    Share,
    Value,
)
from trainera.read.values.contents import holds_share
from trainera.read.values.join import element, join, loaders_of


class Comprehensions(MachinePart):
    """Dictionaries that are written out, and comprehensions, some of which loop over batches."""

    def dictionary(self, node: ast.Dict, frame: Frame) -> Value:
        items: dict[str, Value] = {}
        known = True
        others: list[Value] = []
        for key, expression in zip(node.keys, node.values, strict=True):
            value = self.machine.eval(expression, frame)
            if key is None and isinstance(value, Dictionary):
                items |= dict(value.items)
            elif key is None:
                known = False  # what was under any key so far may be another value now
                items = {name: join(old, PLAIN) for name, old in items.items()}
                if holds_share(value) or isinstance(value, Gathered):
                    others.append(value if isinstance(value, Share) else element(value))
            elif isinstance(key, ast.Constant) and isinstance(key.value, str):
                items[key.value] = value
            else:
                self.machine.gathering.evaluate(key, frame)
                known = False
                if holds_share(value):
                    self.machine.gathering.gather(expression, value, frame)
        if others:  # of whatever keys
            return Many(reduce(join, [*others, *items.values()]))
        return Dictionary(tuple(items.items())) if known or items else PLAIN

    def _tests(self, generator: ast.comprehension, frame: Frame) -> list[tuple[ast.expr, Value]]:
        """Evaluates the tests of a loop, and gives those on which workers may differ."""
        if frame.policy.inside_network:
            for test in generator.ifs:
                self.machine.conditions.condition(test, frame)
            return []
        values = [self.machine.conditions.evaluated(test, frame) for test in generator.ifs]
        found = list(zip(generator.ifs, values, strict=True))
        return [(test, value) for test, value in found if isinstance(value, PerWorker)]

    def _before(self, node: ast.expr, frame: Frame) -> Env:
        """The names before a comprehension; what it binds outside is, in a later round, no more
        what it was.
        """
        for name in _bound_outside(node):
            if is_known((frame.env or {}).get(name, UNKNOWN_YET)):
                self.machine.names.bind(name, PLAIN, frame)
        return dict(frame.env or {})

    def _ended(self, node: ast.expr, before: Env, frame: Frame) -> None:
        """Its own names are gone; those that it binds outside of itself are bound."""
        inside = frame.env
        frame.env = before if inside is not None else None
        for name in _bound_outside(node):
            if inside is not None and name in inside:
                self.machine.names.bind(name, join(before.get(name), inside[name]), frame)

    def comprehension(
        self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp, frame: Frame
    ) -> Value:
        saved = self._before(node, frame)
        items: list[tuple[ast.expr, Value]] = []
        tests: list[tuple[ast.expr, Value]] = []
        opened = 0
        structure: Shard | None = None
        for generator in node.generators:
            given = self.machine.eval(generator.iter, frame)
            iterable = self.machine.special.iterated(generator.iter, given, frame)
            self.machine.loops.by_rows(generator.iter, (iterable,), frame)
            if isinstance(iterable, Loader | BatchIterable):
                loaders = loaders_of(iterable)
                text = self.machine.loops.text_of(generator.iter, loaders, frame)
                self.path.open_loops.append(
                    self.machine.loops.batch_loop(generator, loaders, text, frame)
                )
                opened += 1
            elif isinstance(iterable, Shard) and is_structure(generator.iter, iterable, frame.file):
                structure = iterable
                iterable = Many(iterable)
            elif isinstance(iterable, Shard):
                iterable = self.machine.gathering.gather(generator.iter, iterable, frame)
            self.machine.libraries.in_order(generator.iter, iterable, frame)
            self.machine.agreement.needed_by_all(generator.iter, (iterable,), frame)
            self.machine.assignments.assign(generator.target, element(iterable), frame)
            items.append((generator.iter, iterable))
            tests += self._tests(generator, frame)
        if isinstance(node, ast.DictComp):
            self.machine.gathering.evaluate(node.key, frame)
            value: Value = self.machine.eval(node.value, frame)
            if isinstance(value, Shard) and len(node.generators) == 1 and not opened:
                parts = element(self.machine.eval(node.generators[0].iter, frame))
                if isinstance(parts, Items) and isinstance(parts.items[-1], Shard):
                    self._ended(node, saved, frame)
                    return replace(value, nested=True)  # a batch, each of its parts moved or cast
            value = self.machine.gathering.gather(node.value, value, frame)
        else:
            value = self.machine.eval(node.elt, frame)
            if opened and holds_share(value):
                if isinstance(node.elt, ast.Tuple | ast.List | ast.Dict):
                    value = self.machine.gathering.evaluate(node.elt, frame)
                else:
                    value = self.machine.gathering.gather(node.elt, value, frame)
        if self.machine.agreement.on_picked(node, items, tests, frame, of_batches=opened > 0):
            value = PLAIN if isinstance(value, PerWorker) else value
        for _ in range(opened):
            self.path.open_loops.pop()
        self._ended(node, saved, frame)
        if isinstance(node, ast.SetComp):
            return HashOrdered()
        if value == UNKNOWN_YET:
            return UNKNOWN_YET
        if structure is not None and isinstance(value, Shard):
            return replace(value, nested=True)  # the parts of a batch, each moved or cast
        return Many(value) if value != PLAIN else PLAIN


def _bound_outside(node: ast.expr) -> list[str]:
    """``any((found := one) for one in rows)`` binds a name of the code around."""
    return [part.target.id for part in parts_of(node) if isinstance(part, ast.NamedExpr)]
