"""Loss functions: how they reduce, and what they weigh by."""

import ast
import re
from dataclasses import replace
from functools import lru_cache

from trainera.read.facts import Weighed
from trainera.read.interpret.state import Frame
from trainera.read.libraries.torch import names
from trainera.read.libraries.torch.part import TorchPart
from trainera.read.source.file import SourceFile
from trainera.read.values import (
    PLAIN,
    Const,
    LossFunction,
    Lost,
    Mean,
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


class Losses(TorchPart):
    """Loss functions: how they reduce, and what they weigh by."""

    def made(self, name: str, keywords: dict[str, Value]) -> LossFunction:
        """How a loss of torch's reduces, from its arguments."""
        reduction = keywords.get("reduction", Const("mean"))
        if "**" in keywords:
            return LossFunction("unknown", "its arguments are not constants in the script")
        if "size_average" in keywords or "reduce" in keywords:
            reduction = legacy_reduction(keywords)
        if not isinstance(reduction, Const) or not isinstance(reduction.value, str):
            return LossFunction("unknown", "how the loss reduces is not a constant in the script")
        weighted = name in names.WEIGHTED_LOSSES and (
            any(is_given(keywords.get(argument)) for argument in ("weight", "ignore_index"))
            or any(map(mentions_ignored, self.program.files.values()))
        )
        paired = name in names.PAIRED_LOSSES
        return LossFunction(
            reduction.value, weighted=weighted and reduction.value == "mean", paired=paired
        )

    def altered(self, target: ast.Attribute, frame: Frame) -> None:
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
        self.path.together()
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
        if loss.paired and len({row.rank for row in rows if row.rank is not None}) > 1:
            why = "its arguments differ in shape, so that every row would meet every other"
            return Lost(loaders, why, models=models)
        if loss.reduction in ("mean", "batchmean"):
            return Mean(loaders, models=models)
        if loss.reduction == "sum":
            return Sum(loaders, models=models)
        return Shard(loaders, models=models, vague=True, parts=rows[0].parts)


@lru_cache(maxsize=64)
def mentions_ignored(file: SourceFile) -> bool:
    """Whether a script speaks of the label -100, which is ignored by default."""
    return IGNORED.search(file.source) is not None


def legacy_reduction(keywords: dict[str, Value]) -> Value:
    """What torch makes of the outdated arguments."""
    answers = []
    for name in ("size_average", "reduce"):
        value = keywords.get(name, Const(None))
        if not isinstance(value, Const) or not isinstance(value.value, bool | None):
            return PLAIN
        answers.append(value.value is not False)
    averages, reduces = answers
    return Const("none" if not reduces else "mean" if averages else "sum")


def repeatable(node: ast.expr) -> bool:
    """Whether an expression can stand twice: it only looks at values and has no effect."""
    return all(
        not isinstance(part, ast.Call)
        or (isinstance(part.func, ast.Attribute) and part.func.attr in REPEATABLE)
        for part in ast.walk(node)
    )
