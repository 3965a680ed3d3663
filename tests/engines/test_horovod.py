"""Horovod's wrapper changes more than it averages: scripts where that would be seen."""

from pathlib import Path

import pytest

from tests.tools.runs import Runner, saved_difference, text_difference
from trainera.pipeline import convert_script

SCRIPTS = sorted((Path(__file__).parent / "scripts").glob("*.py"))


def converted(
    script: Path, folder: Path, engine: str = "horovod", *, standalone: bool = False
) -> Path:
    plan, files = convert_script(script, engine, standalone=standalone)
    assert not plan.refusals, plan.refusals
    target = folder / f"{script.stem}_{engine}.py"
    target.write_bytes(files[0].after)
    return target


@pytest.mark.parametrize("workers", [0, 2])
@pytest.mark.parametrize("script", SCRIPTS, ids=[path.stem for path in SCRIPTS])
def test_as_in_one_process(script: Path, workers: int, runner: Runner, tmp_path: Path) -> None:
    folders = [tmp_path / "sequential", tmp_path / "horovod"]
    for folder in folders:
        folder.mkdir()
    alone = runner.run(script, folders[0])
    together = runner.run(
        converted(script, tmp_path), folders[1], workers=workers, engine="horovod"
    )
    assert alone.ok, alone.report()
    assert together.ok, together.report()
    assert text_difference(alone.output, together.output, 1e-9) is None, together.output
    assert saved_difference(folders[0] / "last.pt", folders[1] / "last.pt", 1e-9) is None
    assert "".join(together.errors) == ""


def test_standalone_needs_no_trainera(runner: Runner, tmp_path: Path) -> None:
    script = SCRIPTS[0]
    alone = runner.run(script, tmp_path)
    carried = converted(script, tmp_path, standalone=True)
    together = runner.run(carried, tmp_path, workers=2, engine="horovod", hidden=["trainera"])
    assert together.ok, together.report()
    assert text_difference(alone.output, together.output, 1e-9) is None, together.output


@pytest.mark.parametrize(
    ("engine", "launched_for", "words"),
    [
        ("horovod", "ddp", "converted for Horovod, and torchrun started it: use horovodrun -np N"),
        ("ddp", "horovod", "converted for torch.distributed, and horovodrun started it"),
    ],
)
def test_the_wrong_launcher(
    engine: str, launched_for: str, words: str, runner: Runner, tmp_path: Path
) -> None:
    """Every worker would be a world of one, and train for itself over the files of the others."""
    script = converted(SCRIPTS[0], tmp_path, engine)
    run = runner.run(script, tmp_path, workers=2, engine=launched_for)
    assert run.statuses == [1, 1]
    assert not (tmp_path / "last.pt").exists()
    assert run.output == ""
    assert words in "".join(run.errors)
