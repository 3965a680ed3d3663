"""Same output: every corpus script, sequential against converted with 1, 2 and 3 workers."""

import shutil
import tomllib
from pathlib import Path
from typing import Any

import pytest

from tests.tools.runs import Runner, saved_difference, text_difference
from trainera.pipeline import convert_script, own_modules

CORPUS = Path(__file__).with_name("corpus")
CASES = sorted(path.parent for path in CORPUS.glob("*/case.toml"))
TOLERANCE = {"float64": 1e-9, "float32": 2e-3}


def settings(case: Path) -> dict[str, Any]:
    return tomllib.loads((case / "case.toml").read_text())


@pytest.fixture(scope="module")
def sequential(runner: Runner, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """The sequential runs of a case, run once."""
    done: dict[Path, tuple[list[str], Path]] = {}

    def run(case: Path) -> tuple[list[str], Path]:
        if case not in done:
            folder = tmp_path_factory.mktemp(case.name)
            done[case] = (runs(runner, case, case / "train.py", folder, 0), folder)
        return done[case]

    return run


def runs(runner: Runner, case: Path, script: Path, folder: Path, workers: int) -> list[str]:
    """The output of each of the case's runs, one after the other in one folder."""
    outputs = []
    for _ in range(settings(case).get("runs", 1)):
        run = runner.run(script, folder, settings(case).get("arguments", []), workers)
        assert run.ok, run.report()
        outputs.append(run.output)
    return outputs


def write_converted(case: Path, folder: Path, *, standalone: bool = False) -> Path:
    """Converts a case into a folder and returns its script."""
    plan, converted = convert_script(case / "train.py", standalone=standalone)
    assert not plan.refusals, plan.refusals
    for module in own_modules(case / "train.py"):
        target = folder / module.relative_to(case)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(module, target)
    for file in converted:
        (folder / file.path.relative_to(case)).write_bytes(file.after)
    return folder / "train.py"


@pytest.mark.parametrize("workers", [1, 2, 3])
@pytest.mark.parametrize("case", CASES, ids=lambda path: path.name)
def test_same_output(
    case: Path, workers: int, runner: Runner, sequential: Any, tmp_path: Path
) -> None:
    source, folder = tmp_path / "source", tmp_path / "run"
    source.mkdir()
    folder.mkdir()
    script = write_converted(case, source)
    expected, expected_folder = sequential(case)
    # One worker is started as a user would: plainly.
    actual = runs(runner, case, script, folder, 0 if workers == 1 else workers)
    tolerance = settings(case).get("tolerance", TOLERANCE[settings(case)["dtype"]])
    for wanted, got in zip(expected, actual, strict=True):
        difference = text_difference(wanted, got, tolerance, settings(case).get("ignore"))
        assert difference is None, f"{difference}\n--- expected\n{wanted}\n--- found\n{got}"
    for name in settings(case).get("saved", []):
        difference = saved_difference(expected_folder / name, folder / name, tolerance)
        assert difference is None, difference
