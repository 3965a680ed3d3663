"""Checkpoints in both directions, every sample read once, and scripts without trainera."""

from collections import Counter
from pathlib import Path

import pytest

from tests.tools.corpus import CORPUS, output_of, settings, tolerance_of, write_converted
from tests.tools.runs import Runner, text_difference
from trainera.pipeline import convert_script

COUNTING = """
import os
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

torch.set_default_dtype(torch.float64)
torch.manual_seed(3)


class Counting(Dataset):
    def __len__(self):
        return 41

    def __getitem__(self, index):
        log = os.open("fetched.log", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        os.write(log, f"{index}\\n".encode())
        os.close(log)
        return torch.full((3,), float(index)), index % 2


loader = DataLoader(Counting(), batch_size=8, shuffle=True, OPTIONS)
model = nn.Linear(3, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=1e-4)
for epoch in range(2):
    for x, y in loader:
        loss = nn.functional.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(epoch, loss.item())
"""


@pytest.mark.parametrize("workers", [2, 3])
@pytest.mark.parametrize(
    "options",
    ["num_workers=0", "num_workers=2, pin_memory=True", "num_workers=2, persistent_workers=True"],
)
def test_every_sample_is_read_once_a_pass(
    options: str, workers: int, runner: Runner, tmp_path: Path
) -> None:
    script = tmp_path / "train.py"
    script.write_text(COUNTING.replace("OPTIONS", options))
    _, (converted,) = convert_script(script)
    script.write_bytes(converted.after)
    run = runner.run(script, tmp_path, workers=workers)
    assert run.ok, run.report()
    fetched = Counter((tmp_path / "fetched.log").read_text().split())
    assert fetched == {str(index): 2 for index in range(41)}


@pytest.mark.parametrize("saved_by_crew", [True, False], ids=["crew-first", "sequential-first"])
def test_checkpoints_load_in_both_directions(
    saved_by_crew: bool, runner: Runner, tmp_path: Path
) -> None:
    case = CORPUS / "resume"
    script = write_converted(case, tmp_path / "source")
    original = case / "train.py"
    first, second = (script, original) if saved_by_crew else (original, script)
    mixed = tmp_path / "mixed"
    output_of(runner, case, first, mixed, 2 if saved_by_crew else 0)
    resumed = output_of(runner, case, second, mixed, 0 if saved_by_crew else 2)
    plain = tmp_path / "plain"
    output_of(runner, case, original, plain, 0)
    expected = output_of(runner, case, original, plain, 0)
    assert text_difference(expected, resumed, tolerance_of(case)) is None


@pytest.mark.parametrize("workers", [0, 2])
@pytest.mark.parametrize(
    "name", ["batchnorm_cnn", "package_modules", "resume", "average_meter", "last_batch_of_one"]
)
def test_standalone_needs_no_trainera(
    name: str, workers: int, runner: Runner, tmp_path: Path
) -> None:
    case = CORPUS / name
    script = write_converted(case, tmp_path / "source", standalone=True)
    assert "import crew" not in script.read_text()
    expected = output_of(runner, case, case / "train.py", tmp_path / "expected", 0)
    actual = output_of(runner, case, script, tmp_path / "run", workers, hidden=["trainera"])
    ignore = settings(case).get("ignore")
    assert text_difference(expected, actual, tolerance_of(case), ignore) is None
