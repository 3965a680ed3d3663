"""What calls of torch, Python and other libraries give."""

import ast
from dataclasses import replace

from trainera.read import meetings, stacking, tables, tensors, world
from trainera.read.batches import Batches
from trainera.read.core import Frame
from trainera.read.inside import holds_share, models_in
from trainera.read.kinds import (
    PLAIN,
    Bunch,
    Class,
    Const,
    Count,
    External,
    Instance,
    Iter,
    Kind,
    Listing,
    Loader,
    Lost,
    Model,
    Nodes,
    Own,
    Params,
    Partial,
    Shard,
    Share,
    Solo,
    Super,
    Thing,
    Whole,
)
from trainera.read.lattice import element, loaders_of, row_by_row, sized, whole_of
from trainera.read.records import as_record, named_fields
from trainera.read.suspects import is_figure, mixes_rows


class Library(Batches):
    """The part of the analyser that knows what libraries do."""

    def external(self, name: str, node: ast.Call, frame: Frame) -> Kind:
        """A call of something of a library."""
        result = self._external(name, node, frame)
        if name.startswith(world.FOR_ALL) and name not in world.ONCE:
            values = [*node.args, *(keyword.value for keyword in node.keywords)]
            given = [v for v in values if isinstance(v, ast.Name | ast.Attribute | ast.Subscript)]
            self.needed_by_all(node, [self.eval(value, frame) for value in given], frame)
        return result

    def _external(self, name: str, node: ast.Call, frame: Frame) -> Kind:
        last = name.rsplit(".", 1)[-1]
        if name.startswith("builtins."):
            return self.builtin(last, node, frame)
        if name in tables.LOADERS:
            return self.make_loader(node, frame)
        if name.startswith("torch.nn.init.") and self.open_loops:
            self.fills_by_chance(node, last, frame)
        if name in tables.OWN_RANDOM:
            kind = self.made_to_size(name, last, node, frame)
            if kind is not None:
                return kind
        if name.startswith("torch.nn."):
            kind = self._torch_nn(name, last, node, frame)
            if kind is not None:
                return kind
        if name == "torch.optim.swa_utils.AveragedModel":
            self.whole_arguments(node, frame)
            return Model(frozenset({node}))
        if name.startswith(tables.OPTIMIZERS) and not name.startswith(tables.SCHEDULERS):
            if last[:1].isupper():
                return self._optimizer(last, node, frame)
        if name == "torch.autograd.grad" and self.open_loops:
            return self.graded_by_hand(node, frame)
        if name == "torch.autograd.Variable" and node.args:
            return self.eval(node.args[0], frame)  # nothing but its argument, since torch 0.4
        if name == "functools.partial" and node.args:
            positional, keywords = self.arguments(node, frame)
            return Partial(positional[0], tuple(positional[1:]), tuple(keywords.items()))
        if name == "torch.compile":
            return self.eval(node.args[0], frame) if node.args else PLAIN
        if last in tables.PROGRESS or name in ("itertools.cycle", "itertools.islice"):
            return self._passed_through(name, node, frame)
        if is_meter(name):
            return self._meter(name, node, frame)
        kind = self._worker_affair(name, node, frame)
        if kind is not None:
            return kind
        if (last == "open" and name != "os.open") or name in world.OPENERS:
            return self._open(name, node, frame)
        kind = self.made_to_size(name, last, node, frame)
        if kind is not None:
            return kind
        if name.startswith(("torch.", "numpy.")):
            kind = self._tensor_function(name, last, node, frame)
            if kind is not None:
                return kind
        return self.unknown(name, node, frame)

    def unaccounted(self, node: ast.Call, frame: Frame) -> tuple[Class, ...]:
        raise AssertionError

    def unknown(self, name: str, node: ast.Call, frame: Frame) -> Kind:
        positional, keywords = self.arguments(node, frame)
        kinds = [*positional, *keywords.values()]
        if frame.lenient and any(isinstance(kind, Share) for kind in kinds):
            called = self.eval(node.func, frame)
            if isinstance(called, Thing) and is_meter(called.name):
                self.remembers(node, kinds, frame)
            self.unseen(called)
            names = named_fields(called.origin) if isinstance(called, Thing) else []
            if names or (name.rsplit(".", 1)[-1][:1].isupper() and not positional):
                record = as_record(names, positional, keywords)
                if record is not None:
                    return record
            return self.assumed(node, kinds, frame)
        kinds = self.whole_arguments(node, frame)
        self.arguments_in_order(name, node, frame)
        for keyword in node.keywords:
            if keyword.arg in ("seed", "random_state"):
                self.agreed(keyword.value, self.eval(keyword.value, frame), frame)
        self.handed_over(node, kinds, frame)
        models: Nodes = frozenset().union(
            *(models_in(k) for k in kinds if isinstance(k, Params | Listing | Bunch))
        )
        if models:
            return Params(models)
        if any(isinstance(kind, Solo) for kind in kinds):
            return Solo()
        if node in self.decisions.models:
            self.facts.hidden = True
            outside = isinstance(self.eval(node.func, frame), External)
            others = () if outside else self.unaccounted(node, frame)
            return Model(frozenset({node}), choices=(None, *others) if others else ())
        whole = whole_of(*kinds)
        if not name.startswith("math."):
            whole = sized(whole)
        if name.startswith("torch.") and name.rpartition(".")[2] in tables.ROW_BY_ROW:
            whole = row_by_row(*kinds)
        if isinstance(whole, Whole | Own):
            return whole
        made_in_network = frame.lenient and name.split(".")[0] not in tables.NO_LAYERS
        if made_in_network or name.startswith(tables.ZOOS):
            self.facts.hidden = True
        return Thing(node, name)

    def assumed(self, node: ast.AST, kinds: list[Kind], frame: Frame) -> Kind:
        """Inside a network, what is not known is taken to treat rows one by one."""
        shares = [kind for kind in kinds if isinstance(kind, Share)]
        models = frozenset().union(*(share.models for share in shares))
        met = meetings.meets_rows(*kinds)
        lost = meetings.recombined(met) if met else meetings.mixed(*shares)
        if lost:
            return replace(lost, models=models)
        rows = [kind for kind in shares if isinstance(kind, Shard)]
        if len({kind.parts for kind in rows}) > 1:
            return Lost(shares[0].loaders, meetings.UNEVEN, models=models)
        if rows:
            parts = rows[0].parts
            return Shard(shares[0].loaders, dim=None, nested=True, parts=parts, models=models)
        if all(isinstance(kind, Count) for kind in shares):
            return PLAIN
        why = "it is not linear in the mean over the batch"
        return Lost(shares[0].loaders, why, models=models)

    def builtin(self, name: str, node: ast.Call, frame: Frame) -> Kind:
        raise AssertionError  # given by functions.py

    def _super(self, node: ast.Call, frame: Frame) -> Kind:
        """The object that a method is bound to, seen by the bases of the class it stands in."""
        above: ast.AST | None = node
        function: ast.AST | None = None
        while above is not None and not isinstance(above, ast.ClassDef):
            function = above if isinstance(above, ast.FunctionDef) else function
            above = frame.file.parents.get(above)
        if above is None or not isinstance(function, ast.FunctionDef) or not function.args.args:
            return PLAIN
        of = self.lookup(function.args.args[0].arg, frame)
        if not isinstance(of, Instance):
            return PLAIN
        return Super(of, tuple(self.lineage(Class(above, frame.file.name))[1:]))

    # torch.nn, torch.optim, loaders.

    # Things that each worker must not do for itself.

    def _passed_through(self, name: str, node: ast.Call, frame: Frame) -> Kind:
        positional, keywords = self.arguments(node, frame)
        for kind in (*positional, *keywords.values()):
            kind = self.as_batches(kind, frame)
            if isinstance(kind, Loader | Iter):
                if name == "itertools.cycle":
                    self.repeats(node, loaders_of(kind), frame)
                return Iter(loaders_of(kind), element(kind))
        self.whole_arguments(node, frame)
        return positional[0] if positional and isinstance(positional[0], Bunch) else PLAIN

    # Functions of torch and numpy on tensors.
    def _tensor_function(self, name: str, last: str, node: ast.Call, frame: Frame) -> Kind | None:
        positional, keywords = self.arguments(node, frame)
        kinds = [*positional, *keywords.values()]
        if name == "torch.tensor" and positional and isinstance(positional[0], Const):
            return positional[0]
        if last in ("zeros", "zeros_like") and not any(holds_share(kind) for kind in kinds):
            loop = self.open_loops[-1].node if self.open_loops else None
            return Const(0, loop)
        if not kinds or not any(holds_share(kind) for kind in kinds):
            return None
        if last in ("cat", "concat", "stack", "hstack", "concatenate"):
            items, all_known = stacking.items_of(positional[0] if positional else PLAIN)
            if any(isinstance(item, Share) for item in items):
                dim = keywords.get("dim") or keywords.get("axis") or (*positional, Const(0))[1]
                result = stacking.joined(last, items, dim, all_known=all_known)
                return result or (self.assumed(node, items, frame) if frame.lenient else None)
            return None
        shares = [kind for kind in kinds if isinstance(kind, Share)]
        if not shares:
            return None
        if isinstance(positional[0] if positional else PLAIN, Share):
            first = positional[0]
            assert isinstance(first, Share)
            result = tensors.method(last, first, positional[1:], keywords)
        elif last in ("where", "maximum", "minimum") or last in tables.ELEMENTWISE:
            result = tensors.method("where", shares[0], shares[1:], {})
        else:
            result = None
        if result is not None:
            return result
        if frame.lenient:
            if last in ("matmul", "mm"):
                self._watch_products(node, shares, frame)
            spec = positional if last == "einsum" else positional[1:]
            if isinstance(shares[0], Shard) and mixes_rows(last, shares[0], spec, keywords):
                self.combines(node, shares[0].loaders, frame)
            if isinstance(shares[0], Shard) and is_figure(last, positional[1:], keywords):
                return Lost(shares[0].loaders, "it is a figure of a slice")
            return self.assumed(node, kinds, frame)
        return None

    def _watch_products(self, node: ast.Call, shares: list[Share], frame: Frame) -> None:
        if len(shares) == 2:
            self.mixing(node, shares[0], shares[1], frame)


def is_meter(name: str) -> bool:
    """Whether a library's class keeps figures and adds them up over a process group."""
    known = name.startswith(("torchmetrics.", "ignite.metrics.")) and "functional" not in name
    return known and name.rsplit(".", 1)[-1][:1].isupper()
