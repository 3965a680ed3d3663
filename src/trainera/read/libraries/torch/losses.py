"""Loss functions: how they reduce, and what they weigh by."""

import ast
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from trainera.read.facts import Weighed
from trainera.read.interpret.state import Frame
from trainera.read.libraries.torch.part import TorchPart
from trainera.read.ops.blocks import placed, shifted
from trainera.read.ops.elementwise import combine, rank_of
from trainera.read.ops.outcome import UNKNOWN, Mixed, Outcome
from trainera.read.ops.signature import Bound, signature
from trainera.read.source.file import SourceFile
from trainera.read.values import (
    PLAIN,
    Const,
    Gathered,
    LibraryObject,
    LossFunction,
    Lost,
    Mean,
    NetworkCalls,
    Nodes,
    Qualified,
    Shard,
    Share,
    Sum,
    Value,
    compatibility,
)
from trainera.read.values.contents import is_given
from trainera.read.values.gathered import gathered_of

IGNORED = re.compile(rb"(?<![\w)\]])-100\b")
REPEATABLE = {"view", "reshape", "flatten", "long", "to", "squeeze", "contiguous", "size", "argmax"}


@dataclass(frozen=True)
class Kind:
    """What torch's function for a loss takes, and how its class is made."""

    takes: str
    options: str
    operands: int = 2
    layouts: tuple[str, ...] = ()
    """Where the batch may lie in its first operand (`ops/blocks.py`); none: entry by entry."""
    unbatched: tuple[str, ...] = ()
    """The same for operands without a batch, which only targets without rows can mean."""
    drops: int = 0
    """How many of the last dimensions are gone if it does not reduce."""


OLD = "size_average=None, reduce=None, reduction='mean'"
CLASSES = ("nx", "nxn*")
LOSSES = {
    "binary_cross_entropy": Kind("input, target", f"weight=None, {OLD}"),
    "binary_cross_entropy_with_logits": Kind(
        "input, target", f"weight=None, {OLD}, pos_weight=None"
    ),
    "cosine_embedding_loss": Kind(
        "input1, input2, target", f"margin=0, {OLD}", 3, ("nx",), ("x",), 1
    ),
    "cross_entropy": Kind(
        "input, target",
        "weight=None, size_average=None, ignore_index=-100, reduce=None, reduction='mean', "
        "label_smoothing=0.0",
        layouts=CLASSES,
        unbatched=("x",),
        drops=1,
    ),
    "gaussian_nll_loss": Kind("input, target, var", "full=False, eps=1e-06, reduction='mean'", 3),
    "hinge_embedding_loss": Kind("input, target", f"margin=1.0, {OLD}"),
    "huber_loss": Kind("input, target", "reduction='mean', delta=1.0, weight=None"),
    "kl_div": Kind("input, target", f"{OLD}, log_target=False"),
    "l1_loss": Kind("input, target", f"{OLD}, weight=None"),
    "margin_ranking_loss": Kind("input1, input2, target", f"margin=0, {OLD}", 3),
    "mse_loss": Kind("input, target", f"{OLD}, weight=None"),
    "multi_margin_loss": Kind(
        "input, target", f"p=1, margin=1.0, weight=None, {OLD}", 2, ("nx",), ("x",), 1
    ),
    "multilabel_margin_loss": Kind("input, target", OLD, 2, ("nx", "x"), (), 1),
    "multilabel_soft_margin_loss": Kind("input, target", f"weight=None, {OLD}", 2, ("*nx",), (), 1),
    "nll_loss": Kind(
        "input, target",
        "weight=None, size_average=None, ignore_index=-100, reduce=None, reduction='mean'",
        layouts=CLASSES,
        unbatched=("x",),
        drops=1,
    ),
    "poisson_nll_loss": Kind(
        "input, target",
        "log_input=True, full=False, size_average=None, eps=1e-08, reduce=None, reduction='mean'",
    ),
    "smooth_l1_loss": Kind("input, target", f"{OLD}, beta=1.0"),
    "soft_margin_loss": Kind("input, target", OLD),
    "triplet_margin_loss": Kind(
        "anchor, positive, negative",
        f"margin=1.0, p=2, eps=1e-06, swap=False, {OLD}",
        3,
        ("*nx",),
        (),
        1,
    ),
}
"""The losses of `torch.nn.functional`."""
MADE = {
    "BCELoss": "binary_cross_entropy",
    "BCEWithLogitsLoss": "binary_cross_entropy_with_logits",
    "CosineEmbeddingLoss": "cosine_embedding_loss",
    "CrossEntropyLoss": "cross_entropy",
    "GaussianNLLLoss": "gaussian_nll_loss",
    "HingeEmbeddingLoss": "hinge_embedding_loss",
    "HuberLoss": "huber_loss",
    "KLDivLoss": "kl_div",
    "L1Loss": "l1_loss",
    "MSELoss": "mse_loss",
    "MarginRankingLoss": "margin_ranking_loss",
    "MultiLabelMarginLoss": "multilabel_margin_loss",
    "MultiLabelSoftMarginLoss": "multilabel_soft_margin_loss",
    "MultiMarginLoss": "multi_margin_loss",
    "NLLLoss": "nll_loss",
    "PoissonNLLLoss": "poisson_nll_loss",
    "SmoothL1Loss": "smooth_l1_loss",
    "SoftMarginLoss": "soft_margin_loss",
    "TripletMarginLoss": "triplet_margin_loss",
}
"""The classes of `torch.nn`, by the function that computes them."""
WEIGHTED = {"cross_entropy", "nll_loss"}
"""Losses whose mean is over class weights or over the targets that are not ignored."""


