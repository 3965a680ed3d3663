"""Assignments: names, attributes, items and running totals."""

import ast
from dataclasses import replace

from trainera.read.facts import Tally
from trainera.read.interpret.heap import ANY, key_of
from trainera.read.interpret.part import MachinePart
from trainera.read.interpret.state import Frame
from trainera.read.ops import figures
from trainera.read.source.lifetimes import made_here
from trainera.read.source.syntax import entry
from trainera.read.values import (
    PLAIN,
    Answer,
    Class,
    Const,
    Count,
    Dictionary,
    Gathered,
    Items,
    Loader,
    LossFunction,
    Lost,
    Many,
    Mean,
    Network,
    Object,
    Optimizer,
    OwnModule,
    Parameters,
    PerWorker,
    Shard,
    ShardShape,
    Share,
    Sum,
    Value,
)
from trainera.read.values.containers import at
from trainera.read.values.contents import first_share, has_parameters, holds_share, put_together
from trainera.read.values.gathered import gathered_of
from trainera.read.values.join import element, join, members_of, unpacked

ROLES = Loader | Network | Optimizer | LossFunction | Parameters | Object
"""What an object may keep in a dictionary, by name."""
TEXT_MAKERS = {
    "Path",
    "ctime",
    "format",
    "isoformat",
    "join",
    "mkdtemp",
    "str",
    "strftime",
}


