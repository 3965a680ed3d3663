"""Calls of which nothing is known."""

import ast
from dataclasses import replace

from trainera.read.interpret.part import MachinePart
from trainera.read.interpret.state import Frame
from trainera.read.source.syntax import named_fields
from trainera.read.values import (
    PLAIN,
    Count,
    FirstOnly,
    Gathered,
    LibraryObject,
    Lost,
    PerWorker,
    Shard,
    Share,
    Value,
    compatibility,
)
from trainera.read.values.gathered import gathered_of, sized
from trainera.read.values.records import as_record


class Unknown(MachinePart):
    """Calls of which nothing is known."""

    def call(self, name: str, node: ast.Call, frame: Frame) -> Value:
        positional, keywords = self.machine.calls.arguments(node, frame)
        values = [*positional, *keywords.values()]
        called = self.machine.eval(node.func, frame)
        fields = named_fields(called.origin) if isinstance(called, LibraryObject) else []
        record = as_record(fields, positional, keywords) if fields else None
        if record is not None:
            return record
        if frame.policy.assumes_rows and any(isinstance(value, Share) for value in values):
            self.machine.libraries.given_rows(called, node, values, frame)
            if name.rsplit(".", 1)[-1][:1].isupper() and not positional:
                record = as_record([], positional, keywords)
                if record is not None:
                    return record
            return self.assumed(node, values, frame)
        values = self.machine.calls.gathered_arguments(node, frame)
        self.machine.libraries.arguments_in_order(name, node, frame)
        self.machine.agreement.handed_over(node, values, frame)
        known = self.machine.libraries.unknown(name, node, values, frame)
        if known is not None:
            return known
        if any(isinstance(value, FirstOnly) for value in values):
            return FirstOnly()
        made = gathered_of(*values)
        if not name.startswith("math."):
            made = sized(made)
        if isinstance(made, Gathered | PerWorker):
            return replace(made, maybe_none=True)
        return LibraryObject(node, name)

    def assumed(self, node: ast.expr, values: list[Value], frame: Frame) -> Value:
        """Inside a network, what is not known is taken to treat rows one by one."""
        shares = [value for value in values if isinstance(value, Share)]
        if any(isinstance(value, Count) for value in shares):
            self.notes.unsure_of(node, frame)
        models = frozenset().union(*(share.models for share in shares))
        met = compatibility.meets_rows(*values)
        lost = compatibility.recombined(met) if met else compatibility.mixed(*shares)
        if lost:
            return replace(lost, models=models)
        rows = [value for value in shares if isinstance(value, Shard)]
        if len({value.parts for value in rows}) > 1:
            return Lost(shares[0].loaders, compatibility.UNEVEN, models=models)
        if rows:
            parts = rows[0].parts
            return Shard(
                shares[0].loaders,
                dim=None,
                nested=True,
                parts=parts,
                models=models,
                maybe_none=True,
            )
        if all(isinstance(value, Count) for value in shares):
            return PLAIN
        why = "it is not linear in the mean over the batch"
        return Lost(shares[0].loaders, why, models=models)
