"""What of a batch is kept for later ones: it has to be whole, for a share's weight is forgotten."""

import ast

from trainera.read.core import Frame
from trainera.read.inside import first_share, holds_share
from trainera.read.kinds import Count, Iter, Kind, Mean, Share, Sum
from trainera.read.lifetimes import outdated, outlives, set_once
from trainera.read.writes import Writes


class Keeping(Writes):
    """The part of the analyser that makes wholes of what is kept."""

    def kept(
        self, target: ast.Name | ast.Attribute, kind: Kind, frame: Frame, value: ast.expr | None
    ) -> Kind:
        """Figures (the best so far, a moving average), and a batch that is set aside once.

        And everything that an inner function stores in a name of the outer one.
        """
        if isinstance(target, ast.Name) and target.id in frame.nonlocals and holds_share(kind):
            return self.make_whole(value or target, kind, frame)
        loop = self.open_loops[-1] if self.open_loops else None
        if value is None or loop is None or frame.lenient or not holds_share(kind):
            return kind
        if isinstance(kind, Share) and kind.models:
            return kind
        own = any(loop is one for one in frame.loops)
        if isinstance(kind, Mean | Sum | Count):
            keeps = not isinstance(target, ast.Name) or (
                own and outlives(target, loop.node, frame.file)
            )
        else:
            keeps = (own or isinstance(target, ast.Attribute)) and set_once(
                target, value, frame.file
            )
        if keeps and isinstance(value, ast.Tuple | ast.List | ast.Dict):
            return self.whole(value, frame)  # each item where it stands
        return self.make_whole(value, kind, frame) if keeps else kind

    def outdate(self, loaders: frozenset[ast.AST], of: str, frame: Frame) -> None:
        """Another batch, or pass, of these loaders has come: what names hold of earlier ones."""
        for waiting in (*self.frames, frame):
            for name, kind in list((waiting.env or {}).items()):
                share = first_share(kind) if holds_share(kind) else self.of_a_batch(kind)
                if share is not None and share.loaders == loaders:
                    self.bind(name, outdated(kind, name, of, self.of_a_batch), waiting)

    def held_elsewhere(self, node: ast.For | ast.AsyncFor, frame: Frame) -> bool:
        """Whether a loop may be left while a name still holds the iterator of its batches."""
        named = [one for one in ast.walk(node.iter) if isinstance(one, ast.Name | ast.Attribute)]
        return (
            self.outermost()
            and any(isinstance(one, ast.Break) for one in ast.walk(node))
            and any(isinstance(self.eval(one, frame), Iter) for one in named)
        )

    def outermost(self) -> bool:
        """Whether no loop is under way in whose own rounds batches come."""
        return not any(one.direct for one in self.open_loops)
