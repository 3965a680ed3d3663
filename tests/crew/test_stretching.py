"""Rows that meet each other end the run of several workers; what only looks like it does not."""

from pathlib import Path

import pytest

from tests.rules.tools import script
from tests.tools.runs import Run, Runner
from trainera.pipeline import convert_script

HEAD = """
import warnings
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset, TensorDataset
from trainera import crew
from trainera.crew.stretching import LOOKOUT

crew.join()
torch.manual_seed(3)
X, Y = torch.randn(22, 5), torch.randn(22)
model = crew.alike(nn.Linear(5, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

def loader(*tables, size=8, **options):
    return crew.split(DataLoader(TensorDataset(*tables), batch_size=size, **options))

def batches():
    for i in range(0, 22, 8):
        yield X[i : i + 8], Y[i : i + 8]

def modes():
    return torch.overrides._get_current_function_mode_stack()

CALL = nn.Module.__call__
def clean():
    return not modes() and not LOOKOUT.steps and nn.Module.__call__ is CALL
"""


def run(runner: Runner, folder: Path, body: str, workers: int = 2) -> Run:
    path = folder / "train.py"
    path.write_text(HEAD + body)
    return runner.run(path, folder, workers=workers)


STOPPED = {
    "training": """
for x, y in loader(X, Y):
    loss = ((model(x) - y) ** 2).mean()  # here
    loss.backward()
    optimizer.step()
    print("stepped")
""",
    "evaluation": """
labels = (Y > 0).long()
with torch.no_grad():
    for number, (x, y) in enumerate(loader(X, labels[:, None])):
        pred = (model(x) > 0).long().squeeze(1)
        correct = (pred == y).sum()  # here
        print("stepped")
""",
    "loss": """
class Loss(nn.Module):
    def forward(self, out, y):
        return (out - y).abs().mean()  # here
criterion = Loss()
for (x, y), _ in zip(loader(X, Y), loader(X)):
    loss = criterion(model(x), y)
    print("stepped")
""",
    "unheard warning": """
split = loader(X, Y)
warnings.simplefilter("ignore")
for x, y in split:
    loss = nn.MSELoss()(model(x), y)  # here
    print("stepped")
""",
    "own batches": """
for x, y in crew.split(batches()):
    loss = (model(x) - y).mean()  # here
    print("stepped")
""",
    "cut": """
for step in crew.steps(range(3)):
    x, y = crew.cut(X[step * 7 :]), crew.cut(Y[step * 7 :])
    loss = (model(x) - y).mean()  # here
    print("stepped")
""",
    "by hand": """
steps = iter(loader(X, Y))
next(steps)
for step in range(2):
    x, y = next(steps)
    loss = (x.sum(1, keepdim=True) - y).mean()  # here
    print("stepped")
""",
    "caught": """
for x, y in loader(X, Y):
    try:
        loss = (model(x) - y).mean()  # here
    except RuntimeError:
        loss = model(x).mean()
    loss.backward()
    optimizer.step()
    print("stepped")
""",
    "share of a whole": """
split = loader(X, Y)
for x, y in split:
    whole = split.gather(x)
    loss = (model(split.mine(whole)) - y).mean()  # here
    print("stepped")
""",
}


@pytest.mark.parametrize("workers", [2, 3])
@pytest.mark.parametrize("case", STOPPED)
def test_the_run_is_stopped(case: str, workers: int, runner: Runner, tmp_path: Path) -> None:
    result = run(runner, tmp_path, STOPPED[case], workers)
    assert not any(status == 0 for status in result.statuses), result.report()
    source = (tmp_path / "train.py").read_text().splitlines()
    (line,) = (number for number, text in enumerate(source, 1) if text.endswith("# here"))
    said = "".join(result.errors)
    assert f"trainera: train.py:{line}: " in said, result.report()
    assert "only the rows of its slice would meet" in said
    assert "stepped" not in result.output


