"""What torch offers for training: layers, losses, optimizers and loaders."""

import ast
import re
from dataclasses import replace
from functools import lru_cache

from trainera.read import meetings, tables
from trainera.read.core import Frame
from trainera.read.expressions import Expressions
from trainera.read.facts import LoaderFact, Spot, Weighed
from trainera.read.inside import flat, models_held, models_in, put_together, understood
from trainera.read.kinds import (
    PLAIN,
    Bunch,
    Const,
    External,
    Kind,
    Loader,
    Loss,
    Lost,
    Mean,
    Model,
    Nodes,
    Optimizer,
    Params,
    Shard,
    Share,
    Sum,
    Thing,
)
from trainera.read.lattice import whole_of
from trainera.read.operators import is_factor
from trainera.read.source import SourceFile

CONTAINERS = frozenset({"Sequential", "ModuleList", "ModuleDict"})
IGNORED = re.compile(rb"(?<![\w)\]])-100\b")
REPEATABLE = {"view", "reshape", "flatten", "long", "to", "squeeze", "contiguous", "size", "argmax"}
GRAD_ARGUMENTS = ("outputs", "inputs", "grad_outputs", "retain_graph", "create_graph")


class Training(Expressions):
    """The part of the analyser that knows layers, losses, optimizers and loaders."""

    def arguments(self, node: ast.Call, frame: Frame) -> tuple[list[Kind], dict[str, Kind]]:
        raise AssertionError

    def whole_arguments(self, node: ast.Call, frame: Frame) -> list[Kind]:
        raise AssertionError

    def spot(self, node: ast.expr, frame: Frame, what: str) -> Spot:
        return Spot(node=node, file=frame.file, what=what)

    def _torch_nn(self, name: str, last: str, node: ast.Call, frame: Frame) -> Kind | None:
        if name.startswith("torch.nn.functional.") and last in tables.LOSS_FUNCTIONS:
            positional, keywords = self.arguments(node, frame)
            if last in tables.WEIGHTED_LOSSES and len(positional) > 2:
                keywords["weight"] = positional[2]
            loss = self.loss_kind(last, keywords)
            return self.apply_loss(loss, [*positional, *keywords.values()], node, frame)
        if name.startswith(("torch.nn.functional.", "torch.nn.init.", "torch.nn.utils.")):
            return None
        if not last[:1].isupper():
            return None
        positional, keywords = self.arguments(node, frame)
        if last in tables.LOSS_CLASSES:
            if positional and last in tables.WEIGHTED_LOSSES and len(positional) == 1:
                keywords["weight"] = positional[0]
            elif positional:
                return Loss("unknown", "its arguments are given by position")
            return self.loss_kind(last, keywords)
        if last == "DataParallel":
            first = positional[0] if positional else keywords.get("module", PLAIN)
            self.facts.parallels[node] = self.spot(node, frame, "DataParallel")
            return replace(first, parallel=True) if isinstance(first, Model) else PLAIN
        if last == "Parameter":
            return PLAIN
        if last in ("ParameterList", "ParameterDict") and not frame.lenient:
            return put_together(*positional, *keywords.values())
        if "BatchNorm" in last:
            self.facts.batchnorm = True
        if last.startswith("Lazy") or is_given(keywords.get("max_norm")):
            self.trouble(
                "network",
                node,
                frame,
                frozenset(),
                what="this layer is changed by the batches it is given",
                why="each worker would change it by its slice",
                do="give the layer its final form when it is made",
            )
        given = flat(Bunch((*positional, *keywords.values())))
        if last in CONTAINERS and any(type(kind) in (Kind, Thing) for kind in given):
            self.facts.hidden = True
        held = models_held(Bunch((*positional, *keywords.values())))
        layout = _layout(last, positional, keywords)
        return Model(frozenset({node}), layer=last, layout=layout, inside=held)

    def unseen(self, kind: Kind) -> None:
        """Something of a library is given a batch: if it has layers, they cannot be seen."""
        if isinstance(kind, Thing):
            self.facts.hidden = True

    def _optimizer(self, last: str, node: ast.Call, frame: Frame) -> Kind:
        positional, keywords = self.arguments(node, frame)
        self.facts.optimizers[node] = models_in(Bunch((*positional, *keywords.values())))
        given = positional[0] if positional else keywords.get("params", PLAIN)
        self.facts.unclear.pop(node, None)
        if not understood(given):
            self.facts.unclear[node] = self.spot(node, frame, "")
        if last == "LBFGS":
            self.trouble(
                "optimizer",
                node,
                frame,
                frozenset(),
                what="LBFGS evaluates the loss several times a step",
                why="its closure decides from one worker's share how far to go",
                do="use a first-order optimizer such as Adam or SGD",
            )
        return Optimizer(node)

    def set_free(self, node: ast.expr, frame: Frame) -> Kind:
        """A tensor with gradients of its own: a part of a network, or free of any."""
        own = (frame.env or {}).get("self")
        if frame.lenient or isinstance(own, Model):
            return PLAIN
        self.facts.free[node] = self.spot(node, frame, "")
        return Params(frozenset({node}))

    def freed(self, node: ast.Call, frame: Frame) -> Kind:
        """``t.requires_grad_()``: the same tensor, which has gradients from now on."""
        if node.args and isinstance(node.args[0], ast.Constant) and node.args[0].value is False:
            return PLAIN
        made = self.set_free(node, frame)
        assert isinstance(node.func, ast.Attribute)
        if isinstance(node.func.value, ast.Name | ast.Attribute):
            self.assign(node.func.value, made, frame)
        return made

    def graded_by_hand(self, node: ast.Call, frame: Frame) -> Kind:
        """`torch.autograd.grad`: with respect to samples, each worker computes those of its own."""
        positional, keywords = self.arguments(node, frame)
        given = dict(zip(GRAD_ARGUMENTS, positional, strict=False)) | keywords
        value = node.args[0] if node.args else keyword_of(node, "outputs")
        inputs = given.get("inputs", PLAIN)
        rows = [kind for kind in flat(inputs) if isinstance(kind, Shard)]
        outputs = given.get("outputs", PLAIN)
        if value is not None and rows and all(map(is_rows, flat(inputs))):
            if isinstance(outputs, Share) and self._adds_up(value, outputs, frame):
                again = given.get("create_graph", Const(False))
                once = isinstance(again, Const) and not again.value
                models = frozenset() if once else outputs.models
                return Bunch(tuple(replace(row, models=models) for row in rows))
        self.trouble(
            "weight",
            node,
            frame,
            frozenset(),
            what="gradients are computed by torch.autograd.grad",
            why="they would be those of one worker's slice: only backward() has them averaged",
            do="use backward(), or train this script on one worker",
        )
        return PLAIN

    def _adds_up(self, value: ast.expr, outputs: Share, frame: Frame) -> bool:
        """Whether its gradient for a sample is that of the whole batch's, or was made so."""
        key = (frame.context, value)
        self.facts.weighed.pop(key, None)
        self.facts.escapes.pop(key, None)
        text = self.loader_text(outputs.loaders, frame) if isinstance(outputs, Mean) else None
        if text is not None:
            template = f"{'{}' if is_factor(value) else '({})'} * {text}.own_fraction"
            self.facts.weighed[key] = Weighed(node=value, file=frame.file, template=template)
            return True
        return isinstance(outputs, Sum) or is_rows(outputs)

    def make_loader(self, node: ast.Call, frame: Frame) -> Kind:
        _, keywords = self.arguments(node, frame)
        shuffle = keywords.get("shuffle")
        plain = shuffle is None or (isinstance(shuffle, Const) and not shuffle.value)
        sampled = any(name in keywords for name in ("sampler", "batch_sampler", "generator"))
        collate = keywords.get("collate_fn")
        if isinstance(collate, Const) and collate.value is None:
            collate = None
        self.facts.loaders[node] = LoaderFact(
            node=node,
            file=frame.file,
            collate=collate,
            ordered=plain and not sampled and len(node.args) < 3 and node not in self.partials,
        )
        return PLAIN if node in self.decisions.whole else Loader(frozenset({node}))

    def loss_kind(self, name: str, keywords: dict[str, Kind]) -> Loss:
        """How a loss of torch's reduces, from its arguments."""
        reduction = keywords.get("reduction", Const("mean"))
        if "**" in keywords:
            return Loss("unknown", "its arguments are not constants in the script")
        if "size_average" in keywords or "reduce" in keywords:
            reduction = legacy_reduction(keywords)
        if not isinstance(reduction, Const) or not isinstance(reduction.value, str):
            return Loss("unknown", "how the loss reduces is not a constant in the script")
        weighted = name in tables.WEIGHTED_LOSSES and (
            any(is_given(keywords.get(argument)) for argument in ("weight", "ignore_index"))
            or any(map(mentions_ignored, self.files.values()))
        )
        paired = name in tables.PAIRED_LOSSES
        return Loss(reduction.value, weighted=weighted and reduction.value == "mean", paired=paired)

    def weigh(self, loss: Loss, node: ast.Call, loaders: Nodes, frame: Frame) -> str | None:
        """Has the loss weighed by what its mean is over; answers why not, if that cannot be."""
        target = node.args[1] if len(node.args) > 1 and node not in self.partials else None
        text = self.loader_text(loaders, frame)
        if target is None or text is None or not repeatable(target):
            return "its mean is over class weights or over targets that are not ignored"
        extra = f"of={ast.unparse(node.func)}"
        if isinstance(self.eval(node.func, frame), External):
            if any(keyword.arg is None for keyword in node.keywords) or len(node.args) > 2:
                return "its mean is over class weights or over targets that are not ignored"
            kept = [k for k in node.keywords if k.arg in ("weight", "ignore_index")]
            extra = ", ".join(f"{k.arg}={ast.unparse(k.value)}" for k in kept)
        arguments = ", ".join(part for part in ("{}", ast.unparse(target), extra) if part)
        self.facts.weighed[frame.context, node] = Weighed(
            node=node, file=frame.file, template=f"{text}.by_weight({arguments})"
        )
        self.together()
        return None

    def apply_loss(self, loss: Loss, kinds: list[Kind], node: ast.Call, frame: Frame) -> Kind:
        """What a loss function makes of a batch's outputs and targets."""
        self.facts.weighed.pop((frame.context, node), None)
        shares = [kind for kind in kinds if isinstance(kind, Share)]
        if not shares:
            if loss.weighted and not any(kind == Const(None) for kind in kinds):
                self.facts.plain.add((frame.context, node))
            return whole_of(*kinds)
        rows_of_all = meetings.meets_rows(*kinds)
        if rows_of_all and not frame.lenient:
            return whole_of(*self.whole_arguments(node, frame))
        lost = meetings.recombined(rows_of_all) if rows_of_all else meetings.mixed(*kinds)
        models = frozenset().union(*(share.models for share in shares))
        loaders = shares[0].loaders
        if lost:
            return replace(lost, models=models)
        if loss.trouble:
            return Lost(loaders, loss.trouble, models=models)
        if loss.weighted:
            why = self.weigh(loss, node, loaders, frame)
            if why is not None:
                return Lost(loaders, why, models=models)
        if any(isinstance(share, Shard) and share.ragged for share in shares):
            if loss.reduction != "sum" and frame.lenient:
                why = "its mean is over rows picked by a condition, not over the samples"
                return Lost(loaders, why, models=models)
            if loss.reduction != "sum":
                return whole_of(*self.whole_arguments(node, frame))
        rows = [share for share in shares if isinstance(share, Shard)]
        if len(rows) < len(shares):
            why = "it compares rows of the batch with figures of a slice"
            return Lost(loaders, why, models=models)
        if len({row.parts for row in rows}) > 1:
            return Lost(loaders, meetings.UNEVEN, models=models)
        if loss.paired and len({row.rank for row in rows if row.rank is not None}) > 1:
            why = "its arguments differ in shape, so that every row would meet every other"
            return Lost(loaders, why, models=models)
        if loss.reduction in ("mean", "batchmean"):
            return Mean(loaders, models=models)
        if loss.reduction == "sum":
            return Sum(loaders, models=models)
        return Shard(loaders, models=models, vague=True, parts=rows[0].parts)


