"""What a machine has, tried on made-up machines."""

import sys
from pathlib import Path

import pytest

from trainera.cli import doctor, probe


def counters(root: Path, *texts: str) -> Path:
    for index, text in enumerate(texts):
        zone = root / f"intel-rapl:{index}"
        zone.mkdir(parents=True)
        (zone / "energy_uj").write_text(text)
    return root


def test_memory(tmp_path: Path) -> None:
    meminfo = tmp_path / "meminfo"
    meminfo.write_text("MemTotal:  2048 kB\nMemFree: 1 kB\nMemAvailable:   1024 kB\n")
    assert probe.memory_bytes(meminfo) == {"total": 2**21, "available": 2**20}


def test_memory_without_proc(tmp_path: Path) -> None:
    assert probe.memory_bytes(tmp_path / "none")["available"] is None


def test_rapl(tmp_path: Path) -> None:
    assert probe.rapl(tmp_path) == {"counters": 0, "readable": 0}
    root = counters(tmp_path, "12345\n", "no number")
    assert probe.rapl(root) == {"counters": 2, "readable": 1}


@pytest.mark.parametrize(
    ("found", "text"),
    [
        ({"counters": 0, "readable": 0}, "not on this machine"),
        ({"counters": 2, "readable": 0}, "sudo chmod a+r"),
        ({"counters": 2, "readable": 2}, "2 counters"),
    ],
)
def test_rapl_is_told_with_the_way_out(found: dict[str, int], text: str) -> None:
    assert text in doctor._rapl(found)[0]


def test_a_library_that_hangs_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(probe, "PATIENCE_S", 0.3)
    answer = probe._ask([sys.executable, "-c", "import time; time.sleep(60)"])
    assert "no answer within" in answer["error"]


@pytest.mark.parametrize(
    ("code", "error"),
    [
        ("import os; os.abort()", "ended with status -6"),
        ("raise ImportError('libcudart.so: no such file')", "ImportError: libcudart.so"),
        ("print('hello')", "gave no answer"),
        ("", "gave no answer"),
    ],
)
def test_a_library_that_is_broken_is_told(code: str, error: str) -> None:
    assert error in probe._ask([sys.executable, "-c", code])["error"]


def test_a_gpu_that_torch_cannot_use_is_told() -> None:
    found = {"torch": {"devices": []}, "gpus": ["NVIDIA T4, 15360 MiB"]}
    assert [text for _, text, _ in doctor._devices(found)] == [
        "GPU that torch cannot use: NVIDIA T4, 15360 MiB; install its CUDA build"
    ]


def test_torch_missing_and_torch_broken() -> None:
    assert "pip install torch" in next(iter(doctor._torch(None)))[1]
    assert "broken: bad" in next(iter(doctor._torch({"error": "bad"})))[1]
