"""Operators on shares: the algebra, and what to do where it has no answer."""

import ast
from dataclasses import replace

from trainera.read.facts import Weighed
from trainera.read.interpret.agreement import ALONE
from trainera.read.interpret.part import MachinePart
from trainera.read.interpret.special import UNARY
from trainera.read.interpret.state import Frame
from trainera.read.ops import elementwise, figures
from trainera.read.ops.outcome import Mixed
from trainera.read.source.syntax import is_factor
from trainera.read.values import (
    PLAIN,
    UNKNOWN_YET,
    Answer,
    Blend,
    Const,
    Count,
    Dictionary,
    FirstOnly,
    Gathered,
    HashOrdered,
    Items,
    Loader,
    Lost,
    Many,
    Mean,
    Nodes,
    Object,
    Parameters,
    PerWorker,
    Shard,
    ShardShape,
    Share,
    Sum,
    Union,
    Value,
    compatibility,
)
from trainera.read.values.contents import first_share, flat, holds_share
from trainera.read.values.gathered import gathered_of, row_by_row
from trainera.read.values.join import element, join

MOST_REPEATED = 16
"""A list that is repeated more often is not followed item by item."""


class Operators(MachinePart):
    """Operators on shares: the algebra, and what to do where it has no answer."""

    def operation(
        self,
        operator: str,
        left_node: ast.expr,
        left: Value,
        right_node: ast.expr,
        right: Value,
        frame: Frame,
    ) -> Value:
        """A binary operation; sides that do not fit the algebra are made whole."""
        made = self.machine.special.binary(operator, left, right, frame)
        if made is not None:
            return made
        for node, value in ((left_node, left), (right_node, right)):
            if isinstance(value, Object | Union):
                self.machine.gathering.gather(node, value, frame)
        if operator == "BitOr" and type(left) is type(right) is Dictionary:
            return Dictionary(tuple((dict(left.items) | dict(right.items)).items()))
        sides = ((left_node, left), (right_node, right))
        if operator == "Add":
            left, right = self._put_behind(*sides, frame)
            sides = ((left_node, left), (right_node, right))
        made = self._of_containers(operator, *sides, frame)
        if made is None:
            made = self._of_lists(operator, *sides, frame)
        if made is not None:
            return made
        self.machine.agreement.needed_by_all(left_node, (left, right), frame)
        if not isinstance(left, Share) and not isinstance(right, Share):
            if isinstance(left, Gathered) or isinstance(right, Gathered):
                return (
                    gathered_of(left, right) if operator == "MatMult" else row_by_row(left, right)
                )
            return _plain_operation(operator, left, right)
        blend = self._blend(operator, left_node, left, right_node, right, frame)
        if blend is not None:
            return blend
        result = figures.binary(operator, left, right)
        if frame.policy.inside_network and {Count, Shard} == {type(left), type(right)}:
            self.notes.unsure_of(left_node, frame)
        if isinstance(result, Value):
            for node in (left_node, right_node):
                self.notes.escapes.drop(node, frame)
            return result
        if frame.policy.assumes_rows:
            rows = compatibility.meets_rows(left, right)
            return (
                compatibility.recombined(rows)
                if rows
                else self.mixing(left_node, left, right, result, frame)
            )
        if operator == "Div" and isinstance(left, Sum) and isinstance(right, Sum | Count):
            if not right.models:  # a mean over a number of its own, such as unmasked tokens
                self.machine.gathering.gather(right_node, right, frame)
                return left
        if isinstance(left, Lost) or isinstance(right, Lost):
            return left if isinstance(left, Lost) else right
        result = self._rows_with_figure(operator, (left_node, left), (right_node, right), frame)
        if result is not None:
            return result
        one = self.machine.gathering.gather(left_node, left, frame)
        other = self.machine.gathering.gather(right_node, right, frame)
        return gathered_of(one, other) if operator == "MatMult" else row_by_row(one, other)

    def _put_behind(
        self, one: tuple[ast.expr, Value], other: tuple[ast.expr, Value], frame: Frame
    ) -> tuple[Value, Value]:
        """``window + [loss.item()]``: what is added to a list that outlives the batch is whole."""
        values = [one[1], other[1]]
        for place, (node, given) in enumerate((one, other)):
            old = values[1 - place]
            if isinstance(given, Items | Many) and holds_share(given):
                if self.machine.outliving.is_older(old, frame):
                    values[place] = self.machine.gathering.put_in(node, given, frame)
        return values[0], values[1]

    def _of_containers(
        self,
        operator: str,
        one: tuple[ast.expr, Value],
        other: tuple[ast.expr, Value],
        frame: Frame,
    ) -> Value | None:
        """``"%s" % logs``, ``logs | more``, ``[loss] * len(x)``: of what holds shares."""
        sides = (one, other)
        repeated = operator == "Mult" and any(
            isinstance(value, Items | Many) and holds_share(value) for _, value in sides
        )
        if not repeated:
            for node, value in sides:
                if isinstance(value, Dictionary) and holds_share(value):
                    self.machine.gathering.gather(node, value, frame)
            return None
        if not frame.policy.gathers:
            return None
        for (_, items), (_, times) in (sides, sides[::-1]):
            if isinstance(items, Items) and isinstance(times, Const):
                if isinstance(times.value, int) and 0 <= times.value < MOST_REPEATED:
                    return Items(items.items * times.value)
        return gathered_of(
            *(self.machine.gathering.gather(node, value, frame) for node, value in sides)
        )

    def _of_lists(
        self,
        operator: str,
        one: tuple[ast.expr, Value],
        other: tuple[ast.expr, Value],
        frame: Frame,
    ) -> Value | None:
        """``labels.tolist() * 2``, ``names + names``: lists are repeated and joined, not computed.

        What may be a list or a tensor is taken for a tensor; its loader watches it as it runs.
        """
        listed = self.may_be_list(operator, one[1], other[1])
        if listed is Answer.MAYBE:
            self.notes.may_be_lists(one[0], frame, one[1], other[1])
        if listed is not Answer.YES:
            return None
        if not frame.policy.gathers:
            return Lost(first_share(Items((one[1], other[1]))).loaders, "it is a list of rows")
        return gathered_of(
            *(self.machine.gathering.gather(node, value, frame) for node, value in (one, other))
        )

    @staticmethod
    def may_be_list(operator: str, left: Value, right: Value) -> Answer:
        """Whether an operator is one of lists, where it would not compute entry by entry."""
        pairs = ((left, right), (right, left))
        answers = {_repeats_or_joins(operator, *pair) for pair in pairs}
        if operator == "Mod" and isinstance(left, Const) and isinstance(left.value, str):
            return Answer.YES if holds_share(right) else Answer.NO
        return next((one for one in (Answer.YES, Answer.MAYBE) if one in answers), Answer.NO)

    def _rows_with_figure(
        self,
        operator: str,
        one: tuple[ast.expr, Value],
        other: tuple[ast.expr, Value],
        frame: Frame,
    ) -> Value | None:
        """Rows of a slice, each with a figure of the batch: only that has to be made whole."""
        values = []
        for (node, value), (_, partner) in ((one, other), (other, one)):
            self.notes.escapes.drop(node, frame)
            figure = isinstance(value, Mean | Sum | Count) and isinstance(partner, Shard)
            values.append(self.machine.gathering.gather(node, value, frame) if figure else value)
        if not any(isinstance(value, Gathered) for value in values):
            return None
        made = figures.binary(operator, values[0], values[1])
        return made if isinstance(made, Value) else None

    def _blend(
        self,
        operator: str,
        left_node: ast.expr,
        left: Value,
        right_node: ast.expr,
        right: Value,
        frame: Frame,
    ) -> Value | None:
        """Losses of two loaders' batches are added: each counts by its part of its own batch."""
        sides = ((left_node, left), (right_node, right))
        if (
            operator not in ("Add", "Sub")
            or not frame.policy.gathers
            or self.notes.facts.statistics
        ):
            return None  # batch statistics of several loaders at once cannot be told apart
        if not isinstance(left, Mean | Sum | Blend) or not isinstance(right, Mean | Sum | Blend):
            return None
        blended = isinstance(left, Blend) or isinstance(right, Blend)
        if not blended and left.loaders == right.loaders:
            return None
        records: list[Weighed] = []
        for node, value in sides:
            if isinstance(value, Mean | Sum):
                text = self.machine.loader_names.name_of(Loader(value.loaders), frame)
                if text is None or len(value.loaders) > 1:
                    return None
                before = self.notes.weighed.get(node, frame)
                inner = before.template if before is not None and not before.blended else "{}"
                if inner == "{}" and not is_factor(node):
                    inner = "({})"
                weight = "fraction" if isinstance(value, Mean) else "active"
                template = f"{inner} * {text}.{weight}"
                records.append(Weighed(node=node, file=frame.file, template=template, blended=True))
        for record in records:
            self.notes.weighed.set(record.node, frame, record)
            self.notes.escapes.drop(record.node, frame)
        return Blend(left.loaders | right.loaders, models=left.models | right.models)

    def mixing(
        self, node: ast.expr, left: Value, right: Value, outcome: object, frame: Frame
    ) -> Value:
        """Inside a network: does this combine rows of the batch with each other?"""
        shares = [value for value in (left, right) if isinstance(value, Share)]
        loaders = shares[0].loaders
        models = frozenset().union(*(share.models for share in shares))
        rows = any(isinstance(value, Shard) for value in shares)
        figures_of_slices = any(not isinstance(value, Shard) for value in shares)
        if rows and (figures_of_slices or (isinstance(outcome, Mixed) and outcome.certain)):
            self.combines(node, loaders, frame)
        elif rows:
            self.notes.unsure_of(node, frame)
            if isinstance(outcome, Mixed) and outcome.likely is not None:
                return outcome.likely
        if rows:
            parts = {share.parts for share in shares if isinstance(share, Shard)}
            if len(parts) > 1:
                return Lost(loaders, compatibility.UNEVEN, models=models)
            return Shard(loaders, dim=None, models=models, parts=parts.pop())
        return Lost(loaders, "it is not linear in the mean over the batch", models=models)

    def unary(self, node: ast.UnaryOp, frame: Frame) -> Value:
        value = self.machine.eval(node.operand, frame)
        if isinstance(value, FirstOnly):
            if isinstance(node.op, ast.Not):
                return PerWorker(ALONE)
            self.machine.agreement.needed_by_all(node, (value,), frame)
        asked = self.machine.special.ask(value, UNARY.get(type(node.op), "__bool__"), (), frame)
        if asked is not None:
            value = asked
        if isinstance(node.op, ast.Not):
            value = self.machine.gathering.gather(node.operand, value, frame)
            return value if isinstance(value, PerWorker) else PLAIN
        if isinstance(value, Const) and isinstance(node.op, ast.USub):
            if isinstance(value.value, int | float):
                return Const(-value.value, value.born)
        return value if isinstance(value, Share | PerWorker | Gathered) else PLAIN

    def compare(self, node: ast.Compare, frame: Frame) -> Value:
        nodes = [node.left, *node.comparators]
        values = [self.machine.eval(part, frame) for part in nodes]
        if len(values) == 2:
            asked = self.machine.special.compared(node.ops[0], values[0], values[1], frame)
            if asked is not None:
                return asked
        shards = [value for value in values if isinstance(value, Shard)]
        others = [value for value in values if isinstance(value, Share) and value not in shards]
        if isinstance(node.ops[0], ast.Is | ast.IsNot):
            return PLAIN  # that it is a tensor is the same on all workers
        met = compatibility.meets_rows(*values)
        lost = (
            compatibility.recombined(met)
            if met and frame.policy.assumes_rows
            else compatibility.mixed(*values)
        )
        if lost:
            return lost
        among = isinstance(node.ops[0], ast.In | ast.NotIn)
        lists = any(shard.listed is Answer.YES for shard in shards)  # compared as a whole
        if shards and not others and not met and not among and not lists:
            combined = elementwise.combine(shards, values)
            if isinstance(combined, Shard):
                return figures.without_gradient(replace(combined, mask=True))
        same = isinstance(node.ops[0], ast.Eq | ast.NotEq) and len({type(k) for k in values}) == 1
        if same and isinstance(values[0], ShardShape | Count):
            return PLAIN  # what has as many rows in the slice has as many in the batch
        if any(isinstance(value, FirstOnly) for value in values):
            return PerWorker(ALONE)
        if frame.policy.assumes_rows and others:
            return Lost(others[0].loaders, "it is a comparison of figures of a slice")
        numbers = not (among or lists) and all(
            isinstance(value, Mean | Sum | Count) for value in others
        )
        rows = elementwise.combine(shards, values) if shards and numbers and not met else None
        rows = rows if isinstance(rows, Shard) else None
        made = [
            self.machine.gathering.gather(part, value, frame)
            for part, value in zip(nodes, values, strict=True)
            if rows is None or value not in shards
        ]
        if rows is not None:
            # Each row against a figure of the whole batch.
            return figures.without_gradient(replace(rows, mask=True))
        own = gathered_of(*made)
        return replace(own, models=frozenset()) if isinstance(own, Gathered) else own

    def combines(self, node: ast.AST, loaders: Nodes, frame: Frame) -> None:
        """A network is seen to combine rows of the batch."""
        self.notes.trouble("network", "combines-samples", node, frame, loaders)


