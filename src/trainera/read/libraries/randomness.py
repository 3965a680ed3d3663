"""Random numbers and tensors of a given size, made while a batch is trained on."""

import ast
from dataclasses import replace

from trainera.read.interpret.library import Library
from trainera.read.interpret.state import Frame
from trainera.read.libraries import drawing
from trainera.read.ops.figures import without_gradient
from trainera.read.values import (
    PLAIN,
    UNKNOWN_YET,
    Const,
    Count,
    Gathered,
    Items,
    LibraryObject,
    Lost,
    PerWorker,
    Shard,
    ShardShape,
    Share,
    Value,
)
from trainera.read.values.contents import holds_share
from trainera.read.values.gathered import gathered_of

BY_SIZE = {"rand", "randn", "randint"}
"""Draws that are given a size, and no tensor whose gradients they would cut off."""
BY_CHANCE = PerWorker("this worker's random numbers")


class Randomness(Library):
    """Random numbers and tensors of a given size, made while a batch is trained on."""

    tensor_makers = drawing.MAKERS

    def call(self, name: str, node: ast.Call, frame: Frame) -> Value | None:
        last = name.rsplit(".", 1)[-1]
        if name.startswith("torch.nn.init.") and self.path.open_loops:
            self._fills_by_chance(node, last, frame)
        seeded = self._seed(name, node, frame)
        if seeded is not None:
            return seeded
        return self._made_to_size(name, last, node, frame)

    def _seed(self, name: str, node: ast.Call, frame: Frame) -> Value | None:
        """A generator is seeded, by the script or by chance."""
        if name in drawing.ENTROPY or (name in drawing.SELF_SEEDED and is_unseeded(node)):
            # Agreed upon where it is drawn: nobody could follow it from there.
            self.machine.agreement.agreed(node, PerWorker("a seed of its own"), frame)
            agreed = frame.policy.arranges_side_effects
            return LibraryObject(node, name) if agreed else self._by_chance(node, frame)
        if name in drawing.SYSTEM_RANDOM or (name in drawing.SEEDS and is_unseeded(node)):
            return self._by_chance(node, frame)
        if name in drawing.SEEDS or name in drawing.SELF_SEEDED:
            self._agreed_arguments(node, frame)
            return LibraryObject(node, name) if name in drawing.SELF_SEEDED else PLAIN
        return None

    def method(
        self, node: ast.Call, function: ast.Attribute, owner: Value, frame: Frame
    ) -> Value | None:
        name = function.attr
        if name in drawing.IN_PLACE_DRAWS:
            self.path.needs_all_workers()
        if name in drawing.IN_PLACE_DRAWS and self.path.open_loops and not isinstance(owner, Share):
            if all(keyword.arg != "generator" for keyword in node.keywords):
                return self._drawn_in_place(name, node, frame)
        if isinstance(owner, PerWorker) and "random" in owner.what:
            self.machine.calls.gathered_arguments(node, frame)
            return owner
        return None

    def plain_method(self, node: ast.Call, name: str, owner: Value, frame: Frame) -> Value | None:
        if isinstance(owner, LibraryObject):
            drawn = self._drawn_by(owner, name, node, frame)
            if drawn is not None:
                return drawn
        if name in ("seed", "manual_seed") and frame.policy.arranges_side_effects:
            if not node.args and not node.keywords:
                return self._by_chance(node, frame)
            self._agreed_arguments(node, frame)
            return owner
        return None

    def unknown(
        self, name: str, node: ast.Call, arguments: list[Value], frame: Frame
    ) -> Value | None:
        for keyword in node.keywords:
            if keyword.arg in ("seed", "random_state"):
                seed = self.machine.eval(keyword.value, frame)
                self.machine.agreement.agreed(keyword.value, seed, frame)
        return None

    def _agreed_arguments(self, node: ast.Call, frame: Frame) -> None:
        """A seed: if it is the clock, or drawn by chance, it is the first worker's for all."""
        values = [*node.args, *(keyword.value for keyword in node.keywords)]
        for argument, value in zip(
            values, self.machine.calls.gathered_arguments(node, frame), strict=True
        ):
            self.machine.agreement.agreed(argument, value, frame)

    def _by_chance(self, node: ast.Call, frame: Frame) -> Value:
        """Random numbers that no seed can make agree."""
        self.notes.trouble("agree", "seeded-by-chance", node, frame, frozenset())
        return PLAIN

    def _made_to_size(self, name: str, last: str, node: ast.Call, frame: Frame) -> Value | None:
        """A tensor of a size that the call names; None if it is none, or of no known size."""
        alike, typed = drawn_alike(name), name in drawing.TYPED
        made = last in drawing.MADE and name.startswith(("torch.", "numpy."))
        if not (alike or made or typed or name in drawing.OWN_RANDOM):
            return None
        self.notes.cuts.drop(node, frame)
        positional, keywords = self.machine.calls.arguments(node, frame)
        seeded = name in drawing.OWN_RANDOM and "generator" in keywords
        alike = alike or (seeded and frame.policy.gathers)
        if alike:
            self.notes.plain.add(node, frame)
        if alike or (name in drawing.OWN_RANDOM and last != "dropout"):
            # A worker that left one out would go on with other numbers.
            self.path.needs_all_workers()
        if len(node.args) == 1 and isinstance(node.args[0], ast.Starred):
            shape = self.machine.eval(node.args[0].value, frame)
            positional = [shape] if isinstance(shape, ShardShape) else positional
        if typed and positional and isinstance(positional[0], Shard):
            return without_gradient(positional[0])
        sizes, others = _size(name, last, positional, keywords)
        counts = [place for place, value in enumerate(sizes) if isinstance(value, Count)]
        if counts == [0] and not any(map(holds_share, others)):
            count = sizes[0]
            assert isinstance(count, Count)
            rows = Shard(count.loaders, rank=_rank(sizes))
            return self._cut_out(rows, node, frame) if alike else rows
        values = [*positional, *keywords.values()]
        once = name in drawing.OWN_RANDOM and not any(map(holds_share, values))
        if (
            last == "dropout" and frame.policy.assumes_rows
        ):  # what is no share there is hardly seen to be none
            once &= bool(node.args) and isinstance(node.args[0], ast.Attribute)
        if (
            once
            and frame.policy.inside_network
            and self.path.open_loops
            and sizes
            and last in BY_SIZE
        ):
            return self._drawn_in_network(name, node, frame)
        if once and self.path.open_loops:
            drawn = self._drawn_for_all(name, node, frame)
            return (
                self._for_everyone(node, sizes)
                if sizes and isinstance(drawn, LibraryObject)
                else drawn
            )
        if alike and sizes and self.path.open_loops and frame.policy.gathers:
            if not any(map(holds_share, values)):
                return self._for_everyone(node, sizes)
        if frame.policy.assumes_rows and any(isinstance(value, Share) for value in sizes):
            return self.machine.unknown.assumed(node, list(sizes), frame)
        figures = [value for value in values if holds_share(value)]
        if figures and self.path.open_loops and all(isinstance(value, Count) for value in figures):
            return self._drawn_for_the_batch(name, node, frame)
        return None

    def _drawn_by(
        self, generator: LibraryObject, last: str, node: ast.Call, frame: Frame
    ) -> Value | None:
        """Rows that an object draws for the samples of a slice; None if that is not what it does.

        A generator of numpy's or Python's is in the same state on all workers. Distributions of
        torch draw from the worker's own stream.
        """
        alike = generator.name in drawing.SELF_SEEDED
        own = generator.name.startswith("torch.distributions.") and last in ("sample", "rsample")
        if not alike and not own:
            return None
        self.path.needs_all_workers()
        self.notes.cuts.drop(node, frame)
        positional, keywords = self.machine.calls.arguments(node, frame)
        if own:
            given = positional[:1] or list(keywords.values())[:1]
            sizes = _dimensions(given[0]) if given else ()
        else:
            sizes, _ = _size("", last, positional, keywords)
        if own and self.path.open_loops and not any(map(holds_share, sizes)):
            return self._drawn_for_all(last, node, frame)
        if not sizes or not isinstance(sizes[0], Count) or any(map(holds_share, sizes[1:])):
            return None
        rows = Shard(sizes[0].loaders, rank=None if own else _rank(sizes))
        return self._cut_out(rows, node, frame) if alike else rows

    def _drawn_in_place(self, name: str, node: ast.Call, frame: Frame) -> Value:
        """A tensor that is no share is filled with random numbers while a batch is trained on."""
        function = node.func
        assert isinstance(function, ast.Attribute)
        if isinstance(function.value, ast.Call) and frame.policy.gathers:
            # It has just been made: this is all there is of it.
            return self._drawn_for_all(name, node, frame)
        self._fills_by_chance(node, name, frame)
        return BY_CHANCE

    def _drawn_for_all(self, name: str, node: ast.Call, frame: Frame) -> Value:
        """A draw that belongs to the whole batch: all workers use the first one's."""
        if not frame.policy.arranges_side_effects:
            return BY_CHANCE
        self.machine.agreement.agreed(node, BY_CHANCE, frame)
        return LibraryObject(node, name)

    def _drawn_in_network(self, name: str, node: ast.Call, frame: Frame) -> Value:
        """A layer that is left out by chance, or a factor: it is the same for the whole batch."""
        if is_scripted(node, frame.file.parents):
            return BY_CHANCE  # what torch compiles by itself cannot ask the other workers
        self.notes.agree.mark(node, frame, BY_CHANCE.what)
        self.notes.draws_in_network()
        self.path.needs_all_workers()
        return LibraryObject(node, name)

    def _for_everyone(self, node: ast.Call, sizes: tuple[Value, ...]) -> Gathered:
        """So many numbers, the same for all workers; perhaps a row for each sample of a full batch.

        One number, or a row of them, fits any slice.
        """
        single = isinstance(sizes[0], Const) and sizes[0].value == 1
        rows = len(sizes) > 1 and not single
        return Gathered(self.path.open_loops[-1].loaders, rows=rows, made=node, drawn=True)

    def _drawn_for_the_batch(self, name: str, node: ast.Call, frame: Frame) -> Value | None:
        """A draw by how many samples there are: the same for all workers, from the whole number."""
        order = name in ("torch.randperm", "numpy.random.permutation")
        if not frame.policy.gathers or not (order or name in drawing.OWN_RANDOM):
            return None
        whole = gathered_of(*self.machine.calls.gathered_arguments(node, frame))
        if name in drawing.OWN_RANDOM:
            self.machine.agreement.agreed(node, BY_CHANCE, frame)
        return replace(whole, rows=True, order=order) if isinstance(whole, Gathered) else whole

    def _fills_by_chance(self, node: ast.AST, name: str, frame: Frame) -> None:
        self.notes.trouble("agree", "filled-by-chance", node, frame, frozenset(), name=name)

    def _cut_out(self, rows: Shard, node: ast.Call, frame: Frame) -> Value:
        """Rows that are drawn for the whole batch: the slice's are cut out of them."""
        if self.machine.own_rows.cut(node, rows, frame) is None:
            return Lost(rows.loaders, "its random numbers are drawn for one worker's slice")
        self.machine.calls.gathered_arguments(node, frame)
        return rows


