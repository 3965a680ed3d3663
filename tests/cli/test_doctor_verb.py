"""``trainera doctor``: what is here, what is missing, how to get it."""

import json

import pytest
from small_project import Trainera

from trainera import __version__, engines


def test_what_is_here(trainera: Trainera) -> None:
    result = trainera("doctor")
    assert (result.status, result.stderr) == (0, "")
    for heading in ("trainera", "python", "cores", "memory", "torch", "engines", "meters"):
        assert f"\n{heading} " in f"\n{result.stdout}"
    assert "ddp" in result.stdout


def test_as_data(trainera: Trainera) -> None:
    result = trainera("doctor", "--json")
    data = json.loads(result.stdout)
    assert (result.status, data["status"], data["trainera"]) == (0, 0, __version__)
    assert [engine["name"] for engine in data["engines"]] == [one.name for one in engines.every()]
    assert data["cores"]["usable"] >= 1
    assert set(data["meters"]) == {"rapl", "nvml"}


def test_without_any_engine_the_status_is_1(
    trainera: Trainera, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name, package=None: None)
    result = trainera("doctor")
    assert result.status == 1
    assert "torch     not installed; pip install torch" in result.stdout
    assert "missing: " in result.stdout
