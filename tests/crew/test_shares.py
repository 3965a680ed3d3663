"""How many rows of a batch each worker gets."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as some
from worker_processes import fork_workers

from tests.tools.runs import Runner, text_difference
from trainera.crew.shares import parsed, row_counts, rows_seen, shared_out, told_apart
from trainera.launch.shares import complaint
from trainera.pipeline import convert_script

PARTS = some.lists(some.integers(0, 12), min_size=1, max_size=6).filter(any)


@pytest.mark.parametrize(
    ("count", "words", "rows"),
    [
        (32, "5:2:1", [20, 8, 4]),
        (32, "1:0:3", [8, 0, 24]),
        (10, "1:1:1", [4, 3, 3]),
        (11, "0.5:1", [4, 7]),
        (7, "5:2:1", [5, 2, 0]),  # the third would have had a single row
        (5, "1:1:1", [3, 2, 0]),
        (3, "1:1:1", [3, 0, 0]),
        (1, "1:2:1", [0, 1, 0]),
        (1, "1:1", [1, 0]),
        (0, "1:1", [0, 0]),
    ],
)
def test_rows_by_share(count: int, words: str, rows: list[int]) -> None:
    assert row_counts(count, parsed(words, len(rows))) == rows


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(some.integers(0, 300), PARTS)
def test_whole_rows_near_to_the_shares(count: int, parts: list[int]) -> None:
    rows = shared_out(count, parts)
    assert sum(rows) == count
    assert 1 not in rows or count == 1 or len([part for part in parts if part]) == 1
    assert all(part or not mine for part, mine in zip(parts, rows, strict=True))
    if count >= 4 * sum(parts):  # then nobody's part is near to a single row
        pairs = zip(parts, rows, strict=True)
        assert all(abs(mine - count * part / sum(parts)) < 1 for part, mine in pairs)


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(some.integers(1, 60), some.integers(1, 7))
def test_equal_shares(count: int, workers: int) -> None:
    rows = row_counts(count, [1.0] * workers)
    working = min(workers, max(1, count // 2))
    least, more = divmod(count, working)
    expected = [least + 1] * more + [least] * (working - more) + [0] * (workers - working)
    assert rows == expected


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(some.integers(1, 200), PARTS)
def test_where_nobody_may_go_without(count: int, parts: list[int]) -> None:
    rows = row_counts(count, parts, all_work=True)
    assert sum(rows) == count
    if count >= 2 * len(parts):
        assert min(rows) >= 2
    else:
        assert rows == row_counts(count, [1] * len(parts))


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(some.integers(1, 60), PARTS, some.booleans())
def test_rows_that_are_told_apart(count: int, parts: list[int], may_idle: bool) -> None:
    rows = row_counts(count, parts)
    moved = told_apart(rows, may_idle)
    assert sum(moved) == count and (1 not in moved or 1 in rows)
    assert may_idle or moved.count(0) == rows.count(0)
    if len(set(rows_seen(rows))) > 1:
        assert moved == rows
    elif len([mine for mine in rows if mine > 2]) > 1:
        assert len(set(rows_seen(moved))) > 1


BAD = [
    ("5:2", "there are 2 shares and 3 workers: give each one"),
    ("5:2:1:1", "there are 4 shares and 3 workers: give each one"),
    ("0:0:0", "all shares are 0: somebody has to compute"),
    ("5:2:-1", "a share is a number from 0 on"),
    ("5:2:nan", "a share is a number from 0 on"),
    ("5:2:inf", "a share is a number from 0 on"),
    ("5:two:1", "shares are numbers with colons between them, such as 5:2:1, or auto"),
    ("5:2:", "shares are numbers with colons between them, such as 5:2:1, or auto"),
    ("5,2,1", "shares are numbers with colons between them, such as 5:2:1, or auto"),
]


@pytest.mark.parametrize(("words", "said"), BAD)
def test_shares_that_are_none(words: str, said: str) -> None:
    with pytest.raises(ValueError) as error:
        parsed(words, 3)
    assert str(error.value) == said
    assert complaint(words, 3) == said  # the launcher says so before anything runs


@pytest.mark.parametrize("words", ["5:2:1", "1:0:3", "0.5:1e2:+7"])
def test_shares_that_are_some(words: str) -> None:
    assert complaint(words, 3) is None and complaint("auto", 3) is None
    assert len(parsed(words, 3)) == 3


def test_a_run_with_shares_that_are_none_ends_with_one_message(
    runner: Runner, tmp_path: Path
) -> None:
    script = tmp_path / "train.py"
    script.write_text("from trainera import crew\ncrew.join()\nprint('joined')\n")
    outcomes = fork_workers(runner, script, 3, tmp_path, TRAINERA_SHARES="5:2")
    assert [outcome.status for outcome in outcomes] == [1, 1, 1]
    assert outcomes[0].err == (
        "trainera: TRAINERA_SHARES=5:2: there are 2 shares and 3 workers: give each one\n"
    )
    assert not any(outcome.out for outcome in outcomes)


def test_the_shares_of_the_first_worker_count(runner: Runner, tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    script.write_text(
        "import os\n"
        "if os.environ['RANK'] == '1':\n"
        "    os.environ['TRAINERA_SHARES'] = '9:1'\n"
        "from trainera import crew\n"
        "from trainera.crew.shares import SHARES\n"
        "crew.join()\n"
        "assert SHARES.of(2) == (3.0, 1.0), SHARES.of(2)\n"
    )
    outcomes = fork_workers(runner, script, 2, tmp_path, TRAINERA_SHARES="3:1")
    assert [outcome.status for outcome in outcomes] == [0, 0], outcomes[0].err + outcomes[1].err


SCRIPT = """\
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, Sampler, TensorDataset

torch.set_default_dtype(torch.float64)
torch.manual_seed(0)
features = torch.randn(60, 5)
labels = (features[:, 0] > 0).long()


class Endless(Sampler):
    # Draws from the stream that the body of the loop draws from, one batch at a time.
    def __iter__(self):
        while True:
            yield torch.randint(60, (9,)).tolist()


loader = DataLoader(TensorDataset(features, labels), batch_sampler=Endless())
tests = DataLoader(TensorDataset(features, labels), batch_size=16)
model = nn.Sequential(nn.Linear(5, 8), nn.BatchNorm1d(8), nn.Dropout(0.3), nn.Linear(8, 2))
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)

for step, (x, y) in enumerate(loader):
    loss = F.cross_entropy(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step == 20:
        break
print(f"{loss.item():.12f}")
correct = 0
with torch.no_grad():
    for x, y in tests:  # still in training mode
        out = model(x)
        correct += (out.argmax(1) == y).sum().item()
print(correct, x.shape[1], f"{torch.rand(1).item():.12f}")
"""


@pytest.mark.parametrize("shares", ["1:0:3", "0:5", "7:1", "1:1:0"])
def test_who_has_no_share_stays_in_step(shares: str, runner: Runner, tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    script.write_text(SCRIPT)
    alone = runner.run(script, tmp_path)
    _, files = convert_script(script)
    script.write_bytes(files[0].after)
    workers = shares.count(":") + 1
    together = runner.run(script, tmp_path, workers=workers, env={"TRAINERA_SHARES": shares})
    assert alone.ok and together.ok, alone.report() + together.report()
    assert text_difference(alone.output, together.output, 1e-9) is None
