"""``trainera run --engine horovod``, and a plain ``horovodrun``, as users start them."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.tools.runs import text_difference
from trainera.cli.main import main
from trainera.pipeline import convert_script

SCRIPT = """\
import sys

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
torch.set_default_dtype(torch.float64)
x = torch.randn(30, 3)
loader = DataLoader(TensorDataset(x, x.sum(1, keepdim=True)), batch_size=8, shuffle=True)
model = nn.Linear(3, 1)
optimizer = torch.optim.Adam(model.parameters(), lr=0.1)
criterion = nn.MSELoss()
for epoch in range(2):
    for xb, yb in loader:
        optimizer.zero_grad()
        loss = criterion(model(xb), yb)
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} of {sys.argv[1]}: {model.weight.tolist()}")
"""
FAILING = SCRIPT.replace(
    "    print(",
    '    if xb[0, 0] > -100 and epoch == 1:\n        raise ValueError("why")\n    print(',
)


def program(*command: str | Path, cwd: Path) -> "subprocess.CompletedProcess[str]":
    """Runs a command in a session of its own; all of it is gone after the time."""
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    return subprocess.run(
        list(map(str, command)),
        cwd=cwd,
        env=environment,
        capture_output=True,
        text=True,
        timeout=150,
        start_new_session=True,
    )


@pytest.fixture
def script(tmp_path: Path) -> Path:
    (tmp_path / "train.py").write_text(SCRIPT)
    return tmp_path / "train.py"


@pytest.fixture(scope="module")
def wanted(tmp_path_factory: pytest.TempPathFactory) -> str:
    """What the sequential script prints."""
    folder = tmp_path_factory.mktemp("sequential")
    return program(sys.executable, "-c", SCRIPT, "two", cwd=folder).stdout


def trainera(*arguments: str | Path, cwd: Path) -> "subprocess.CompletedProcess[str]":
    return program(sys.executable, "-m", "trainera", *arguments, cwd=cwd)


def test_on_hosts_and_with_a_timeline(script: Path, wanted: str) -> None:
    options = ["--engine", "horovod", "--hosts", "localhost:2", "--timeline", "trace.json"]
    run = trainera("run", script, *options, "--", "two", cwd=script.parent)
    assert (run.returncode, run.stderr) == (0, "")
    assert text_difference(wanted, run.stdout, 1e-9) is None
    assert sorted(path.name for path in script.parent.iterdir()) == ["trace.json", "train.py"]
    # What Chrome's trace viewer reads: a list of events, each with a phase.
    events = json.loads((script.parent / "trace.json").read_text())
    assert {event["ph"] for event in events} >= {"B", "E"}
    names = {event.get("args", {}).get("name", "") for event in events}
    assert any("weight" in name for name in names), names


def test_a_plain_horovodrun(script: Path, wanted: str) -> None:
    _, files = convert_script(script, "horovod", standalone=True)
    (script.parent / "train_horovod.py").write_bytes(files[0].after)
    launcher = Path(sys.executable).with_name("horovodrun")
    command = [launcher, "-np", "2", sys.executable, "train_horovod.py", "two"]
    run = program(*command, cwd=script.parent)
    assert run.returncode == 0, run.stdout + run.stderr
    said = run.stdout.replace("[0]<stdout>:", "")
    assert text_difference(wanted, said, 1e-9) is None


def test_the_failure_of_a_worker_is_shown_once(script: Path) -> None:
    script.write_text(FAILING)
    run = trainera("run", script, "--engine", "horovod", "-n", "2", "--", "two", cwd=script.parent)
    assert run.returncode == 1
    assert run.stdout.startswith("epoch 0 of two")
    assert run.stderr.count("ValueError: why") == 1, run.stderr
    assert "worker 1 of 2" in run.stderr or "worker 2 of 2" in run.stderr


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--timeline", "t.json"], "--timeline: PyTorch DDP writes none — use --engine horovod"),
        (["--hosts", "a:2"], "--hosts: PyTorch DDP has no launcher for several machines"),
        (["--engine", "horovod", "--hosts", "a:2,b"], "'b' is no NAME:WORKERS"),
        (["--engine", "horovod", "--hosts", "a:2", "-n", "3"], "has room for 2 workers"),
        (["--engine", "horovod", "--timeline", "no/t.json"], "there is no directory no"),
    ],
)
def test_options_that_make_no_sense(
    script: Path, options: list[str], words: str, capfd: pytest.CaptureFixture[str]
) -> None:
    assert main(["run", str(script), *options]) == 2
    assert words in capfd.readouterr().err
