"""Random numbers in the body of a loop: for which rows they are, and what cannot be told."""

from pathlib import Path

import pytest
import torch

from tests.tools.runs import Runner
from trainera.crew.joined_rows import JoinedRows
from trainera.crew.layouts import Known, Layout, Seen, guessed, told_by
from trainera.crew.shares import row_counts, told_apart
from trainera.crew.state import CREW, Step, StepValues


def seen(shape: tuple[int, ...], *here: int, apart: set[bool] | None = None) -> Seen:
    return Seen("normal", shape, list(here), dict.fromkeys(shape, apart or set()))


def test_rows_follow_the_number_of_samples() -> None:
    assert told_by([seen((5, 64), 5), seen((3, 64), 3)]) == Known(
        Layout(0, 1, False, 0), (5, 64), True
    )
    assert told_by([seen((7, 5, 5), 5), seen((7, 3, 5), 3)]) == Known(
        Layout(1, 1, False, 0), (7, 5, 5), True
    )


def test_what_is_the_same_for_all() -> None:
    assert told_by([seen((5, 3), 5), seen((5, 3), 3)]) == Known(None, (5, 3), True)


def test_nothing_is_told_by_equally_many_samples() -> None:
    assert told_by([seen((8, 3), 4), seen((8, 3), 4)]) is None
    # The loop around it has unequal slices, this one not.
    assert told_by([seen((12, 16), 12, 7), seen((12, 16), 12, 5)]) is None
    assert told_by([seen((3,), 4), seen((3,), 4)]) == Known(None, (3,), True)


def test_rows_of_the_loop_around() -> None:
    found = told_by([seen((7, 2), 4, 7), seen((5, 2), 4, 5)])
    assert found == Known(Layout(0, 1, False, 1), (7, 2), True)


@pytest.mark.parametrize("apart", [True, False])
def test_several_entries_for_each_row(apart: bool) -> None:
    workers = [seen((10, 4), 5, apart={apart}), seen((6, 4), 3, apart={True, False})]
    assert told_by(workers) == Known(Layout(0, 2, apart, 0), (10, 4), True)


@pytest.mark.parametrize(
    ("workers", "words"),
    [
        ([seen((10, 4), 5), seen((6, 4), 3)], "in which order is not seen"),
        ([seen((4, 2), 5), seen((3, 2), 3)], "not on how many rows a worker has"),
        ([seen((5, 5), 5), seen((3, 3), 3)], "not on how many rows a worker has"),
        ([seen((5,), 5), seen((3, 3), 3)], "do not draw the same"),
    ],
)
def test_what_cannot_be_told(workers: list[Seen], words: str) -> None:
    found = told_by(workers)
    assert isinstance(found, str) and words in found


def test_guesses() -> None:
    step = Step(StepValues(), 8, 4, 0, 4, False, False)
    assert guessed((4, 3), [step]).layout == Layout(0, 1, False, 0)
    assert guessed((12, 4), [step]).layout == Layout(0, 3, False, 0)
    assert guessed((7, 4), [step]).layout == Layout(1, 1, False, 0)
    assert guessed((8, 3), [step]).layout is None  # as many as the whole batch has
    assert guessed((3,), [step]).layout is None


@pytest.mark.parametrize("workers", [2, 3, 5])
@pytest.mark.parametrize("count", range(1, 40))
def test_uneven_slices(count: int, workers: int) -> None:
    for may_idle in (True, False):
        even = row_counts(count, [1.0] * workers)
        sizes = told_apart(even, may_idle)
        assert sum(sizes) == count
        assert 1 not in sizes or count == 1
        idle = sizes.count(0) > even.count(0)
        assert may_idle or not idle
        if count > 2 * workers:
            assert len(set(sizes)) > 1


