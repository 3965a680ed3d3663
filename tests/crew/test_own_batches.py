"""What gives the script's own batches, split: each worker's rows, and what is not let pass."""

from pathlib import Path

import pytest

from tests.tools.runs import Runner

HEAD = """
import torch
from torch import nn
from trainera import crew

crew.join()
torch.manual_seed(5)
X = torch.arange(40.0).reshape(20, 2)
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(2, 1)
        self.calls = 0
    def forward(self, x):
        self.calls += 1
        print("called")
        return self.layer(x)
class Batches:
    size = 7
    def __repr__(self):
        return f"Batches({self.size})"
    def __iter__(self):
        order = torch.randperm(20)
        for i in range(0, 20, self.size):
            yield X[order[i : i + self.size]], order[i : i + self.size]
def parts():
    for i in range(0, 20, 7):
        yield X[i : i + 7], X[i : i + 7]
"""


def run(runner: Runner, folder: Path, body: str, workers: int = 2) -> tuple[bool, str]:
    script = folder / "train.py"
    script.write_text(HEAD + body)
    result = runner.run(script, folder, workers=workers)
    return result.ok, result.output if result.ok else "\n".join(result.errors)


ALL = """
batches = crew.split(Batches())
print(batches, isinstance(batches, Batches), batches.size)
for epoch in range(2):
    for rows, numbers in batches:
        noise = torch.rand(len(rows))
        print(batches.gather(numbers).tolist(), batches.gather(rows)[:, 0].sum().item())
    batches.size = 9
stream = crew.split(iter(Batches()))
for step in range(2):
    rows, numbers = next(stream)
    noise = torch.rand(len(rows) * step)  # a first batch may be taken just to look at it
    print(stream.gather(numbers).tolist())
crew.end_steps()
print(torch.rand(1).item())
"""
SEQUENTIAL = (
    ALL.replace("crew.split(", "(").replace("batches.gather(", "(").replace("stream.gather(", "(")
)


def test_batches_are_those_of_the_sequential_script(runner: Runner, tmp_path: Path) -> None:
    """What is drawn for rows in between is drawn for all of them."""
    alone = run(runner, tmp_path, SEQUENTIAL, 1)
    assert alone[0], alone[1]
    for workers in (2, 3):
        assert run(runner, tmp_path, ALL, workers) == alone


def test_a_network_is_tried_on_a_copy(runner: Runner, tmp_path: Path) -> None:
    body = """
net = Net()
for rows, _ in crew.split(Batches()):
    net(rows)
print(net.calls)
"""
    assert run(runner, tmp_path, body) == (True, "called\n" * 3 + "3\n")


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (
            "for rows, _ in crew.split(parts()):\n    rows.mul_(2)\n",
            "a batch that is a part of a table is changed in place",
        ),
        (
            "for i in crew.steps(range(0, 20, 7)):\n    rows = crew.cut(X[i : i + 7])\n"
            "    other = crew.cut(X[i : i + 7])\n    rows.mul_(2)\n",
            "a batch that is a part of a table is changed in place",
        ),
        (
            "none = crew.split(iter([]))\nfor rows in none:\n    pass\n"
            "none.mean(float(crew.rank()))\n",
            "a value of a batch is used after a loop that had no round",
        ),
        (
            "for batch in crew.split([(X[:8], 8)]):\n    pass\n",
            "the number 8 is a part of it",
        ),
        ("for batch in crew.split([('a', 'b')]):\n    pass\n", "no tensor or array in it"),
        (
            "class Odd(Batches):\n    share = 3\ncrew.split(Odd())\n",
            "its attribute 'share' would be hidden",
        ),
    ],
)
def test_what_is_not_let_pass(runner: Runner, tmp_path: Path, body: str, words: str) -> None:
    ok, said = run(runner, tmp_path, body)
    assert not ok
    assert words in said
