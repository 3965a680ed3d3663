"""Same output: every script of the tf.keras 2 corpus, sequential against converted workers."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.tools.corpus import settings, told, tolerance_of, write_converted
from tests.tools.runs import Runner, saved_difference, text_difference

CORPUS = Path(__file__).with_name("corpus") / "keras2"
CASES = sorted(path.parent for path in CORPUS.glob("*/case.toml"))

Sequential = Callable[[Path], tuple[str, Path]]


def outputs(
    runner: Runner, case: Path, script: Path, folder: Path, workers: int = 0, engine: str = ""
) -> str:
    """What a case prints in all of its runs, one after the other in one folder."""
    found = ""
    for _ in range(settings(case).get("runs", 1)):
        arguments = settings(case).get("arguments", [])
        run = runner.run(script, folder, arguments, workers, timeout=200, engine=engine)
        assert run.ok, run.report()
        found += run.output
    return found


@pytest.fixture(scope="module")
def sequential(keras2: Runner, tmp_path_factory: pytest.TempPathFactory) -> Sequential:
    """The sequential run of a case, run once."""
    done: dict[Path, tuple[str, Path]] = {}

    def run(case: Path) -> tuple[str, Path]:
        if case not in done:
            folder = tmp_path_factory.mktemp(case.name)
            done[case] = (outputs(keras2, case, case / "train.py", folder), folder)
        return done[case]

    return run


def crews_of(case: Path) -> tuple[tuple[str, int], ...]:
    """Horovod for all, in turns of two and three; every third also on TensorFlow's collectives.

    Plainly, as a world of one, for a few. Some cases say themselves how many workers they need.
    """
    number = CASES.index(case)
    found = [("horovod", workers) for workers in settings(case).get("workers", [2 + number % 2])]
    if number % 3 == 0:
        found.append(("multiworker", 3 - number % 2))
    if number % 6 == 0:
        found.append((("horovod", "multiworker")[number % 4 // 2], 0))
    return tuple(found)


@pytest.mark.parametrize(
    ("case", "engine", "workers"),
    [
        pytest.param(
            case,
            engine,
            workers,
            id=f"{case.name}-{engine}-{workers}",
            marks=pytest.mark.xdist_group(case.name),
        )
        for case in CASES
        for engine, workers in crews_of(case)
    ],
)
def test_same_output(
    case: Path, engine: str, workers: int, keras2: Runner, sequential: Sequential, tmp_path: Path
) -> None:
    script = write_converted(case, tmp_path / "source", engine=engine)
    expected, expected_folder = sequential(case)
    folder = tmp_path / "run"
    folder.mkdir()
    actual = outputs(keras2, case, script, folder, workers, engine)
    tolerance, ignore = tolerance_of(case), settings(case).get("ignore")
    difference = text_difference(told(expected, ignore), told(actual, ignore), tolerance)
    assert difference is None, f"{difference}\n--- expected\n{expected}\n--- found\n{actual}"
    for name in settings(case).get("saved", []):
        difference = saved_difference(expected_folder / name, folder / name, tolerance)
        assert difference is None, difference


def test_alone_with_its_runtime(keras2: Runner, sequential: Sequential, tmp_path: Path) -> None:
    case = CORPUS / "siamese_triplets"
    script = write_converted(case, tmp_path / "source", engine="horovod", standalone=True)
    run = keras2.run(script, tmp_path, [], 2, timeout=200, engine="horovod", hidden=["trainera"])
    assert run.ok, run.report()
    assert text_difference(sequential(case)[0], run.output, tolerance_of(case)) is None