def test_every_worker_sees_rows_that_meet_rows(runner: Runner, tmp_path: Path) -> None:
    """The first worker has four rows of four features: which is which is not clear there."""
    body = """
weight = torch.randn(4, 1)
for x, y in loader(torch.randn(7, 4), torch.randn(7), size=7):
    loss = crew.current().sum((x @ weight - y).sum().item())
"""
    result = run(runner, tmp_path, body)
    assert not any(status == 0 for status in result.statuses), result.report()
    assert "shapes [4] and [4, 1] gives [4, 4]" in result.errors[0]
    assert "shapes [3, 1] and [3]" in result.errors[1]


def test_as_many_features_as_rows_end_the_first_step(runner: Runner, tmp_path: Path) -> None:
    body = """
weight = torch.randn(5, 1)
for number, (x, y) in enumerate(loader(torch.randn(30, 5), torch.randn(30))):
    print(number)
    loss = crew.current().sum((x @ weight - y).sum().item())
"""
    result = run(runner, tmp_path, body)
    assert "shapes [5] and [5, 1]" in result.errors[0], result.report()
    assert result.output == "0\n"


def test_where_nobody_looks_the_warning_of_torch_ends_the_run(
    runner: Runner, tmp_path: Path
) -> None:
    body = STOPPED["unheard warning"].replace('warnings.simplefilter("ignore")', "")
    result = run(runner, tmp_path, f"LOOKOUT.gave_way = True\n{body}")
    assert not any(status == 0 for status in result.statuses), result.report()
    assert "Using a target size" in result.errors[0]


PASSED = """
features = torch.randn(22, 4)
for size in (8, 22, 3, 1):
    split = loader(X, Y, features, size=size)
    for epoch in range(2):
        for x, y, wide in split:
            out = model(x)
            equal = (out.squeeze(1) - y) ** 2 + (out - y[:, None]).squeeze(1)
            each = out * torch.randn(5) + x * torch.randn(5) - x.mean(0)
            as_many = wide - wide.mean(0) + y[:, None] * wide.mean(0) + y[:, None] * torch.ones(4)
            rows = split.gather(out), split.gather(y)
            pairs = (rows[0] - rows[1]).abs().mean() + torch.cdist(split.gather(x), split.gather(x))
            classes = y[:, None] == torch.arange(len(y) + 1)
            loss = crew.current().mean(equal.mean())
print(clean())
"""


@pytest.mark.parametrize("workers", [2, 3])
def test_what_is_not_stopped(workers: int, runner: Runner, tmp_path: Path) -> None:
    result = run(runner, tmp_path, PASSED, workers)
    assert result.ok, result.report()
    assert result.output == "True\n"


LEFT = """
def first(split):
    for x, y in split:
        assert modes() == [LOOKOUT]
        return x
def endless(split):
    while True:
        for batch in split:
            yield batch
first(loader(X, Y))
print(1, clean())
try:
    for x, y in loader(X, Y):
        raise KeyError
except KeyError:
    pass
print(2, clean())
rows = endless(loader(X, Y))
next(rows)
assert modes() == [LOOKOUT]
rows.close()
print(3, clean())
for x, y in loader(X, Y):
    for a, b in loader(X, Y):
        assert modes() == [LOOKOUT]
        break
    assert modes() == [LOOKOUT]
    break
print(4, clean())
kept = iter(loader(X, Y))
for x, y in kept:
    break
crew.end_steps()
print(5, clean())
next(iter(loader(X, Y)))
print(6, clean())
seen = []
for epoch in range(3):
    seen.append([])
    for x, y in loader(X[:20], Y[:20], size=4):
        seen[-1].append(len(modes()))
print(7, seen, clean())
with torch.no_grad(), torch.inference_mode(), torch.device("cpu"):
    for x, y in zip(loader(X), loader(Y)):
        model(x[0]).view(-1) - y[0]
        break
print(8, clean())
class Counting(Dataset):
    def __len__(self):
        return 8
    def __getitem__(self, number):
        return torch.tensor([len(modes()), int(nn.Module.__call__ is CALL)])
for x, y in loader(X, Y):
    inner = crew.whole(DataLoader(Counting(), batch_size=8, num_workers=1))
    print(9, next(iter(inner)).unique(dim=0).tolist(), modes() == [LOOKOUT])
    break
print(10, clean())
"""


