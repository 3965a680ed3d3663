"""Gives every expression its kind."""

import ast
from dataclasses import replace
from itertools import pairwise

from trainera.read import shapes, world
from trainera.read.attributes import Attributes
from trainera.read.carriers import entry, is_entry
from trainera.read.core import Frame, join_env
from trainera.read.inside import holds_share
from trainera.read.kinds import (
    PLAIN,
    Bunch,
    Class,
    Const,
    External,
    Func,
    Hashed,
    Instance,
    Kind,
    Listing,
    Loader,
    Lost,
    Mapping,
    Model,
    Own,
    OwnModule,
    Params,
    Record,
    Shape,
    Shard,
    Share,
    Solo,
    Super,
    Whole,
)
from trainera.read.lattice import aligned_like, by_any_name, element, join, sized, whole_of
from trainera.read.sets import of_views, set_of
from trainera.read.suspects import picks_rows
from trainera.read.wholes import ALONE


class Expressions(Attributes):
    """The part of the analyser that follows expressions, calls apart."""

    def call(self, node: ast.Call, frame: Frame) -> Kind:
        raise AssertionError

    def eval(self, node: ast.expr, frame: Frame) -> Kind:
        kind = self._kind_of(node, frame)
        if isinstance(kind, Share):
            self.facts.shares.add((frame.context, node))
        else:
            self.facts.shares.discard((frame.context, node))
        return kind

    def _perhaps(self, node: ast.expr, frame: Frame) -> Kind:
        """Evaluates what may not be evaluated at all."""
        before, fresh = dict(frame.env or {}), self.fresh.now
        kind = self.eval(node, frame)
        if any(isinstance(part, ast.NamedExpr) for part in ast.walk(node)):
            frame.env = join_env(before, frame.env)
        self.fresh.meet(fresh, self.fresh.now)
        return kind

    def _of_base(self, owner: Super, name: str, frame: Frame) -> Kind:
        """``super().name``: what the nearest base has, of the object itself."""
        for base in owner.bases:
            if self.attribute(base, name) is not None:
                return self._member(owner.of, base, name, frame)
        return PLAIN

    def _kind_of(self, node: ast.expr, frame: Frame) -> Kind:
        self.spend(frame)
        match node:
            case ast.Constant():
                loop = self.open_loops[-1].node if self.open_loops else None
                return Const(node.value, loop)
            case ast.Name():
                return self.lookup(node.id, frame)
            case ast.Call():
                return self.call(node, frame)
            case ast.Attribute():
                return self._attribute(node, frame)
            case ast.Subscript():
                return self._subscript(node, frame)
            case ast.BinOp() if isinstance(node.op, ast.Mod) and isinstance(node.right, ast.Tuple):
                return whole_of(self.eval(node.left, frame), self.whole(node.right, frame))
            case ast.BinOp() if of_views(node):
                self.eval(node.left, frame)
                self.eval(node.right, frame)
                return Hashed()
            case ast.BinOp():
                left, right = self.eval(node.left, frame), self.eval(node.right, frame)
                operator = type(node.op).__name__
                return self.operation(operator, node.left, left, node.right, right, frame)
            case ast.UnaryOp():
                return self._unary(node, frame)
            case ast.Compare():
                return self._compare(node, frame)
            case ast.BoolOp():
                kinds = [self.eval(node.values[0], frame)]
                for value in node.values[1:]:
                    kinds.append(self._perhaps(value, frame))
                if any(holds_share(kind) for kind in kinds):
                    if frame.lenient:
                        return next(kind for kind in kinds if holds_share(kind))
                    kinds = [self.whole(value, frame) for value in node.values]
                joined: Kind | None = None
                for kind in kinds:
                    joined = join(joined, kind)
                return Own(ALONE) if isinstance(joined, Solo) else joined or PLAIN
            case ast.IfExp():
                known = self.truth(node.test, frame)
                if known is not None:
                    return self.eval(node.body if known else node.orelse, frame)
                self.condition(node.test, frame)
                return join(self._perhaps(node.body, frame), self._perhaps(node.orelse, frame))
            case ast.Tuple() | ast.List():
                loop = self.open_loops[-1].node if self.open_loops else None
                return Bunch(tuple(self.eval(item, frame) for item in node.elts), loop)
            case ast.Starred():
                kind = self.eval(node.value, frame)
                self.in_order(node.value, kind, frame)
                return element(kind)
            case ast.Set():
                self.whole(node, frame)
                return set_of(node)
            case ast.Dict():
                return self._dictionary(node, frame)
            case ast.JoinedStr():
                self._watch_self_naming(node, frame)
                values = [v for v in node.values if isinstance(v, ast.FormattedValue)]
                parts = [self._formatted(value, frame) for value in values]
                alone = next((kind for kind in parts if isinstance(kind, Solo)), None)
                return alone or whole_of(*parts)
            case ast.NamedExpr():
                kind = self.eval(node.value, frame)
                self.bind(node.target.id, kind, frame)
                return kind
            case ast.Lambda():
                return Func(node, frame.file.name, scope=self._close_over(frame))
            case ast.ListComp() | ast.SetComp() | ast.GeneratorExp() | ast.DictComp():
                return self._comprehension(node, frame)
            case ast.Slice():
                for part in (node.lower, node.upper, node.step):
                    if part is not None:
                        self.whole(part, frame)
                everything = node.lower is node.upper is node.step is None
                return Const("all") if everything else PLAIN
            case ast.Await():
                return self.eval(node.value, frame)
            case ast.Yield():
                kind = self.eval(node.value, frame) if node.value is not None else PLAIN
                frame.yields = join(frame.yields, kind)
                return PLAIN
            case ast.YieldFrom():
                frame.yields = join(frame.yields, element(self.eval(node.value, frame)))
                return PLAIN
        return PLAIN

    def _close_over(self, frame: Frame) -> int:
        self.scopes[frame.scope] = (frame.env or {}, frame.outer)
        return frame.scope

    def _watch_self_naming(self, node: ast.JoinedStr, frame: Frame) -> None:
        """``{loss.item()=}`` prints its own source: it must not be changed."""
        for label, value in pairwise(node.values):
            if isinstance(label, ast.Constant) and isinstance(value, ast.FormattedValue):
                names_itself = (
                    str(label.value)
                    .replace(" ", "")
                    .endswith(ast.unparse(value.value).replace(" ", "") + "=")
                )
                kind = self.eval(value.value, frame) if names_itself else PLAIN
                if holds_share(kind) and not frame.lenient:
                    self.trouble_with(value, kind, frame)

    def _formatted(self, node: ast.FormattedValue, frame: Frame) -> Kind:
        if isinstance(node.format_spec, ast.JoinedStr):
            self.eval(node.format_spec, frame)
        kind = self.whole(node.value, frame)
        if node.format_spec is not None:
            self.needed_by_all(node.value, (kind,), frame)
        return kind if isinstance(kind, Own | Solo) else PLAIN

    # Operators.

    # Access.
    def _attribute(self, node: ast.Attribute, frame: Frame) -> Kind:
        owner = self.eval(node.value, frame)
        name = node.attr
        self.facts.bare.pop((frame.context, node.value), None)
        match owner:
            case External():
                full = f"{owner.name}.{name}"
                return Solo() if full in world.OF_ONE else External(full)
            case OwnModule() if name == "__dict__":
                return self.namespace(owner.name)
            case OwnModule():
                self.enter_module(f"{owner.name}.{name}")
                found = self.modules.get(owner.name, {}).get(name)
                if found is None and f"{owner.name}.{name}" in self.files:
                    found = OwnModule(f"{owner.name}.{name}")
                return found or PLAIN
            case Share():
                return self._attribute_of_share(node, owner, frame)
            case Instance() if name == "__dict__":
                share = self.carried(owner)
                return PLAIN if share is None else Lost(share.loaders, "it is one of many values")
            case Instance():
                kind = self._member(owner, owner.cls, name, frame)
                return self.of_this_batch(ast.unparse(node), name, owner.cls, kind, frame)
            case Super():
                return self._of_base(owner, name, frame)
            case Class():
                return self.attribute(owner, name) or PLAIN
            case Model():
                return self._attribute_of_model(node, owner, frame)
            case Mapping():
                return owner.get(name) or PLAIN
            case Bunch() if name in ("values", "indices"):
                return element(owner)
            case Loader() if name == "dataset":
                return PLAIN
            case Params() if name == "grad" and not frame.lenient:
                return self.gradient_read(node, owner.models, frame)
            case Own() | Whole() | Solo():
                return owner
        return PLAIN

    def _subscript(self, node: ast.Subscript, frame: Frame) -> Kind:
        named = self.by_its_name(node, frame)
        if named is not None:
            return named
        kept = self._kept_by_name(node, frame)
        if kept is not None:
            return kept
        owner = self.eval(node.value, frame)
        if isinstance(owner, Lost):
            return owner
        if isinstance(owner, Share):
            return self._subscript_of_share(node, owner, frame)
        if isinstance(owner, Bunch):
            key = self.eval(node.slice, frame)
            if isinstance(key, Const) and isinstance(key.value, int):
                if -len(owner.items) <= key.value < len(owner.items):
                    return owner.items[key.value]
            return element(owner)
        if isinstance(owner, Mapping):
            key = self.eval(node.slice, frame)
            if isinstance(key, Const) and isinstance(key.value, str):
                return owner.get(key.value) or PLAIN
            if isinstance(owner, Record) and isinstance(key, Const) and isinstance(key.value, int):
                if -len(owner.items) <= key.value < len(owner.items):
                    return owner.items[key.value][1]
            return by_any_name(element(Bunch(tuple(kind for _, kind in owner.items))))
        if isinstance(owner, Listing | Params):
            row = self.row_of_table(node, owner, frame)
            if row is not None:
                return row
            self.whole(node.slice, frame)
            return owner if isinstance(node.slice, ast.Slice) else element(owner)
        if isinstance(owner, Model):
            self.through_wrapper(node.value, owner, frame, "__getitem__")
            return replace(owner, part=True, cls=None, wrapped=False)
        parts = _parts(node.slice)
        row = self.row_of_table(node, owner, frame)
        if row is not None:
            return row
        made = whole_of(owner, *(self.whole(part, frame) for part in parts))
        if isinstance(owner, Solo):
            return owner
        return made if parts == [node.slice] else sized(made)

    def _kept_by_name(self, node: ast.Subscript, frame: Frame) -> Kind | None:
        """``self.models["net"]``, if an object keeps that there."""
        if not is_entry(node) or not isinstance(node.value, ast.Attribute):
            return None
        owner = self.eval(node.value.value, frame)
        return self.attribute(owner.cls, entry(node)) if isinstance(owner, Instance) else None

    def _subscript_of_share(self, node: ast.Subscript, owner: Share, frame: Frame) -> Kind:
        if isinstance(owner, Shape):
            kind = shapes.dimension(owner, self.eval(node.slice, frame))
            if kind is not None:
                return kind
            if isinstance(node.slice, ast.Slice) and isinstance(node.slice.lower, ast.Constant):
                start = node.slice.lower.value
                if owner.dim is not None and isinstance(start, int) and start > owner.dim:
                    return PLAIN
            return PLAIN if frame.lenient else self.make_whole(node.value, owner, frame)
        if not isinstance(owner, Shard):
            return owner
        self.facts.cuts.pop((frame.context, node), None)
        self.facts.escapes.pop((frame.context, node.value), None)
        keys = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        kinds = [(self.eval(key, frame), isinstance(key, ast.Slice)) for key in keys]
        first, first_is_slice = kinds[0]
        if frame.lenient and isinstance(first, Shard):
            first = replace(first, mask=True)  # where it is not known, rows stay apart
        result = shapes.index(owner, first, first_is_slice, kinds[1:])
        if result is not None:
            for key, (kind, _) in zip(keys[1:], kinds[1:], strict=True):
                if holds_share(kind) and not isinstance(kind, Shard):
                    self.make_whole(key, kind, frame)
            return result
        if frame.lenient:
            if picks_rows(owner, node.slice):
                self.combines(node, owner.loaders, frame)
            return replace(owner, dim=None, nested=False)
        made = self.make_whole(node.value, owner, frame)
        for key, (kind, _) in zip(keys, kinds, strict=True):
            self.make_whole(key, kind, frame)
        if isinstance(made, Whole) and isinstance(first, Whole) and first.order:
            # The rows in another order, as in mixup: each worker takes those of its samples.
            rows = shapes.index(owner, Const("all"), True, kinds[1:])
            return self.cut(node, rows, frame) or made if isinstance(rows, Shard) else made
        return aligned_like(made, False)


def _parts(key: ast.expr) -> list[ast.expr]:
    """An index without the colons and commas in it."""
    if isinstance(key, ast.Tuple):
        return [inner for part in key.elts for inner in _parts(part)]
    if isinstance(key, ast.Slice):
        return [part for part in (key.lower, key.upper, key.step) if part is not None]
    return [key]
