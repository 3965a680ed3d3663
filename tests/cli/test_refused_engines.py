"""Strategies of TensorFlow that learn another network are converted to by no verb, and it is said.

`tests/bench/test_another_training.py` has what `bench` makes of them.
"""

from pathlib import Path

import pytest

from trainera import engines
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
        ["convert", "train.py", "--engine"],
        ["check", "train.py", "--engine"],
        ["run", "train.py", "-n", "2", "--engine"],
        ["verify", "train.py", "-n", "2", "--engine"],
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
    assert main([*command, name]) == 2
    told = " ".join(capfd.readouterr().err.split())
    assert "is another training: " in told
    assert why in told
    assert f"trainera bench --strategies {name.replace('_', '-')}:2 measures it" in told
    assert "--engine horovod" in told
    assert [path.name for path in tmp_path.glob("*.py")] == ["train.py"]


def test_they_are_no_choice_for_those_who_convert() -> None:
    assert not {"parameter-server", "central-storage"} & set(engines.names("keras"))
    assert {"horovod", "jax_processes"} <= set(engines.names("keras"))


@pytest.mark.parametrize(
    "command",
    [
        ["run", "train.py", "-n", "2", "--engine", "tarantella"],
        ["verify", "train.py", "-n", "2", "--engine", "tarantella"],
        ["bench", "train.py", "--strategies", "sequential,tarantella:2"],
        ["bench", "train.py", "--engines", "tarantella"],
    ],
)
def test_what_is_only_converted_for_is_not_started(
    command: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "train.py").write_text("from tensorflow import keras\nmodel.fit(data)\n")
    assert main(command) == 2
    told = " ".join(capfd.readouterr().err.split())
    assert "converts for Tarantella and starts nothing with it: no package registry" in told
    assert "was never run" in told
    assert "tarantella -n 2 -- SCRIPT_tarantella.py" in told


def test_who_converts_for_it_is_told_how_to_start_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "train.py").write_text(
        "from tensorflow import keras\nmodel.compile('sgd', loss='mse')\nmodel.fit(data)\n"
    )
    assert main(["convert", "train.py", "--engine", "tarantella"]) == 0
    told = " ".join(capfd.readouterr().err.split())
    assert "note: this output was never run" in told
    assert "run it with: tarantella -n 2 -- train_tarantella.py" in told
    assert main(["doctor"]) == 0
    told = " ".join(capfd.readouterr().out.split())
    assert "Its launcher is `tarantella -n N -- SCRIPT`; what trainera converts for it" in told
