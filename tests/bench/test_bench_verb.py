"""``trainera bench`` from the command line to the store."""

import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from trainera.store import Store

Program = Callable[..., "subprocess.CompletedProcess[str]"]

TRAIN = """\
import argparse
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

parser = argparse.ArgumentParser()
parser.add_argument("--epochs", type=int, default=1)
parser.add_argument("--batch-size", type=int, default=8)
args = parser.parse_args()
torch.manual_seed(0)
x = torch.randn(40, 4)
y = (x.sum(1) > 0).long()
loader = DataLoader(TensorDataset(x, y), batch_size=args.batch_size, shuffle=True)
held = DataLoader(TensorDataset(x, y), batch_size=20)
model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for epoch in range(args.epochs):
    for inputs, targets in loader:
        loss = criterion(model(inputs), targets)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    correct = 0
    with torch.no_grad():
        for inputs, targets in held:
            correct += (model(inputs).argmax(1) == targets).sum().item()
    print(f"epoch {epoch} accuracy {correct / 40:.4f}")
"""

QUICK = 'print("accuracy 0.5")\n'


@pytest.fixture
def quick(folder: Path) -> Path:
    (folder / "quick.py").write_text(QUICK)
    return folder / "quick.py"


def test_a_script_of_the_user_is_measured_as_it_is(folder: Path, trainera: Program) -> None:
    (folder / "train.py").write_text(TRAIN)
    once = ("--repetitions", "1", "--warm-up", "0", "--watts-per-core", "5")
    done = trainera(
        *("bench", "train.py", "--engines", "ddp", "-n", "1,2", *once),
        *("--metric", "accuracy ([0-9.]+)"),
        *("--", "--epochs", "2"),
    )
    assert done.returncode == 0, done.stderr
    assert "train: No winner is named: 5 runs of a strategy are needed" in done.stderr
    assert (folder / "train.py").read_text() == TRAIN
    with Store(folder / "trainera-bench.db", create=False) as store:
        results = {one.strategy: one for one in store.results()}
        (experiment,) = store.experiments()
    assert set(results) == {"sequential", "ddp 1", "ddp 2", "ddp 2 per-worker"}
    for one in results.values():
        assert (one.state, one.workload, len(one.epochs)) == ("done", "train", 2), one.message
        assert one.samples == 80
        assert one.metric_name == "accuracy" and one.metric is not None
        assert all(epoch.metric is not None and epoch.validation_s for epoch in one.epochs)
        assert one.total_s is not None and one.wall_s is not None and one.total_s < one.wall_s
        assert set(one.phases_s) == {"data", "forward", "backward", "optimizer", "other"}
        assert one.train_s == pytest.approx(sum(one.phases_s.values()))
        assert one.meter_s is not None and one.meter_s < 0.1
        assert len(one.peak_memory_bytes) == one.workers
        assert [(device.source, device.part) for device in one.energy] == [("estimated", "cpu")]
    assert results["sequential"].metric == results["ddp 2"].metric
    assert experiment.machine["torch"]["version"]
    assert experiment.request["arguments"] == ["--epochs", "2"]
    again = trainera("report", "--format", "md")
    assert again.returncode == 0, again.stderr
    assert "| ddp 2 per-worker | 1 |" in again.stdout


def test_a_script_that_fails_is_told_and_tried_again(
    folder: Path, quick: Path, trainera: Program
) -> None:
    quick.write_text("import os\nassert os.path.exists('ready'), 'not ready yet'\n" + QUICK)
    command = ("bench", "quick.py", "--strategies", "sequential", "--repetitions", "2")
    done = trainera(*command, "--warm-up", "0")
    assert done.returncode == 1
    assert "failed: AssertionError: not ready yet" in done.stderr
    (folder / "ready").touch()
    assert trainera(*command, "--warm-up", "0").returncode == 1
    done = trainera(*command, "--warm-up", "0", "--retry-failed")
    assert done.returncode == 0, done.stderr
    with Store(folder / "trainera-bench.db", create=False) as store:
        assert store.counts(1) == {"done": 2}


WRITES = """\
import os
assert not os.path.exists("new.txt"), "a run began with what another left"
open("new.txt", "w").write("1")
open("mine.txt", "a").write("2")
print("accuracy 0.5", flush=True)
{then}
"""


def test_the_files_of_the_user_are_left_as_they_were(
    folder: Path, quick: Path, trainera: Program
) -> None:
    quick.write_text(WRITES.format(then=""))
    (folder / "mine.txt").write_text("precious")
    done = trainera("bench", "quick.py", "--strategies", "sequential", "--repetitions", "2")
    assert done.returncode == 0, done.stderr
    assert (folder / "mine.txt").read_text() == "precious"
    assert {path.name for path in folder.iterdir()} == {"quick.py", "mine.txt", "trainera-bench.db"}


