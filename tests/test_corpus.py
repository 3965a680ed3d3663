"""Same output: every corpus script, sequential against converted with 1, 2 and 3 workers."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.tools.corpus import CASES, output_of, settings, tolerance_of, write_converted
from tests.tools.runs import Runner, saved_difference, text_difference

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


def outputs(runner: Runner, case: Path, script: Path, folder: Path, workers: int) -> list[str]:
    """The output of each of the case's runs, one after the other in one folder."""
    times = settings(case).get("runs", 1)
    return [output_of(runner, case, script, folder, workers) for _ in range(times)]


@pytest.mark.parametrize("workers", [1, 2, 3])
@pytest.mark.parametrize(
    "case",
    # The runs of a case stay together: they share its sequential run.
    [pytest.param(case, marks=pytest.mark.xdist_group(case.name)) for case in CASES],
    ids=[case.name for case in CASES],
)
def test_same_output(
    case: Path, workers: int, runner: Runner, sequential: Sequential, tmp_path: Path
) -> None:
    script = write_converted(case, tmp_path / "source")
    expected, expected_folder = sequential(case)
    # One worker is started as a user would: plainly.
    folder = tmp_path / "run"
    actual = outputs(runner, case, script, folder, 0 if workers == 1 else workers)
    tolerance = tolerance_of(case)
    for wanted, got in zip(expected, actual, strict=True):
        difference = text_difference(wanted, got, tolerance, settings(case).get("ignore"))
        assert difference is None, f"{difference}\n--- expected\n{wanted}\n--- found\n{got}"
    for name in settings(case).get("saved", []):
        difference = saved_difference(expected_folder / name, folder / name, tolerance)
        assert difference is None, difference
