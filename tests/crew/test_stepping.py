"""Batches that a script makes by hand: each worker's rows, and its random numbers."""

from pathlib import Path

import pytest

from tests.tools.runs import Runner

HEAD = """
import os
import random
import torch
from trainera import crew

crew.join()
torch.manual_seed(5)
random.seed(5)
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
    print(k, torch.randint(100, (7,)).tolist())
    if k == {last}:
        break
print(torch.randint(100, (2,)).tolist(), random.random())
"""


def run(runner: Runner, folder: Path, source: str, workers: int) -> tuple[bool, str]:
    script = folder / "train.py"
    script.write_text(source)
    result = runner.run(script, folder, workers=workers)
    return result.ok, result.output if result.ok else "\n".join(result.errors)


@pytest.mark.parametrize("source", [FOR, WHILE])
@pytest.mark.parametrize("last", [1, 9])
def test_batches_are_those_of_the_sequential_script(
    runner: Runner, tmp_path: Path, source: str, last: int
) -> None:
    """Also what is drawn after the loop, though each worker drew for its rows in between."""
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
