"""Shares that follow what each worker can carry."""

import itertools
import random
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as some

from tests.tools.runs import Runner, text_difference
from trainera.crew.balancing import (
    DAMPING,
    EXCHANGED_EVERY,
    TRIED,
    TRIED_UNTIL,
    WARM_UP,
    Pace,
    Stopwatch,
    best_rows,
    better_shares,
    fixed_rows,
    step_time,
)
from trainera.crew.shares import row_counts
from trainera.crew.waiting import Waiting
from trainera.pipeline import convert_script

PACES = some.lists(
    some.builds(Pace, some.floats(0, 0.1), some.floats(1e-5, 1e-2)), min_size=2, max_size=3
)


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(some.integers(0, 40), PACES)
def test_no_other_rows_are_done_sooner(count: int, paces: list[Pace]) -> None:
    rows = best_rows(count, paces)
    least = 2 if count >= 2 * len(paces) else 0
    assert sum(rows) == count and min(rows) >= least
    others = itertools.product(range(least, count + 1), repeat=len(paces) - 1)
    best = min(
        step_time([*other, count - sum(other)], paces)
        for other in others
        if count - sum(other) >= least
    )
    assert step_time(rows, paces) <= best * (1 + 1e-9)


def test_a_device_that_is_as_slow_as_can_be_keeps_what_costs_nothing() -> None:
    assert best_rows(64, [Pace(0.001, 0.001), Pace(5.0, 0.1)]) == [62, 2]


def test_what_is_fixed_is_found_from_steps_of_two_sizes() -> None:
    steps = [(rows, 0.02 + 0.001 * rows) for rows in (20, 20, 40, 40)]
    assert fixed_rows(steps) == pytest.approx(20)
    assert fixed_rows([*steps, (20, 5.0), (40, 7.0)]) == pytest.approx(20)  # two that were held up
    assert fixed_rows([(20, 0.02), (20, 0.03)]) == 0
    assert fixed_rows([(20, 0.03), (40, 0.02)]) == 0


def simulated(slowness: list[tuple[float, float]], noise: float) -> list[list[int]]:
    """The rows of two workers that are so many times as slow in each step, and measure it."""
    chance = random.Random(1)
    watches = [Stopwatch(), Stopwatch()]
    shares: tuple[float, ...] = (1.0, 1.0)
    found = []
    for step, factors in enumerate(slowness):
        tried = WARM_UP <= step < TRIED_UNTIL
        if step >= TRIED_UNTIL and (step - TRIED_UNTIL) % EXCHANGED_EVERY == 0:
            damping = 1.0 if step == TRIED_UNTIL else DAMPING
            shares = better_shares(shares, 128, [one.pace() for one in watches], damping) or shares
        doubled = (step - WARM_UP) // TRIED
        dealt = [2.0 if worker == doubled else 1.0 for worker in (0, 1)] if tried else shares
        found.append(row_counts(128, dealt))
        for watch, rows, factor in zip(watches, found[-1], factors, strict=True):
            seconds = factor * (0.005 + 0.0005 * rows) * (1 + noise * chance.random())
            if step >= WARM_UP:
                watch.note(rows, seconds, tried)
    return found


def test_rows_follow_a_slow_down_within_thirty_steps() -> None:
    parts = [(1.0, 1.0), (1.0, 4.0), (12.0, 1.0), (1.0, 1.0)]
    rows = simulated([part for part in parts for _ in range(100)], noise=0.2)
    for number, factors in enumerate(parts):
        paces = [Pace(factor * 0.005, factor * 0.0005) for factor in factors]
        best = step_time(best_rows(128, paces), paces)
        settled = rows[100 * number + 30 : 100 * (number + 1)]
        late = sorted(step_time(one, paces) / best for one in settled)
        assert late[len(late) // 2] < 1.08, (factors, late)


def test_noise_alone_moves_little() -> None:
    rows = simulated([(1.0, 1.0)] * 300, noise=0.3)
    assert all(abs(one - 64) <= 10 for one, _ in rows[TRIED_UNTIL:])


def test_waiting_within_waiting_counts_once() -> None:
    waiting = Waiting()
    with waiting, waiting:
        assert waiting.spent == 0
    assert waiting.spent > 0


SCRIPT = """\
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.set_default_dtype(torch.float64)
torch.manual_seed(0)
features = torch.randn(333, 5)
labels = (features[:, 0] > 0).long()
loader = DataLoader(
    TensorDataset(features, labels), batch_size=24, shuffle=True, num_workers=LOADERS
)
model = nn.Sequential(nn.Linear(5, 8), nn.BatchNorm1d(8), nn.Dropout(0.3), nn.Linear(8, 2))
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)

for epoch in range(3):
    total = 0.0
    for x, y in loader:
        loss = F.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item() * len(x)
    model.eval()
    with torch.no_grad():
        right = sum((model(x).argmax(1) == y).sum().item() for x, y in loader)
    model.train()
    print(f"{total:.12f} {right} {torch.rand(1).item():.12f}")
"""
SLOW = """\
import os, time, torch
fast = torch.nn.Linear.forward

def slowed(layer, rows):
    if layer.in_features == 5 and layer.training and rows.requires_grad is False:
        if os.environ["RANK"] == "1":
            time.sleep(0.002 * len(rows))
        with open("rows" + os.environ["RANK"], "a") as file:
            print(len(rows), file=file)
    return fast(layer, rows)

torch.nn.Linear.forward = slowed
"""
"""Put before the converted script: the second worker is slow, and all write down their rows."""


@pytest.mark.parametrize(
    ("loaders", "environment"),
    [(0, {}), (2, {}), (0, {"TRAINERA_BACKEND": "gloo"})],
    ids=["at once", "ahead", "gloo"],
)
def test_shares_that_move_learn_the_same(
    loaders: int, environment: dict[str, str], runner: Runner, tmp_path: Path
) -> None:
    script = tmp_path / "train.py"
    script.write_text(SCRIPT.replace("LOADERS", str(loaders)))
    alone = runner.run(script, tmp_path)
    _, files = convert_script(script)
    script.write_text(SLOW + files[0].after.decode())
    environment = {**environment, "TRAINERA_SHARES": "auto"}
    together = runner.run(script, tmp_path, workers=2, env=environment)
    assert alone.ok and together.ok, alone.report() + together.report()
    assert text_difference(alone.output, together.output, 1e-9) is None
    fast, slow = (
        [int(line) for line in (tmp_path / f"rows{rank}").read_text().split()] for rank in (0, 1)
    )
    assert sum(slow[:2]) >= 20
    assert sum(slow[-14:]) < 0.4 * sum(fast[-14:])
