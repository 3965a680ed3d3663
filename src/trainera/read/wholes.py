"""Shares and wholes: where a share will not do, and what is said where no whole can be made."""

import ast
import itertools
from collections.abc import Sequence
from typing import Any

from trainera.read.core import Core, Frame
from trainera.read.facts import (
    CURRENT,
    Escape,
    LoopFact,
    Spot,
    Trouble,
)
from trainera.read.inside import first_share, holds_share
from trainera.read.kinds import (
    PLAIN,
    Blend,
    Bunch,
    Count,
    Instance,
    Iter,
    Kind,
    Loader,
    Lost,
    Mapping,
    Mean,
    Model,
    Nodes,
    Own,
    Shape,
    Shard,
    Solo,
    Sum,
    Thing,
    Whole,
)
from trainera.read.lattice import join, loaders_of

ALONE = "only the first worker has it"
TURNS = {"T", "mT", "t", "permute", "swapaxes", "swapdims", "transpose", "unsqueeze"}


class Wholes(Core):
    """The part of the analyser that makes wholes of shares."""

    def whole(self, node: ast.expr, frame: Frame) -> Kind:
        """Evaluates where a share will not do: what is one becomes the whole batch's value."""
        if isinstance(node, ast.Tuple | ast.List | ast.Set):
            return Bunch(tuple(self.whole(item, frame) for item in node.elts))
        if isinstance(node, ast.Starred):
            return self.whole(node.value, frame)
        if isinstance(node, ast.Dict):
            for key, value in zip(node.keys, node.values, strict=True):
                if key is not None:
                    self.whole(key, frame)
                self.whole(value, frame)
            return PLAIN
        if isinstance(node, ast.IfExp):
            self.condition(node.test, frame)
            return join(self.whole(node.body, frame), self.whole(node.orelse, frame))
        return self.make_whole(node, self.eval(node, frame), frame)

    def make_whole(self, node: ast.expr, kind: Kind, frame: Frame) -> Kind:
        key = (frame.context, node)
        self.facts.escapes.pop(key, None)
        if isinstance(kind, Model) and not kind.part:
            self.through_wrapper(node, kind, frame, "")
        if frame.lenient:
            return PLAIN if holds_share(kind) else kind
        if not holds_share(kind):
            if (inside := self.carried(kind)) is not None:
                self._hands_over(node, inside.loaders, frame)
            self.facts.plain.add(key)
            return kind
        self.facts.plain.discard(key)
        if isinstance(kind, Shape) and isinstance(node, ast.Attribute):
            inner = self.eval(node.value, frame)
            self.make_whole(node.value, inner, frame)
            return Whole(kind.loaders, rows=False, number=True, made=node)
        turned = _turned(node) if isinstance(kind, Shard) and kind.dim != 0 else None
        if turned is not None:
            whole = self.make_whole(turned, self.eval(turned, frame), frame)
            return whole if isinstance(whole, Whole) else PLAIN
        method, how = how_to_whole(kind), ""
        if isinstance(kind, Shard) and kind.parts > 1 and kind.dim == 0 and not kind.ragged:
            method, how = "gather", f"parts={kind.parts}"
        if method is None and (ways := ways_to_whole(kind)) is not None:
            method, how = "combine", repr(ways)
        share = first_share(kind)
        text = self.loader_text(share.loaders, frame)
        if text is not None and text.startswith("self.") and not self.open_loops and _of_self(node):
            text = None  # kept from a batch that may not be the latest any more
        text = "crew" if isinstance(share, Blend) else text
        if method is None or text is None:
            self.trouble_with(node, kind, frame)
            return PLAIN
        for loop in self.open_loops:
            loop.collective = True
        self.facts.escapes[key] = Escape(
            node=node,
            file=frame.file,
            method=method,
            loaders=share.loaders,
            text=text,
            how=how,
        )
        rows = "gather" in method or "gather" in how
        number = isinstance(kind, Count | Shape)
        aligned = method == "gather" and not how and isinstance(kind, Shard)
        return Whole(share.loaders, rows, number, share.models, node, aligned=aligned)

    def condition(self, node: ast.expr, frame: Frame) -> None:
        """A test decides what every worker does next: all must come to the same answer."""
        if frame.lenient:
            self.decides(node, self.eval(node, frame), frame)
            return
        kind = self.whole(node, frame)
        self.agreed(node, Own(ALONE) if isinstance(kind, Solo) else kind, frame)

    def decides(self, node: ast.expr, kind: Kind, frame: Frame) -> None:
        """Inside a network: does the path depend on the batch it is given, or on chance?"""
        by_chance = isinstance(kind, Own) and "random" in kind.what
        if holds_share(kind) or by_chance:
            loaders = first_share(kind).loaders if holds_share(kind) else frozenset()
            self.trouble(
                "network",
                node,
                frame,
                loaders,
                what="what the network computes depends on which batch it is given, or on chance",
                why="workers with different slices would take different paths",
                do="decide in the training loop, or sample by sample with torch.where",
            )

    def agreed(self, node: ast.expr, kind: Kind, frame: Frame) -> None:
        key = (frame.context, node)
        drawn = kind.origin if isinstance(kind, Thing) else getattr(kind, "made", None)
        if drawn is node:
            return  # if all had to agree on it, that was seen where it was made
        self.facts.agree.pop(key, None)
        if isinstance(kind, Own) and not frame.lenient:
            self.facts.agree[key] = Spot(node=node, file=frame.file, what=kind.what)
            self.together()

    def needed_by_all(self, node: ast.AST, kinds: Sequence[Kind], frame: Frame) -> None:
        """Every worker computes with these: none may be the first worker's alone."""
        if any(isinstance(kind, Solo) for kind in kinds):
            self.trouble(
                "once",
                node,
                frame,
                frozenset(),
                what="all workers need a value that only the first one has",
                why="it comes from a file or a service that only the first worker writes to",
                do="take the value from where the script has it itself, or read it from a file "
                'opened with mode "r"',
            )

    def together(self) -> None:
        """Marks that what is read now needs all workers at the same time."""
        for loop in self.open_loops:
            loop.collective = True

    def loader_text(self, loaders: Nodes, frame: Frame) -> str | None:
        for loop in reversed(frame.loops):
            if loop.loaders == loaders and loop.text == CURRENT:
                innermost = bool(self.open_loops) and self.open_loops[-1] is loop
                return CURRENT if innermost else self._named(loop)
            if loop.loaders == loaders and loop.text is not None:
                name = loop.text.isidentifier()
                still = not name or self.lookup(loop.text, frame) == Loader(loaders)
                return loop.text if still else None
        if self.open_loops and self.open_loops[-1].loaders == loaders:
            return CURRENT
        return self.name_of(Loader(loaders), frame)

    def _named(self, loop: LoopFact) -> str | None:
        """A new name for what the batches of a loop come from, if its source can give it one."""
        if not isinstance(loop.node, ast.For) or len(loop.loaders) > 1:
            return None
        [origin] = loop.loaders
        if not (loop.handmade or loop.file.within(origin, loop.node.iter)):
            return None  # it is made elsewhere, where a name would be another function's
        if origin not in self.facts.names:
            word = "steps" if loop.handmade else "batches"
            taken = {part.id for part in loop.file.nodes if isinstance(part, ast.Name)}
            taken |= {part.arg for part in loop.file.nodes if isinstance(part, ast.arg)}
            taken |= set(self.facts.names.values())
            numbered = (f"{word}_{number}" for number in itertools.count(2))
            names = itertools.chain([word], numbered)
            self.facts.names[origin] = next(name for name in names if name not in taken)
        return self.facts.names[origin]

    def name_of(self, wanted: Kind, frame: Frame) -> str | None:
        """A local or module-level name that holds the loader, or an attribute of `self`."""
        for env in (frame.env or {}, self.modules.get(frame.file.name, {})):
            for name, kind in env.items():
                if kind == wanted:
                    return name
        own = (frame.env or {}).get("self")
        if isinstance(own, Instance) and not frame.loops:
            for (cls, name), kind in self.attributes.items():
                if cls is own.cls.node and kind == wanted:
                    return f"self.{name}"
        return None

    def combines(self, node: ast.AST, loaders: Nodes, frame: Frame) -> None:
        """A network is seen to combine rows of the batch."""
        self.trouble(
            "network",
            node,
            frame,
            loaders,
            what="the network combines samples of a batch with each other",
            why="a worker sees its slice only, so the result would differ",
            do="use layers that treat samples one by one, or batch normalisation, "
            "whose statistics are shared over the workers",
        )

    def handed_over(self, node: ast.AST, kinds: list[Kind], frame: Frame) -> None:
        """A loader is given to a library, which will read it in a way that cannot be seen."""
        for kind in kinds:
            if isinstance(kind, Loader | Iter):
                loaders = loaders_of(kind)
                self.trouble(
                    "split",
                    node,
                    frame,
                    loaders,
                    what="a library is given the loader",
                    why="what it does with the batches cannot be seen",
                    do="loop over the loader in the script itself",
                )

    def _hands_over(self, node: ast.AST, loaders: Nodes, frame: Frame) -> None:
        self.trouble(
            "metrics",
            node,
            frame,
            loaders,
            what="an object that holds something of a batch is kept or handed over here",
            why="what is done with it there cannot be seen",
            do="keep or hand over the values themselves",
        )

    def trouble_with(self, node: ast.AST, kind: Kind, frame: Frame) -> None:
        share = first_share(kind)
        if not isinstance(share, Lost):
            share = Lost(share.loaders, "how to make the whole is not known")
        self.trouble(
            "metrics",
            node,
            frame,
            share.loaders,
            what="a value of one worker's share is used here",
            why=share.why,
            do=share.do,
        )

    def trouble(
        self,
        rule: str,
        node: ast.AST,
        frame: Frame,
        loaders: Nodes,
        *,
        what: str,
        why: str,
        do: str,
    ) -> None:
        self.facts.troubles[node, rule] = Trouble(
            rule=rule, node=node, file=frame.file, loaders=loaders, what=what, why=why, do=do
        )


