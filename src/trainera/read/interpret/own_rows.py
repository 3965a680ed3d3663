"""Rows that exist for the whole batch: each worker takes those of its own samples."""

import ast
from dataclasses import replace

from trainera.read.interpret.part import MachinePart
from trainera.read.interpret.state import Frame
from trainera.read.values import PLAIN, Const, Gathered, LibraryObject, Parameters, Shard, Value

ROW_BY_ROW = {"flip", "roll", "where"}


class OwnRows(MachinePart):
    """Rows that exist for the whole batch: each worker takes those of its own samples."""

    def cut(self, node: ast.expr, rows: Shard, frame: Frame) -> Shard | None:
        """Rows of the whole batch, of which each worker takes its own; None if it cannot."""
        text = self.machine.loader_names.text(rows.loaders, frame) if frame.policy.gathers else None
        if text is None:
            return None
        self.notes.plain.drop(node, frame)
        self.notes.cuts.mark(node, frame, text)
        return rows

    def own(self, node: ast.expr, value: Value, frame: Frame) -> Value:
        """Samples that were recombined, where a network takes them: each worker gives its own."""
        if not isinstance(value, Gathered) or not value.aligned or value.models:
            return value
        open_ones = frozenset().union(*(loop.loaders for loop in self.path.open_loops))
        if not value.loaders & (open_ones | self.program.by_hand) and frame.policy.gathers:
            return PLAIN  # kept until after the loop: a batch that all workers have whole
        return self.cut(node, Shard(value.loaders), frame) or value

    def own_again(self, node: ast.Assign, value: Value, frame: Frame) -> Value:
        """``x = x + noise[:len(x)]``: the samples are as many as before, so each keeps its own."""
        target = node.targets[0]
        if not isinstance(target, ast.Name) or not rows_stay(node.value, target.id):
            return value
        before = self.machine.eval(target, frame)
        if not isinstance(before, Shard) or before.dim != 0:
            return value
        own = self.own(node.value, value, frame)
        return replace(before, nested=False) if isinstance(own, Shard) and own != value else value

    def row_of_table(self, node: ast.Subscript, owner: Value, frame: Frame) -> Shard | None:
        """``class_weights[labels]``: every sample has a row of its own; None if it is not that."""
        if not frame.policy.gathers or type(owner) not in (Value, LibraryObject, Const, Parameters):
            return None
        key = self.machine.eval(node.slice, frame)
        numbers = isinstance(key, Shard) and key.dim == 0 and not key.mask
        if not isinstance(node.ctx, ast.Load) or not isinstance(key, Shard) or not numbers:
            return None
        self.notes.escapes.drop(node.slice, frame)
        return replace(key, rank=None, least=1, nested=False, models=frozenset())


def rows_stay(value: ast.expr, name: str) -> bool:
    """Whether an expression has a row for each row of what the name holds."""
    if isinstance(value, ast.Name):
        return value.id == name
    if isinstance(value, ast.BinOp) and not isinstance(value.op, ast.MatMult):
        return rows_stay(value.left, name) or rows_stay(value.right, name)
    if isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute):
        return value.func.attr in ROW_BY_ROW and rows_stay(value.func.value, name)
    return False
