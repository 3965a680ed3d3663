"""Batches that a script makes by hand: each worker's rows, and its random numbers."""

from pathlib import Path

import pytest

from tests.tools.runs import Runner

HEAD = """
import os
import random
import numpy as np
import torch
from trainera import crew

crew.join()
torch.manual_seed(5)
random.seed(5)
np.random.seed(5)
def gathered(rows):
    return crew.current().gather(rows).tolist()
"""
FOR = (
    HEAD
    + """
for k in crew.steps(range(3)):
    i = crew.cut(torch.randint(100, (7,)))
    noise = torch.rand(len(i))
    print(k, gathered(i))
    if k == {last}:
        break
print(torch.randint(100, (2,)).tolist(), random.random())
"""
)
WHILE = (
    HEAD
    + """
k = 0
while crew.next_step(k < 3):
    i = crew.cut(torch.randint(100, (7,)))
    noise = torch.rand(len(i))
    print(k, gathered(i))
    if k == {last}:
        break
    k += 1
crew.end_steps()
print(torch.randint(100, (2,)).tolist(), random.random())
"""
)
SEQUENTIAL = """
import random
import torch
torch.manual_seed(5)
random.seed(5)
for k in range(3):
    i = torch.randint(100, (7,))
    noise = torch.rand(len(i))
    print(k, i.tolist())
    if k == {last}:
        break
print(torch.randint(100, (2,)).tolist(), random.random())
"""


def run(runner: Runner, folder: Path, source: str, workers: int) -> tuple[bool, str]:
    script = folder / "train.py"
    script.write_text(source)
    result = runner.run(script, folder, workers=workers)
    return result.ok, result.output if result.ok else "\n".join(result.errors)


@pytest.mark.parametrize(
    ("source", "last"),
    [(FOR, 1), (FOR, 9), (WHILE, 1), (WHILE, 9), (WHILE.replace("crew.end_steps()", ""), 9)],
)
def test_batches_are_those_of_the_sequential_script(
    runner: Runner, tmp_path: Path, source: str, last: int
) -> None:
    """Also what is drawn after the loop: what is drawn for rows is drawn for all of them."""
    alone = run(runner, tmp_path, SEQUENTIAL.format(last=last), 1)
    assert alone[0]
    for workers in (2, 3):
        assert run(runner, tmp_path, source.format(last=last), workers) == alone


@pytest.mark.parametrize(
    ("batch", "words"),
    [
        ("crew.cut(torch.full((6,), int(os.environ['RANK'])))", "have made different batches"),
        ("(crew.cut(torch.ones(6)), crew.cut(torch.ones(5)))", "cannot share a batch of 6 samples"),
        ("crew.cut(3)", "no rows are found in a int"),
    ],
)
def test_batches_that_cannot_be_shared(
    runner: Runner, tmp_path: Path, batch: str, words: str
) -> None:
    ok, said = run(runner, tmp_path, HEAD + f"for k in crew.steps(range(3)):\n    {batch}\n", 2)
    assert not ok
    assert words in said


def test_a_cut_outside_of_steps(runner: Runner, tmp_path: Path) -> None:
    ok, said = run(runner, tmp_path, HEAD + "crew.cut(torch.ones(4))\n", 2)
    assert not ok
    assert "crew.cut() is for the rounds of a loop over crew.steps()" in said


DRAWN = (
    HEAD
    + """
for k in crew.steps(range(3)):
    i = crew.cut(torch.randint(100, (7,)))
    noise = torch.rand(len(i))
    print(k, gathered(i), crew.drawn(lambda: torch.randint(100, (1,))).item())
print(torch.randint(100, (2,)).tolist())
"""
)


def test_what_is_drawn_for_all_after_a_cut_moves_the_shared_numbers(
    runner: Runner, tmp_path: Path
) -> None:
    sequential = """
import torch
torch.manual_seed(5)
for k in range(3):
    i = torch.randint(100, (7,))
    noise = torch.rand(len(i))
    print(k, i.tolist(), torch.randint(100, (1,)).item())
print(torch.randint(100, (2,)).tolist())
"""
    alone = run(runner, tmp_path, sequential, 1)
    assert alone[0]
    for workers in (2, 3):
        assert run(runner, tmp_path, DRAWN, workers) == alone


NETWORKS = """
class Attention(torch.nn.Linear):
    def forward(self, x):
        return torch.softmax(super().forward(x) @ x.T, -1) @ x

class Recurrent(torch.nn.LSTM):
    def forward(self, x):
        return super().forward(x)[0]

class Last(torch.nn.LSTM):
    def forward(self, x):
        return super().forward(x)[0][-1:]

class Dropped(torch.nn.Linear):
    def forward(self, x):
        return torch.nn.functional.dropout(super().forward(x), 0.5, True)

class Chosen(torch.nn.Linear):
    def forward(self, x):
        return super().forward(x) * random.random() * np.random.rand()

class Tokens(torch.nn.Linear):
    def forward(self, x, scale=None):
        out = super().forward(torch.stack([x, x], 1)) * scale[:, None, None]
        return {{"out": out.flatten(0, 1), "loss": out.mean()}}
"""
TRIED = (
    HEAD
    + NETWORKS
    + """
network = {network}
for k in crew.steps(range(3)):
    x = crew.cut(torch.randn({rows}, 4))
    {call}
print("done")
"""
)


@pytest.mark.parametrize("network", ["Attention(4, 4)", "Recurrent(4, 4)", "Last(4, 4)"])
def test_a_network_that_looks_from_row_to_row_is_stopped(
    runner: Runner, tmp_path: Path, network: str
) -> None:
    ok, said = run(runner, tmp_path, TRIED.format(network=network, rows=9, call="network(x)"), 2)
    assert not ok
    name = network.partition("(")[0]
    assert f"what {name} makes of a row depends on the other rows" in said


@pytest.mark.parametrize(
    ("network", "rows", "call"),
    [
        ("torch.nn.Linear(4, 4)", 9, "network(x)"),
        ("Dropped(4, 4)", 9, "network(x)"),
        ("Chosen(4, 4)", 9, "network(x)"),
        ("torch.nn.BatchNorm1d(4)", 8, "network(x)"),
        ("torch.nn.BatchNorm1d(4, track_running_stats=False)", 8, "network(x)"),
        ("Tokens(4, 3)", 7, "network(x, scale=torch.ones(len(x)))"),
        ("Attention(4, 4)", 9, "torch.no_grad()(network)(x)"),
        ("Attention(4, 4)", 9, "network(torch.randn(6, 4))"),
    ],
)
def test_other_networks_are_not(
    runner: Runner, tmp_path: Path, network: str, rows: int, call: str
) -> None:
    source = TRIED.format(network=network, rows=rows, call=call)
    assert run(runner, tmp_path, source, 2) == (True, "done\n")


def test_trying_a_network_draws_nothing(runner: Runner, tmp_path: Path) -> None:
    after = "print(random.random(), np.random.rand(), torch.rand(1).item())\n"
    source = TRIED.format(network="Chosen(4, 4)", rows=9, call="network(x)") + after
    plain = source.replace("crew.cut(", "(").replace("crew.steps(", "(")
    assert run(runner, tmp_path, source, 2) == run(runner, tmp_path, plain, 2)
