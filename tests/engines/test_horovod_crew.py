"""The crew on Horovod: what no converted script of the corpus happens to do."""

from pathlib import Path

import pytest

from tests.tools.runs import Runner

SCRIPT = Path(__file__).with_name("crew_on_horovod.py")
SECTIONS = ["thawed_and_added", "hooks_run_once", "one_start_for_all", "in_inference_mode", "fp16"]


def test_as_in_one_process(runner: Runner, tmp_path: Path) -> None:
    run = runner.run(SCRIPT, tmp_path, SECTIONS, workers=2, engine="horovod")
    assert run.ok, run.report()
    assert run.output == "".join(f"{section} holds\n" for section in SECTIONS)


@pytest.mark.parametrize(
    ("section", "words"),
    [
        ("adasum", "Adasum needs a Horovod with MPI"),
        ("bfloat16", "Horovod cannot send gradients in torch.bfloat16"),
    ],
)
def test_what_horovod_cannot_do(section: str, words: str, runner: Runner, tmp_path: Path) -> None:
    run = runner.run(SCRIPT, tmp_path, [section], workers=2, engine="horovod")
    assert run.statuses == [1, 1]
    assert "holds" not in run.output
    assert words in "".join(run.errors)
