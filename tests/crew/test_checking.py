"""Should the analysis miss something that is trained, the workers notice before they step by it."""

from pathlib import Path

import pytest

from tests.tools.runs import Runner

SCRIPT = """
import torch
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, TensorDataset
from trainera import crew

crew.join()
torch.manual_seed(0)
x = torch.randn(40, 3)
y = (x[:, 0] > 0).long()
loader = crew.split(DataLoader(TensorDataset(x, y), batch_size=8, shuffle=True))
model = DistributedDataParallel(nn.Linear(3, 2), broadcast_buffers=False)
bias = torch.zeros(2).requires_grad_()
optimizer = torch.optim.Adam({parameters}, lr=0.1)
for epoch in range(3):
    for inputs, targets in loader:
        optimizer.zero_grad()
        use = {use}
        loss = nn.functional.cross_entropy(model(inputs) + use * bias, targets)
        (loss * loader.share).backward()
        {before}
        optimizer.step()
print("done")
"""
BOTH = "[*model.parameters(), bias]"


def run(runner: Runner, folder: Path, **parts: str) -> tuple[bool, str]:
    parts = {"parameters": BOTH, "use": "1", "before": "pass", **parts}
    script = folder / "train.py"
    script.write_text(SCRIPT.format(**parts))
    result = runner.run(script, folder, workers=2)
    return result.ok, result.output + result.errors[0]


@pytest.mark.parametrize("use", ["1", "int(epoch > 0)"])
def test_a_parameter_that_nobody_averages(runner: Runner, tmp_path: Path, use: str) -> None:
    ok, words = run(runner, tmp_path, use=use)
    assert not ok
    assert (
        "the gradient of parameter 2 (of shape [2]) of Adam differs from worker to worker" in words
    )


@pytest.mark.parametrize(
    "parts",
    [
        {"parameters": "model.parameters()"},
        {"before": "bias.grad.copy_(crew.sum(bias.grad) / 2)"},
        {"before": "bias.grad.fill_(float('nan'))"},
        {"use": "0"},
    ],
    ids=str,
)
def test_what_is_the_same_on_all_workers(
    runner: Runner, tmp_path: Path, parts: dict[str, str]
) -> None:
    ok, words = run(runner, tmp_path, **parts)
    assert ok and "done" in words, words
