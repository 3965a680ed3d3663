"""``--batch per-worker`` with ``--lr`` and ``--warmup``: the schedule, step by step."""

import math
import re
from pathlib import Path

import pytest

from tests.tools.runs import Runner, text_difference
from trainera.cli.main import main
from trainera.pipeline import convert_script
from trainera.plan import Options

SCRIPT = Path(__file__).parent / "scripts" / "grown_batch.py"
STEPS = 4  # an epoch: 60 samples in batches of 8 for each of two workers
EPOCHS = 4


def factors(goal: float, warmup: float) -> list[float]:
    """The published formula: from 1 to the goal over the first epochs, then the goal."""
    steps = range(STEPS * EPOCHS)
    return [1 + (goal - 1) * min(1, step / (warmup * STEPS)) if warmup else goal for step in steps]


@pytest.mark.parametrize("engine", ["ddp", "horovod"])
@pytest.mark.parametrize(
    ("rate", "goal", "warmup"), [("linear", 2, 2.5), ("sqrt", math.sqrt(2), 0), ("keep", 1, 0)]
)
def test_the_schedule(
    engine: str, rate: str, goal: float, warmup: float, runner: Runner, tmp_path: Path
) -> None:
    options = Options(batch="per-worker", lr=rate, warmup_epochs=warmup)  # type: ignore[arg-type]
    plan, files = convert_script(SCRIPT, engine, options)
    assert not plan.refusals, plan.refusals
    script = tmp_path / "train.py"
    script.write_bytes(files[0].after)
    wanted = factors(goal, warmup)
    arguments = ["--batch-size", "16", "--factors", *(f"{factor:.17g}" for factor in wanted)]
    alone = runner.run(SCRIPT, tmp_path, arguments)
    together = runner.run(script, tmp_path, workers=2, engine=engine)
    assert alone.ok, alone.report()
    assert together.ok, together.report()
    assert text_difference(alone.output, together.output, 1e-9) is None, together.output
    rates = [float(found) for found in re.findall(r"rate (\S+)", together.output)]
    halved = [0.04 * 0.5 ** (step // STEPS // 2) for step in range(STEPS * EPOCHS)]
    assert rates == pytest.approx([a * b for a, b in zip(wanted, halved, strict=True)], rel=1e-9)


def test_alone_nothing_grows(runner: Runner, tmp_path: Path) -> None:
    options = Options(batch="per-worker", lr="linear", warmup_epochs=5)
    _, files = convert_script(SCRIPT, "ddp", options)
    script = tmp_path / "train.py"
    script.write_bytes(files[0].after)
    assert runner.run(script, tmp_path).output == runner.run(SCRIPT, tmp_path).output


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--lr", "linear"], "--lr linear is for a batch that grows"),
        (["--batch", "per-worker", "--warmup", "5"], "--warmup 5: learning rates only warm up"),
        (
            ["--batch", "per-worker", "--lr", "sqrt", "--warmup=-1"],
            "--warmup -1: learning rates only warm up",
        ),
        (["--fp16"], "--fp16: PyTorch DDP has no such option"),
    ],
)
def test_options_that_make_no_sense(
    options: list[str], words: str, capfd: pytest.CaptureFixture[str]
) -> None:
    assert main(["check", str(SCRIPT), *options]) == 2
    assert words in capfd.readouterr().err