class Losses(TorchPart):
    """Loss functions: how they reduce, and what they weigh by."""

    def make(self, name: str, node: ast.Call, frame: Frame) -> LossFunction:
        """``nn.CrossEntropyLoss(…)``."""
        options = [*node.args, *(word.value for word in node.keywords)]
        why = self.machine.gathering.gather_options(
            options, frame, by_entry=not LOSSES[name].layouts
        )
        if why:
            return LossFunction("unknown", why)
        return self.made(name, *self.machine.calls.arguments(node, frame))

    def made(
        self, name: str, positional: Sequence[Value], keywords: dict[str, Value]
    ) -> LossFunction:
        """A loss of torch's, by the name of its function, with its options."""
        options = signature(LOSSES[name].options).bind(name, positional, keywords)
        if options is None:
            return LossFunction("unknown", "its arguments are not constants in the script")
        reduction = _reduction(options)
        if not isinstance(reduction, Const) or not isinstance(reduction.value, str):
            return LossFunction("unknown", "how the loss reduces is not a constant in the script")
        weighted = name in WEIGHTED and (
            any(
                is_given(options[word])
                for word in ("weight", "ignore_index")
                if word in options.given
            )
            or any(map(mentions_ignored, self.program.files.values()))
        )
        return LossFunction(
            reduction.value, weighted=weighted and reduction.value == "mean", name=name
        )

    def function(self, name: str, node: ast.Call, frame: Frame) -> Value:
        """``F.cross_entropy(output, target)``."""
        positional, keywords = self.machine.calls.arguments(node, frame)
        kind = LOSSES[name]
        words = signature(kind.takes).parameters
        operands = positional[: kind.operands]
        rest = dict(keywords)
        for word in words[len(operands) :]:
            if word.name in rest:
                operands.append(rest.pop(word.name))
        loss = self.made(name, positional[kind.operands :], rest)
        if len(operands) < kind.operands:
            loss = LossFunction("unknown", "its arguments are not constants in the script")
        taken = {word.name for word in words}
        options = [one.value for one in node.keywords if one.arg not in taken]
        why = self.machine.gathering.gather_options(
            [*node.args[kind.operands :], *options], frame, by_entry=not kind.layouts
        )
        if why and frame.policy.gathers:
            return gathered_of(*self.machine.calls.gathered_arguments(node, frame))
        if why:
            loss = replace(loss, trouble=why)
        return self.apply(loss, operands, node, frame)

    def altered(self, target: ast.expr, frame: Frame) -> None:
        """Something is set on a loss function."""
        self.notes.trouble("weight", "loss-changed", target, frame, frozenset())

    def weigh(self, loss: LossFunction, node: ast.Call, loaders: Nodes, frame: Frame) -> str | None:
        """Has the loss weighed by what its mean is over; answers why not, if that cannot be."""
        target = node.args[1] if len(node.args) > 1 and node not in self.program.partials else None
        text = self.machine.loader_names.text(loaders, frame)
        if target is None or text is None or not repeatable(target):
            return "its mean is over class weights or over targets that are not ignored"
        extra = f"of={ast.unparse(node.func)}"
        if isinstance(self.machine.eval(node.func, frame), Qualified):
            if any(keyword.arg is None for keyword in node.keywords) or len(node.args) > 2:
                return "its mean is over class weights or over targets that are not ignored"
            kept = [k for k in node.keywords if k.arg in ("weight", "ignore_index")]
            extra = ", ".join(f"{k.arg}={ast.unparse(k.value)}" for k in kept)
        arguments = ", ".join(part for part in ("{}", ast.unparse(target), extra) if part)
        self.notes.weighed.set(
            node,
            frame,
            Weighed(node=node, file=frame.file, template=f"{text}.by_weight({arguments})"),
        )
        self.path.needs_all_workers()
        return None

    def apply(self, loss: LossFunction, values: list[Value], node: ast.Call, frame: Frame) -> Value:
        """What a loss function makes of a batch's outputs and targets."""
        self.notes.weighed.drop(node, frame)
        shares = [value for value in values if isinstance(value, Share)]
        if not shares:
            if loss.weighted and not any(value == Const(None) for value in values):
                self.notes.plain.add(node, frame)
            return gathered_of(*values)
        rows_of_all = compatibility.meets_rows(*values)
        if rows_of_all and frame.policy.gathers:
            return gathered_of(*self.machine.calls.gathered_arguments(node, frame))
        lost = (
            compatibility.recombined(rows_of_all) if rows_of_all else compatibility.mixed(*values)
        )
        models = frozenset().union(*(share.models for share in shares))
        loaders = shares[0].loaders
        if lost:
            return replace(lost, models=models)
        if loss.trouble:
            return Lost(loaders, loss.trouble, models=models)
        if frame.policy.gathers and any(map(_may_have_rows, values)):
            return self._of_whole(loss, node, frame)
        if loss.weighted:
            why = self.weigh(loss, node, loaders, frame)
            if why is not None:
                return Lost(loaders, why, models=models)
        if any(isinstance(share, Shard) and share.ragged for share in shares):
            if loss.reduction != "sum" and not frame.policy.gathers:
                why = "its mean is over rows picked by a condition, not over the samples"
                return Lost(loaders, why, models=models)
            if loss.reduction != "sum":
                return gathered_of(*self.machine.calls.gathered_arguments(node, frame))
        rows = [share for share in shares if isinstance(share, Shard)]
        if len(rows) < len(shares):
            why = "it compares rows of the batch with figures of a slice"
            return Lost(loaders, why, models=models)
        if len({row.parts for row in rows}) > 1:
            return Lost(loaders, compatibility.UNEVEN, models=models)
        if not loss.name and any(row.dim != 0 for row in rows):
            why = "it is one of several losses, of which some take the batch for classes"
            return Lost(loaders, why, models=models)
        if not loss.name:
            return self._reduced(loss, loaders, models, rows[0])
        placed_at = self._placed(LOSSES[loss.name], values)
        if not isinstance(placed_at, Shard):
            if frame.policy.gathers:
                return self._of_whole(loss, node, frame)
            certain = isinstance(placed_at, Mixed) and placed_at.certain
            if certain:
                why = "it is computed from all rows of the batch at once"
                return Lost(loaders, why, models=models)
            self.notes.unsure_of(node, frame)
            return self._reduced(loss, loaders, models, rows[0])
        if loss.reduction == "batchmean" and placed_at.dim != 0:
            why = "it is divided by the size of its first dimension"
            return Lost(loaders, why, models=models)
        return self._reduced(loss, loaders, models, placed_at)

    def _of_whole(self, loss: LossFunction, node: ast.Call, frame: Frame) -> Value:
        """The loss of the whole batch, computed by every worker."""
        self.notes.weighed.drop(node, frame)
        made = gathered_of(*self.machine.calls.gathered_arguments(node, frame))
        if loss.reduction == "none" or not isinstance(made, Gathered):
            return made
        return replace(made, rows=False)

    def _placed(self, kind: Kind, values: list[Value]) -> Outcome:
        """Where the batch lies in what the loss compares."""
        operands = values[: kind.operands]
        shards = [value for value in operands if isinstance(value, Shard)]
        if not kind.layouts:
            return combine(shards, operands)
        first, target = operands[0], operands[-1]
        if not isinstance(first, Shard):
            return UNKNOWN
        paired = operands[: kind.operands - 1]
        alike = combine([one for one in paired if isinstance(one, Shard)])
        if not isinstance(alike, Shard) or len(
            [one for one in paired if isinstance(one, Shard)]
        ) < len(paired):
            return UNKNOWN
        layouts = kind.layouts if isinstance(target, Shard) else (*kind.layouts, *kind.unbatched)
        if first.rank is not None:
            layouts = (*kind.layouts, *kind.unbatched)
        result = placed(alike, layouts)
        if (
            isinstance(result, Shard)
            and isinstance(target, Shard)
            and target.dim != 0
            and result.dim == 0
        ):
            return UNKNOWN
        return shifted(result, -kind.drops)

    def _reduced(
        self, loss: LossFunction, loaders: Nodes, models: NetworkCalls, row: Shard
    ) -> Value:
        if loss.reduction in ("mean", "batchmean"):
            return Mean(loaders, models=models)
        if loss.reduction == "sum":
            return Sum(loaders, models=models)
        return replace(row, models=models, nested=False, mask=False)


