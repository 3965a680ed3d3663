"""What reading cannot tell of a network is tried when it runs, and the user is told so."""

from pathlib import Path

import pytest

from tests.rules.tools import network, script
from trainera.pipeline import convert_script

SOFTMAX = network("x = torch.softmax(self.fc2(x), -2)", layers="self.fc2 = nn.Linear(3, 3)")


def converted(folder: Path, engine: str) -> tuple[list[str], list[str]]:
    """The new lines and the notes of a network whose softmax may be one over the batch."""
    path = folder / "train.py"
    path.write_text(script(model=SOFTMAX))
    plan, files = convert_script(path, engine)
    assert not plan.refusals
    notes = [f"{note.place.line}: {note.what}" for note in plan.notes if note.rule == "guard"]
    return files[0].after.decode().splitlines(), notes


@pytest.mark.parametrize(
    ("engine", "join"), [("ddp", "crew.join()"), ("horovod", "crew.join_horovod(hvd)")]
)
def test_networks_are_tried(tmp_path: Path, engine: str, join: str) -> None:
    lines, notes = converted(tmp_path, engine)
    assert lines.count("crew.try_networks()") == 1
    assert lines[lines.index("crew.try_networks()") - 1] == join
    place = script(model=SOFTMAX).splitlines().index("        x = torch.softmax(self.fc2(x), -2)")
    assert notes == [f"{place + 1}: torch.softmax(self.fc2(x), -2): tried when it runs"]


def test_not_without_a_reason(tmp_path: Path) -> None:
    path = tmp_path / "train.py"
    path.write_text(script())
    _, files = convert_script(path)
    assert b"try_networks" not in files[0].after