def test_so_they_are_after_kill_9_and_going_on(
    folder: Path, quick: Path, trainera: Program
) -> None:
    quick.write_text(
        WRITES.format(then="import time; time.sleep(0 if os.path.exists('go') else 60)")
    )
    (folder / "mine.txt").write_text("precious")
    command = ("bench", "quick.py", "--strategies", "sequential", "--repetitions", "1")
    process = subprocess.Popen(
        [sys.executable, "-m", "trainera", *command, "--warm-up", "0"],
        cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    for _ in range(600):
        if (folder / "mine.txt").read_text() == "precious2":
            break
        time.sleep(0.05)
    process.kill()
    process.wait(10)
    (folder / "go").touch()
    done = trainera(*command, "--warm-up", "0")
    assert done.returncode == 0, done.stderr
    assert (folder / "mine.txt").read_text() == "precious"
    assert not (folder / "new.txt").exists()


def test_a_metric_that_nothing_matches_is_told(
    folder: Path, quick: Path, trainera: Program
) -> None:
    command = ("bench", "quick.py", "--strategies", "sequential", "--repetitions", "1")
    done = trainera(*command, "--metric", "f1 ([0-9.]+)")
    assert done.returncode == 0, done.stderr
    assert "no line of its output matches 'f1 ([0-9.]+)'" in done.stderr


def test_what_is_no_python_is_not_run(folder: Path, quick: Path, trainera: Program) -> None:
    quick.write_text("def f(:\n")
    done = trainera("bench", "quick.py")
    assert done.returncode == 2
    assert "quick.py:1:7: syntax: invalid syntax" in done.stderr
    assert not (folder / "trainera-bench.db").exists()


def test_a_refused_script_is_refused_once(folder: Path, trainera: Program) -> None:
    by_hand = "import torch\nimport torch.distributed as dist\n"
    refused = TRAIN.replace("import torch\n", by_hand, 1)
    refused = refused.replace("torch.manual_seed(0)", 'dist.init_process_group("gloo")')
    (folder / "train.py").write_text(refused)
    done = trainera(
        *("bench", "train.py", "--strategies", "ddp:2", "--repetitions", "3", "--warm-up", "0")
    )
    assert done.returncode == 3, done.stderr
    assert done.stderr.count("refused:") == 1
    with Store(folder / "trainera-bench.db", create=False) as store:
        assert store.counts(1) == {"refused": 3}
        assert all("distributed" in one.message for one in store.results())


def test_a_run_that_takes_too_long_is_ended(folder: Path, quick: Path, trainera: Program) -> None:
    quick.write_text("import time\ntime.sleep(60)\n")
    done = trainera(
        *("bench", "quick.py", "--strategies", "sequential", "--repetitions", "1"),
        *("--warm-up", "0", "--timeout", "1"),
    )
    assert done.returncode == 1
    assert "not done after 1 s" in done.stderr


def test_what_is_complete_is_not_run_again_unless_asked(
    folder: Path, quick: Path, trainera: Program
) -> None:
    command = ("bench", "quick.py", "--strategies", "sequential", "--repetitions", "2")
    assert trainera(*command).returncode == 0
    done = trainera(*command)
    assert "all 3 runs are there; --again" in done.stderr
    assert trainera(*command, "--again").returncode == 0
    quick.write_text(QUICK + "# changed\n")
    assert trainera(*command).returncode == 0
    with Store(folder / "trainera-bench.db", create=False) as store:
        assert [store.counts(one.id) for one in store.experiments()] == [{"done": 3}] * 3


def test_a_plan_without_running_it(folder: Path, quick: Path, trainera: Program) -> None:
    (folder / "experiment.toml").write_text(
        'workloads = ["quick.py"]\nstrategies = ["sequential"]\nrepetitions = 2\nwarm_up = 0\n'
        'fraction = 2\n[factors]\n"--a" = [1, 2]\n"--b" = ["x", "y"]\n'
    )
    done = trainera("bench", "--config", "experiment.toml", "--dry-run")
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert len(lines) == 1 + 4 + 1
    assert sum("--a 1 --b x" in line for line in lines) == 2
    assert sum("--a 2 --b y" in line for line in lines) == 2
    assert lines[-1].startswith("4 runs, about 60 s (a guess")
    done = trainera("bench", "--config", "experiment.toml", "--dry-run", "--repetitions", "3")
    assert "6 runs" in done.stdout
    assert not (folder / "trainera-bench.db").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nothing"], "no workload or script is called 'nothing'"),
        (["mnist_mpl"], "did you mean mnist_mlp?"),
        (["none.py"], "none.py: no such file"),
        (["quick.py", "--engines", "dpd"], "no engine is called 'dpd'"),
        (["quick.py", "-n", "0"], "'0' is not a number of workers"),
        (["quick.py", "--size", "huge"], "size 'huge': there is tiny, small, full"),
        (["quick.py", "--metric", "("], "not a regular expression"),
        (["quick.py", "--metric", "accuracy"], "put the figure, and only it, into parentheses"),
        (["quick.py", "--factor", "--lr"], "write OPTION=A,B"),
        (["quick.py", "--repetitions", "0"], "0 repetitions: give 1 or more"),
        (["--config", "none.toml"], "none.toml: no such file"),
        (["--config", "broken.toml"], "broken.toml: not TOML"),
        (["--config", "unknown.toml"], "'sizes' is not a parameter — there is workloads"),
        (["--config", "kind.toml"], "repetitions = 'many' is not of the kind"),
        (["quick.py", "other/quick.py"], "two scripts of one name"),
    ],
)
def test_wrong_usage(
    arguments: list[str],
    message: str,
    folder: Path,
    quick: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    from trainera.cli.main import main

    monkeypatch.setenv("COLUMNS", "200")
    (folder / "broken.toml").write_text("size = \n")
    (folder / "unknown.toml").write_text('sizes = "tiny"\n')
    (folder / "kind.toml").write_text('repetitions = "many"\n')
    (folder / "other").mkdir()
    (folder / "other" / "quick.py").write_text(QUICK)
    assert main(["bench", *arguments]) == 2
    assert message in capfd.readouterr().err
    assert not (folder / "trainera-bench.db").exists()
