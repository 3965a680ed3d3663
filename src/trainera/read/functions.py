"""What Python's own functions give."""

import ast

from trainera.read import tensors
from trainera.read.batches import COLLECTORS
from trainera.read.conditions import asks_for_list
from trainera.read.containers import is_namespace
from trainera.read.core import Frame
from trainera.read.inside import first_share, holds_share
from trainera.read.kinds import (
    PLAIN,
    Bunch,
    Const,
    Count,
    External,
    Hashed,
    Instance,
    Iter,
    Kind,
    Listing,
    Loader,
    Lost,
    Mapping,
    Mean,
    Model,
    OwnModule,
    Params,
    Shard,
    Share,
    Sum,
    Whole,
)
from trainera.read.lattice import element, loaders_of, whole_of
from trainera.read.library import Library
from trainera.read.records import moved_parts
from trainera.read.suspects import counts


class Functions(Library):
    """The part of the analyser that knows Python's built-in functions."""

    def builtin(self, name: str, node: ast.Call, frame: Frame) -> Kind:
        positional, keywords = self.arguments(node, frame)
        if name in ("enumerate", "iter", "zip"):
            positional = [self.as_batches(kind, frame) for kind in positional]
        first = positional[0] if positional else PLAIN
        if name == "float" and isinstance(first, Mean | Sum | Count):
            return tensors.without_gradient(first)
        if name == "int" and isinstance(first, Sum | Count):
            if isinstance(first, Count) or counts(node):
                return tensors.without_gradient(first)
            if frame.lenient and self._is_part_of_rows(node.args[0], frame):
                return Count(first.loaders)
        if name == "len" and isinstance(first, Shard):
            if first.nested:  # of a structure it is the number of its parts, not of samples
                return Lost(first.loaders, "how many samples a structure has is not its length")
            if first.dim != 0:
                return PLAIN
            return Sum(first.loaders) if first.ragged else Count(first.loaders)
        if name == "sum" and isinstance(first, Bunch | Listing):
            item = element(first)
            if isinstance(item, Mean | Sum | Params | Count):
                return item
        self.arguments_in_order(name, node, frame)
        if name not in ("print", "isinstance", "hasattr", "getattr", "setattr", "type", "repr"):
            self.needed_by_all(node, positional, frame)
        if name == "vars" and isinstance(first, OwnModule):
            return self.namespace(first.name)
        if name in ("eval", "exec") or is_namespace(node):
            self.all_names(node, frame)
            return self.any_name(frame.file.name) if name == "eval" else PLAIN
        if name == "hash":
            return self.hashes(node, frame)
        if name == "enumerate":
            if isinstance(first, Loader | Iter):
                return Iter(loaders_of(first), Bunch((PLAIN, element(first))))
            if isinstance(first, Bunch | Listing):
                return Listing(Bunch((PLAIN, element(first))))
        if name == "zip" and any(isinstance(kind, Loader | Iter) for kind in positional):
            batches = [kind for kind in positional if isinstance(kind, Loader | Iter)]
            loaders = frozenset().union(*(loaders_of(kind) for kind in batches))
            return Iter(loaders, Bunch(tuple(element(kind) for kind in positional)))
        if name == "zip" and _are_lists(node, positional):
            return Listing(Bunch(tuple(element(kind) for kind in positional)))
        if name == "iter" and isinstance(first, Loader | Iter):
            return Iter(loaders_of(first), element(first))
        if name == "next" and isinstance(first, Iter | Loader):
            return self.next_batch(node, first, frame)
        if name in COLLECTORS:
            for kind in positional:
                if isinstance(kind, Loader | Iter):
                    self.collected(node, loaders_of(kind), frame)
        batch = moved_parts(node, name, positional)
        if batch is not None:
            return batch
        if name in ("list", "tuple", "reversed", "sorted", "filter", "map"):
            if isinstance(first, Bunch | Listing | Params):
                return first
            if len(positional) > 1 and isinstance(positional[1], Params):
                return positional[1]
        if name == "dict":
            return Mapping(tuple(keywords.items())) if not positional else PLAIN
        if name == "super":
            return self._super(node, frame)
        if isinstance(first, Instance) and name in ("hasattr", "id", "type", "callable"):
            return PLAIN
        if name == "getattr" and len(positional) > 1 and not isinstance(positional[1], Const):
            if isinstance(first, Instance):
                return self.by_computed_name(node, first.cls, frame)
            if isinstance(first, OwnModule):
                return self.any_name(first.name)
        if name == "getattr" and len(positional) > 1 and isinstance(positional[1], Const):
            if isinstance(first, Instance | Model) and first.cls is not None:
                wanted = str(positional[1].value)
                kind = self._member(first, first.cls, wanted, frame)
                return self.of_this_batch(ast.unparse(node), wanted, first.cls, kind, frame)
            if isinstance(first, External):
                return External(f"{first.name}.{positional[1].value}")
        if name == "getattr" and first == External("torch.optim"):
            return External("torch.optim.Optimizer")
        if name == "isinstance":
            if isinstance(first, Model) and not asks_for_list(node):
                self.through_wrapper(node.args[0], first, frame, "")
            return PLAIN
        if name == "print" and frame.lenient and any(holds_share(k) for k in positional):
            self.trouble(
                "network",
                node,
                frame,
                first_share(Bunch(tuple(positional))).loaders,
                what="the network prints something of the batch it is given",
                why="a worker would print something of its slice",
                do="print it in the training loop, or not at all",
            )
        if name == "open":
            return self._open("open", node, frame)
        if name == "abs" and isinstance(first, Shard):
            return first
        if frame.lenient and any(isinstance(k, Share) for k in positional):
            return self.assumed(node, positional, frame)
        made = whole_of(*self.whole_arguments(node, frame))
        if name in ("set", "frozenset") and not isinstance(made, Whole):
            return Hashed()
        return made

    def _is_part_of_rows(self, node: ast.expr, frame: Frame) -> bool:
        """``int(windows.shape[0] / 49)``: so many rows as each of 49 windows of an image has."""
        return (
            isinstance(node, ast.BinOp)
            and isinstance(node.op, ast.Div)
            and isinstance(self.eval(node.left, frame), Count)
        )


def _are_lists(node: ast.Call, kinds: list[Kind]) -> bool:
    """Whether lists of networks, optimizers or the like are gone through side by side."""
    starred = any(isinstance(argument, ast.Starred) for argument in node.args)
    lists = any(isinstance(kind, Bunch | Listing) for kind in kinds)
    return lists and not starred and not any(holds_share(kind) for kind in kinds)
