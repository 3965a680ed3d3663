"""Strategies of TensorFlow that learn another network are no engines, and it is said why."""

from pathlib import Path

import pytest

from trainera.cli.main import main


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("parameter-server", "not even two runs from one seed learn the same network"),
        ("central_storage", "each device normalises and drops out by itself"),
    ],
)
@pytest.mark.parametrize(
    "command",
    [
        ["check", "train.py", "--engine"],
        ["run", "train.py", "-n", "2", "--engine"],
        ["bench", "train.py", "--strategies"],
    ],
)
def test_they_are_refused_by_name(
    command: list[str],
    name: str,
    why: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "train.py").write_text("from tensorflow import keras\nmodel.fit(x, y)\n")
    wanted = f"{name}:2" if command[0] == "bench" else name
    assert main([*command, wanted]) == 2
    told = " ".join(capfd.readouterr().err.split())
    assert f"no engine '{name}'" in told
    assert why in told
    assert "--engine horovod" in told