def _repeats_or_joins(operator: str, one: Value, other: Value) -> Answer:
    """Whether `one` is a list of rows that meets what a list can be added to or multiplied with."""
    if operator not in ("Add", "Mult") or not isinstance(one, Shard):
        return Answer.NO
    if isinstance(other, Shard) and other.listed is Answer.NO:
        return Answer.NO  # tensors and arrays compute with lists, or raise an error
    if isinstance(other, Const) and other.value is not None:
        whole = isinstance(other.value, int)
        return one.listed if operator == "Mult" and whole else Answer.NO
    return one.listed


def _of_numbers(value: Value) -> bool:
    return all(type(item) in (Value, Const) for item in flat(value))


def _plain_operation(operator: str, left: Value, right: Value) -> Value:
    if isinstance(left, PerWorker) or isinstance(right, PerWorker):
        return left if isinstance(left, PerWorker) else right
    if isinstance(left, Const) and isinstance(right, Const):
        numbers = (left.value, right.value)
        if all(isinstance(n, int) and not isinstance(n, bool) for n in numbers):
            if operator in ("Add", "Sub", "Mult"):
                a, b = numbers
                value = a + b if operator == "Add" else a - b if operator == "Sub" else a * b
                return Const(value, left.born)
    for one, other in ((left, right), (right, left)):
        if isinstance(one, Items | Many | Parameters):
            if operator == "Add" and isinstance(left, Items) and isinstance(right, Items):
                return Items(left.items + right.items, left.born)
            if operator == "Add" and isinstance(left, Items) and right == Many(PLAIN):
                return Items((*left.items, UNKNOWN_YET), left.born)
            if isinstance(other, Items | Many | Parameters):
                return Many(join(element(left), element(right)))
            if operator == "Mult" and type(other) is Value and _of_numbers(one):
                return Many(PLAIN)
            return one
    return (
        HashOrdered() if isinstance(left, HashOrdered) or isinstance(right, HashOrdered) else PLAIN
    )
