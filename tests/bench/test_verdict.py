"""The sentence at the top: a winner only where there is one."""

from dataclasses import replace

import pytest
from made import made_runs

from trainera.bench.statistics import ratio, ratio_of_medians
from trainera.bench.summary import compare, lower_is_better
from trainera.report.verdict import Verdict, judge
from trainera.results import Result

SLOW = [10.0, 10.1, 9.9, 10.2, 9.8]
FAST = [5.0, 5.1, 4.9, 5.05, 4.95]


def verdict(*runs: list[Result]) -> Verdict:
    (comparison,) = compare([run for some in runs for run in some])
    return judge(comparison)


def test_a_clear_winner_with_its_margin() -> None:
    found = verdict(made_runs("sequential", SLOW), made_runs("ddp 2", FAST, workers=2))
    assert (found.outcome, found.best) == ("winner", "ddp 2")
    assert found.text.startswith("Use ddp 2: 2.00 times as fast as sequential (95 % interval 1.9")
    assert "sequential, takes 100 % longer" in found.text


def test_too_close_to_call() -> None:
    other = [10.05, 9.95, 10.15, 9.85, 10.0]
    found = verdict(made_runs("sequential", SLOW), made_runs("ddp 1", other))
    assert found.outcome == "close"
    assert found.text.startswith("Too close to call between")


DRIFT = [1.0, 1.5, 0.7, 1.2, 0.8]
"""How fast the machine was while each block ran."""


def test_what_slows_a_whole_block_down_hides_no_winner() -> None:
    slow = [10 * part for part in DRIFT]
    fast = [9 * part for part in DRIFT]
    found = verdict(made_runs("sequential", slow), made_runs("ddp 2", fast, workers=2))
    assert (found.outcome, found.best) == ("winner", "ddp 2")
    assert "1.11 times as fast as sequential (95 % interval 1.11 to 1.11)" in found.text


def test_runs_that_were_not_made_in_blocks_are_not_paired() -> None:
    slow = [10 * part for part in DRIFT]
    fast = [9 * part for part in DRIFT]
    runs = [
        replace(one, block=0)
        for one in (*made_runs("sequential", slow), *made_runs("ddp 2", fast, workers=2))
    ]
    assert verdict(runs).outcome == "close"


def test_blocks_in_which_one_of_two_failed_are_left_out() -> None:
    found = ratio([(0, 2.0), (1, 4.0), (2, 60.0)], [(0, 1.0), (1, 2.0), (3, 1.0)])
    assert (found.value, found.runs) == (2.0, 2)


def test_a_lead_by_medians_that_the_blocks_deny_is_none() -> None:
    """The first was faster in every block but one; yet the second's median is lower."""
    first = [10.0, 1.0, 1.0, 1.0, 30.0, 30.0, 30.0]
    second = [9.9, 1.1, 1.1, 1.1, 31.0, 31.0, 31.0]
    found = verdict(made_runs("sequential", first), made_runs("ddp 1", second))
    assert found.outcome == "close"


def test_no_winner_of_four_runs() -> None:
    found = verdict(made_runs("sequential", SLOW[:4]), made_runs("ddp 2", FAST[:4], workers=2))
    assert found.outcome == "few"
    assert "5 runs of a strategy are needed, and there were 4 runs" in found.text
    assert "So far ddp 2 was the fastest" in found.text


def test_a_strategy_with_too_few_runs_is_not_judged() -> None:
    found = verdict(
        made_runs("sequential", SLOW),
        made_runs("ddp 2", FAST, workers=2),
        made_runs("ddp 1", [20.0]),
    )
    assert (found.outcome, found.best) == ("winner", "ddp 2")
    assert "ddp 1 is not judged: there was 1 run of it." in found.remarks


def test_no_winner_by_figures_that_cannot_be_right() -> None:
    runs = [*made_runs("sequential", [30.0] * 5), *made_runs("ddp 2", FAST, workers=2)]
    published = [replace(one, peak_memory_bytes=()) for one in runs]
    assert verdict(published).outcome == "winner"  # the devices may be others
    found = verdict(runs)
    assert found.text.startswith("No winner is named: these times cannot all be right.")
    assert any("An efficiency above 1.2" in one for one in found.remarks)


def test_a_winner_by_little_accuracy_says_so() -> None:
    found = verdict(
        made_runs("sequential", SLOW, metrics=[0.9, 0.8, 0.9, 0.7, 0.8]),
        made_runs("ddp 2", FAST, workers=2, metrics=[0.8, 0.9, 0.8, 0.7, 0.7]),
    )
    assert (found.outcome, found.best) == ("winner", "ddp 2")
    assert "), with accuracy 0.78 instead of 0.82; the next, sequential" in found.text


def test_accuracies_of_one_seed_are_compared_seed_by_seed() -> None:
    """They differ much from seed to seed, and little but always from strategy to strategy."""
    found = verdict(
        made_runs("sequential", SLOW, metrics=[0.9, 0.5, 0.8, 0.6, 0.7]),
        made_runs("ddp 2", FAST, workers=2, metrics=[0.85, 0.46, 0.75, 0.56, 0.65]),
    )
    assert found.best == "sequential"


@pytest.mark.parametrize(
    ("name", "low"),
    [("val_loss", True), ("error", True), ("MAE", True), ("test wer", True), ("accuracy", False),
     ("power", False), ("f1", False), ("answer", False)],
)  # fmt: skip
def test_what_is_better_when_low(name: str, low: bool) -> None:
    assert lower_is_better(name) is low


