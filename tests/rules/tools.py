"""A small training script into which a case puts its lines, and what the conversion makes of it."""

import difflib
import tempfile
from functools import cache
from pathlib import Path
from textwrap import dedent, indent

from trainera.pipeline import convert_script
from trainera.plan import Options, Plan

SKELETON = """\
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
{imports}

data = TensorDataset(torch.randn(20, 3), torch.randn(20, 1))
{setup}
{loader}
{model}
{criterion}
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
{before}
for epoch in range(2):
{start}
    for x, y in loader:
        optimizer.zero_grad()
{loss}
{backward}
        optimizer.step()
{step}
{end}
{after}
"""
DEFAULTS = {
    "loader": "loader = DataLoader(data, batch_size=8, shuffle=True)",
    "model": "model = nn.Linear(3, 1)",
    "criterion": "criterion = nn.MSELoss()",
    "loss": "loss = criterion(model(x), y)",
    "backward": "loss.backward()",
    "start": "pass",
}
DEPTH = {"start": 4, "end": 4, "loss": 8, "backward": 8, "step": 8}
HOLES = ("imports", "setup", "loader", "model", "criterion", "before", "after", *DEPTH)


def script(**parts: str) -> str:
    """The skeleton with the given lines in place of its own."""
    assert set(parts) <= set(HOLES), parts
    filled = {}
    for hole in HOLES:
        lines = dedent(parts.get(hole, DEFAULTS.get(hole, ""))).strip("\n")
        filled[hole] = indent(lines, " " * DEPTH.get(hole, 0))
    text = SKELETON.format(**filled)
    return "".join(line for line in text.splitlines(keepends=True) if line.strip())


def converted(source: str, options: Options | None = None) -> tuple[Plan, str]:
    """The plan and the new source."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "train.py"
        path.write_text(source, encoding="utf-8")
        plan, files = convert_script(path, options=options)
    return plan, files[0].after.decode() if files else ""


def changed(source: str, options: Options | None = None) -> list[str]:
    """The lines that a conversion adds, without their indentation."""
    plan, after = converted(source, options)
    assert not plan.refusals, [f"{refusal.place}: {refusal.what}" for refusal in plan.refusals]
    lines = difflib.ndiff(source.splitlines(), after.splitlines())
    return [line[2:].strip() for line in lines if line.startswith("+ ")]


@cache
def usual() -> frozenset[str]:
    """What the skeleton's own conversion adds."""
    return frozenset(changed(script()))


def beyond(options: Options | None = None, **parts: str) -> list[str]:
    """The added lines that the skeleton alone does not have."""
    return [line for line in changed(script(**parts), options) if line not in usual()]


def refused(source: str | None = None, **parts: str) -> list[tuple[str, str, str, str]]:
    """Rule, source line, what and why of every refusal."""
    source = script(**parts) if source is None else source
    lines = source.splitlines()
    plan, after = converted(source)
    assert not after
    return [
        (refusal.rule, lines[refusal.place.line - 1].strip(), refusal.what, refusal.why)
        for refusal in plan.refusals
    ]


def noted(**parts: str) -> list[str]:
    """What a user is told of a conversion."""
    plan, _ = converted(script(**parts))
    assert not plan.refusals
    return [note.what for note in plan.notes]


def added_unless_refused(**parts: str) -> list[str] | None:
    """The added lines; None for a refusal, and for a refusal only: a crash is raised."""
    plan, _ = converted(script(**parts))
    return None if plan.refusals else beyond(**parts)


def right_or_refused(*right: str, **parts: str) -> None:
    """Where there are several good answers: a refusal, or exactly these lines."""
    plan, _ = converted(script(**parts))
    if not plan.refusals:
        assert beyond(**parts) == list(right)


def must_refuse(**parts: str) -> None:
    """Where what is learned or printed would change and no edit is known that prevents it."""
    plan, _ = converted(script(**parts))
    assert plan.refusals, "\n".join(["converted in silence:", *beyond(**parts)])


def network(*forward: str, layers: str = "") -> str:
    """A network of the script's own, with these lines at the head of its forward()."""
    body = "".join(f"        {line}\n" for line in forward)
    made = f"        {layers}\n" if layers else ""
    return (
        "class Net(nn.Module):\n"
        "    def __init__(self):\n"
        "        super().__init__()\n"
        f"{made}"
        "        self.fc = nn.Linear(3, 1)\n"
        "    def forward(self, x):\n"
        f"{body}"
        "        return self.fc(x)\n"
        "model = Net()"
    )


WITH_VALIDATION = (
    "loader = DataLoader(data, batch_size=8, shuffle=True)\n"
    "val_loader = DataLoader(data, batch_size=8)"
)


def validation(*body: str, mode: str = "model.eval()") -> str:
    """A loop over the validation loader, for the end of an epoch."""
    lines = "".join(f"    {line}\n" for line in body)
    return f"{mode}\nfor x, y in val_loader:\n{lines}model.train()"