@pytest.mark.parametrize(
    ("join", "apart"),
    [
        (lambda x: torch.cat([x, x]), {True}),
        (lambda x: torch.stack([x, x]).flatten(0, 1), {True}),
        (lambda x: torch.stack([x, x], 1).reshape(10, 7), {False}),
        (lambda x: x.repeat(2, 1), {True}),
        (lambda x: x.repeat_interleave(2, 0), {False}),
    ],
)
def test_how_rows_were_joined(
    join: "object", apart: set[bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(CREW, "open", {1: Step(StepValues(), 8, 5, 0, 5, True, False)})
    watch = JoinedRows()
    watch.begin()
    try:
        assert callable(join)
        assert join(torch.zeros(5, 7)).shape == (10, 7)
        assert watch.ways(10) == apart
    finally:
        CREW.open.clear()
        watch.go_on()
    assert "view" not in vars(torch.Tensor)


SCRIPT = """
import torch
from torch.utils.data import DataLoader, TensorDataset
from trainera import crew

crew.join()
torch.manual_seed(0)
loader = crew.split(DataLoader(TensorDataset(torch.arange(17.0)), batch_size={batch}){options})
for (x,) in loader:
    {draw}
"""


@pytest.mark.parametrize(
    ("draw", "batch", "options", "words"),
    [
        ("torch.randperm(len(x))", 8, "", "it is an order of the rows of one worker"),
        ("torch.rand(len(x) + 1)", 8, "", "not on how many rows a worker has"),
        ("torch.rand(len(x))", 8, ", skip_empty=True", "some of which skip it"),
    ],
)
def test_what_ends_the_run(
    runner: Runner, tmp_path: Path, draw: str, batch: int, options: str, words: str
) -> None:
    script = tmp_path / "train.py"
    script.write_text(SCRIPT.format(draw=draw, batch=batch, options=options))
    run = runner.run(script, tmp_path, workers=2)
    assert not run.ok
    assert any(words in said for said in run.errors), run.report()


KINDS = """
import torch
from torch.utils.data import DataLoader, TensorDataset
from trainera import crew

crew.join()
torch.manual_seed(0)
loader = crew.split(DataLoader(TensorDataset(torch.arange(23.0)), batch_size=8, shuffle=True))
for (x,) in loader:
    rows = x.view(-1, 1).expand(-1, 6)
    drawn = [
        torch.empty(len(x), 3).cauchy_(), torch.empty(len(x)).log_normal_(),
        torch.empty(len(x), 2).geometric_(0.3), torch.poisson(rows),
        torch._standard_gamma(rows + 1),
        torch.binomial(rows, torch.full_like(rows, 0.4)), torch._sample_dirichlet(rows + 1),
        torch.normal(rows, rows + 1), torch.normal(0.0, rows + 1), torch.bernoulli(rows / 30),
        torch.multinomial(rows + 1, 4, replacement=True), torch.multinomial(rows + 1, 3),
        torch.randint(0, 99, (len(x), 2)), torch.nn.functional.rrelu(rows - 9, training=True),
        torch.randn(2, len(x)).T, torch.empty(len(x), 3, 2, 2).to(
            memory_format=torch.channels_last).uniform_().flatten(1),
        torch.nn.functional.alpha_dropout(rows + 1, 0.5, True),
        torch.nn.functional.dropout1d((rows + 1)[:, :, None], 0.5, True)[:, :, 0],
    ]
    alike = torch.rand(4)
    for one in drawn:
        print(loader.gather(one).flatten().tolist())
    print(alike.tolist(), torch.randperm(5).tolist())
print(torch.rand(2).tolist())
"""


def test_every_kind_of_draw(runner: Runner, tmp_path: Path) -> None:
    """The numbers of one process, on two and on three."""
    script = tmp_path / "train.py"
    script.write_text(KINDS)
    alone = runner.run(script, tmp_path, workers=1)
    assert alone.ok, alone.report()
    for workers in (2, 3):
        run = runner.run(script, tmp_path, workers=workers)
        assert run.ok, run.report()
        assert run.output == alone.output
