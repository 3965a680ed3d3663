"""Rows that exist for the whole batch: each worker takes those of its own samples."""

import ast
from dataclasses import replace

from trainera.read import tables
from trainera.read.conditions import Conditions
from trainera.read.core import Frame
from trainera.read.facts import Spot
from trainera.read.kinds import PLAIN, Const, Kind, Lost, Params, Shard, Thing, Whole


class Cuts(Conditions):
    """The part of the analyser that makes shares of wholes."""

    def cut(self, node: ast.expr, rows: Shard, frame: Frame) -> Shard | None:
        """Rows of the whole batch, of which each worker takes its own; None if it cannot."""
        text = None if frame.lenient else self.loader_text(rows.loaders, frame)
        if text is None:
            return None
        self.facts.plain.discard((frame.context, node))
        self.facts.cuts[frame.context, node] = Spot(node=node, file=frame.file, what=text)
        return rows

    def own_rows(self, node: ast.expr, kind: Kind, frame: Frame) -> Kind:
        """Samples that were recombined, where a network takes them: each worker gives its own."""
        if not isinstance(kind, Whole) or not kind.aligned or kind.models:
            return kind
        open_ones = frozenset().union(*(loop.loaders for loop in self.open_loops))
        if not kind.loaders & (open_ones | self.by_hand) and not frame.lenient:
            return PLAIN  # kept until after the loop: a batch that all workers have whole
        return self.cut(node, Shard(kind.loaders), frame) or kind

    def own_rows_again(self, node: ast.Assign, kind: Kind, frame: Frame) -> Kind:
        """``x = x + noise[:len(x)]``: the samples are as many as before, so each keeps its own."""
        target = node.targets[0]
        if not isinstance(target, ast.Name) or not rows_stay(node.value, target.id):
            return kind
        before = self.eval(target, frame)
        if not isinstance(before, Shard) or before.dim != 0:
            return kind
        own = self.own_rows(node.value, kind, frame)
        return replace(before, nested=False) if isinstance(own, Shard) and own != kind else kind

    def row_of_table(self, node: ast.Subscript, owner: Kind, frame: Frame) -> Shard | None:
        """``class_weights[labels]``: every sample has a row of its own; None if it is not that."""
        if frame.lenient or type(owner) not in (Kind, Thing, Const, Params):
            return None
        key = self.eval(node.slice, frame)
        numbers = isinstance(key, Shard) and key.dim == 0 and not key.mask
        if not isinstance(node.ctx, ast.Load) or not isinstance(key, Shard) or not numbers:
            return None
        self.facts.escapes.pop((frame.context, node.slice), None)
        return replace(key, rank=None, vague=True, nested=False, models=frozenset())

    def gradient_of_rows(self, node: ast.AST, owner: Shard, frame: Frame) -> Kind:
        """What `backward()` left at a tensor of the batch is weighed for the average of workers."""
        self.trouble(
            "weight",
            node,
            frame,
            owner.loaders,
            what="the gradient with respect to the batch itself is read from .grad",
            why="backward() leaves there what is to be averaged over the workers, which is larger",
            do="compute it with torch.autograd.grad(loss, x)[0]",
        )
        return Lost(owner.loaders, "it is a gradient that is weighed for the average")


def rows_stay(value: ast.expr, name: str) -> bool:
    """Whether an expression has a row for each row of what the name holds."""
    if isinstance(value, ast.Name):
        return value.id == name
    if isinstance(value, ast.BinOp) and not isinstance(value.op, ast.MatMult):
        return rows_stay(value.left, name) or rows_stay(value.right, name)
    if isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute):
        return value.func.attr in tables.ROW_BY_ROW and rows_stay(value.func.value, name)
    return False
