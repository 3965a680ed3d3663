"""Same output: every corpus script, sequential against converted, for each engine.

Some of them with unequal shares, too. CORPUS_SHARES=5:2:1 in the environment runs all of them with
such shares instead, by as many workers as there are; with auto, three.
"""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.tools.corpus import CASES, output_of, settings, tolerance_of, write_converted
from tests.tools.runs import Runner, saved_difference, text_difference

# One worker is started as a user would: plainly.
CREWS = [("ddp", 0), ("ddp", 2), ("ddp", 3), ("horovod", 2)]
SHARES_FOR_ALL = os.environ.get("CORPUS_SHARES", "")
WITH_THREE = {
    *("batchnorm_cnn", "gradient_accumulation", "last_batch_of_one", "multi_head"),
    "saving_callback",
}
"""Cases that Horovod's three workers train, too: slices are unequal or empty, or turns nest."""

WITH_SHARES = {
    *(
        "batchnorm_cnn",
        "batches_by_function",
        "class_weights",
        "drawn_after_the_cut",
        "dropout_cnn",
    ),
    *("endless_loader", "gan", "gan_noise", "gradient_accumulation", "gradient_penalty"),
    *("idle_stand_ins", "ignored_tokens", "last_batch_of_one", "monte_carlo_dropout"),
    *("parts_of_tables", "recombined_samples", "regression_l1", "sum_cross_entropy", "sum_loss"),
    *("tiny_gpt", "whole_batch_losses", "zip_unequal"),
}
"""Cases in which it matters how many rows a worker has, or whether it has any."""
SHARES = ["5:2:1", "1:0:3"]

Sequential = Callable[[Path], tuple[list[str], Path]]


@pytest.fixture(scope="module")
def sequential(runner: Runner, tmp_path_factory: pytest.TempPathFactory) -> Sequential:
    """The sequential runs of a case, run once."""
    done: dict[Path, tuple[list[str], Path]] = {}

    def run(case: Path) -> tuple[list[str], Path]:
        if case not in done:
            folder = tmp_path_factory.mktemp(case.name)
            done[case] = (outputs(runner, case, case / "train.py", folder, 0), folder)
        return done[case]

    return run


def outputs(
    runner: Runner,
    case: Path,
    script: Path,
    folder: Path,
    workers: int,
    engine: str = "ddp",
    shares: str = "",
) -> list[str]:
    """The output of each of the case's runs, one after the other in one folder."""
    times = settings(case).get("runs", 1)
    return [
        output_of(runner, case, script, folder, workers, engine=engine, shares=shares)
        for _ in range(times)
    ]


def crews(name: str) -> list[tuple[str, int, str]]:
    """Those who train a case: an engine, how many workers, and their shares if they have some."""
    if SHARES_FOR_ALL:
        workers = SHARES_FOR_ALL.count(":") + 1 if ":" in SHARES_FOR_ALL else 3
        return [("ddp", workers, SHARES_FOR_ALL), ("horovod", workers, SHARES_FOR_ALL)]
    plain = [*CREWS, *([("horovod", 3)] if name in WITH_THREE else [])]
    return [(*crew, "") for crew in plain] + [
        ("ddp", 3, shares) for shares in SHARES if name in WITH_SHARES
    ]


def runs() -> list[object]:
    """Every case with every crew. Those of a case stay together: they share its sequential run."""
    return [
        pytest.param(
            *(case, engine, workers, shares),
            id=f"{case.name}-{engine}-{shares or workers or 'alone'}",
            marks=pytest.mark.xdist_group(case.name),
        )
        for case in CASES
        for engine, workers, shares in crews(case.name)
    ]


@pytest.mark.parametrize(("case", "engine", "workers", "shares"), runs())
def test_same_output(
    case: Path,
    engine: str,
    workers: int,
    shares: str,
    runner: Runner,
    sequential: Sequential,
    tmp_path: Path,
) -> None:
    script = write_converted(case, tmp_path / "source", engine=engine)
    folder = tmp_path / "run"
    if engine == "horovod" and "horovod_says" in settings(case):
        folder.mkdir()
        env = {"TRAINERA_SHARES": shares} if shares else {}
        run = runner.run(script, folder, workers=workers, engine=engine, env=env)
        assert not run.ok
        # Each worker says so, unless the end of another one reaches it first.
        assert any(settings(case)["horovod_says"] in said for said in run.errors), run.report()
        return
    expected, expected_folder = sequential(case)
    actual = outputs(runner, case, script, folder, workers, engine, shares)
    tolerance = tolerance_of(case)
    for wanted, got in zip(expected, actual, strict=True):
        difference = text_difference(wanted, got, tolerance, settings(case).get("ignore"))
        assert difference is None, f"{difference}\n--- expected\n{wanted}\n--- found\n{got}"
    for name in settings(case).get("saved", []):
        difference = saved_difference(expected_folder / name, folder / name, tolerance)
        assert difference is None, difference