def test_however_a_loop_is_left(runner: Runner, tmp_path: Path) -> None:
    """Of later passes a few steps are looked at: the first, the last, and another one each time."""
    result = run(runner, tmp_path, LEFT)
    assert result.ok, result.report()
    seen = [[1, 1, 0, 1, 0], [1, 0, 0, 1, 1], [1, 0, 1, 0, 1]]
    assert result.output.splitlines() == [
        *(f"{number} True" for number in range(1, 7)),
        f"7 {seen} True",
        "8 True",
        "9 [[0, 1]] True",
        "10 True",
    ]


THREAD = """
import threading
from queue import Queue
def other():
    (torch.randn(4, 1) - torch.randn(4)).sum()
    model(X)
    said.append(len(modes()))
said = []
for x, y in loader(X, Y):
    thread = threading.Thread(target=other)
    thread.start()
    thread.join()
# A loop that another thread drops.
waiting = Queue()
def drop():
    waiting.get().close()
    waiting.task_done()
threading.Thread(target=drop).start()
steps = iter(loader(X, Y))
for x, y in steps:
    break
waiting.put(steps)
waiting.join()
print(said, LOOKOUT.steps, (X[:4, :1] - Y[:4]).shape)
model(X)
print(clean())
"""


def test_threads(runner: Runner, tmp_path: Path) -> None:
    result = run(runner, tmp_path, THREAD)
    assert result.ok, result.report()
    assert result.output == "[0, 0, 0] [] torch.Size([4, 4])\nTrue\n"


SAME = """
LOOKOUT.gave_way = {blind}
dropout = nn.Dropout(0.3)
for epoch in range(2):
    for x, y in loader(X, Y, shuffle=True):
        optimizer.zero_grad()
        loss = ((model(dropout(x)).squeeze(1) - y) ** 2).mean() + torch.rand(1).item()
        loss.backward()
        print(loss.item().hex(), [p.grad.sum().item().hex() for p in model.parameters()])
print(torch.rand(1).item().hex())
"""


def test_nothing_is_computed_otherwise(runner: Runner, tmp_path: Path) -> None:
    """Not a bit, and no random number is drawn."""
    seeing, blind = (run(runner, tmp_path, SAME.format(blind=blind)) for blind in (False, True))
    assert seeing.ok and blind.ok, seeing.report() + blind.report()
    assert seeing.outputs == blind.outputs
    assert len(seeing.output.splitlines()) == 7


@pytest.mark.parametrize("engine", ["ddp", "horovod"])
def test_converted_and_standalone(engine: str, runner: Runner, tmp_path: Path) -> None:
    """The line is the script's, though the runtime is in the same file."""
    source = script(loss="loss = ((model(x) - y) ** 2).mean()")
    path = tmp_path / "train.py"
    path.write_text(source)
    _, (file,) = convert_script(path, engine, standalone=True)
    path.write_bytes(file.after)
    result = runner.run(path, tmp_path, workers=2, hidden=["trainera"], engine=engine)
    assert result.ok, result.report()
    path.write_text(source.replace("torch.randn(20, 1)", "torch.randn(20)"))
    _, (file,) = convert_script(path, engine, standalone=True)
    path.write_bytes(file.after)
    result = runner.run(path, tmp_path, workers=2, hidden=["trainera"], engine=engine)
    lines = file.after.decode().splitlines()
    (line,) = (number for number, text in enumerate(lines, 1) if "(model(x) - y)" in text)
    assert not result.ok
    assert f"trainera: train.py:{line}: sub of tensors" in "".join(result.errors), result.report()
