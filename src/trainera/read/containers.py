"""Dictionaries that are written out, and comprehensions, some of which loop over batches."""

import ast
from dataclasses import replace

from trainera.read.core import Frame
from trainera.read.inside import first_share, holds_share
from trainera.read.kinds import (
    PLAIN,
    UNKNOWN_YET,
    Bunch,
    Class,
    Func,
    Hashed,
    Iter,
    Kind,
    Listing,
    Loader,
    Mapping,
    OwnModule,
    Shard,
)
from trainera.read.lattice import by_any_name, element, loaders_of
from trainera.read.operators import Operators
from trainera.read.records import is_structure


def is_namespace(node: ast.expr) -> bool:
    """Whether an expression is all variables by name."""
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id in ("globals", "locals", "vars")
        and not node.args
    )


class Containers(Operators):
    """The part of the analyser that follows dictionaries and comprehensions."""

    def by_its_name(self, node: ast.Subscript, frame: Frame) -> Kind | None:
        """``globals()["x"]`` is the variable x."""
        if is_namespace(node.value) and isinstance(node.slice, ast.Constant):
            if isinstance(node.slice.value, str):
                return self.lookup(node.slice.value, frame)
        if isinstance(node.value, ast.Call) and is_namespace(node.value):
            self.all_names(node.value, frame)
            return self.any_name(frame.file.name)
        if ast.unparse(node) == "sys.modules[__name__]":
            return OwnModule(frame.file.name)
        return None

    def namespace(self, module: str) -> Mapping:
        """The functions and classes of a module of the script's own, by name."""
        found = self.modules.get(module, {}).items()
        return Mapping(tuple(pair for pair in found if isinstance(pair[1], Func | Class)))

    def any_name(self, module: str) -> Kind:
        """One of these, by a name that is known when the script runs."""
        return by_any_name(element(Bunch(tuple(k for _, k in self.namespace(module).items))))

    def all_names(self, node: ast.Call, frame: Frame) -> None:
        """``locals()``, or code in a string: it may look at any variable, shares among them."""
        held = [kind for kind in (frame.env or {}).values() if holds_share(kind)]
        if held and not frame.lenient:
            self.trouble(
                "metrics",
                node,
                frame,
                first_share(held[0]).loaders,
                what="variables are reached by names that the analysis cannot follow",
                why="some of them are of one worker's share of the batch",
                do="name the variables in the code itself",
            )

    def _dictionary(self, node: ast.Dict, frame: Frame) -> Kind:
        items: dict[str, Kind] = {}
        known = True
        for key, value in zip(node.keys, node.values, strict=True):
            kind = self.eval(value, frame)
            if key is None:
                known = known and isinstance(kind, Mapping)
                items |= dict(kind.items) if isinstance(kind, Mapping) else {}
            elif isinstance(key, ast.Constant) and isinstance(key.value, str):
                items[key.value] = kind
            else:
                self.whole(key, frame)
                known = False
                if holds_share(kind):
                    self.make_whole(value, kind, frame)
        return Mapping(tuple(items.items())) if known or items else PLAIN

    def _comprehension(
        self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp, frame: Frame
    ) -> Kind:
        saved = dict(frame.env or {})
        opened = 0
        structure: Shard | None = None
        for generator in node.generators:
            iterable = self.as_batches(self.eval(generator.iter, frame), frame)
            if isinstance(iterable, Loader | Iter):
                loaders = loaders_of(iterable)
                text = self._text_of(generator.iter, loaders, frame)
                self.open_loops.append(self.batch_loop(generator, loaders, text, frame))
                opened += 1
            elif isinstance(iterable, Shard) and is_structure(generator.iter, iterable, frame.file):
                structure = iterable
                iterable = Listing(iterable)
            elif isinstance(iterable, Shard):
                iterable = self.make_whole(generator.iter, iterable, frame)
            self.in_order(generator.iter, iterable, frame)
            self.needed_by_all(generator.iter, (iterable,), frame)
            self.assign(generator.target, element(iterable), frame)
            for test in generator.ifs:
                self.condition(test, frame)
        if isinstance(node, ast.DictComp):
            self.whole(node.key, frame)
            kind: Kind = self.eval(node.value, frame)
            if isinstance(kind, Shard) and len(node.generators) == 1 and not opened:
                parts = element(self.eval(node.generators[0].iter, frame))
                if isinstance(parts, Bunch) and isinstance(parts.items[-1], Shard):
                    frame.env = saved if frame.env is not None else None
                    return replace(kind, nested=True)  # a batch, each of its parts moved or cast
            kind = self.make_whole(node.value, kind, frame)
        else:
            kind = self.eval(node.elt, frame)
            if opened and holds_share(kind):
                if isinstance(node.elt, ast.Tuple | ast.List | ast.Dict):
                    kind = self.whole(node.elt, frame)
                else:
                    kind = self.make_whole(node.elt, kind, frame)
        for _ in range(opened):
            self.open_loops.pop()
        frame.env = saved if frame.env is not None else None
        if isinstance(node, ast.SetComp):
            return Hashed()
        if kind == UNKNOWN_YET:
            return UNKNOWN_YET
        if structure is not None and isinstance(kind, Shard):
            return replace(kind, nested=True)  # the parts of a batch, each moved or cast
        return Listing(kind) if kind != PLAIN else PLAIN
