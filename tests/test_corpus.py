"""Same output: every corpus script, sequential against converted, for each engine."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.tools.corpus import CASES, output_of, settings, tolerance_of, write_converted
from tests.tools.runs import Runner, saved_difference, text_difference

# One worker is started as a user would: plainly.
CREWS = [("ddp", 0), ("ddp", 2), ("ddp", 3), ("horovod", 2)]
WITH_THREE = {
    *("batchnorm_cnn", "gradient_accumulation", "last_batch_of_one", "multi_head"),
    "saving_callback",
}
"""Cases that Horovod's three workers train, too: slices are unequal or empty, or turns nest."""

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
    runner: Runner, case: Path, script: Path, folder: Path, workers: int, engine: str = "ddp"
) -> list[str]:
    """The output of each of the case's runs, one after the other in one folder."""
    times = settings(case).get("runs", 1)
    return [output_of(runner, case, script, folder, workers, engine=engine) for _ in range(times)]


def runs() -> list[object]:
    """Every case with every crew. Those of a case stay together: they share its sequential run."""
    return [
        pytest.param(
            case,
            engine,
            workers,
            id=f"{case.name}-{engine}-{workers or 'alone'}",
            marks=pytest.mark.xdist_group(case.name),
        )
        for case in CASES
        for engine, workers in [*CREWS, *([("horovod", 3)] if case.name in WITH_THREE else [])]
    ]


@pytest.mark.parametrize(("case", "engine", "workers"), runs())
def test_same_output(
    case: Path, engine: str, workers: int, runner: Runner, sequential: Sequential, tmp_path: Path
) -> None:
    script = write_converted(case, tmp_path / "source", engine=engine)
    folder = tmp_path / "run"
    if engine == "horovod" and "horovod_says" in settings(case):
        folder.mkdir()
        run = runner.run(script, folder, workers=workers, engine=engine)
        assert not run.ok
        # Each worker says so, unless the end of another one reaches it first.
        assert any(settings(case)["horovod_says"] in said for said in run.errors), run.report()
        return
    expected, expected_folder = sequential(case)
    actual = outputs(runner, case, script, folder, workers, engine)
    tolerance = tolerance_of(case)
    for wanted, got in zip(expected, actual, strict=True):
        difference = text_difference(wanted, got, tolerance, settings(case).get("ignore"))
        assert difference is None, f"{difference}\n--- expected\n{wanted}\n--- found\n{got}"
    for name in settings(case).get("saved", []):
        difference = saved_difference(expected_folder / name, folder / name, tolerance)
        assert difference is None, difference
