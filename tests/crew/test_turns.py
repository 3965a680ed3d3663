"""What the first worker does alone may ask for the same again, and not for what needs all."""

from pathlib import Path

import pytest

from tests.tools.runs import Runner

JOIN = {
    "ddp": "crew.join()",
    "gloo": "crew.join()",
    "horovod": "import horovod.torch as hvd\ncrew.join_horovod(hvd)",
}
CREWS = [("ddp", 2), ("ddp", 3), ("gloo", 2), ("horovod", 2), ("horovod", 3)]
HEAD = """
import os
import torch
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, TensorDataset
from trainera import crew
"""
NESTED = """
def note(word):
    with open("calls.txt", "a") as file:
        file.write(word + " ")
    return word

class Trainer:
    def save(self, path):
        if not crew.agree(os.path.exists("folder")):
            crew.once(os.makedirs, "folder")
        inner = crew.once(note, "saved")
        assert inner == "saved"
        assert crew.in_turn(note, "looked") == "looked"
        assert crew.drawn(lambda: 3) == 3
        for (rows,) in crew.whole(DataLoader(TensorDataset(torch.arange(4)), batch_size=4)):
            assert rows.tolist() == [0, 1, 2, 3]
        with crew.once(open, path, "w") as file:
            file.write("text")
        crew.once(self.deeper)
        return path

    def deeper(self):
        crew.once(crew.once, note, "deepest")

saved = crew.once(Trainer().save, "folder/file")
assert (saved == "folder/file") == (crew.rank() == 0)
assert os.path.exists("folder/file")  # the others have waited
assert crew.sum(1) == crew.size() and crew.agree(crew.rank()) == 0

def prepare():
    written = crew.once(note, "prepared")
    assert isinstance(written, crew.Nobody) == (crew.rank() > 0)
    return crew.in_turn(crew.rank)

assert crew.in_turn(prepare) == crew.rank()
assert crew.sum(1) == crew.size()
try:
    crew.once(lambda: crew.once(lambda: {}["absent"]))
except KeyError as error:
    assert error.args == ("absent",)
else:
    raise AssertionError("nothing was raised")
assert crew.sum(1) == crew.size()
crew.once(note, "end")
print(open("calls.txt").read())
"""


def run(
    runner: Runner, folder: Path, body: str, engine: str, workers: int
) -> tuple[bool, str, list[str]]:
    script = folder / "train.py"
    script.write_text(HEAD + JOIN[engine] + "\n" + body)
    env = {"TRAINERA_BACKEND": "gloo"} if engine == "gloo" else None
    engine = "ddp" if engine == "gloo" else engine
    result = runner.run(script, folder, workers=workers, engine=engine, env=env, timeout=45)
    return result.ok, result.output if result.ok else result.report(), result.errors


@pytest.mark.parametrize(("engine", "workers"), CREWS)
def test_turns_within_turns(runner: Runner, tmp_path: Path, engine: str, workers: int) -> None:
    ok, said, _ = run(runner, tmp_path, NESTED, engine, workers)
    assert ok, said
    assert said == "saved looked deepest prepared end \n"


LOADER = """
x = torch.arange(12.0).reshape(6, 2)
loader = crew.split(DataLoader(TensorDataset(x), batch_size=6))
net = nn.Linear(2, 1)
for (rows,) in loader:
    pass
def report():
    {inner}
crew.once(report)
print("not here")
"""


@pytest.mark.parametrize(("engine", "workers"), [("ddp", 2), ("ddp", 3), ("horovod", 2)])
@pytest.mark.parametrize(
    "inner",
    [
        "loader.sum(3)",
        "loader.mean(rows.mean())",
        "loader.gather(rows)",
        "crew.sum(1)",
        "list(loader)",
        "crew.alike(net)",
        "crew.once(lambda: crew.sum(1))",
    ],
)
def test_what_needs_all_is_told(
    runner: Runner, tmp_path: Path, inner: str, engine: str, workers: int
) -> None:
    ok, said, errors = run(runner, tmp_path, LOADER.format(inner=inner), engine, workers)
    assert not ok
    assert "not here" not in said
    assert "needs all workers" in errors[0], said
    assert "do that before, or after" in errors[0]
    assert f"report() in {tmp_path / 'train.py'}" in errors[0] or "lambda" in inner
    for other in errors[1:]:
        assert "the first worker failed: RuntimeError: trainera:" in other


def test_in_turn_nobody_agrees(runner: Runner, tmp_path: Path) -> None:
    """Each looks for itself there, so that an answer for all cannot be had."""
    ok, _, errors = run(runner, tmp_path, "crew.in_turn(lambda: crew.agree(3))\n", "ddp", 2)
    assert not ok
    assert "needs all workers" in errors[0]


@pytest.mark.parametrize(
    ("engine", "wrapped"),
    [
        ("ddp", "net = DistributedDataParallel(nn.Linear(2, 1), broadcast_buffers=False)"),
        ("ddp", "net = crew.average_after_backward(nn.Linear(2, 1))"),
        (
            "horovod",
            "net = crew.alike(nn.Linear(2, 1))\n"
            "optimizer = crew.averaged(hvd.DistributedOptimizer, "
            "torch.optim.SGD(net.parameters(), lr=0.1))",
        ),
    ],
)
def test_gradients_need_all(runner: Runner, tmp_path: Path, engine: str, wrapped: str) -> None:
    body = LOADER.format(inner="net(rows).sum().backward()").replace(
        "net = nn.Linear(2, 1)", wrapped
    )
    ok, said, errors = run(runner, tmp_path, body, engine, 2)
    assert not ok
    assert "needs all workers" in errors[0], said


RAISED = """
class Own(ValueError):
    def __init__(self, path, *, times):
        super().__init__(f"{path}: {times}")
        self.times = times

class Holds(KeyError):
    def __init__(self, what):
        super().__init__(what, lambda: what)

def fail(kind):
    if kind == "own":
        raise Own("a file", times=3)
    if kind == "holds":
        raise Holds("a function")
    class Local(Own):
        pass
    if kind == "local":
        raise Local("within", times=4)
    if kind == "exit":
        raise SystemExit("that was all")
    open("none/of/that", "w")

for do in (crew.once, crew.in_turn):
    for kind, expected in (("own", Own), ("holds", Holds), ("local", Own), ("file", OSError)):
        try:
            do(fail, kind)
        except expected as error:
            caught = error
        assert isinstance(caught, expected)
        if kind == "own":
            assert str(caught) == "a file: 3" and caught.times == 3, caught
        if kind == "file":
            assert (caught.errno, caught.filename) == (2, "none/of/that")
    assert crew.sum(1) == crew.size()
    try:
        do(fail, "exit")
    except SystemExit as error:
        assert error.code == "that was all"
do(fail, "own")
"""


@pytest.mark.parametrize(("engine", "workers"), [("ddp", 3), ("horovod", 2)])
def test_exceptions_are_the_same_on_all(
    runner: Runner, tmp_path: Path, engine: str, workers: int
) -> None:
    ok, _, errors = run(runner, tmp_path, RAISED, engine, workers)
    assert not ok
    assert all(error.rstrip().endswith("Own: a file: 3") for error in errors), errors
    assert all("WorkerLost: the first worker failed" in other for other in errors[1:])