@pytest.mark.parametrize("figure", [float("nan"), float("inf"), None])
def test_what_diverged_is_not_recommended(figure: float | None) -> None:
    good = made_runs("sequential", SLOW, metrics=[0.5] * 5)
    bad = [replace(one, metric=figure) for one in made_runs("ddp 2", FAST, workers=2)]
    for runs in (bad, [bad[0], *made_runs("ddp 2", FAST, workers=2, metrics=[0.5] * 5)[1:]]):
        found = verdict(good, runs)
        assert found.best == "sequential"
        assert found.text == "Use sequential: all others learn worse."
        assert any("may have diverged" in one for one in found.remarks)


def test_faster_but_learning_worse_is_not_recommended() -> None:
    good, bad = [0.79, 0.80, 0.81, 0.80, 0.79], [0.70, 0.72, 0.75, 0.60, 0.71]
    found = verdict(
        made_runs("sequential", SLOW, metrics=good),
        made_runs("ddp 2", workers=2, times_s=[one * 1.2 for one in FAST], metrics=good),
        made_runs("ddp 2 per-worker", FAST, workers=2, metrics=bad),
    )
    assert found.best == "ddp 2"
    (remark,) = found.remarks
    assert remark.startswith("ddp 2 per-worker was faster still, but it learns worse")


def test_runs_of_one_seed_have_no_interval() -> None:
    found = verdict(
        made_runs("sequential", SLOW, metrics=[0.8] * 5),
        made_runs("ddp 2", FAST, workers=2, metrics=[0.7] * 5),
    )
    (remark,) = found.remarks
    assert "changes by -0.1 (in all runs alike, as they have one seed" in remark


def test_runs_that_print_no_figure() -> None:
    runs = [*made_runs("sequential", SLOW), *made_runs("ddp 2", FAST)]
    found = verdict([replace(one, metric=None, metric_name="") for one in runs])
    assert any("so whether they learn as well is not compared" in one for one in found.remarks)


def test_a_last_digit_is_not_learning_worse() -> None:
    found = verdict(
        made_runs("sequential", SLOW, metrics=[0.9] * 5),
        made_runs("ddp 2", workers=2, times_s=FAST, metrics=[0.899] * 5),
    )
    assert (found.best, found.remarks) == ("ddp 2", ())


def test_failures_are_told() -> None:
    failed = Result(workload="digits", strategy="ddp 2", workers=2, state="failed")
    said = replace(failed, message="Traceback\n  line 3\nValueError: no such file.\n")
    other = replace(said, strategy="ddp 3", workers=3)
    found = verdict(made_runs("sequential", SLOW), [said, other])
    assert found.outcome == "single"
    assert found.remarks == ("Failed: ddp 2 and ddp 3 (ValueError: no such file).",)
    assert verdict(made_runs("sequential", SLOW), [failed]).remarks == ("Failed: ddp 2.",)
    assert verdict([failed]).outcome == "none"


def test_an_interval_holds_the_true_ratio() -> None:
    """Of 60 samples of known distributions, about 95 % of the intervals hold the truth."""
    import random

    draw = random.Random(7)
    held = 0
    for _ in range(60):
        first = [20 * draw.lognormvariate(0, 0.05) for _ in range(15)]
        second = [10 * draw.lognormvariate(0, 0.05) for _ in range(15)]
        for found in (
            ratio_of_medians(first, second),
            ratio(list(enumerate(first)), list(enumerate(second))),
        ):
            assert found.low is not None and found.high is not None
            held += found.low <= 2.0 <= found.high
    assert held >= 2 * 52


def test_one_run_has_no_interval() -> None:
    found = ratio_of_medians([2.0], [1.0, 1.0])
    assert (found.value, found.low, found.excludes(1.0)) == (2.0, None, False)


def test_energy_and_edp_of_a_row() -> None:
    (comparison,) = compare(
        [
            *made_runs("sequential", SLOW, energy_j=100.0),
            *made_runs("ddp 2", FAST, workers=2, energy_j=80.0),
        ]
    )
    row = comparison.row("ddp 2")
    assert (row.energy_j, row.energy_with_idle_j) == (80.0, 130.0)
    assert row.edp == pytest.approx(80 * 8.0 / (100 * 13.0))
    assert row.edp_with_idle == pytest.approx(130 * 8.0 / (150 * 13.0))
    assert row.efficiency == pytest.approx(1.0)
    assert comparison.target == pytest.approx(0.9 * 0.99)
    assert row.time_to_target_s == pytest.approx(5.0)


def test_efficiency_against_a_reference_of_two() -> None:
    runs = [*made_runs("ddp 2", SLOW, workers=2), *made_runs("ddp 4", FAST, workers=4)]
    (comparison,) = compare(runs)
    assert comparison.reference == "ddp 2"
    assert comparison.row("ddp 2").efficiency == 1.0
    assert comparison.row("ddp 4").efficiency == pytest.approx(1.0)
    assert comparison.row("ddp 4").train_efficiency == pytest.approx(1.0)


def test_a_fastest_of_few_runs_that_learned_less_is_told() -> None:
    slow = made_runs("sequential", SLOW[:1], metrics=[0.97])
    fast = made_runs("ddp 2 per-worker", FAST[:1], workers=2, metrics=[0.72])
    found = verdict(slow, fast)
    assert found.outcome == "few"
    assert "was the fastest, with accuracy 0.72 instead of 0.97." in found.text
