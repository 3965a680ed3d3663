"""Where a share will not do: the value of the whole batch takes its place."""

import ast
from dataclasses import replace
from functools import reduce
from typing import Any

from trainera.read.facts import Escape
from trainera.read.interpret.part import MachinePart
from trainera.read.interpret.state import Frame
from trainera.read.source.file import SourceFile
from trainera.read.source.syntax import parts_of
from trainera.read.values import (
    PLAIN,
    Answer,
    Blend,
    Count,
    Dictionary,
    Gathered,
    Items,
    Lost,
    Many,
    Mean,
    Nodes,
    Shard,
    ShardShape,
    Sum,
    Value,
)
from trainera.read.values.contents import first_share, holds_share
from trainera.read.values.join import element, join

TAKES_OUT = {"pop", "popitem", "setdefault"}
"""Methods that change what they are called on and give a part of it."""
CHANGES = {
    *("sort", "reverse", "remove", "insert", "append", "appendleft", "extend", "clear", "update"),
    *("add", "discard", "fill", "put", "partition", "resize"),
}
"""Methods of lists, dictionaries, sets and arrays that change what they are called on."""
TURNS = {"T", "mT", "t", "permute", "swapaxes", "swapdims", "transpose", "unsqueeze"}


class Gathering(MachinePart):
    """Where a share will not do: the value of the whole batch takes its place."""

    def evaluate(self, node: ast.expr, frame: Frame) -> Value:
        """Evaluates where a share will not do: what is one becomes the whole batch's value."""
        if isinstance(node, ast.Tuple | ast.List | ast.Set):
            return Items(tuple(self.evaluate(item, frame) for item in node.elts))
        if isinstance(node, ast.Starred):
            return self.evaluate(node.value, frame)
        if isinstance(node, ast.Dict):
            for key, value in zip(node.keys, node.values, strict=True):
                if key is not None:
                    self.evaluate(key, frame)
                self.evaluate(value, frame)
            return PLAIN
        if isinstance(node, ast.IfExp):
            self.machine.conditions.condition(node.test, frame)
            before = frame.env
            ways: list[Value] = []
            for way in (node.body, node.orelse):
                given = self.evaluate(way, frame)
                if frame.env is not None or before is None:
                    ways.append(given)
                frame.env = before
            return reduce(join, ways or [PLAIN])
        return self.gather(node, self.machine.eval(node, frame), frame)

    def put_in(self, node: ast.expr, value: Value, frame: Frame) -> Value:
        """What is put into something that outlives the batch: items are made whole one by one."""
        if isinstance(node, ast.Tuple | ast.List):
            return self.evaluate(node, frame)
        whole = self.gather(node, value, frame)
        return Many(whole) if isinstance(value, Items | Many) else whole

    def as_noted(self, node: ast.expr, frame: Frame) -> Value:
        """What an expression stands for from now on: the whole where it was noted to be made so."""
        if self.notes.escapes.get(node, frame) is not None:
            return PLAIN
        if isinstance(node, ast.Starred):
            return element(self.as_noted(node.value, frame))
        if isinstance(node, ast.Tuple | ast.List | ast.Set):
            return Items(tuple(self.as_noted(item, frame) for item in node.elts))
        value = self.machine.eval(node, frame)
        if isinstance(node, ast.Dict) and type(value) is Dictionary:
            whole = {
                key.value
                for key, item in zip(node.keys, node.values, strict=True)
                if isinstance(key, ast.Constant) and self.notes.escapes.get(item, frame) is not None
            }
            items = tuple((key, PLAIN if key in whole else item) for key, item in value.items)
            return replace(value, items=items)
        return value

    def gather(self, node: ast.expr, value: Value, frame: Frame) -> Value:
        self.notes.escapes.drop(node, frame)
        self.machine.libraries.opaque(node, value, frame)
        if not frame.policy.gathers:
            return PLAIN if holds_share(value) else value
        if not holds_share(value):
            if (inside := self.machine.objects.carried(value)) is not None:
                self._hands_over(node, inside.loaders, frame)
            self.notes.plain.add(node, frame)
            return value
        self.notes.plain.drop(node, frame)
        if self._is_changed(node, frame.file):
            # The whole is a copy, and the change would be lost with it.
            share = first_share(value)
            self.notes.trouble("metrics", "changed-copy", node, frame, share.loaders)
            return PLAIN
        if isinstance(value, ShardShape) and isinstance(node, ast.Attribute):
            inner = self.machine.eval(node.value, frame)
            self.gather(node.value, inner, frame)
            return Gathered(value.loaders, rows=False, number=True, made=node)
        turned = _turned(node) if isinstance(value, Shard) and value.dim != 0 else None
        if turned is not None:
            whole = self.gather(turned, self.machine.eval(turned, frame), frame)
            return whole if isinstance(whole, Gathered) else PLAIN
        method, how = how_to_gather(value), ""
        if isinstance(value, Shard) and value.parts > 1 and value.dim == 0 and not value.ragged:
            method, how = "gather", f"parts={value.parts}"
        if method is None and (ways := ways_to_gather(value)) is not None:
            method, how = "combine", repr(ways)
        share = first_share(value)
        text = self.machine.loader_names.text(share.loaders, frame)
        if (
            text is not None
            and text.startswith("self.")
            and not self.path.open_loops
            and _of_self(node)
        ):
            text = None  # kept from a batch that may not be the latest any more
        text = "crew" if isinstance(share, Blend) else text
        if method is None or text is None:
            self.trouble_with(node, value, frame)
            return PLAIN
        for loop in self.path.open_loops:
            loop.collective = True
        self.notes.escapes.set(
            node,
            frame,
            Escape(
                node=node,
                file=frame.file,
                method=method,
                loaders=share.loaders,
                text=text,
                how=how,
            ),
        )
        rows = "gather" in method or "gather" in how
        number = isinstance(value, Count | ShardShape)
        aligned = method == "gather" and not how and isinstance(value, Shard)
        return Gathered(share.loaders, rows, number, share.models, node, aligned=aligned)

    def gather_options(self, options: list[ast.expr], frame: Frame, by_entry: bool = False) -> str:
        """Makes options whole that are figures of the batch; answers why, if that cannot be.

        If a loss goes entry by entry, its weights may have a row for every sample.
        """
        for option in options:
            value = self.machine.eval(option, frame)
            whole_rows = by_entry and isinstance(value, Gathered) and value.rows
            if isinstance(value, Shard) or whole_rows:
                return "one of its options has a row for every sample"
            if holds_share(value) and not frame.policy.gathers:
                return "one of its options is a figure of the batch"
            if holds_share(value):
                self.gather(option, value, frame)
        return ""

    def _hands_over(self, node: ast.AST, loaders: Nodes, frame: Frame) -> None:
        self.notes.trouble("metrics", "object-handed-over", node, frame, loaders)

    def trouble_with(self, node: ast.AST, value: Value, frame: Frame) -> None:
        share = first_share(value)
        if not isinstance(share, Lost):
            share = Lost(share.loaders, "how to make the whole is not known")
        self.notes.trouble(
            "metrics", "share", node, frame, share.loaders, why=share.why, do=share.do
        )

    def _is_changed(self, node: ast.expr, file: SourceFile) -> bool:
        """Whether an expression is changed in place by the call that it is part of."""
        above = file.parents.get(node)
        call = file.parents.get(above) if above is not None else None
        if isinstance(above, ast.keyword):
            return above.arg == "out"
        if isinstance(above, ast.Attribute) and isinstance(call, ast.Call) and call.func is above:
            # Some tensors have methods of these names, too, which are called for what they give.
            alone = isinstance(file.parents.get(call), ast.Expr)
            return above.attr in TAKES_OUT or (above.attr in CHANGES and alone)
        if isinstance(above, ast.Call) and above.args and above.args[0] is node:
            called = ast.unparse(above.func)
            changers = self.machine.libraries.first_changed
            return called.rpartition(".")[2] in changers
        return False