def is_unseeded(node: ast.Call) -> bool:
    """Whether a seed is left to chance: none is given, or None."""
    values = [*node.args, *(keyword.value for keyword in node.keywords)]
    return all(isinstance(value, ast.Constant) and value.value is None for value in values)


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
    draws = module in ("random", "numpy.random") and last[:1].islower()
    return draws and last not in drawing.NO_DRAW


def _size(
    name: str, last: str, positional: list[Value], keywords: dict[str, Value]
) -> tuple[tuple[Value, ...], list[Value]]:
    """The dimensions that a call names, and its other arguments."""
    others = [value for word, value in keywords.items() if word not in ("size", "shape")]
    named = keywords.get("size") or keywords.get("shape")
    if named is not None:
        return _dimensions(named), [*others, *positional]
    if last in drawing.SIZE_LAST and len(positional) > 1:
        return _dimensions(positional[-1]), [*others, *positional[:-1]]
    if last in drawing.SIZE_FIRST and positional:
        return _dimensions(positional[0]), [*others, *positional[1:]]
    if last in drawing.MADE or name in drawing.TYPED:
        return _dimensions(positional[0]) if len(positional) == 1 else tuple(positional), others
    return (), [*others, *positional]


def _dimensions(value: Value) -> tuple[Value, ...]:
    if isinstance(value, ShardShape) and value.dim == 0:
        others = [UNKNOWN_YET] if value.rank is None else [PLAIN] * (value.rank - 1)
        return (Count(value.loaders), *others)
    return value.items if isinstance(value, Items) else (value,)


def _rank(sizes: tuple[Value, ...]) -> int | None:
    return None if UNKNOWN_YET in sizes else len(sizes)