class Assignments(MachinePart):
    """Assignments: names, attributes, items and running totals."""

    def do_assign(self, node: ast.Assign, frame: Frame) -> None:
        update = self._as_update(node)
        if update is not None and not self._is_of_batch(node.targets[0], frame):
            self._accumulate(node, node.targets[0], ast.Add(), update, frame)
            return
        self.notes.tallies.drop(node, frame)
        self.notes.cuts.drop(node.value, frame)
        value = self.machine.own_rows.own_again(node, self.machine.eval(node.value, frame), frame)
        if isinstance(value, PerWorker) and _makes_text(node.value):
            self.machine.agreement.agreed(
                node.value, value, frame
            )  # a file or run name: all must use the same
            value = PLAIN
        for target in node.targets if frame.env is not None else ():
            self.machine.libraries.assigned(node, target, node.value, value, frame)
            self.assign(target, value, frame, node.value)

    def do_annassign(self, node: ast.AnnAssign, frame: Frame) -> None:
        if node.value is not None:
            value = self.machine.eval(node.value, frame)
            self.machine.libraries.assigned(node, node.target, node.value, value, frame)
            self.assign(node.target, value, frame, node.value)

    def do_augassign(self, node: ast.AugAssign, frame: Frame) -> None:
        self._accumulate(node, node.target, node.op, node.value, frame)

    def _is_of_batch(self, target: ast.expr, frame: Frame) -> bool:
        """Whether a name holds something of the batch: then adding to it makes no total."""
        before = self.machine.eval(target, frame)
        return frame.policy.follows_lifetimes and (
            holds_share(before) or isinstance(before, Gathered)
        )

    @staticmethod
    def _as_update(node: ast.Assign) -> ast.expr | None:
        """The addend of ``total = total + x``."""
        value = node.value
        if (
            len(node.targets) == 1
            and isinstance(node.targets[0], ast.Name)
            and isinstance(value, ast.BinOp)
            and isinstance(value.op, ast.Add)
        ):
            name = node.targets[0].id
            for one, other in ((value.left, value.right), (value.right, value.left)):
                if isinstance(one, ast.Name) and one.id == name:
                    return other
        return None

    def _accumulate(
        self, node: ast.stmt, target: ast.expr, op: ast.operator, expression: ast.expr, frame: Frame
    ) -> None:
        self.notes.tallies.drop(node, frame)
        self.notes.escapes.drop(expression, frame)
        before = self.machine.eval(target, frame)
        value = self.machine.eval(expression, frame)
        made = self.machine.special.in_place(type(op).__name__, before, value, frame)
        if made is not None:
            self.assign(target, made, frame, expression)
            return
        if isinstance(target, ast.Subscript):
            self.machine.writes.written(target, frame)
        self._update(node, target, op, before, value, expression, frame)
        self._grown(target, type(op).__name__, before, expression, frame)

    def _update(
        self,
        node: ast.stmt,
        target: ast.expr,
        op: ast.operator,
        before: Value,
        value: Value,
        expression: ast.expr,
        frame: Frame,
    ) -> None:
        """What the target is from now on."""
        loop = self.path.open_loops[-1] if self.path.open_loops else None
        if self._joins_lists(node, type(op).__name__, before, value, target, frame):
            return
        if not holds_share(value) and not holds_share(before):
            self.assign(target, _after_update(before, value), frame, expression)
            return
        if isinstance(before, Gathered) and frame.policy.gathers:
            made = self.machine.gathering.gather(expression, value, frame)
            self.assign(target, gathered_of(before, made), frame)
            return
        born_here = isinstance(before, Const) and loop is not None and before.born is loop.node
        if holds_share(before) or born_here or not frame.policy.follows_lifetimes:
            operator = type(op).__name__
            known = figures.binary(operator, before, value) if _shares(before, value) else None
            after = known if isinstance(known, Value) else None
            if after is None and frame.policy.assumes_rows:
                after = self.machine.operators.operation(
                    operator, target, before, expression, value, frame
                )
            elif after is None:
                share = first_share(before if holds_share(before) else value)
                if isinstance(before, Shard):  # other names may stand for the same tensor
                    self.notes.trouble(
                        "weight", "changed-in-place", node, frame, share.loaders, name="this"
                    )
                after = Lost(share.loaders, "it is changed in place by something of another kind")
            self.assign(target, after, frame)
            return
        summable = isinstance(value, Sum | Mean | Count) and isinstance(op, ast.Add)
        if loop is not None and summable and isinstance(target, ast.Name):
            assert isinstance(value, Share)
            text = self.machine.loader_names.text(value.loaders, frame)
            if text is not None and any(loop is own for own in frame.loops):
                self.notes.tallies.set(
                    node,
                    frame,
                    Tally(
                        node=node,
                        value=expression,
                        name=target.id,
                        file=frame.file,
                        loop=loop.node,
                        share=value,
                        text=text,
                        starts_at_zero=target.id in loop.zeros,
                    ),
                )
                self.assign(target, PLAIN, frame, expression)
                return
        self.assign(target, PLAIN, frame)
        self.machine.gathering.evaluate(expression, frame)

    def _grown(
        self, target: ast.expr, operator: str, before: Value, more: ast.expr, frame: Frame
    ) -> None:
        """``rows += more``, ``cfg |= more``, ``total += loss``: what it stands for is changed."""
        heap = self.machine.heap
        value = self.machine.gathering.as_noted(more, frame)
        if isinstance(before, Const):
            heap.put(before, target, ANY, [], frame)
        elif isinstance(before, Dictionary) and isinstance(value, Dictionary):
            for key, item in value.items:
                heap.put_unnamed(before, key, [item], frame)
        elif isinstance(before, Items | Many | Dictionary) and operator != "Mult":
            heap.put_unnamed(before, ANY, [element(value)], frame)

    def _joins_lists(
        self,
        node: ast.stmt,
        operator: str,
        before: Value,
        value: Value,
        target: ast.expr,
        frame: Frame,
    ) -> bool:
        """``names *= 2``: a list of rows is repeated or joined where it stands."""
        if not isinstance(before, Shard):
            return False  # a list of the script's own, which rows are added to
        listed = self.machine.operators.may_be_list(operator, before, value)
        if listed is Answer.MAYBE:
            self.notes.may_be_lists(target, frame, before, value)
        if listed is Answer.YES:
            self.notes.trouble("metrics", "changed-copy", node, frame, before.loaders)
            self.assign(target, Lost(before.loaders, "it is a list of rows"), frame)
        return listed is Answer.YES

    def assign(
        self, target: ast.expr, value: Value, frame: Frame, expression: ast.expr | None = None
    ) -> None:
        """Stores a value; what is stored in containers must be gathered."""
        if isinstance(target, ast.Name):
            self.machine.names.bind(
                target.id, self.machine.outliving.kept(target, value, frame, expression), frame
            )
        elif isinstance(target, ast.Tuple | ast.List):
            self._unpack(target, value, frame, expression)
        elif isinstance(target, ast.Starred):
            self.assign(target.value, Many(value) if holds_share(value) else PLAIN, frame)
        elif isinstance(target, ast.Attribute):
            self._assign_attribute(target, value, frame, expression)
        elif isinstance(target, ast.Subscript):
            self._assign_item(target, value, frame, expression)

    def _assign_attribute(
        self, target: ast.Attribute, value: Value, frame: Frame, expression: ast.expr | None
    ) -> None:
        owner = self.machine.eval(target.value, frame)
        value = self.machine.outliving.kept(target, value, frame, expression)
        for one in members_of(owner):
            self.machine.libraries.attribute_set(target, one, value, frame)
            cls = one.cls if isinstance(one, Object | Network) else None
            if isinstance(one, Class | Object):
                self.machine.writes.leaks(target, target.value, value, frame)
            if target.attr == "__dict__" and isinstance(one, Object):
                every = self.machine.objects.all_attributes(one)
                self.machine.heap.put_unnamed(every, ANY, [element(value)], frame)
            setter = self.machine.objects.setter(one, target.attr)
            if setter is not None:
                self.machine.functions.run(setter, [value], {}, frame)
            elif cls is not None:
                self.machine.objects.set_attribute(cls, target.attr, value)
            elif isinstance(one, Class) and not holds_share(value):
                self.machine.objects.set_in_class(one, target.attr, value)
            else:
                if expression is not None and holds_share(value):
                    value = self.machine.gathering.gather(expression, value, frame)
                self._set_elsewhere(one, target.attr, value)

    def _set_elsewhere(self, owner: Value, name: str, value: Value) -> None:
        """An attribute of a module, or of something of which it is not known what it is."""
        if isinstance(owner, OwnModule):
            self.machine.names.set_of_module(owner.name, name, value)
        elif name not in self.program.loose and not isinstance(owner, Class):
            self.program.loose.add(name)
            self.program.changed = True
            self.program.learned += 1

    def _assign_item(
        self, target: ast.Subscript, value: Value, frame: Frame, expression: ast.expr | None
    ) -> None:
        owner = self.machine.eval(target.value, frame)
        if isinstance(value, Mean | Sum | Count) and not value.models and frame.policy.gathers:
            if expression is not None and self.path.open_loops:
                value = self.machine.gathering.gather(expression, value, frame)
        if isinstance(owner, Dictionary) and isinstance(target.value, ast.Name):
            key = self.machine.eval(target.slice, frame)
            if isinstance(key, Const) and isinstance(key.value, str):
                own = made_here(target.value, frame.file)
                if own or owner.get(key.value) == value:
                    self.machine.heap.put(owner, target.value, key.value, [value], frame)
                if owner.get(key.value) == value:
                    return
                if own:
                    items = dict(owner.items) | {key.value: value}
                    grown = replace(owner, items=tuple(items.items()))
                    self.machine.names.bind(target.value.id, grown, frame)
                    return
        elif isinstance(owner, Const):
            self.machine.heap.put_unnamed(owner, ANY, [], frame)
        if isinstance(owner, Dictionary) and isinstance(target.value, ast.Attribute):
            if isinstance(value, ROLES):
                key = self.machine.eval(target.slice, frame)
                self.machine.heap.put_unnamed(owner, key_of(key), [value], frame)
            if isinstance(value, ROLES) and self._assign_entry(target, target.value, value, frame):
                return
        if isinstance(owner, Shard):
            self.machine.writes.written(target, frame)
            self.machine.writes.filled(target, value, frame)
            return  # it stays a batch
        self.machine.writes.leaks(target, target.value, value, frame)
        self.machine.libraries.item_set(target, value, frame)
        self.machine.gathering.evaluate(target.slice, frame)
        if expression is not None and holds_share(value):
            value = self.machine.gathering.gather(expression, value, frame)
        named = self._changed_item(target, owner, value, frame)
        if not named and holds_share(value) and frame.policy.gathers:
            self.machine.gathering.trouble_with(target, value, frame)

    def _changed_item(
        self, target: ast.Subscript, owner: Value, value: Value, frame: Frame
    ) -> bool:
        """What a name holds after ``pair[0] = 7``; whether it is a container that is known."""
        key = self.machine.eval(target.slice, frame)
        spliced = isinstance(target.slice, ast.Slice)
        given = element(value) if spliced else value
        if not isinstance(target.value, ast.Name) or spliced:
            self.machine.heap.put_unnamed(owner, key_of(key), [given], frame)
            return False
        if not holds_share(owner) and not holds_share(value):
            self.machine.heap.put_unnamed(owner, key_of(key), [given], frame)
            return True
        self.machine.heap.put(owner, target.value, key_of(key), [given], frame)
        changed: Value
        if isinstance(owner, Items):
            place = at(key, len(owner.items))
            items = list(owner.items)
            if place is not None:
                items[place] = value
            changed = replace(owner, items=tuple(items))
            if place is None:
                changed = Many(join(element(owner), value), owner.born, owner.made_at)
        elif type(owner) is Dictionary and isinstance(key, Const) and isinstance(key.value, str):
            changed = replace(owner, items=tuple((dict(owner.items) | {key.value: value}).items()))
        else:
            return False
        self.machine.names.bind(target.value.id, changed, frame)
        return True

    def _assign_entry(
        self, target: ast.Subscript, mapping: ast.Attribute, value: Value, frame: Frame
    ) -> bool:
        """``self.models["net"] = Net()``: a dictionary that an object keeps its things in."""
        owner, key = self.machine.eval(mapping.value, frame), self.machine.eval(target.slice, frame)
        if not isinstance(key, Const) or not isinstance(key.value, str):
            return False
        if not isinstance(owner, Object):
            return False
        self.machine.objects.set_attribute(
            owner.cls, mapping.attr, Dictionary(((key.value, value),))
        )
        self.machine.objects.set_attribute(owner.cls, entry(target), value)
        return True

    def _learn_rank(self, shape: ast.expr, rank: int, frame: Frame) -> None:
        """``b, t, c = x.shape``: from here on x is known to have so many dimensions."""
        inner = shape.func if isinstance(shape, ast.Call) and not shape.args else shape
        if not isinstance(inner, ast.Attribute) or inner.attr not in ("shape", "size"):
            return
        shard = self.machine.eval(inner.value, frame)
        if isinstance(inner.value, ast.Name) and isinstance(shard, Shard) and shard.rank is None:
            self.machine.names.bind(inner.value.id, replace(shard, rank=rank), frame)

    def _unpack(
        self,
        target: ast.Tuple | ast.List,
        value: Value,
        frame: Frame,
        expression: ast.expr | None,
    ) -> None:
        parts = target.elts
        self.machine.agreement.needed_by_all(expression or target, [value], frame)
        if isinstance(value, ShardShape) and expression is not None:
            self._learn_rank(expression, len(parts), frame)
        values: list[ast.expr | None] = [None] * len(parts)
        if isinstance(expression, ast.Tuple | ast.List) and len(expression.elts) == len(parts):
            values = list(expression.elts)
        for place, part in enumerate(parts):
            item = unpacked(value, place, len(parts))
            if isinstance(value, Object) and (held := self.machine.objects.carried(value)):
                item = Lost(
                    held.loaders, "an object that holds something of a batch is taken apart"
                )
            if isinstance(value, Shard) and isinstance(item, Shard) and isinstance(part, ast.Name):
                item = replace(item, nested=False)  # a batch's parts are tensors
            self.assign(part, item, frame, values[place])


def _after_update(before: Value, value: Value) -> Value:
    if has_parameters(before) or (has_parameters(value) and isinstance(before, Items | Many)):
        return put_together(before, value)
    if isinstance(before, Gathered) or isinstance(value, Gathered):
        return gathered_of(before, value)
    return before if isinstance(before, Many | Items) and not isinstance(value, Const) else PLAIN


def _makes_text(node: ast.expr) -> bool:
    if isinstance(node, ast.Call):
        called = ast.unparse(node.func).rsplit(".", 1)[-1]
        return called in TEXT_MAKERS
    return isinstance(node, ast.JoinedStr)


def _shares(*values: Value) -> bool:
    return any(isinstance(value, Share) for value in values)
