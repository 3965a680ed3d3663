"""Follows assignments: names, attributes, items and running totals."""

import ast
from dataclasses import replace

from trainera.read import tensors, world
from trainera.read.carriers import Carriers, entry
from trainera.read.core import Frame
from trainera.read.facts import Freeze, Tally
from trainera.read.inside import first_share, has_parameters, holds_share, models_in, put_together
from trainera.read.kinds import (
    PLAIN,
    Bunch,
    Const,
    Count,
    Instance,
    Kind,
    Listing,
    Loader,
    Loss,
    Lost,
    Mapping,
    Mean,
    Model,
    Optimizer,
    Own,
    Params,
    Shard,
    Share,
    Sum,
    Thing,
    Whole,
)
from trainera.read.lattice import unpacked, whole_of
from trainera.read.lifetimes import made_here

ROLES = Loader | Model | Optimizer | Loss | Params | Instance
"""What an object may keep in a dictionary, by name."""


class Assignments(Carriers):
    """The part of the analyser that follows assignments."""

    def set_free(self, node: ast.expr, frame: Frame) -> Kind:
        raise AssertionError

    def do_assign(self, node: ast.Assign, frame: Frame) -> None:
        update = self._as_update(node)
        if update is not None and not self._is_of_batch(node.targets[0], frame):
            self._accumulate(node, node.targets[0], ast.Add(), update, frame)
            return
        self.facts.tallies.pop((frame.context, node), None)
        self.facts.cuts.pop((frame.context, node.value), None)
        kind = self.own_rows_again(node, self.eval(node.value, frame), frame)
        if isinstance(kind, Own) and _makes_text(node.value):
            self.agreed(node.value, kind, frame)  # a file or run name: all must use the same
            kind = PLAIN
        for target in node.targets:
            self.note_carrier(node, target, node.value, kind, frame)
            self.assign(target, kind, frame, node.value)

    def do_annassign(self, node: ast.AnnAssign, frame: Frame) -> None:
        if node.value is not None:
            kind = self.eval(node.value, frame)
            self.note_carrier(node, node.target, node.value, kind, frame)
            self.assign(node.target, kind, frame, node.value)

    def do_augassign(self, node: ast.AugAssign, frame: Frame) -> None:
        self._accumulate(node, node.target, node.op, node.value, frame)

    def _is_of_batch(self, target: ast.expr, frame: Frame) -> bool:
        """Whether a name holds something of the batch: then adding to it makes no total."""
        before = self.eval(target, frame)
        return not frame.lenient and (holds_share(before) or isinstance(before, Whole))

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
        self, node: ast.stmt, target: ast.expr, op: ast.operator, value: ast.expr, frame: Frame
    ) -> None:
        self.facts.tallies.pop((frame.context, node), None)
        self.facts.escapes.pop((frame.context, value), None)
        before = self.eval(target, frame)
        kind = self.eval(value, frame)
        if isinstance(target, ast.Subscript):
            self.written(target, frame)
        loop = self.open_loops[-1] if self.open_loops else None
        if not holds_share(kind) and not holds_share(before):
            self.assign(target, _after_update(before, kind), frame, value)
            return
        if isinstance(before, Whole) and not frame.lenient:
            made = self.make_whole(value, kind, frame)
            self.assign(target, whole_of(before, made), frame)
            return
        born_here = isinstance(before, Const) and loop is not None and before.born is loop.node
        if holds_share(before) or born_here or frame.lenient:
            operator = type(op).__name__
            after = tensors.binary(operator, before, kind) if _shares(before, kind) else None
            if after is None and frame.lenient:
                after = self.operation(operator, target, before, value, kind, frame)
            elif after is None:
                share = first_share(before if holds_share(before) else kind)
                after = Lost(share.loaders, "it is changed in place by something of another kind")
            self.assign(target, after, frame)
            return
        summable = isinstance(kind, Sum | Mean | Count) and isinstance(op, ast.Add)
        if loop is not None and summable and isinstance(target, ast.Name):
            assert isinstance(kind, Share)
            text = self.loader_text(kind.loaders, frame)
            if text is not None and any(loop is own for own in frame.loops):
                self.facts.tallies[frame.context, node] = Tally(
                    node=node,
                    value=value,
                    name=target.id,
                    file=frame.file,
                    loop=loop.node,
                    share=kind,
                    text=text,
                    starts_at_zero=target.id in loop.zeros,
                )
                self.assign(target, PLAIN, frame, value)
                return
        self.assign(target, PLAIN, frame)
        self.whole(value, frame)

    def assign(
        self, target: ast.expr, kind: Kind, frame: Frame, value: ast.expr | None = None
    ) -> None:
        """Stores a kind; what is stored in containers must be whole."""
        if isinstance(target, ast.Name):
            self.bind(target.id, self.kept(target, kind, frame, value), frame)
        elif isinstance(target, ast.Tuple | ast.List):
            self._unpack(target, kind, frame, value)
        elif isinstance(target, ast.Starred):
            self.assign(target.value, Listing(kind) if holds_share(kind) else PLAIN, frame)
        elif isinstance(target, ast.Attribute):
            self._assign_attribute(target, kind, frame, value)
        elif isinstance(target, ast.Subscript):
            self._assign_item(target, kind, frame, value)

    def _assign_attribute(
        self, target: ast.Attribute, kind: Kind, frame: Frame, value: ast.expr | None
    ) -> None:
        owner = self.eval(target.value, frame)
        if isinstance(owner, Loss):
            self.trouble(
                "weight",
                target,
                frame,
                frozenset(),
                what="the loss function is changed after it was made",
                why="how it reduces can no longer be told",
                do="give the loss its arguments when it is made",
            )
        kind = self.kept(target, kind, frame, value)
        if target.attr == "requires_grad":
            self.frees(target, owner, frame)
            if type(owner) in (Kind, Thing, Const) and isinstance(target.value, ast.Name):
                self.bind(target.value.id, self.set_free(target.value, frame), frame)
        if isinstance(owner, Model) and not owner.part:
            self._altered(target, owner, kind, frame)
        cls = owner.cls if isinstance(owner, Instance | Model) else None
        if cls is None:
            if value is not None and holds_share(kind):
                self.make_whole(value, kind, frame)
            return
        if isinstance(owner, Model) and isinstance(kind, Mean | Sum) and frame.lenient:
            self.remembers(target, [kind], frame)
        self.set_attribute(cls, target.attr, kind)

    def _altered(self, target: ast.Attribute, owner: Model, kind: Kind, frame: Frame) -> None:
        """Something is set on the network: through its wrapper, and no new layer once wrapped."""
        self.through_wrapper(target.value, owner, frame, target.attr)
        if isinstance(kind, Model) and owner.wrapped is not False:
            self.trouble(
                "wrap",
                target,
                frame,
                frozenset(),
                what="a layer is replaced after the network was wrapped",
                why="gradients of the new layer would not be averaged",
                do="put the network together before it is used or passed on",
            )

    def frees(self, node: ast.AST, owner: Kind, frame: Frame) -> None:
        """Parameters are frozen or freed: of these networks or, if it cannot be told, of all."""
        if isinstance(owner, Share) or frame.lenient:
            return  # gradients with respect to the batch itself
        for origin in models_in(owner) or frozenset(self.used):
            used, carriers = origin in self.used, len(self.facts.carriers)
            self.facts.freezes[origin, node] = Freeze(carriers=carriers, used=used)

    def _assign_item(
        self, target: ast.Subscript, kind: Kind, frame: Frame, value: ast.expr | None
    ) -> None:
        owner = self.eval(target.value, frame)
        if isinstance(kind, Mean | Sum | Count) and not kind.models and not frame.lenient:
            if value is not None and self.open_loops:
                kind = self.make_whole(value, kind, frame)
        if isinstance(owner, Mapping) and isinstance(target.value, ast.Name):
            key = self.eval(target.slice, frame)
            if isinstance(key, Const) and isinstance(key.value, str):
                if owner.get(key.value) == kind:
                    return
                if made_here(target.value, frame.file):
                    items = dict(owner.items) | {key.value: kind}
                    self.bind(target.value.id, Mapping(tuple(items.items())), frame)
                    return
        if isinstance(owner, Mapping) and isinstance(target.value, ast.Attribute):
            if isinstance(kind, ROLES) and self._assign_entry(target, target.value, kind, frame):
                return
        if isinstance(owner, Shard):
            self.written(target, frame)
            self.filled(target, kind, frame)
            return  # it stays a batch
        if frame.lenient and holds_share(kind) and self._is_buffer(target.value, frame):
            self.remembers(target, [first_share(kind)], frame)
        self.whole(target.slice, frame)
        if value is not None and holds_share(kind):
            self.make_whole(value, kind, frame)

    def _assign_entry(
        self, target: ast.Subscript, mapping: ast.Attribute, kind: Kind, frame: Frame
    ) -> bool:
        """``self.models["net"] = Net()``: a dictionary that an object keeps its things in."""
        owner, key = self.eval(mapping.value, frame), self.eval(target.slice, frame)
        if not isinstance(key, Const) or not isinstance(key.value, str):
            return False
        if not isinstance(owner, Instance):
            return False
        self.set_attribute(owner.cls, mapping.attr, Mapping(((key.value, kind),)))
        self.set_attribute(owner.cls, entry(target), kind)
        return True

    def _is_buffer(self, node: ast.expr, frame: Frame) -> bool:
        """Whether it is a tensor that a network keeps from batch to batch."""
        if not isinstance(node, ast.Attribute):
            return False
        owner = self.eval(node.value, frame)
        cls = owner.cls if isinstance(owner, Model) else None
        return cls is not None and f"register_buffer('{node.attr}'" in ast.unparse(cls.node)

    def _unpack(
        self,
        target: ast.Tuple | ast.List,
        kind: Kind,
        frame: Frame,
        value: ast.expr | None,
    ) -> None:
        parts = target.elts
        self.needed_by_all(value or target, [kind], frame)
        values: list[ast.expr | None] = [None] * len(parts)
        if isinstance(value, ast.Tuple | ast.List) and len(value.elts) == len(parts):
            values = list(value.elts)
        for place, part in enumerate(parts):
            item = unpacked(kind, place, len(parts))
            if isinstance(kind, Shard) and isinstance(item, Shard) and isinstance(part, ast.Name):
                item = replace(item, nested=False)  # a batch's parts are tensors
            self.assign(part, item, frame, values[place])


def _after_update(before: Kind, kind: Kind) -> Kind:
    if has_parameters(before) or (has_parameters(kind) and isinstance(before, Bunch | Listing)):
        return put_together(before, kind)
    if isinstance(before, Whole) or isinstance(kind, Whole):
        return whole_of(before, kind)
    return before if isinstance(before, Listing | Bunch) and not isinstance(kind, Const) else PLAIN


def _makes_text(node: ast.expr) -> bool:
    if isinstance(node, ast.Call):
        called = ast.unparse(node.func).rsplit(".", 1)[-1]
        return called in world.TEXT_MAKERS
    return isinstance(node, ast.JoinedStr)


def _shares(*kinds: Kind) -> bool:
    return any(isinstance(kind, Share) for kind in kinds)
