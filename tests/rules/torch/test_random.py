"""Random numbers are those of the sequential run; what cannot be is told."""

from pathlib import Path

from trainera.pipeline import convert_script
from trainera.plan import Options

SCRIPT = """\
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

loader = DataLoader(TensorDataset(torch.randn(64, 4), torch.randn(64, 1)), batch_size=16)
model = nn.Sequential(nn.Linear(4, 8), nn.Dropout(0.5), nn.Linear(8, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for x, y in loader:
    loss = nn.functional.mse_loss(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


def planned(folder: Path, source: str, random: str = "exact") -> tuple[list[str], str]:
    """What the rule says of a script, and the converted source."""
    (folder / "train.py").write_text(source)
    plan, (converted,) = convert_script(folder / "train.py", "ddp", Options(random=random))
    return [note.what for note in plan.notes if note.rule == "random"], converted.after.decode()


def test_exact_numbers_need_no_words(tmp_path: Path) -> None:
    notes, after = planned(tmp_path, SCRIPT)
    assert notes == []
    assert "own_random_numbers" not in after


def test_own_numbers_are_asked_for_and_told(tmp_path: Path) -> None:
    notes, after = planned(tmp_path, SCRIPT, "own")
    assert notes == ["dropout and noise are not those of the sequential run"]
    assert "crew.own_random_numbers()" in after


def test_what_compiled_code_draws_is_told(tmp_path: Path) -> None:
    compiled = SCRIPT.replace("optimizer = ", "model = torch.compile(model)\noptimizer = ")
    notes, _ = planned(tmp_path, compiled)
    assert notes == ["dropout inside of a compiled network is not that of the sequential run"]
