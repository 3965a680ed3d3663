"""Operators on shares: the algebra, and what to do where it has no answer."""

import ast
from dataclasses import replace

from trainera.read import meetings, tensors
from trainera.read.core import Frame
from trainera.read.facts import Weighed
from trainera.read.inside import flat
from trainera.read.kinds import (
    PLAIN,
    UNKNOWN_YET,
    Blend,
    Bunch,
    Const,
    Count,
    Hashed,
    Kind,
    Listing,
    Loader,
    Lost,
    Mean,
    Own,
    Params,
    Shape,
    Shard,
    Share,
    Solo,
    Sum,
    Whole,
)
from trainera.read.lattice import element, join, row_by_row, whole_of
from trainera.read.statements import Statements
from trainera.read.wholes import ALONE


class Operators(Statements):
    """The part of the analyser that follows operators."""

    def operation(
        self,
        operator: str,
        left_node: ast.expr,
        left: Kind,
        right_node: ast.expr,
        right: Kind,
        frame: Frame,
    ) -> Kind:
        """A binary operation; sides that do not fit the algebra are made whole."""
        self.needed_by_all(left_node, (left, right), frame)
        if not isinstance(left, Share) and not isinstance(right, Share):
            if isinstance(left, Whole) or isinstance(right, Whole):
                return whole_of(left, right) if operator == "MatMult" else row_by_row(left, right)
            return _plain_operation(operator, left, right)
        blend = self._blend(operator, left_node, left, right_node, right, frame)
        if blend is not None:
            return blend
        result = tensors.binary(operator, left, right)
        if result is not None:
            for node in (left_node, right_node):
                self.facts.escapes.pop((frame.context, node), None)
            return result
        if frame.lenient:
            rows = meetings.meets_rows(left, right)
            return meetings.recombined(rows) if rows else self.mixing(left_node, left, right, frame)
        if operator == "Div" and isinstance(left, Sum) and isinstance(right, Sum | Count):
            if not right.models:  # a mean over a number of its own, such as unmasked tokens
                self.make_whole(right_node, right, frame)
                return left
        if isinstance(left, Lost) or isinstance(right, Lost):
            return left if isinstance(left, Lost) else right
        result = self._rows_with_figure(operator, (left_node, left), (right_node, right), frame)
        if result is not None:
            return result
        one = self.make_whole(left_node, left, frame)
        other = self.make_whole(right_node, right, frame)
        return whole_of(one, other) if operator == "MatMult" else row_by_row(one, other)

    def _rows_with_figure(
        self,
        operator: str,
        one: tuple[ast.expr, Kind],
        other: tuple[ast.expr, Kind],
        frame: Frame,
    ) -> Kind | None:
        """Rows of a slice, each with a figure of the batch: only that has to be made whole."""
        kinds = []
        for (node, kind), (_, partner) in ((one, other), (other, one)):
            self.facts.escapes.pop((frame.context, node), None)
            figure = isinstance(kind, Mean | Sum | Count) and isinstance(partner, Shard)
            kinds.append(self.make_whole(node, kind, frame) if figure else kind)
        if not any(isinstance(kind, Whole) for kind in kinds):
            return None
        return tensors.binary(operator, kinds[0], kinds[1])

    def _blend(
        self,
        operator: str,
        left_node: ast.expr,
        left: Kind,
        right_node: ast.expr,
        right: Kind,
        frame: Frame,
    ) -> Kind | None:
        """Losses of two loaders' batches are added: each counts by its part of its own batch."""
        sides = ((left_node, left), (right_node, right))
        if operator not in ("Add", "Sub") or frame.lenient or self.facts.statistics:
            return None  # batch statistics of several loaders at once cannot be told apart
        if not isinstance(left, Mean | Sum | Blend) or not isinstance(right, Mean | Sum | Blend):
            return None
        blended = isinstance(left, Blend) or isinstance(right, Blend)
        if not blended and left.loaders == right.loaders:
            return None
        records: list[Weighed] = []
        for node, kind in sides:
            if isinstance(kind, Mean | Sum):
                text = self.name_of(Loader(kind.loaders), frame)
                if text is None or len(kind.loaders) > 1:
                    return None
                before = self.facts.weighed.get((frame.context, node))
                inner = before.template if before is not None and not before.blended else "{}"
                if inner == "{}" and not is_factor(node):
                    inner = "({})"
                weight = "fraction" if isinstance(kind, Mean) else "active"
                template = f"{inner} * {text}.{weight}"
                records.append(Weighed(node=node, file=frame.file, template=template, blended=True))
        for record in records:
            self.facts.weighed[frame.context, record.node] = record
            self.facts.escapes.pop((frame.context, record.node), None)
        return Blend(left.loaders | right.loaders, models=left.models | right.models)

    def mixing(self, node: ast.expr, left: Kind, right: Kind, frame: Frame) -> Kind:
        """Inside a network: does this combine rows of the batch with each other?"""
        shares = [kind for kind in (left, right) if isinstance(kind, Share)]
        loaders = shares[0].loaders
        models = frozenset().union(*(share.models for share in shares))
        rows = any(isinstance(kind, Shard) for kind in shares)
        figures = any(isinstance(kind, Share) and not isinstance(kind, Shard) for kind in shares)
        both_rows = len(shares) == 2 and all(isinstance(kind, Shard) for kind in shares)
        transposed = both_rows and any(isinstance(kind, Shard) and kind.dim == 1 for kind in shares)
        if rows and (figures or transposed):
            self.combines(node, loaders, frame)
        if rows:
            parts = {share.parts for share in shares if isinstance(share, Shard)}
            if len(parts) > 1:
                return Lost(loaders, meetings.UNEVEN, models=models)
            return Shard(loaders, dim=None, models=models, parts=parts.pop())
        return Lost(loaders, "it is not linear in the mean over the batch", models=models)

    def _unary(self, node: ast.UnaryOp, frame: Frame) -> Kind:
        kind = self.eval(node.operand, frame)
        if isinstance(kind, Solo):
            if isinstance(node.op, ast.Not):
                return Own(ALONE)
            self.needed_by_all(node, (kind,), frame)
        if isinstance(node.op, ast.Not):
            kind = self.make_whole(node.operand, kind, frame)
            return kind if isinstance(kind, Own) else PLAIN
        if isinstance(kind, Const) and isinstance(node.op, ast.USub):
            if isinstance(kind.value, int | float):
                return Const(-kind.value, kind.born)
        return kind if isinstance(kind, Share | Own | Whole) else PLAIN

    def _compare(self, node: ast.Compare, frame: Frame) -> Kind:
        nodes = [node.left, *node.comparators]
        kinds = [self.eval(part, frame) for part in nodes]
        shards = [kind for kind in kinds if isinstance(kind, Shard)]
        others = [kind for kind in kinds if isinstance(kind, Share) and kind not in shards]
        if isinstance(node.ops[0], ast.Is | ast.IsNot):
            return PLAIN  # that it is a tensor is the same on all workers
        met = meetings.meets_rows(*kinds)
        lost = meetings.recombined(met) if met and frame.lenient else meetings.mixed(*kinds)
        if lost:
            return lost
        if shards and not others and not met and not isinstance(node.ops[0], ast.In | ast.NotIn):
            combined = tensors.combine(shards)
            if combined is not None:
                return tensors.without_gradient(replace(combined, mask=True))
        same = isinstance(node.ops[0], ast.Eq | ast.NotEq) and len({type(k) for k in kinds}) == 1
        if same and isinstance(kinds[0], Shape | Count):
            return PLAIN  # what has as many rows in the slice has as many in the batch
        if any(isinstance(kind, Solo) for kind in kinds):
            return Own(ALONE)
        if frame.lenient and others:
            return Lost(others[0].loaders, "it is a comparison of figures of a slice")
        figures = all(isinstance(kind, Mean | Sum | Count) for kind in others)
        rows = tensors.combine(shards) if shards and figures and not met else None
        made = [
            self.make_whole(part, kind, frame)
            for part, kind in zip(nodes, kinds, strict=True)
            if rows is None or kind not in shards
        ]
        if rows is not None and not isinstance(node.ops[0], ast.In | ast.NotIn):
            # Each row against a figure of the whole batch.
            return tensors.without_gradient(replace(rows, mask=True))
        own = whole_of(*made)
        return replace(own, models=frozenset()) if isinstance(own, Whole) else own


