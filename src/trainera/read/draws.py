"""Random numbers and tensors of a given size, made while a batch is trained on.

In the body of a loop each worker draws from a stream of torch of its own, as dropout needs, but all
draw alike from numpy.random and random. So rows that torch makes for the samples of a slice are
this worker's; rows that numpy draws are drawn for the whole batch, of which each worker takes its
own. What torch draws once for the batch, a factor or a choice, must be told to all.
"""

import ast
from dataclasses import replace

from trainera.read import tables, tensors, world
from trainera.read.affairs import Affairs
from trainera.read.core import Frame
from trainera.read.facts import Spot
from trainera.read.inside import holds_share
from trainera.read.kinds import (
    PLAIN,
    UNKNOWN_YET,
    Bunch,
    Const,
    Count,
    Kind,
    Lost,
    Own,
    Shape,
    Shard,
    Share,
    Thing,
    Whole,
)
from trainera.read.lattice import whole_of

BY_SIZE = {"rand", "randn", "randint"}
"""Draws that are given a size, and no tensor whose gradients they would cut off."""
BY_CHANCE = Own("this worker's random numbers")


class Draws(Affairs):
    """The part of the analyser that knows how many numbers are drawn, and for whom."""

    def made_to_size(self, name: str, last: str, node: ast.Call, frame: Frame) -> Kind | None:
        """A tensor of a size that the call names; None if it is none, or of no known size."""
        alike, typed = drawn_alike(name), name in tables.TYPED
        made = last in tables.MADE and name.startswith(("torch.", "numpy."))
        if not (alike or made or typed or name in tables.OWN_RANDOM):
            return None
        self.facts.cuts.pop((frame.context, node), None)
        positional, keywords = self.arguments(node, frame)
        seeded = name in tables.OWN_RANDOM and "generator" in keywords
        alike = alike or (seeded and not frame.lenient)
        if alike:
            self.facts.plain.add((frame.context, node))
            self.together()  # a worker that left one out would go on with other numbers
        if len(node.args) == 1 and isinstance(node.args[0], ast.Starred):
            shape = self.eval(node.args[0].value, frame)
            positional = [shape] if isinstance(shape, Shape) else positional
        if typed and positional and isinstance(positional[0], Shard):
            return tensors.method("detach", positional[0], [], {})
        sizes, others = _size(name, last, positional, keywords)
        counts = [place for place, kind in enumerate(sizes) if isinstance(kind, Count)]
        if counts == [0] and not any(map(holds_share, others)):
            count = sizes[0]
            assert isinstance(count, Count)
            rows = Shard(count.loaders, rank=_rank(sizes))
            return self._cut_out(rows, node, frame) if alike else rows
        kinds = [*positional, *keywords.values()]
        once = name in tables.OWN_RANDOM and not any(map(holds_share, kinds))
        if last == "dropout" and frame.lenient:  # what is no share there is hardly seen to be none
            once &= bool(node.args) and isinstance(node.args[0], ast.Attribute)
        if once and frame.lenient and self.open_loops and sizes and last in BY_SIZE:
            return self._drawn_in_network(name, node, frame)
        if once and self.open_loops:
            drawn = self._drawn_for_all(name, node, frame)
            return self._for_everyone(node, sizes) if sizes and isinstance(drawn, Thing) else drawn
        if alike and sizes and self.open_loops and not frame.lenient:
            if not any(map(holds_share, kinds)):
                return self._for_everyone(node, sizes)
        if frame.lenient and any(isinstance(kind, Share) for kind in sizes):
            return self.assumed(node, list(sizes), frame)
        figures = [kind for kind in kinds if holds_share(kind)]
        if figures and self.open_loops and all(isinstance(kind, Count) for kind in figures):
            return self._drawn_for_the_batch(name, node, frame)
        return None

    def drawn_by(self, generator: Thing, last: str, node: ast.Call, frame: Frame) -> Kind | None:
        """Rows that an object draws for the samples of a slice; None if that is not what it does.

        A generator of numpy's or Python's is in the same state on all workers. Distributions of
        torch draw from the worker's own stream.
        """
        alike = generator.name in world.SELF_SEEDED
        own = generator.name.startswith("torch.distributions.") and last in ("sample", "rsample")
        if not alike and not own:
            return None
        self.facts.cuts.pop((frame.context, node), None)
        positional, keywords = self.arguments(node, frame)
        if own:
            given = positional[:1] or list(keywords.values())[:1]
            sizes = _dimensions(given[0]) if given else ()
        else:
            sizes, _ = _size("", last, positional, keywords)
        if own and self.open_loops and not any(map(holds_share, sizes)):
            return self._drawn_for_all(last, node, frame)
        if not sizes or not isinstance(sizes[0], Count) or any(map(holds_share, sizes[1:])):
            return None
        rows = Shard(sizes[0].loaders, rank=None if own else _rank(sizes))
        return self._cut_out(rows, node, frame) if alike else rows

    def drawn_in_place(self, name: str, node: ast.Call, frame: Frame) -> Kind:
        """A tensor that is no share is filled with random numbers while a batch is trained on."""
        function = node.func
        assert isinstance(function, ast.Attribute)
        if isinstance(function.value, ast.Call) and not frame.lenient:
            # It has just been made: this is all there is of it.
            return self._drawn_for_all(name, node, frame)
        self.fills_by_chance(node, name, frame)
        return BY_CHANCE

    def _drawn_for_all(self, name: str, node: ast.Call, frame: Frame) -> Kind:
        """A draw that belongs to the whole batch: all workers use the first one's."""
        if frame.lenient:
            return BY_CHANCE
        self.agreed(node, BY_CHANCE, frame)
        return Thing(node, name)

    def _drawn_in_network(self, name: str, node: ast.Call, frame: Frame) -> Kind:
        """A layer that is left out by chance, or a factor: it is the same for the whole batch."""
        if is_scripted(node, frame.file.parents):
            return BY_CHANCE  # what torch compiles by itself cannot ask the other workers
        key = (frame.context, node)
        self.facts.agree[key] = Spot(node=node, file=frame.file, what=BY_CHANCE.what)
        self.facts.draws = True
        self.together()
        return Thing(node, name)

    def _for_everyone(self, node: ast.Call, sizes: tuple[Kind, ...]) -> Whole:
        """So many numbers, the same for all workers; perhaps a row for each sample of a full batch.

        One number, or a row of them, fits any slice.
        """
        single = isinstance(sizes[0], Const) and sizes[0].value == 1
        rows = len(sizes) > 1 and not single
        return Whole(self.open_loops[-1].loaders, rows=rows, made=node, drawn=True)

    def _drawn_for_the_batch(self, name: str, node: ast.Call, frame: Frame) -> Kind | None:
        """A draw by how many samples there are: the same for all workers, from the whole number."""
        order = name in ("torch.randperm", "numpy.random.permutation")
        if frame.lenient or not (order or name in tables.OWN_RANDOM):
            return None
        whole = whole_of(*self.whole_arguments(node, frame))
        if name in tables.OWN_RANDOM:
            self.agreed(node, BY_CHANCE, frame)
        return replace(whole, rows=True, order=order) if isinstance(whole, Whole) else whole

    def fills_by_chance(self, node: ast.AST, name: str, frame: Frame) -> None:
        self.trouble(
            "agree",
            node,
            frame,
            frozenset(),
            what="a tensor is filled with random numbers in the loop over batches",
            why=f"by '{name}' each worker would put others into it, and go on with them",
            do="draw them with torch.randn_like or torch.rand_like and add or copy them",
        )

    def _cut_out(self, rows: Shard, node: ast.Call, frame: Frame) -> Kind:
        """Rows that are drawn for the whole batch: the slice's are cut out of them."""
        if self.cut(node, rows, frame) is None:
            return Lost(rows.loaders, "its random numbers are drawn for one worker's slice")
        self.whole_arguments(node, frame)
        return rows

    def assumed(self, node: ast.AST, kinds: list[Kind], frame: Frame) -> Kind:
        raise AssertionError


