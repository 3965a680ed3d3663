"""Losses, built from the operations that people use."""

from dataclasses import dataclass

from tests.generated.grammar.data import Data
from tests.generated.grammar.words import Lines, Script, block, method


@dataclass
class Loss:
    """How the loss of a batch is computed."""

    setup: Lines
    """What makes the criterion."""
    name: str
    """The criterion, or nothing if the loss is written out in place."""
    arguments: tuple[str, ...] = ("out", "y")
    formula: str = ""

    def call(self, criterion: str) -> str:
        if self.formula:
            return self.formula
        return f"{criterion}({', '.join(self.arguments)})"


def per_sample(script: Script, data: Data) -> str:
    """One loss for each sample."""
    draw = script.draw
    if data.task == "classes":
        script.needs("import torch.nn.functional as F")
        return draw.one(
            'F.cross_entropy(out, y, reduction="none")',
            "-F.log_softmax(out, dim=1).gather(1, y.unsqueeze(1)).squeeze(1)",
            "out.logsumexp(1) - out[torch.arange(len(y)), y]",
            "(-F.one_hot(y, 3) * F.log_softmax(out, 1)).sum(1)",
        )
    if data.task == "binary":
        script.needs("import torch.nn.functional as F")
        return draw.one(
            'F.binary_cross_entropy_with_logits(out, y, reduction="none")',
            "F.softplus(out) - out * y",
            "(torch.sigmoid(out) - y) ** 2",
        )
    return draw.one(
        "((out - y) ** 2).mean(1)",
        "(out - y).pow(2).sum(dim=1)",
        "(out - y).abs().mean(dim=-1)",
        "torch.sqrt(((out - y) ** 2).sum(1) + 1e-3)",
        "torch.log(torch.cosh(out - y)).mean(1)",
    )


def reduced(script: Script, data: Data, weight: str = "") -> str:
    """A formula for the loss of a whole batch."""
    draw = script.draw
    each = per_sample(script, data)
    if weight:
        return draw.one(
            f"({weight} * ({each})).mean()",
            f"({weight} * ({each})).sum() / {weight}.sum()",
            f"(({each}) * {weight}).sum() / len(y)",
        )
    mask = {"classes": "(y != 1)", "binary": "(y > 0.5)", "regression": "(y[:, 0] > 0)"}[data.task]
    return draw.one(
        f"(({each}) * {mask}).sum() / {mask}.sum().clamp(min=1)",
        f"({each}).mean()",
        f"({each}).mean()",
        f"({each}).sum()",
        f"({each}).sum() / len(y)",
        f"({each}).sum() / out.shape[0]",
        f"torch.mean({each})",
        f"({each}).sum() / {draw.one(4, 8)}",
        f"(({each}) + 0.1).mean() - 0.1",
        f"({each}).clamp(max=4.0).mean()",
    )


def ready_made(script: Script, data: Data) -> str:
    """A criterion of torch's."""
    draw = script.draw
    script.needs("from torch import nn")
    if data.task == "classes":
        return draw.one(
            "nn.CrossEntropyLoss()",
            "nn.CrossEntropyLoss()",
            'nn.CrossEntropyLoss(reduction="sum")',
            "nn.CrossEntropyLoss(label_smoothing=0.1)",
            "nn.CrossEntropyLoss(weight=torch.tensor([1.0, 0.5, 2.0]))",
        )
    if data.task == "binary":
        return draw.one(
            "nn.BCEWithLogitsLoss()",
            'nn.BCEWithLogitsLoss(reduction="sum")',
            "nn.BCEWithLogitsLoss(pos_weight=torch.tensor(2.0))",
        )
    return draw.one(
        "nn.MSELoss()",
        "nn.MSELoss()",
        'nn.MSELoss(reduction="sum")',
        "nn.SmoothL1Loss(beta=0.5)",
        "nn.L1Loss()",
        "nn.HuberLoss()",
    )


def make_loss(script: Script, data: Data) -> Loss:
    draw = script.draw
    weighted = "w" in data.fields
    arguments = ("out", "y", "w") if weighted else ("out", "y")
    weight = "w" if weighted else ""
    parameters = ", ".join(arguments)
    style = draw.one("ready", "ready", "inline", "function", "module", "lambda", "table", "several")
    if style == "ready" and weighted:
        style = "function"
    script.features.add(f"loss {style}")
    if style == "ready":
        return Loss([f"criterion = {ready_made(script, data)}"], "criterion")
    if style == "inline":
        return Loss([], "", arguments, reduced(script, data, weight))
    if style == "lambda":
        return Loss(
            [f"criterion = lambda {parameters}: {reduced(script, data, weight)}"],
            "criterion",
            arguments,
        )
    if style == "function":
        name = script.name("loss_function")
        body = [f"return {reduced(script, data, weight)}"]
        if draw.often(0.4):
            mean = draw.one(
                "per_sample.mean()",
                "per_sample.sum() / per_sample.numel()",
                "sum(per_sample) / len(per_sample)",
            )
            mean = "(w * per_sample).mean()" if weighted else mean
            body = [f"per_sample = {per_sample(script, data)}", f"return {mean}"]
        script.define(*block(f"def {name}({parameters}):", body))
        return Loss([f"criterion = {name}"], "criterion", arguments)
    if style == "module":
        return Loss(
            [f"criterion = {_module(script, data, arguments, weight)}()"], "criterion", arguments
        )
    if style == "table":
        table = script.name("LOSSES")
        names = draw.some(["plain", "robust", "scaled", "other"], 2, 4)
        rows = [f'"{one}": lambda {parameters}: {reduced(script, data, weight)},' for one in names]
        script.define(*[f"{table} = {{", *[f"    {row}" for row in rows], "}"])
        return Loss([f'criterion = {table}["{draw.choice(names)}"]'], "criterion", arguments)
    # Several classes of losses, of which a factory makes one.
    names = [_module(script, data, arguments, weight) for _ in range(draw.randint(2, 4))]
    maker = script.name("make_criterion")
    body: Lines = []
    for place, one in enumerate(names[:-1]):
        body += block(f"if kind == {place}:", [f"return {one}()"])
    script.define(*block(f"def {maker}(kind):", body, [f"return {names[-1]}()"]))
    return Loss([f"criterion = {maker}({draw.randrange(len(names))})"], "criterion", arguments)


def _module(script: Script, data: Data, arguments: tuple[str, ...], weight: str) -> str:
    draw = script.draw
    name = script.name(draw.one("Criterion", "Objective"))
    scale = draw.one("", "self.scale * ")
    body = [f"return {scale}({reduced(script, data, weight)})"]
    kind = draw.one("module", "plain")
    script.needs("from torch import nn")
    called = "forward" if kind == "module" else "__call__"
    start = ["super().__init__()"] if kind == "module" else []
    script.define(
        *block(
            f"class {name}{'(nn.Module)' if kind == 'module' else ''}:",
            block("def __init__(self, scale=0.5):", start, ["self.scale = scale"]),
            method(f"def {called}(self, {', '.join(arguments)}):", body),
        )
    )
    return name
