"""When gradients are computed, from which calls of networks, and who computes them."""

import ast
from dataclasses import replace

from trainera.read.core import Frame
from trainera.read.facts import CURRENT, Backward, Step
from trainera.read.inside import flat, holds_share
from trainera.read.kinds import (
    PLAIN,
    Bunch,
    Const,
    Kind,
    Listing,
    Mapping,
    Model,
    Share,
    Whole,
)
from trainera.read.lattice import whole_of
from trainera.read.layers import Layers


class Gradients(Layers):
    """The part of the analyser that follows calls of networks to where gradients come from them."""

    def begins(self, model: Model, node: ast.Call, frame: Frame) -> None:
        """A network is given a batch: it is as it will be trained."""
        for origin in model.origins:
            self.facts.first_use.setdefault(origin, len(self.facts.carriers))
            self.used.add(origin)
        calls = frozenset((origin, node) for origin in model.origins)
        self.facts.steps.append(Step(node=node, file=frame.file, backward=False, calls=calls))

    def given_the_same(self, model: Model, node: ast.Call, kinds: list[Kind], frame: Frame) -> None:
        """Batch statistics of such input are each worker's own, and those of all would be wrong."""
        key = (frame.context, node.func)
        self.facts.alike.pop(key, None)
        self.facts.unlike.discard(key)
        inside = bool(self.open_loops) and not frame.lenient and not model.part
        if inside and self.mode != "eval" and not any(holds_share(kind) for kind in kinds):
            self.facts.alike[key] = self.spot(node.func, frame, "")
        elif inside and self.mode != "eval":
            self.facts.unlike.add(key)

    def by_every_worker(
        self, model: Model, node: ast.Call, kinds: list[Kind], frame: Frame
    ) -> Kind:
        """What is the same on every worker is not shared out: each computes all of it."""
        kind = whole_of(*kinds)
        known = all(isinstance(one, Whole | Const) for one in flat(Bunch(tuple(kinds))))
        if not isinstance(kind, Whole) or not known or frame.lenient or self.mode == "eval":
            return kind
        if not self.open_loops or not self.learns(model):
            return kind
        self.begins(model, node, frame)
        through = model.wrapped is True and not model.part
        calls = frozenset((origin, through, node) for origin in model.origins)
        return replace(kind, rows=True, models=kind.models | calls)

    def drops_by_chance(self, node: ast.AST, kinds: list[Kind], frame: Frame) -> None:
        """A network is given the whole batch: what it draws, each worker draws for itself."""
        dropout = any(b"ropout" in file.source for file in self.files.values())
        chance = dropout or self.facts.hidden
        if not chance or frame.lenient or self.mode == "eval" or not self.open_loops:
            return
        self.trouble(
            "network",
            node,
            frame,
            frozenset().union(*(k.loaders for k in kinds if isinstance(k, Whole | Share))),
            what="a network is given the same on every worker, and there may be dropout",
            why="each worker would drop other values, and none those of the sequential script",
            do="compute what needs the whole batch after the network, from what it gives",
        )

    def _backward(self, node: ast.Call, function: ast.Attribute, frame: Frame) -> Kind:
        value = function.value
        if (
            isinstance(value, ast.Call)
            and isinstance(value.func, ast.Attribute)
            and value.func.attr == "scale"
            and len(value.args) == 1
        ):
            value = value.args[0]
        kind = self.eval(value, frame)
        loop = self.open_loops[-1] if self.open_loops else None
        text = CURRENT
        if isinstance(kind, Share):
            text = self.loader_text(kind.loaders, frame) or text
        if loop is not None:
            loop.training = True
            loop.backwards.add(node)
        if isinstance(kind, Share | Whole):
            called = {call.func for _, _, call in kind.models if isinstance(call, ast.Call)}
            if any(function in called for _, function in self.facts.alike):
                self.drops_by_chance(node, [kind], frame)
            calls = frozenset((origin, call) for origin, _, call in kind.models)
            self.facts.steps.append(Step(node=node, file=frame.file, backward=True, calls=calls))
        self.facts.backwards[frame.context, node] = Backward(
            node=node,
            value=value,
            file=frame.file,
            kind=kind,
            text=text,
            loop=loop.node if loop else None,
        )
        return PLAIN


def add_model(kind: Kind, model: Model, call: ast.AST, *, bypass: bool) -> Kind:
    """The kind, computed with a network, through its wrapper or past it."""
    if isinstance(kind, Bunch):
        return Bunch(tuple(add_model(item, model, call, bypass=bypass) for item in kind.items))
    if isinstance(kind, Mapping):
        pairs = ((key, add_model(item, model, call, bypass=bypass)) for key, item in kind.items)
        return replace(kind, items=tuple(pairs))
    if isinstance(kind, Listing):
        return Listing(add_model(kind.element, model, call, bypass=bypass))
    if isinstance(kind, Share):
        through = model.wrapped is True and not bypass
        return replace(kind, models=kind.models | {(o, through, call) for o in model.origins})
    return kind
