"""``--batch per-worker`` with ``--lr`` and ``--warmup`` for tf.keras, step by step."""

import math
from pathlib import Path

import pytest

from tests.tools.runs import Run, Runner, text_difference
from trainera.cli.main import main
from trainera.pipeline import convert_script
from trainera.plan import Options

SCRIPT = Path(__file__).with_name("grown_batch.py")
CORPUS = Path(__file__).with_name("corpus") / "keras2"


def grown(
    runner: Runner, folder: Path, engine: str, workers: int, options: Options, *words: str
) -> Run:
    """Runs the script converted with a batch for every worker."""
    plan, files = convert_script(SCRIPT, engine, options)
    assert not plan.refusals, plan.refusals
    script = folder / "train.py"
    script.write_bytes(files[0].after)
    return runner.run(script, folder, list(words), workers, timeout=300, engine=engine)


@pytest.mark.parametrize(
    ("source", "engine", "workers", "rate", "warmup", "factors", "steps"),
    [
        # 33 rows in batches of 8 are 5, of which 2 are taken at a time; the last one alone.
        (
            *("arrays", "horovod", 2, "linear", 2),
            [1 + min(1, step / (2 * 3)) for step in range(9)],
            (None, None),
        ),
        # 44 rows are 4 batches of 11, of which none is joined with one of the next epoch.
        ("repeated", "multiworker", 3, "sqrt", 0, [math.sqrt(3)], (4, 2)),
        ("generator", "horovod", 2, "linear", 0, [2.0], (6, 3)),
        ("unknown", "horovod", 2, "keep", 0, [1.0], (None, None)),
    ],
)
def test_every_step_is_the_one_meant(
    source: str,
    engine: str,
    workers: int,
    rate: str,
    warmup: float,
    factors: list[float],
    steps: tuple[int | None, int | None],
    keras2: Runner,
    tmp_path: Path,
) -> None:
    options = Options(batch="per-worker", lr=rate, warmup_epochs=warmup)  # type: ignore[arg-type]
    before, after = (["--steps", str(one)] if one else [] for one in steps)
    size = 11 if source == "repeated" else 8
    before += ["--batch", str(size)]
    wanted = ["--batch", str(size * workers), "--factors", *(f"{one:.17g}" for one in factors)]
    alone = keras2.run(SCRIPT, tmp_path, [source, *after, *wanted], timeout=300)
    assert alone.ok, alone.report()
    together = grown(keras2, tmp_path, engine, workers, options, source, *before)
    assert together.ok, together.report()
    assert text_difference(alone.output, together.output, 1e-9) is None, together.output


def test_alone_nothing_grows(keras2: Runner, tmp_path: Path) -> None:
    options = Options(batch="per-worker", lr="linear", warmup_epochs=5)
    alone = grown(keras2, tmp_path, "horovod", 0, options, "arrays")
    assert alone.output == keras2.run(SCRIPT, tmp_path, ["arrays"]).output


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("legacy", "cannot grow with the batch: take it from tf.keras.optimizers"),
        ("unknown", "--warmup counts epochs, and how many steps one has is not known"),
    ],
)
def test_what_cannot_grow_ends_the_run(
    source: str, words: str, keras2: Runner, tmp_path: Path
) -> None:
    options = Options(batch="per-worker", lr="linear", warmup_epochs=1)
    run = grown(keras2, tmp_path, "horovod", 2, options, source)
    assert 0 not in run.statuses
    assert words in run.report()


@pytest.mark.parametrize("name", ["gan_batches", "tape_loop"])
def test_loops_of_the_scripts_own_are_refused(name: str) -> None:
    plan, _ = convert_script(CORPUS / name / "train.py", "horovod", Options(batch="per-worker"))
    assert {refusal.rule for refusal in plan.refusals} == {"grow"}


def test_a_step_of_the_networks_own_is_fits() -> None:
    options = Options(batch="per-worker")
    plan, _ = convert_script(CORPUS / "vae_train_step" / "train.py", "multiworker", options)
    assert not plan.refusals
    assert "crew.grow_batches()" in str([edit.action for edit in plan.edits])


def test_on_jax_the_batch_stays(capfd: pytest.CaptureFixture[str]) -> None:
    script = str(CORPUS.with_name("keras3") / "digits_sequential" / "train.py")
    assert main(["check", script, "--engine", "jax", "--batch", "per-worker"]) == 2
    assert "Keras on JAX computes with the whole batch" in capfd.readouterr().err
