"""Dropout, noise and augmentation are tied to the sample, so that even they agree to the digit."""

import shutil
from pathlib import Path

import pytest

from tests.tools.corpus import write_converted
from tests.tools.observed import observed, verdict_on
from tests.tools.runs import Runner
from trainera.verify.trace import read_worker
from trainera.verify.verdict import Outcome

SCRIPTS = Path(__file__).with_name("scripts")


@pytest.mark.parametrize("workers", [2, 3])
@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("by_chance_images.py", ["0"]),
        ("by_chance_images.py", ["2"]),
        ("by_chance_tensors.py", []),
        ("by_chance_mixup.py", []),
        ("by_chance_noise.py", []),
        ("by_chance_depth.py", []),
        ("by_chance_helpers.py", []),
    ],
)
def test_equivalent(
    name: str, arguments: list[str], workers: int, runner: Runner, tmp_path: Path
) -> None:
    case = tmp_path / "case"
    case.mkdir()
    shutil.copy(SCRIPTS / name, case / "train.py")
    alike = name == "by_chance_depth.py"  # where all workers have to decide alike
    alone = observed(runner, case / "train.py", tmp_path, 0, arguments=arguments, draws_alike=alike)
    script = write_converted(case, tmp_path / "converted")
    choices = alone.directory / "choices.json"
    together = observed(
        runner, script, tmp_path, workers, arguments=arguments, choices=choices, draws_alike=alike
    )
    if read_worker(together.directory, 0).mistaken:
        choices = together.directory / "choices.json"
        alone = observed(runner, case / "train.py", tmp_path / "again", 0, choices=choices)
    verdict = verdict_on(alone, together, script, workers)
    assert verdict.outcome is Outcome.EQUIVALENT, verdict
    assert verdict.steps == 12


BY_HAND = """\
import torch
from torch import nn
torch.manual_seed(2)
x, y = torch.randn(40, 5), torch.randint(3, (40,))
model = nn.Sequential(nn.Linear(5, 8), nn.Dropout(0.3), nn.Linear(8, 3))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(4):
    i = torch.randint(40, (8,))
    loss = nn.functional.cross_entropy(model(x[i]), y[i])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


def test_dropout_in_batches_made_by_hand(runner: Runner, tmp_path: Path) -> None:
    """Nothing tells their samples apart, but both scripts draw the same."""
    case = tmp_path / "case"
    case.mkdir()
    (case / "train.py").write_text(BY_HAND)
    alone = observed(runner, case / "train.py", tmp_path, 0, draws_alike=True)
    script = write_converted(case, tmp_path / "converted")
    together = observed(runner, script, tmp_path, 2, draws_alike=True)
    verdict = verdict_on(alone, together, script, 2)
    assert verdict.outcome is Outcome.EQUIVALENT, verdict
