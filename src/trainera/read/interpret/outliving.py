"""What of a batch is kept for later ones: gathered, for the weight of a share is forgotten."""

import ast
from collections.abc import Callable
from dataclasses import replace

from trainera.read.interpret.part import MachinePart
from trainera.read.interpret.state import Env, Frame
from trainera.read.source.lifetimes import outlives, set_once
from trainera.read.source.syntax import parts_of
from trainera.read.values import (
    BatchIterable,
    Count,
    Dictionary,
    Items,
    Lost,
    Many,
    Mean,
    Share,
    Sum,
    Value,
    left_over,
)
from trainera.read.values.contents import first_share, holds_share

Held = Callable[[Value], Share | None]
"""What of a batch is inside of an object or a function."""


class Outliving(MachinePart):
    """What of a batch is kept for later ones: gathered, for the weight of a share is forgotten."""

    def kept(
        self,
        target: ast.Name | ast.Attribute,
        value: Value,
        frame: Frame,
        expression: ast.expr | None,
    ) -> Value:
        """Figures (the best so far, a moving average), and a batch that is set aside once.

        And everything that an inner function stores in a name of the outer one.
        """
        if isinstance(target, ast.Name) and target.id in frame.nonlocals and holds_share(value):
            return self.machine.gathering.gather(expression or target, value, frame)
        loop = self.path.open_loops[-1] if self.path.open_loops else None
        if (
            expression is None
            or loop is None
            or not frame.policy.follows_lifetimes
            or not holds_share(value)
        ):
            return value
        if isinstance(value, Share) and value.models:
            return value
        own = any(loop is one for one in frame.loops)
        if isinstance(value, Mean | Sum | Count):
            keeps = not isinstance(target, ast.Name) or (
                own and outlives(target, loop.node, frame.file)
            )
        else:
            keeps = (own or isinstance(target, ast.Attribute)) and set_once(
                target, expression, frame.file
            )
        if keeps and isinstance(expression, ast.Tuple | ast.List | ast.Dict):
            return self.machine.gathering.evaluate(expression, frame)  # each item where it stands
        return self.machine.gathering.gather(expression, value, frame) if keeps else value

    def is_older(self, value: Value, frame: Frame) -> bool:
        """Whether a list that holds nothing of the batch is there for longer than it."""
        if not frame.policy.follows_lifetimes or not frame.policy.gathers or holds_share(value):
            return False
        loop = self.path.loop
        return not isinstance(value, Items | Many) or loop is None or value.born is not loop

    def outdate(self, loaders: frozenset[ast.AST], of: str, frame: Frame) -> None:
        """Another batch, or pass, of these loaders has come: what names hold of earlier ones."""
        for waiting in (*self.path.frames, frame):
            for name, value in list((waiting.env or {}).items()):
                share = (
                    first_share(value)
                    if holds_share(value)
                    else self.machine.objects.of_a_batch(value)
                )
                if share is not None and share.loaders == loaders:
                    self.machine.names.bind(
                        name, outdated(value, name, of, self.machine.objects.of_a_batch), waiting
                    )

    def held_elsewhere(self, node: ast.For | ast.AsyncFor, frame: Frame) -> bool:
        """Whether a loop may be left while a name still holds the iterator of its batches."""
        named = [one for one in parts_of(node.iter) if isinstance(one, ast.Name | ast.Attribute)]
        return (
            self.path.outermost()
            and any(isinstance(one, ast.Break) for one in parts_of(node))
            and any(isinstance(self.machine.eval(one, frame), BatchIterable) for one in named)
        )


def stale(env: Env | None, bound: set[str], held: Held) -> Env | None:
    """The names at the start of the next batch: shares of the last one are worth nothing now."""
    if env is None:
        return None
    return {
        name: outdated(value, name, "batch", held) if name in bound else value
        for name, value in env.items()
    }


def outdated(value: Value, name: str, of: str, held: Held) -> Value:
    """What a name holds when another batch, or pass, has come: its shares are lost."""
    if isinstance(value, Lost):
        return value
    if not holds_share(value):
        inside = held(value)
        return value if inside is None else left_over(name, inside.loaders, of, acts=True)
    if isinstance(value, Dictionary):
        items = ((key, outdated(item, f"{name}[{key!r}]", of, held)) for key, item in value.items)
        return replace(value, items=tuple(items))
    return left_over(name, first_share(value).loaders, of)


def holds_lost(value: Value) -> bool:
    """Whether a name is, or has an item that is, left over from before."""
    if isinstance(value, Dictionary):
        return any(holds_lost(item) for _, item in value.items)
    return isinstance(value, Lost)
