"""Calls of which nothing is known."""

import ast
from dataclasses import replace

from trainera.read.interpret.part import Part
from trainera.read.interpret.state import Frame
from trainera.read.libraries.meters import is_meter
from trainera.read.libraries.torch import names
from trainera.read.ops import tables
from trainera.read.source.syntax import named_fields
from trainera.read.values import (
    PLAIN,
    Count,
    FirstOnly,
    Gathered,
    Items,
    LibraryObject,
    Lost,
    Many,
    Network,
    Nodes,
    Parameters,
    PerWorker,
    Qualified,
    Shard,
    Share,
    Value,
    compatibility,
)
from trainera.read.values.contents import networks_in
from trainera.read.values.gathered import gathered_of, row_by_row, sized
from trainera.read.values.records import as_record


class Unknown(Part):
    """Calls of which nothing is known."""

    def call(self, name: str, node: ast.Call, frame: Frame) -> Value:
        positional, keywords = self.machine.calls.arguments(node, frame)
        values = [*positional, *keywords.values()]
        if frame.lenient and any(isinstance(value, Share) for value in values):
            called = self.machine.eval(node.func, frame)
            if isinstance(called, LibraryObject) and is_meter(called.name):
                self.machine.writes.remembers(node, values, frame)
            self.machine.layers.unseen(called)
            fields = named_fields(called.origin) if isinstance(called, LibraryObject) else []
            if fields or (name.rsplit(".", 1)[-1][:1].isupper() and not positional):
                record = as_record(fields, positional, keywords)
                if record is not None:
                    return record
            return self.assumed(node, values, frame)
        values = self.machine.calls.gathered_arguments(node, frame)
        self.machine.sets.arguments_in_order(name, node, frame)
        for keyword in node.keywords:
            if keyword.arg in ("seed", "random_state"):
                self.machine.agreement.agreed(
                    keyword.value, self.machine.eval(keyword.value, frame), frame
                )
        self.machine.agreement.handed_over(node, values, frame)
        models: Nodes = frozenset().union(
            *(networks_in(k) for k in values if isinstance(k, Parameters | Many | Items))
        )
        if models:
            return Parameters(models)
        if any(isinstance(value, FirstOnly) for value in values):
            return FirstOnly()
        if node in self.program.decisions.models:
            self.notes.facts.hidden = True
            outside = isinstance(self.machine.eval(node.func, frame), Qualified)
            others = () if outside else self.machine.networks.unaccounted(node, frame)
            return Network(frozenset({node}), choices=(None, *others) if others else ())
        whole = gathered_of(*values)
        if not name.startswith("math."):
            whole = sized(whole)
        if name.startswith("torch.") and name.rpartition(".")[2] in tables.ROW_BY_ROW:
            whole = row_by_row(*values)
        if isinstance(whole, Gathered | PerWorker):
            return whole
        made_in_network = frame.lenient and name.split(".")[0] not in names.NO_LAYERS
        if made_in_network or name.startswith(names.ZOOS):
            self.notes.facts.hidden = True
        return LibraryObject(node, name)

    def assumed(self, node: ast.AST, values: list[Value], frame: Frame) -> Value:
        """Inside a network, what is not known is taken to treat rows one by one."""
        shares = [value for value in values if isinstance(value, Share)]
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
            return Shard(shares[0].loaders, dim=None, nested=True, parts=parts, models=models)
        if all(isinstance(value, Count) for value in shares):
            return PLAIN
        why = "it is not linear in the mean over the batch"
        return Lost(shares[0].loaders, why, models=models)