def _of_numbers(kind: Kind) -> bool:
    return all(type(item) in (Kind, Const) for item in flat(kind))


def is_factor(node: ast.expr) -> bool:
    """Whether an expression can be a factor of a product without parentheses."""
    return isinstance(node, ast.Call | ast.Name | ast.Attribute | ast.Subscript | ast.Constant) or (
        isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult | ast.Div)
    )


def _plain_operation(operator: str, left: Kind, right: Kind) -> Kind:
    if isinstance(left, Own) or isinstance(right, Own):
        return left if isinstance(left, Own) else right
    if isinstance(left, Const) and isinstance(right, Const):
        numbers = (left.value, right.value)
        if all(isinstance(n, int) and not isinstance(n, bool) for n in numbers):
            if operator in ("Add", "Sub", "Mult"):
                a, b = numbers
                value = a + b if operator == "Add" else a - b if operator == "Sub" else a * b
                return Const(value, left.born)
    for one, other in ((left, right), (right, left)):
        if isinstance(one, Bunch | Listing | Params):
            if operator == "Add" and isinstance(left, Bunch) and isinstance(right, Bunch):
                return Bunch(left.items + right.items, left.born)
            if operator == "Add" and isinstance(left, Bunch) and right == Listing(PLAIN):
                return Bunch((*left.items, UNKNOWN_YET), left.born)
            if isinstance(other, Bunch | Listing | Params):
                return Listing(join(element(left), element(right)))
            if operator == "Mult" and type(other) is Kind and _of_numbers(one):
                return Listing(PLAIN)
            return one
    return Hashed() if isinstance(left, Hashed) or isinstance(right, Hashed) else PLAIN
