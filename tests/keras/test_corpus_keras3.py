"""Same output: every script of the Keras 3 corpus, sequential against spread over devices."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.tools.corpus import output_of, settings, told, tolerance_of, write_converted
from tests.tools.runs import Runner, saved_difference, text_difference

CORPUS = Path(__file__).with_name("corpus") / "keras3"
CASES = sorted(path.parent for path in CORPUS.glob("*/case.toml"))
DEVICES = (1, 2, 3)
"""One is what a script that is started plainly has; few batches are multiples of three."""

Sequential = Callable[[Path], tuple[str, Path]]


@pytest.fixture(scope="module")
def sequential(keras3: Runner, tmp_path_factory: pytest.TempPathFactory) -> Sequential:
    """The sequential run of a case, run once."""
    done: dict[Path, tuple[str, Path]] = {}

    def run(case: Path) -> tuple[str, Path]:
        if case not in done:
            folder = tmp_path_factory.mktemp(case.name)
            done[case] = (output_of(keras3, case, case / "train.py", folder, 0), folder)
        return done[case]

    return run


def devices_of(case: Path) -> tuple[int, ...]:
    """All of them for a third of the cases; the others take turns, which saves minutes."""
    number = CASES.index(case)
    return DEVICES if number % 3 == 0 else (2 + number % 2,)


@pytest.mark.parametrize(
    ("case", "devices"),
    [
        pytest.param(
            case, devices, id=f"{case.name}-{devices}", marks=pytest.mark.xdist_group(case.name)
        )
        for case in CASES
        for devices in devices_of(case)
    ],
)
def test_same_output(
    case: Path, devices: int, keras3: Runner, sequential: Sequential, tmp_path: Path
) -> None:
    script = write_converted(case, tmp_path / "source", engine="jax")
    expected, expected_folder = sequential(case)
    folder = tmp_path / "run"
    folder.mkdir()
    run = keras3.run(
        script,
        folder,
        settings(case).get("arguments", []),
        timeout=150,
        env=spread_over(devices) if devices > 1 else None,
    )
    assert run.ok, run.report()
    tolerance = tolerance_of(case)
    ignore = settings(case).get("ignore")
    difference = text_difference(told(expected, ignore), told(run.output, ignore), tolerance)
    assert difference is None, f"{difference}\n--- expected\n{expected}\n--- found\n{run.output}"
    for name in settings(case).get("saved", []):
        difference = saved_difference(expected_folder / name, folder / name, tolerance)
        assert difference is None, difference


def spread_over(devices: int) -> dict[str, str]:
    """The variables that `trainera run -n` gives."""
    from trainera import engines

    return engines.get("jax").variables(devices, {})
