"""Figures of one step that travel together are what they are one by one."""

from pathlib import Path

import pytest

from tests.tools.runs import Runner

SCRIPT = """
from collections import namedtuple
import numpy
import torch
from torch.utils.data import DataLoader, TensorDataset
from trainera import crew
from trainera.crew.transport import TRANSPORT

crew.join()
Result = namedtuple("Result", "loss hits")
x = torch.randn(22, 3, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
loader = crew.split(DataLoader(TensorDataset(x), batch_size=9))  # the last of 4: some are idle
exchanges = 0
gather = TRANSPORT.gather
def counted(tensor):
    global exchanges
    exchanges += 1
    return gather(tensor)
TRANSPORT.gather = counted
def times(function, *args):
    before = exchanges
    made = function(*args)
    return made, exchanges - before
for (rows,) in loader:
    weight = torch.ones(3, dtype=torch.float64, requires_grad=True)
    loss = (rows * weight).mean()
    hits, total = (rows > 0).sum().item(), rows.sum(0)
    step = (loss, hits, {"total": total, "rows": rows, "n": 3}, Result(loss.item(), hits))
    how = ("mean", "sum", {"total": "sum", "rows": "gather"}, ("mean", "sum"))
    (one, two, three, four), count = times(loader.combine, step, how)
    assert count == (2 if crew.size() > 1 else 0), count  # the rows go by themselves
    apart, count = times(lambda: [loader.mean(loss), loader.sum(hits), loader.sum(total)])
    assert count == (3 if crew.size() > 1 else 0)
    sums, count = times(loader.sum, hits, total)
    assert count == (1 if crew.size() > 1 else 0)
    assert sums[0] == apart[1] and torch.equal(sums[1], apart[2])
    means, count = times(loader.mean, loss, loss.item())
    assert count <= 1 and torch.equal(means[0], apart[0]) and means[1] == apart[0].item()
    assert list(crew.agree(iter("ab"))) == ["a", "b"]
    assert torch.equal(one, apart[0]) and two == apart[1] and type(two) is int
    assert torch.equal(three["total"], apart[2]) and three["n"] == 3
    assert four == (one.item(), two) and type(four) is Result
    figures, count = times(loader.combine, (numpy.float32(0.5), True), ("mean", "sum"))
    assert count <= 1 and figures[0] == 0.5
    gradient, = torch.autograd.grad(one, weight, retain_graph=True)
    both, = torch.autograd.grad(apart[0], weight)
    assert torch.equal(gradient, both)
    print(round(one.item(), 12), two, three["rows"].shape[0], round(float(four.loss), 12))
    assert loader.combine((3, "word"), ("", "")) == (3, "word")
"""


@pytest.mark.parametrize("workers", [2, 3])
def test_figures_travel_together(runner: Runner, tmp_path: Path, workers: int) -> None:
    script = tmp_path / "train.py"
    script.write_text(SCRIPT)
    alone = runner.run(script, tmp_path, timeout=60)
    assert alone.ok, alone.report()
    found = runner.run(script, tmp_path, workers=workers, timeout=60)
    assert found.ok, found.report()
    assert found.output == alone.output
