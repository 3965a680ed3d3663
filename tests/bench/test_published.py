"""Published measurements give the published table."""

from pathlib import Path

import pytest
from shared_data import shared_data
from thesis import write_strategy

from trainera.bench.published import is_published, read_published
from trainera.bench.summary import Comparison, compare
from trainera.errors import UserError

BATEL = shared_data("batel")
STRATEGIES = ["CPU", "1 GPU", "1 GPU under DDP", "2 GPUs"]

needs_batel = pytest.mark.skipif(BATEL is None, reason="the thesis's files are not here")


def batel(reference: str) -> Comparison:
    assert BATEL is not None
    (comparison,) = compare(read_published(BATEL), reference)
    return comparison


def is_printed(printed: str, value: float | None) -> bool:
    """Whether a value is the printed one within 2 %, or rounds to what is printed."""
    assert value is not None
    digits = len(printed.partition(".")[2])
    return value == pytest.approx(float(printed), rel=0.02) or f"{value:.{digits}f}" == printed


@needs_batel
@pytest.mark.parametrize(
    ("reference", "printed"),
    [("CPU", ["1", "11.88", "11.77", "21.3"]), ("1 GPU", ["0.08", "1", "0.99", "1.79"])],
)
def test_speedups(reference: str, printed: list[str]) -> None:
    comparison = batel(reference)
    found = [comparison.row(name).speedup.value for name in STRATEGIES]
    assert all(map(is_printed, printed, found)), found


@needs_batel
def test_efficiency_of_two_gpus() -> None:
    row = batel("1 GPU").row("2 GPUs")
    assert row.efficiency == pytest.approx(0.895, rel=0.02)
    assert row.train_efficiency == pytest.approx(0.985, rel=0.02)


@needs_batel
def test_energies() -> None:
    rows = [batel("1 GPU").row(name) for name in STRATEGIES]
    megajoules = [row.energy_j / 1e6 for row in rows if row.energy_j is not None]
    assert all(map(is_printed, ["8.48", "1.17", "1.18", "1.15"], megajoules)), megajoules
    assert {row.energy_source for row in rows} == {"measured"}


@needs_batel
def test_edp_with_and_without_idle_devices() -> None:
    rows = [batel("1 GPU").row(name) for name in STRATEGIES]
    assert all(map(is_printed, ["86.65", "1.00", "1.02", "0.56"], [row.edp for row in rows]))
    assert all(
        map(is_printed, ["103.79", "1", "1.02", "0.51"], [one.edp_with_idle for one in rows])
    )


@needs_batel
def test_what_the_thesis_did_not_print() -> None:
    row = batel("1 GPU").row("2 GPUs, batch 64")
    assert row.speedup.value == pytest.approx(1.59, rel=0.02)
    assert row.metric_change is not None
    assert row.metric_change.low is not None and row.metric_change.high is not None
    assert row.metric_change.low < 0 < row.metric_change.high
    larger = batel("1 GPU").row("2 GPUs").metric_change
    assert larger is not None and larger.value < -0.03


@needs_batel
def test_a_run_that_is_listed_twice_counts_once() -> None:
    comparison = batel("CPU")
    assert comparison.row("CPU").runs == 2
    assert [row.strategy for row in comparison.rows] == [*STRATEGIES, "2 GPUs, batch 64"]
    assert all(len(one.epochs) == 100 for one in comparison.results if one.kind == "timed")


def test_the_format_without_the_thesis(tmp_path: Path) -> None:
    watts = [20.0, 1.0, 30.0, 1.0, 100.0, 16.0]
    write_strategy(
        tmp_path / "Resultados_1GPU",
        ["cuda:0"],
        [(22.0, 2.0, 0.8), (22.5, 2.5, 0.7)],
        [[10.0, 10.0], [10.5, 10.0]],
        watts=watts,
    )
    write_strategy(
        tmp_path / "Resultados_Distribuido_2GPU",
        ["cuda:0", "cuda:1"],
        [(11.0, 2.0, 0.75)],
        [[5.0, 5.0]],
        watts=watts,
        rows=2,
        decimal_comma=True,
    )
    assert is_published(tmp_path)
    (comparison,) = compare(read_published(tmp_path))
    one, two = comparison.rows
    assert (one.time_s.value, two.time_s.value) == (24.5, 13.0)
    assert one.train_s is not None and one.train_s.value == pytest.approx(20.25)
    assert two.speedup.value == pytest.approx(24.5 / 13.0)
    assert one.energy_j == pytest.approx((20 + 30 + 100) * 2.0)
    assert one.energy_with_idle_j == pytest.approx((20 + 30 + 100 + 16) * 2.0)
    assert two.energy_j == pytest.approx((20 + 30 + 100 + 16) * 1.0)
    assert two.edp == pytest.approx(166 * 1.0 / (300 * 2.0))
    epochs = comparison.results[-2].epochs
    assert [epoch.metric for epoch in epochs] == [pytest.approx(0.05)] * 2


def test_another_folder(tmp_path: Path) -> None:
    assert not is_published(tmp_path)
    with pytest.raises(UserError, match="not published measurements"):
        read_published(tmp_path)
