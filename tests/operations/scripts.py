"""The scripts that a case is tried in: a small training run, as a user would write it."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from tests.operations.cases import FEW, Case, Truth

PRINTED, LOSS, EVALUATED = "printed", "loss", "evaluated"
USES = (PRINTED, LOSS, EVALUATED)
WIDEST = 150
"""The most features that the network in front of an expression may have."""

HEAD = """\
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

torch.set_default_dtype(torch.float64)
torch.manual_seed(0)
"""
EXTRA = {"np.": "import numpy as np\n", "F.": "import torch.nn.functional as F\n"}
FIGURES = (
    "value.sum()",
    "value.mean()",
    "value.sum(0)",
    "value.sum(-1)",
    "value.mean(dim=-1)",
    "value.shape",
    "value.max()",
    "value[0]",
    "value.flatten()",
    "value.sum() / len(value)",
    "value.sum(dim=0, keepdim=True)",
    "value.size(-1)",
    "value.square().sum(-1).mean()",
)
"""What a script prints of a value besides the value itself."""
LOSSES = (
    "value.mean()",
    "value.sum()",
    "value.square().mean()",
    "value.square().sum()",
    "value.sum() / len(value)",
    "value.mean(0).sum()",
    "value.sum(-1).mean()",
    "(value * value).sum().sqrt()",
)


@dataclass(frozen=True)
class Script:
    """A script, the tensors that it loads, and on how many workers it is to be tried."""

    use: str
    source: str
    tensors: dict[str, torch.Tensor]
    workers: int
    marked: str
    """The line that computes the value, as it stands in the source."""
    shown: tuple[str, ...]
    """What is made of the value: a loss, or what is printed."""

    @property
    def standing_alone(self) -> str:
        """The same script with numbers in it; where there are many, with any numbers."""
        source = self.source.replace('case = torch.load("case.pt")\n', "")
        for name, tensor in self.tensors.items():
            source = source.replace(f'case["{name}"]', _literal(tensor))
        return source


def _literal(tensor: torch.Tensor) -> str:
    shape = ", ".join(map(str, tensor.shape))
    kind = "" if tensor.dtype == torch.float64 else f", dtype={tensor.dtype}"
    if tensor.numel() > 30 and not kind:
        return f"torch.linspace(0.1, 0.9, {tensor.numel()}).cos().view({shape})"
    numbers = tensor.flatten().tolist()
    if not kind:
        numbers = [round(number, 3) for number in numbers]
    return f"torch.tensor({numbers!r}{kind}).view({shape or '()'})"


def scripts_of(case: Case, truth: Truth, uses: tuple[str, ...]) -> list[Script]:
    """The scripts of a case; not every case can be a loss, or have a batch of two rows."""
    made = []
    chance = case.digest >> 8
    feeding = _feeding(case)
    if PRINTED in uses:
        through = feeding if chance % 4 else None
        made.append(_script(case, truth, PRINTED, through, case.workers))
    if LOSS in uses and feeding is not None and _has_gradient(case, feeding):
        loss = _pick(case, truth, LOSSES, chance // 7, gradient=True)
        if loss:
            made.append(_script(case, truth, LOSS, feeding, case.workers, loss))
    if EVALUATED in uses and truth.fits_few:
        through = feeding if chance % 2 else None
        made.append(_script(case, truth, EVALUATED, through, 3))
    return made


def _feeding(case: Case) -> str | None:
    """The operand that the network gives."""
    return next(
        (
            name
            for name, operand in case.operands.items()
            if operand.dim is not None
            and operand.value.dtype == torch.float64
            and operand.value.numel() // case.rows <= WIDEST
        ),
        None,
    )


def _has_gradient(case: Case, name: str) -> bool:
    tensors = case.sliced(0, case.rows)
    tensors[name] = tensors[name].detach().clone().requires_grad_()
    try:
        found = _first(case.evaluate(tensors))
        return bool(found.requires_grad) and found.is_floating_point()
    except Exception:
        return False


def _first(value: Any) -> Any:
    return value[0] if isinstance(value, list | tuple) and value else value


def _pick(
    case: Case, truth: Truth, choices: tuple[str, ...], chance: int, gradient: bool = False
) -> str | None:
    """One of the follow-ups that the value allows."""
    value = _first(truth.value)
    if not isinstance(value, torch.Tensor | np.ndarray):
        return None
    for at in range(len(choices)):
        choice = choices[(chance + at) % len(choices)]
        try:
            result = eval(choice, {"value": value})
        except Exception:
            continue
        if gradient and not (result.dim() == 0 and torch.isfinite(result)):
            continue
        return choice.replace("value", "value[0]") if value is not truth.value else choice
    return None


def _script(
    case: Case,
    truth: Truth,
    use: str,
    through: str | None,
    workers: int,
    loss: str | None = None,
) -> Script:
    """Words a script. `through` names the operand that comes out of the network, if one does."""
    rows = FEW if use == EVALUATED else case.rows
    tensors: dict[str, torch.Tensor] = {}
    parts, prepared = [], []
    for name, operand in case.operands.items():
        if operand.dim is None:
            tensors[name] = operand.value
            continue
        parts.append(name)
        data = operand.value.transpose(0, operand.dim).contiguous()
        given = f"{name}0" if operand.dim or name == through else name
        lines = []
        shape = list(data.shape)
        if name == through:
            flat = case.known or data.dim() == 1
            lines, data = _through_network(name, given, data, flat, case.digest)
        elif case.known and data.dim() > 1 and case.digest % 5 == 0:
            data = data.reshape(case.rows, -1)
            sizes = ", ".join(map(str, shape[1:]))
            lines = [f"{name} = {given}.view({given}.size(0), {sizes})"]
        elif operand.dim:
            lines = [f"{name} = {given}"]
        if operand.dim:
            lines[-1] += f".transpose(0, {operand.dim})"
        tensors[name] = data[:rows] if rows < case.rows else data
        prepared.append((name, given, lines))
    if through is None:
        count = max(case.rows, ROWS_TO_TRAIN)
        tensors["x"] = torch.linspace(-1, 1, 2 * count, dtype=torch.float64).view(-1, 2)
        width = 2
    else:
        width = int(tensors[through].shape[-1])
    source = _words(case, truth, use, through, rows, loss, prepared, width)
    shown = (f"loss = {loss}",) if loss else tuple(_shown(case, truth))
    return Script(use, source, tensors, workers, f"value = {case.expression}", shown)


ROWS_TO_TRAIN = 4


def _through_network(
    name: str, given: str, data: torch.Tensor, flat: bool, chance: int
) -> tuple[list[str], torch.Tensor]:
    """A linear layer that changes nothing at first: the operand keeps numbers that suit it."""
    shape = list(data.shape)
    if not flat:
        return [f"{name} = net({given})"], data
    data = data.reshape(shape[0], -1)
    if len(shape) == 1:
        return [f"{name} = net({given})" + ("[:, 0]", ".squeeze(1)")[chance % 2]], data
    if len(shape) == 2:
        return [f"{name} = net({given})"], data
    sizes = ", ".join(map(str, shape[1:]))
    return [f"{name} = net({given}).view({given}.size(0), {sizes})"], data


def _words(
    case: Case,
    truth: Truth,
    use: str,
    through: str | None,
    rows: int,
    loss: str | None,
    prepared: list[tuple[str, str, list[str]]],
    width: int,
) -> str:
    given = [one for _, one, _ in prepared]
    operands = [name for name, _, _ in prepared]
    work = [line for _, _, lines in prepared for line in lines]
    value = f"value = {case.expression}"
    shown = _shown(case, truth)
    lines = ['case = torch.load("case.pt")']
    lines += [f'{name} = case["{name}"]' for name, o in case.operands.items() if o.dim is None]
    batches = ", ".join(f'case["{name}"]' for name in operands)
    separate = use == EVALUATED or through is None
    if separate:
        own = f'case["{"x" if through is None else through}"]'
        if through is not None:
            own = f"torch.cat([{own}, {own}, {own}])"
    if use == PRINTED and through is None:
        batches += f", {own}"
        given.append("x")
    lines.append(f"loader = DataLoader(TensorDataset({batches}), batch_size={rows})")
    if use == EVALUATED:
        size = 3 * rows if through is not None else max(case.rows, ROWS_TO_TRAIN)
        lines.append(f"train = DataLoader(TensorDataset({own}), batch_size={size})")
    lines += [
        *case.setup,
        f"net = nn.Linear({width}, {width}, bias=False)",
        "nn.init.eye_(net.weight)",
        f"optimizer = torch.optim.SGD({_parameters(case)}, lr=0.1)",
    ]
    step = ["loss.backward()", "optimizer.step()"]
    plain = f"loss = net({'x' if separate else _fed(prepared, through)}).square().mean()"
    heads = (
        f"for {', '.join(given)} in loader:" if len(given) > 1 else f"for ({given[0]},) in loader:"
    )
    if use == EVALUATED:
        lines += ["for (x,) in train:", *_indented([plain, *step])]
        lines += ["with torch.no_grad():", *_indented([heads, *_indented([*work, value, *shown])])]
    elif use == PRINTED:
        lines += [heads, *_indented([*work, value, plain, *step, *shown])]
    else:
        lines += [heads, *_indented([*work, value, f"loss = {loss}", *step, "print(loss.item())"])]
        lines += ["for parameter in net.parameters():", "    print(parameter)"]
        if case.trains_layer:
            lines += ["for parameter in layer.parameters():", "    print(parameter)"]
    extra = "".join(line for word, line in EXTRA.items() if word in case.expression)
    return extra + HEAD + "\n".join(lines) + "\n"


def _shown(case: Case, truth: Truth) -> list[str]:
    """What is printed: the value and a figure of it; rows that are not first are put there."""
    figure = _pick(case, truth, FIGURES, case.digest >> 4)
    figures = [f"print({figure})"] if figure else []
    if isinstance(truth.value, torch.Tensor) and truth.dim:
        choice = case.digest % 4
        if choice == 1:
            return [f"print(value.transpose(0, {truth.dim}))", *figures]
        if choice > 1 and figures:
            return figures
    return ["print(value)", *figures]


def _fed(prepared: list[tuple[str, str, list[str]]], through: str | None) -> str:
    return next(given for name, given, _ in prepared if name == through)


def _parameters(case: Case) -> str:
    if not case.trains_layer:
        return "net.parameters()"
    return "[*net.parameters(), *layer.parameters()]"


def _indented(lines: list[str]) -> list[str]:
    return [f"    {line}" for line in lines]