def is_scripted(node: ast.AST, parents: dict[ast.AST, ast.AST]) -> bool:
    """Whether code is compiled by `torch.jit`, which knows torch's own functions only."""
    above: ast.AST | None = node
    while above is not None:
        words = [*getattr(above, "decorator_list", []), *getattr(above, "bases", [])]
        if any("script" in ast.unparse(word).lower() for word in words):
            return True
        above = parents.get(above)
    return False


def drawn_alike(name: str) -> bool:
    """Whether a function draws from a generator that is the same on all workers."""
    module, _, last = name.rpartition(".")
    drawing = module in ("random", "numpy.random") and last[:1].islower()
    return drawing and last not in tables.NO_DRAW


def _size(
    name: str, last: str, positional: list[Kind], keywords: dict[str, Kind]
) -> tuple[tuple[Kind, ...], list[Kind]]:
    """The kinds of the dimensions that a call names, and its other arguments."""
    others = [kind for word, kind in keywords.items() if word not in ("size", "shape")]
    named = keywords.get("size") or keywords.get("shape")
    if named is not None:
        return _dimensions(named), [*others, *positional]
    if last in tables.SIZE_LAST and len(positional) > 1:
        return _dimensions(positional[-1]), [*others, *positional[:-1]]
    if last in tables.SIZE_FIRST and positional:
        return _dimensions(positional[0]), [*others, *positional[1:]]
    if last in tables.MADE or name in tables.TYPED:
        return _dimensions(positional[0]) if len(positional) == 1 else tuple(positional), others
    return (), [*others, *positional]


def _dimensions(kind: Kind) -> tuple[Kind, ...]:
    if isinstance(kind, Shape) and kind.dim == 0:
        others = [UNKNOWN_YET] if kind.rank is None else [PLAIN] * (kind.rank - 1)
        return (Count(kind.loaders), *others)
    return kind.items if isinstance(kind, Bunch) else (kind,)


def _rank(sizes: tuple[Kind, ...]) -> int | None:
    return None if UNKNOWN_YET in sizes else len(sizes)
