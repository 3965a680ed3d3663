"""Networks are tried in the first steps, and the run ends before anything is learned."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.crew.worker_processes import clean_environment
from tests.tools.runs import Run, Runner

ENGINES = {
    "ddp": (
        "crew.join()",
        "DistributedDataParallel({}, broadcast_buffers=False)",
        "{}",
    ),
    "horovod": (
        "import horovod.torch as hvd\ncrew.join_horovod(hvd)",
        "crew.alike({})",
        "crew.averaged(hvd.DistributedOptimizer, {})",
    ),
}
SCRIPT = """
import torch
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, TensorDataset
from trainera import crew

{join}
{asked}
torch.manual_seed(2)
x = torch.randn(26, 5, 4)
loader = crew.split(DataLoader(TensorDataset(x, x.sum((1, 2)) > 0), batch_size=8, shuffle=True))

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = {inner}
        self.drop = nn.Dropout(0.2)
        self.norm = nn.BatchNorm1d(4)
        self.last = nn.Linear(4, 2)
        self.calls = 0
    def forward(self, x, scale=1):
        self.calls += 1
        print("called")
        out = self.inner(x)
        out = out[0] if isinstance(out, tuple) else out
        return {{"logits": self.last(self.norm(self.drop(out.mean(1)))) * scale}}

net = Net()
model = {model}
{after}
optimizer = {optimizer}
before = net.last.weight.clone()
try:
    for epoch in range(2):
        for step, (inputs, targets) in enumerate(loader):
            {step}
finally:
    if not torch.equal(before, net.last.weight):
        print("learned")
print(net.calls, loader.mean(torch.rand(1).item()), crew.rank())
print([round(value, 6) for value in net.last.weight.flatten().tolist()])
"""
STEP = """
            optimizer.zero_grad()
            loss = nn.functional.cross_entropy(model(inputs)["logits"], targets.long())
            (loss * loader.share).backward()
            optimizer.step()
"""
GRU, GRU_STEPS_FIRST = "nn.GRU(4, 4, batch_first=True)", "nn.GRU(4, 4)"


def run(
    runner: Runner,
    folder: Path,
    workers: int,
    *,
    inner: str = GRU_STEPS_FIRST,
    asked: str = "crew.try_networks()",
    step: str = STEP,
    engine: str = "ddp",
    after: str = "",
) -> Run:
    join, model, optimizer = ENGINES[engine]
    script = folder / "train.py"
    source = SCRIPT.format(
        join=join,
        asked=asked,
        after=after,
        inner=inner,
        model=model.format("crew.batchnorm(net)"),
        optimizer=optimizer.format("torch.optim.Adam(model.parameters(), lr=0.01)"),
        step=step.strip(),
    )
    script.write_text(source)
    return runner.run(script, folder, workers=workers, engine=engine, timeout=60)


@pytest.mark.parametrize(("engine", "workers"), [("ddp", 2), ("ddp", 3), ("horovod", 2)])
def test_a_network_that_takes_samples_for_steps(
    runner: Runner, tmp_path: Path, engine: str, workers: int
) -> None:
    found = run(runner, tmp_path, workers, engine=engine)
    assert found.statuses == [3] * workers, found.report()
    assert "learned" not in found.output
    assert "Traceback" not in "".join(found.errors)
    said = "what Net makes of a row depends on the other rows of the batch"
    assert found.errors[0].count(said) == 1
    lines = (tmp_path / "train.py").read_text().splitlines()
    place = next(number for number, line in enumerate(lines, 1) if "model(inputs)" in line)
    assert f"{tmp_path / 'train.py'}:{place}: " in found.errors[0]
    assert said not in "".join(found.errors[1:])


@pytest.mark.parametrize(("engine", "workers"), [("ddp", 2), ("ddp", 3), ("horovod", 2)])
def test_other_networks_learn_and_say_the_same(
    runner: Runner, tmp_path: Path, engine: str, workers: int
) -> None:
    """Nothing is drawn, counted, kept or said for the trial; with dropout, too."""
    tried = run(runner, tmp_path, workers, inner=GRU, engine=engine)
    plain = run(runner, tmp_path, workers, inner=GRU, engine=engine, asked="")
    assert tried.ok, tried.report()
    assert "learned" in tried.output
    assert tried.outputs == plain.outputs


def test_nothing_is_tried_unasked(runner: Runner, tmp_path: Path) -> None:
    assert run(runner, tmp_path, 2, asked="").ok


def test_one_worker_has_nothing_to_try(runner: Runner, tmp_path: Path) -> None:
    assert run(runner, tmp_path, 1).ok


ACCUMULATED = STEP.replace("optimizer.zero_grad()\n", "").replace(
    "optimizer.step()", "step % 3 == 2 and optimizer.step()"
)
NAMED = STEP.replace("model(inputs)", "model(x=inputs, scale=2)")
SEEN_BEFORE = """
            with torch.no_grad():
                model(inputs)
            if step < 3:
                continue
            {step}