def how_to_whole(kind: Kind) -> str | None:
    """The name of the operation that turns a share into the whole batch's value."""
    if isinstance(kind, Mean):
        return "mean"
    if isinstance(kind, Sum | Count | Blend):
        return "sum"
    if isinstance(kind, Shard) and kind.dim == 0 and kind.parts == 1:
        return "gather_picked" if kind.ragged else "gather"
    if isinstance(kind, Bunch):
        methods = {how_to_whole(item) for item in kind.items}
        return "gather" if methods == {"gather"} else None
    return None


def ways_to_whole(kind: Kind) -> Any:
    """How each part of a tuple or dict is made whole; None if that cannot be told of some."""
    if isinstance(kind, Bunch):
        ways = [part_to_whole(item) for item in kind.items]
        return None if None in ways else tuple(ways)
    if type(kind) is Mapping:
        parts = {key: part_to_whole(item) for key, item in kind.items}
        return None if None in parts.values() else parts
    return None


def part_to_whole(kind: Kind) -> Any:
    """The same for one part; what is no share stays as it is."""
    if not holds_share(kind):
        return ""
    return how_to_whole(kind) or ways_to_whole(kind)


def _turned(node: ast.expr) -> ast.expr | None:
    """What a transposed tensor is made of: that can be gathered, where the rows come first."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        fixed = all(isinstance(part, ast.Constant | ast.UnaryOp) for part in node.args)
        turns = node.func.attr in TURNS or (node.func.attr in ("view", "reshape") and fixed)
        return node.func.value if turns else None
    return node.value if isinstance(node, ast.Attribute) and node.attr in TURNS else None


def _of_self(node: ast.AST) -> bool:
    """Whether an expression reads an attribute of `self`."""
    return any(
        isinstance(part, ast.Attribute)
        and isinstance(part.value, ast.Name)
        and part.value.id == "self"
        for part in ast.walk(node)
    )