@lru_cache(maxsize=64)
def mentions_ignored(file: SourceFile) -> bool:
    """Whether a script speaks of the label -100, which is ignored by default."""
    return IGNORED.search(file.source) is not None


def _may_have_rows(value: Value) -> bool:
    """Whether it may be a tensor of the size of a full batch, which no slice fits.

    Torch does not always see that: a loss of many dimensions reads the first rows of its targets.
    """
    if isinstance(value, LibraryObject) and value.name.startswith("torch."):
        return rank_of(value) is None
    return type(value) is Value


def _reduction(options: Bound) -> Value:
    """How a loss reduces, also by the outdated arguments."""
    if not {"size_average", "reduce"} & options.given:
        return options["reduction"]
    answers = []
    for name in ("size_average", "reduce"):
        value = options[name]
        if not isinstance(value, Const) or not isinstance(value.value, bool | None):
            return PLAIN
        answers.append(value.value)
    if answers == [None, None]:
        return options["reduction"]
    averages, reduces = (answer is not False for answer in answers)
    return Const("none" if not reduces else "mean" if averages else "sum")


def repeatable(node: ast.expr) -> bool:
    """Whether an expression can stand twice: it only looks at values and has no effect."""
    return all(
        not isinstance(part, ast.Call)
        or (isinstance(part.func, ast.Attribute) and part.func.attr in REPEATABLE)
        for part in ast.walk(node)
    )