"""


@pytest.mark.parametrize("step", [ACCUMULATED, NAMED, SEEN_BEFORE.format(step=STEP.strip())])
def test_ways_to_step(runner: Runner, tmp_path: Path, step: str) -> None:
    """Over several batches; by names; first without gradients."""
    found = run(runner, tmp_path, 2, step=step)
    assert found.statuses == [3, 3], found.report()
    assert "learned" not in found.output
    tried = run(runner, tmp_path, 2, step=step, inner=GRU)
    assert tried.ok, tried.report()


def test_a_network_that_comes_late_is_found_late(runner: Runner, tmp_path: Path) -> None:
    """Its first step is made by then, but not many."""
    late = """
            if epoch or step > 2:
                optimizer.zero_grad()
                model(inputs)["logits"].mean().backward()
                optimizer.step()
"""
    found = run(runner, tmp_path, 2, step=late)
    assert not found.ok
    assert "makes of a row depends on the other rows" in "".join(found.errors)


MEETING = """
import torch
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, TensorDataset
from trainera import crew

crew.join()
crew.try_networks()
loader = crew.split(DataLoader(TensorDataset(torch.randn(24, 4)), batch_size=8))
class Net(nn.Linear):
    def forward(self, x):
        crew.once(print, "once")
        return super().forward(x) * crew.agree(2) + 0 * loader.mean(1.0)
model = DistributedDataParallel(Net(4, 4), broadcast_buffers=False)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for (x,) in loader:
    (model(x).mean() * loader.share).backward()
    optimizer.step()
"""


def test_workers_do_not_meet_for_a_trial(runner: Runner, tmp_path: Path) -> None:
    """What needs all of them inside of a network leaves it undecided."""
    script = tmp_path / "train.py"
    script.write_text(MEETING)
    found = runner.run(script, tmp_path, workers=3, timeout=60)
    assert found.ok, found.report()
    assert found.output == "once\n" * 3


LAUNCHED = """
import sys
from pathlib import Path
from trainera.launch.local import run
sys.exit(run(Path(sys.argv[1]), [], [], 2, say=lambda text: print("trainera said", text)))
"""


def test_the_launcher_ends_with_the_status_of_a_refusal(runner: Runner, tmp_path: Path) -> None:
    run(runner, tmp_path, 2)
    command = [sys.executable, "-c", LAUNCHED, str(tmp_path / "train.py")]
    ended = subprocess.run(
        command, capture_output=True, text=True, timeout=120, env=clean_environment(), check=False
    )
    assert ended.returncode == 3, ended.stderr
    assert ended.stderr.count("makes of a row depends on the other rows") == 1
    assert "Traceback" not in ended.stderr
    assert ended.stdout == "called\n"


def test_a_compiled_network(runner: Runner, tmp_path: Path) -> None:
    compiled = ENGINES["ddp"][1].format("torch.compile(crew.batchnorm(net), backend='eager')")
    compiled = f"model = {compiled}"
    found = run(runner, tmp_path, 2, asked="crew.try_networks()", after=compiled)
    assert found.statuses == [3, 3], found.report()
    found = run(runner, tmp_path, 2, asked="crew.try_networks()", after=compiled, inner=GRU)
    assert found.ok, found.report()
