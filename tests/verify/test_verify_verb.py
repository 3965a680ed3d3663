"""``trainera verify`` as its users meet it: what it says, its status, and what it leaves behind."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from tests.verify.mutants import SCRIPTS

TRAIN = """\
import torch
from torch.utils.data import DataLoader, TensorDataset
torch.manual_seed(0)
x = torch.randn(24, 3)
loader = DataLoader(TensorDataset(x, x.sum(1, keepdim=True)), batch_size=8, shuffle=True)
model = torch.nn.Sequential(torch.nn.Linear(3, 8), torch.nn.Dropout(0.5), torch.nn.Linear(8, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for epoch in range(2):
    for a, b in loader:
        optimizer.zero_grad()
        loss = torch.nn.functional.mse_loss(model(a), b)
        loss.backward()
        optimizer.step()
    print("epoch", epoch)
torch.save(model.state_dict(), "model.pt")
open("log.csv", "a").write("done\\n")
"""


def verify(
    folder: Path, *arguments: object, stdin: str = "", patience: int = 0
) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-m", "trainera", "verify", *map(str, arguments)]
    if patience:
        command += ["--timeout", str(patience)]
    environment = {**os.environ, "COLUMNS": "200"}
    return subprocess.run(
        command, cwd=folder, capture_output=True, text=True, timeout=220, input=stdin,
        env=environment,
    )  # fmt: skip


def test_equivalent_leaves_files_as_they_were(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(TRAIN)
    (tmp_path / "model.pt").write_bytes(b"precious")
    done = verify(tmp_path, "train.py", "-n", 2, "--epochs", 1, "--html", "page.html")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("EQUIVALENT")
    assert "3 steps" in done.stdout
    # The first two steps of a loop are dealt unevenly.
    assert "share of the samples by worker: 58%, 42%" in done.stdout
    assert (tmp_path / "model.pt").read_bytes() == b"precious"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["model.pt", "page.html", "train.py"]
    page = (tmp_path / "page.html").read_text()
    assert page.count("<svg") == 2 and "http://" not in page.replace("http://www.w3.org", "")


RESUMES = """\
import os
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
torch.manual_seed(0)
x, y = torch.load("data.pt")
loader = DataLoader(TensorDataset(x, y), batch_size=8, shuffle=True)
model = nn.Sequential(nn.Conv1d(1, 4, 3), nn.BatchNorm1d(4), nn.Flatten(), nn.Linear(16, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
if os.path.exists("last.pt"):
    saved = torch.load("last.pt")
    model.load_state_dict(saved["model"])
    optimizer.load_state_dict(saved["optimizer"])
for epoch in range(2):
    for a, b in loader:
        optimizer.zero_grad()
        nn.functional.mse_loss(model(a), b).backward()
        optimizer.step()
torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict()}, "last.pt")
"""


def test_what_an_ordinary_run_has_saved_is_loaded(tmp_path: Path) -> None:
    """In float32; and the bias before a batch normalisation has moments of nothing but rounding."""
    (tmp_path / "train.py").write_text(RESUMES)
    torch.manual_seed(1)
    x = torch.randn(24, 1, 6)
    torch.save((x, x.sum(2)), tmp_path / "data.pt")
    first = verify(tmp_path, "train.py", "-n", 2)
    assert first.stdout.startswith("EQUIVALENT"), first.stdout + first.stderr
    subprocess.run([sys.executable, "train.py"], cwd=tmp_path, check=True, timeout=120)
    again = verify(tmp_path, "train.py", "-n", 2)
    assert again.stdout.startswith("EQUIVALENT"), again.stdout + again.stderr


def test_steps_bound_the_run_in_float32(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(TRAIN)
    done = verify(tmp_path, "train.py", "-n", 2, "--steps", 2, "--dtype", "float32", "--json")
    verdict = json.loads(done.stdout)
    assert (done.returncode, verdict["outcome"], verdict["steps"]) == (0, "EQUIVALENT", 2)
    assert "1e-04" in verdict["tolerance"]


def test_a_pair_that_differs(tmp_path: Path) -> None:
    by_hand = (SCRIPTS / "in_order_by_hand.py").read_text()
    (tmp_path / "train.py").write_text((SCRIPTS / "in_order.py").read_text())
    (tmp_path / "hand.py").write_text(by_hand.replace("lr=0.01", "lr=0.02"))
    done = verify(tmp_path, "--pair", "train.py", "hand.py", "-n", 2)
    assert done.returncode == 1
    assert done.stdout.startswith("DIFFERENT  learning rate differs at step 0")
    assert "sequential  0.01" in done.stdout and "parallel    0.02" in done.stdout


def test_what_is_logged_is_compared(tmp_path: Path) -> None:
    """By default it goes to stderr, behind the time of day."""
    setup = "import logging\nlogging.basicConfig(level='INFO', format='%(asctime)s %(message)s')\n"
    for name, path in (("in_order.py", "train.py"), ("in_order_by_hand.py", "hand.py")):
        source = (SCRIPTS / name).read_text()
        assert source.count("print(") == 1
        (tmp_path / path).write_text(setup + source.replace("print(", "logging.info("))
    done = verify(tmp_path, "--pair", "train.py", "hand.py", "-n", 2)
    assert done.stdout.startswith("EQUIVALENT") and "logged" in done.stdout
    hand = (tmp_path / "hand.py").read_text()
    (tmp_path / "hand.py").write_text(hand.replace("dist.all_reduce(error)", "pass"))
    done = verify(tmp_path, "--pair", "train.py", "hand.py", "-n", 2)
    assert done.stdout.startswith("DIFFERENT  logged differs")


HANGS = """
    if rank == 1 and epoch == 1:
        break
    for a, b in loader:
"""


def test_a_hang_is_ended_and_placed(tmp_path: Path) -> None:
    by_hand = (SCRIPTS / "in_order_by_hand.py").read_text()
    (tmp_path / "train.py").write_text((SCRIPTS / "in_order.py").read_text())
    hanging = by_hand.replace("\n    for a, b in loader:\n", HANGS).replace(
        "dist.destroy_process_group()", "dist.barrier()"
    )
    # The first worker waits in backward for the second, which waits in another collective.
    hanging = hanging.replace("dist.barrier()", "import time; time.sleep(1000)")
    (tmp_path / "hand.py").write_text(hanging)
    done = verify(tmp_path, "--pair", "train.py", "hand.py", "-n", 2, patience=15)
    assert done.returncode == 1
    assert done.stdout.startswith("DIFFERENT  the parallel run stopped moving")
    line = next(n for n, text in enumerate(hanging.splitlines(), 1) if "sleep(1000)" in text)
    assert f'worker 2: File "{tmp_path}/hand.py", line {line}' in done.stdout
    assert "worker 1: File" in done.stdout and "hand.py" in done.stdout.split("worker 1:")[1]


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (("optimizer.step()", "pass"), "without a step of an optimizer"),
        (("for epoch in", "raise ValueError('no data here')\nfor epoch in"), "no data here"),
        (("for epoch in", "input('name? ')\nfor epoch in"), "it asks for input"),
    ],
    ids=["never steps", "crashes", "reads stdin"],
)
def test_undecided_where_the_sequential_script_gives_nothing(
    change: tuple[str, str], says: str, tmp_path: Path
) -> None:
    (tmp_path / "train.py").write_text(TRAIN.replace(*change))
    (tmp_path / "hand.py").write_text(TRAIN)
    done = verify(tmp_path, "--pair", "train.py", "hand.py", "-n", 2, stdin="Ada\n")
    assert done.returncode == 1
    assert done.stdout.startswith("UNDECIDED")
    assert says in done.stdout


def test_a_script_that_needs_arguments(tmp_path: Path) -> None:
    parser = "import argparse\nparser = argparse.ArgumentParser()\n"
    parser += "parser.add_argument('data')\nparser.parse_args()\n"
    (tmp_path / "train.py").write_text(parser + TRAIN)
    done = verify(tmp_path, "train.py", "-n", 2)
    assert done.returncode == 1
    assert "arguments of the script go after --" in done.stdout
    assert "the following arguments are required: data" in done.stdout


def test_a_crash_only_in_parallel(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text((SCRIPTS / "in_order.py").read_text())
    by_hand = (SCRIPTS / "in_order_by_hand.py").read_text()
    (tmp_path / "hand.py").write_text(by_hand.replace("dist.all_reduce(error)", "1 / 0"))
    done = verify(tmp_path, "--pair", "train.py", "hand.py", "-n", 2)
    assert done.returncode == 1
    assert "the sequential script works, the parallel one fails" in done.stdout
    assert "ZeroDivisionError" in done.stdout


def test_chance_that_cannot_be_tied_down(tmp_path: Path) -> None:
    """Dropout inside of an LSTM: a converted script draws the same, unless it is told not to."""
    (tmp_path / "train.py").write_text(
        TRAIN.replace("torch.nn.Linear(3, 8), torch.nn.Dropout(0.5), torch.nn.Linear(8, 1))", "")
        .replace("model = torch.nn.Sequential(", LSTM)
        .replace("mse_loss(model(a), b)", "mse_loss(model(a), b)")
    )
    done = verify(tmp_path, "train.py", "-n", 2)
    assert done.returncode == 0 and done.stdout.startswith("EQUIVALENT"), done.stdout
    done = verify(tmp_path, "train.py", "-n", 2, "--random", "own")
    assert done.returncode == 1, done.stderr
    assert done.stdout.startswith("UNDECIDED"), done.stdout
    assert "dropout inside of LSTM" in done.stdout and "--seeds" in done.stdout


LSTM = """
class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm = torch.nn.LSTM(3, 4, num_layers=2, dropout=0.5, batch_first=True)
        self.out = torch.nn.Linear(4, 1)
    def forward(self, x):
        return self.out(self.lstm(x[:, None])[0][:, 0])
model = Net()
"""


def test_refused_scripts_are_not_run(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text("import horovod.torch as hvd\nhvd.init()\n")
    done = verify(tmp_path, "train.py", "-n", 2)
    assert done.returncode == 3 and "nothing was run" in done.stderr


def test_no_such_file(tmp_path: Path) -> None:
    done = verify(tmp_path, "--pair", "train.py", "hand.py", "-n", 2)
    assert done.returncode == 2 and "hand.py: no such file" in done.stderr
