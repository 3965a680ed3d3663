"""Calls that are one worker's affair: files, downloads, clocks, seeds; and arguments of calls."""

import ast
from dataclasses import replace

from trainera.read import world
from trainera.read.core import Frame
from trainera.read.inside import flat
from trainera.read.kinds import (
    PLAIN,
    Bunch,
    Const,
    Func,
    Kind,
    Mapping,
    Model,
    Own,
    Shard,
    Solo,
    Thing,
)
from trainera.read.lattice import element
from trainera.read.training import Training


class Affairs(Training):
    """The part of the analyser that knows what only one worker may do."""

    def arguments(self, node: ast.Call, frame: Frame) -> tuple[list[Kind], dict[str, Kind]]:
        given = self.partials.get(node)
        positional: list[Kind] = list(given.positional) if given is not None else []
        for argument in node.args:
            kind = self.eval(
                argument.value if isinstance(argument, ast.Starred) else argument, frame
            )
            if isinstance(argument, ast.Starred) and isinstance(kind, Bunch):
                positional.extend(kind.items)
            elif isinstance(argument, ast.Starred) and isinstance(kind, Shard) and kind.nested:
                room = self.parameters(node, frame) - len(positional)
                positional.extend([replace(kind, nested=False)] * max(room, 1))
            else:
                positional.append(element(kind) if isinstance(argument, ast.Starred) else kind)
        keywords: dict[str, Kind] = dict(given.keywords) if given is not None else {}
        for keyword in node.keywords:
            kind = self.eval(keyword.value, frame)
            if keyword.arg is not None:
                keywords[keyword.arg] = kind
            elif isinstance(kind, Mapping):
                keywords |= dict(kind.items)
            else:
                keywords["**"] = kind  # there may be anything
        return positional, keywords

    def parameters(self, node: ast.Call, frame: Frame) -> int:
        """How many arguments a function or network of the script's own takes; else one."""
        callee = self.eval(node.func, frame)
        if isinstance(callee, Model) and callee.cls is not None:
            callee = self._member(callee, callee.cls, "forward", frame)
        if not isinstance(callee, Func):
            return 1
        spec = callee.node.args
        bound = callee.bound is not None and not isinstance(callee.node, ast.Lambda)
        return len(spec.posonlyargs) + len(spec.args) - bound

    def whole_arguments(self, node: ast.Call, frame: Frame) -> list[Kind]:
        """Arguments of a call that is not understood: no share and no wrapper may go in."""
        kinds = []
        for value in [*node.args, *(keyword.value for keyword in node.keywords)]:
            kind = self.whole(value, frame)
            if isinstance(kind, Model):
                self.through_wrapper(value, kind, frame, "")
            elif isinstance(kind, Func) and not frame.lenient:
                self.call_function(kind, [], {}, frame)
            kinds.append(kind)
        return kinds

    def _open(self, name: str, node: ast.Call, frame: Frame) -> Kind:
        positional, keywords = self.arguments(node, frame)
        self.whole_arguments(node, frame)
        place, default = world.OPENERS.get(name, (1, "r"))
        mode = keywords.get("mode") or keywords.get("flag")
        mode = mode or (positional[place] if len(positional) > place else Const(default))
        if not isinstance(mode, Const) and not frame.lenient:
            self.trouble(
                "once",
                node,
                frame,
                frozenset(),
                what="whether this file is read or written is not known",
                why="all workers may read it, but only one may write it",
                do="give the mode as a constant",
            )
        reads = isinstance(mode, Const) and isinstance(mode.value, str) and "r" in mode.value
        reads |= name == "numpy.memmap" and isinstance(mode, Const) and mode.value == "c"
        self.facts.once.pop((frame.context, node), None)
        if not reads or (isinstance(mode, Const) and "+" in str(mode.value)):
            self.facts.once[frame.context, node] = self.spot(node, frame, "open")
            self.together()
            return Solo()
        return PLAIN

    def _worker_affair(self, name: str, node: ast.Call, frame: Frame) -> Kind | None:
        key = (frame.context, node)
        self.facts.once.pop(key, None)
        self.facts.in_turn.pop(key, None)
        if name in world.CLOCKS:
            return Own("the clock")
        if name in world.ENTROPY or (name in world.SELF_SEEDED and _is_unseeded(node)):
            # Agreed upon where it is drawn: nobody could follow it from there.
            self.agreed(node, Own("a seed of its own"), frame)
            return self._by_chance(node, frame) if frame.lenient else Thing(node, name)
        if name in world.SYSTEM_RANDOM or (name in world.SEEDS and _is_unseeded(node)):
            return self._by_chance(node, frame)
        if name in world.SEEDS or name in world.SELF_SEEDED:
            self._agreed_arguments(node, frame)
            return Thing(node, name) if name in world.SELF_SEEDED else PLAIN
        if name in world.NAMES:
            self.whole_arguments(node, frame)
            return Own("a name made up on the spot")
        if name in world.FILES:
            self.whole_arguments(node, frame)
            return Own("the file system")
        downloads = any(
            keyword.arg == "download"
            and not (isinstance(keyword.value, ast.Constant) and not keyword.value.value)
            for keyword in node.keywords
        )
        if name in world.DOWNLOADS or downloads:
            self.whole_arguments(node, frame)
            self.facts.in_turn[key] = self.spot(node, frame, name.rsplit(".", 1)[-1])
            self.together()
            return Thing(node, name)
        logs_to_file = name == "logging.basicConfig" and any(
            keyword.arg == "filename" for keyword in node.keywords
        )
        writes = name == "sqlite3.connect" and self._writes_tables(node)
        writes |= name == "lmdb.open" and all(k.arg != "readonly" for k in node.keywords)
        if name in world.ONCE or logs_to_file or writes:
            if not frame.lenient:
                for argument, kind in zip(
                    node.args, self.whole_arguments(node, frame), strict=False
                ):
                    self.agreed(argument, kind, frame)
                    self._saves_wrapper(argument, kind, frame)
                self.facts.once[key] = self.spot(node, frame, name)
                self.together()
            if not name.startswith(world.TELL):
                return Solo()
            if not isinstance(frame.file.parents.get(node), ast.Expr):
                self.agreed(node, Own("what one worker was told"), frame)
            return Thing(node, name)
        return None

    def _meter(self, name: str, node: ast.Call, frame: Frame) -> Kind:
        """A metric of a library that knows of process groups."""
        self.whole_arguments(node, frame)
        if name.startswith("ignite."):
            self.adds_up_itself(node, frame)
        elif not name.endswith("MetricCollection"):
            self.facts.meters[frame.context, node] = self.spot(node, frame, name)
        return Thing(node, name)

    def adds_up_itself(self, node: ast.AST, frame: Frame) -> None:
        """A metric that cannot be told to leave the workers' figures alone."""
        self.trouble(
            "torchmetrics",
            node,
            frame,
            frozenset(),
            what="this metric adds up the figures of all workers by itself",
            why="it is given the figures of whole batches, so samples would count repeatedly",
            do="use a metric of torchmetrics, or pass sync_on_compute=False to its constructor",
        )

    def _writes_tables(self, node: ast.Call) -> bool:
        """Whether a script changes the database it opens, told from the words of its SQL."""
        if (
            node.args
            and isinstance(node.args[0], ast.Constant)
            and node.args[0].value == ":memory:"
        ):
            return False
        return any(world.SQL.search(file.source) for file in self.files.values())

    def _agreed_arguments(self, node: ast.Call, frame: Frame) -> None:
        """A seed: if it is the clock, or drawn by chance, it is the first worker's for all."""
        values = [*node.args, *(keyword.value for keyword in node.keywords)]
        for argument, kind in zip(values, self.whole_arguments(node, frame), strict=True):
            self.agreed(argument, kind, frame)

    def _by_chance(self, node: ast.Call, frame: Frame) -> Kind:
        """Random numbers that no seed can make agree."""
        self.trouble(
            "agree",
            node,
            frame,
            frozenset(),
            what="the random numbers are seeded anew by chance",
            why="each worker would draw others, and build and split differently",
            do="give a number as the seed, or leave the call out",
        )
        return PLAIN

    def _saves_wrapper(self, node: ast.expr, kind: Kind, frame: Frame) -> None:
        """A network inside of a variable is saved: its wrapper would be saved with it."""
        inside = [inner for inner in flat(kind) if isinstance(inner, Model) and inner.wrapped]
        if inside and isinstance(node, ast.Name | ast.Attribute) and not isinstance(kind, Model):
            self.trouble(
                "access",
                node,
                frame,
                frozenset(),
                what="the network is saved inside of something else",
                why="its wrapper would be saved with it, and the original could not load it",
                do="save the network's state_dict()",
            )


def _is_unseeded(node: ast.Call) -> bool:
    """Whether a seed is left to chance: none is given, or None."""
    values = [*node.args, *(keyword.value for keyword in node.keywords)]
    return all(isinstance(value, ast.Constant) and value.value is None for value in values)