def _layout(name: str, positional: list[Kind], keywords: dict[str, Kind]) -> str:
    """Where a layer of torch's expects the batch, if not in front."""
    first = positional[0] if positional else None
    if name in ("TransformerEncoder", "TransformerDecoder") and isinstance(first, Model):
        return first.layout
    if name in tables.SEQUENCE_LAYERS:
        batch_first = keywords.get("batch_first")
        front = isinstance(batch_first, Const) and batch_first.value is True
        return "" if front else "sequence"
    if name in ("Softmax", "LogSoftmax", "Softmin"):
        dim = keywords.get("dim", first)
        return "batch" if isinstance(dim, Const) and dim.value == 0 else ""
    return ""


@lru_cache(maxsize=64)
def mentions_ignored(file: SourceFile) -> bool:
    """Whether a script speaks of the label -100, which is ignored by default."""
    return IGNORED.search(file.source) is not None


def legacy_reduction(keywords: dict[str, Kind]) -> Kind:
    """What torch makes of the outdated arguments."""
    answers = []
    for name in ("size_average", "reduce"):
        kind = keywords.get(name, Const(None))
        if not isinstance(kind, Const) or not isinstance(kind.value, bool | None):
            return PLAIN
        answers.append(kind.value is not False)
    averages, reduces = answers
    return Const("none" if not reduces else "mean" if averages else "sum")


def is_given(kind: Kind | None) -> bool:
    return kind is not None and not (isinstance(kind, Const) and kind.value is None)


def is_rows(kind: Kind) -> bool:
    """Whether it is a tensor of a slice's samples."""
    return isinstance(kind, Shard) and kind.dim == 0 and not kind.nested and not kind.ragged


def keyword_of(node: ast.Call, name: str) -> ast.expr | None:
    """The value of a keyword argument."""
    return next((word.value for word in node.keywords if word.arg == name), None)


def repeatable(node: ast.expr) -> bool:
    """Whether an expression can stand twice: it only looks at values and has no effect."""
    return all(
        not isinstance(part, ast.Call)
        or (isinstance(part.func, ast.Attribute) and part.func.attr in REPEATABLE)
        for part in ast.walk(node)
    )