def how_to_gather(value: Value) -> str | None:
    """The name of the operation that turns a share into the whole batch's value."""
    if isinstance(value, Mean):
        return "mean"
    if isinstance(value, Sum | Count) or (isinstance(value, Blend) and not value.models):
        return "sum"
    if isinstance(value, Shard) and value.dim == 0 and value.parts == 1:
        return "gather_picked" if value.ragged else "gather"
    if isinstance(value, Items):
        lists = any(isinstance(item, Shard) and item.listed is Answer.YES for item in value.items)
        methods = {how_to_gather(item) for item in value.items}
        return "gather" if methods == {"gather"} and not lists else None
    return None


def ways_to_gather(value: Value) -> Any:
    """How each part of a tuple or dict is made whole; None if that cannot be told of some."""
    if isinstance(value, Items):
        ways = [part_to_gather(item) for item in value.items]
        return None if None in ways else tuple(ways)
    if type(value) is Dictionary:
        parts = {key: part_to_gather(item) for key, item in value.items}
        return None if None in parts.values() else parts
    return None


def part_to_gather(value: Value) -> Any:
    """The same for one part; what is no share stays as it is."""
    if not holds_share(value):
        return ""
    return how_to_gather(value) or ways_to_gather(value)


def _turned(node: ast.expr) -> ast.expr | None:
    """What a transposed tensor is made of: that can be gathered, where the rows come first."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        fixed = all(isinstance(part, ast.Constant | ast.UnaryOp) for part in node.args)
        turns = node.func.attr in TURNS or (node.func.attr in ("view", "reshape") and fixed)
        return node.func.value if turns else None
    if isinstance(node, ast.Subscript):
        keys = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        return node.value if all(map(_only_adds, keys)) else None
    return node.value if isinstance(node, ast.Attribute) and node.attr in TURNS else None


def _only_adds(key: ast.expr) -> bool:
    """Whether a part of an index leaves all entries where they are: a colon, a new dimension."""
    if isinstance(key, ast.Slice):
        return key.lower is key.upper is key.step is None
    return isinstance(key, ast.Constant) and key.value in (None, ...)


def _of_self(node: ast.AST) -> bool:
    """Whether an expression reads an attribute of `self`."""
    return any(
        isinstance(part, ast.Attribute)
        and isinstance(part.value, ast.Name)
        and part.value.id == "self"
        for part in parts_of(node)
    )
