"""A loss between [n, 1] and [n] is over all pairs of samples: on slices it is stopped, not guessed.

The shapes are only known when the script runs, so it is the crew that looks.
"""

from pathlib import Path

import pytest

from tests.rules.tools import beyond, script
from tests.tools.runs import Runner
from trainera.pipeline import convert_script


def converted(folder: Path, targets: str) -> Path:
    source = script().replace("torch.randn(20, 1)", targets)
    path = folder / "train.py"
    path.write_text(source)
    _, files = convert_script(path)
    path.write_bytes(files[0].after)
    return path


@pytest.mark.parametrize("workers", [0, 2])
def test_the_run_is_stopped(workers: int, runner: Runner, tmp_path: Path) -> None:
    run = runner.run(converted(tmp_path, "torch.randn(20)"), tmp_path, workers=workers)
    assert run.ok is (workers == 0)
    said = "meets every other" if workers else "Using a target size"
    assert any(said in errors for errors in run.errors), run.report()


def test_shapes_that_fit_run_through(runner: Runner, tmp_path: Path) -> None:
    run = runner.run(converted(tmp_path, "torch.randn(20, 1)"), tmp_path, workers=2)
    assert run.ok, run.report()


@pytest.mark.parametrize(
    ("loss", "whole"),
    [
        (
            "loss = criterion(model(x).view(-1, 1), y.view(-1))",
            "loss = criterion(loader.gather(model(x).view(-1, 1)), loader.gather(y.view(-1)))",
        ),
        (
            "loss = F.l1_loss(model(x).view(-1), y.view(-1, 1))",
            "loss = F.l1_loss(loader.gather(model(x).view(-1)), loader.gather(y.view(-1, 1)))",
        ),
    ],
)
def test_shapes_that_the_script_shows_are_those_of_the_whole_batch(loss: str, whole: str) -> None:
    assert beyond(loss=loss) == [whole]


def test_a_difference_of_all_pairs_is_of_the_whole_batch() -> None:
    assert beyond(loss="loss = ((model(x).view(-1, 1) - y.view(-1)) ** 2).mean()") == [
        "loss = ((loader.gather(model(x).view(-1, 1)) - loader.gather(y.view(-1))) ** 2).mean()"
    ]
