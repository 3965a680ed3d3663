"""`verify` finds every mistake, and no mistake where there is none."""

from pathlib import Path

import pytest

from tests.tools.observed import observed, verdict_on
from tests.tools.runs import Runner
from tests.verify.mutants import BASES, MUTANTS, SCRIPTS, Mutant
from trainera.verify.run import Side
from trainera.verify.verdict import Outcome


@pytest.fixture(scope="module")
def sequential(runner: Runner, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Side]:
    """Every base script, run once."""
    folder = tmp_path_factory.mktemp("bases")
    return {base: observed(runner, SCRIPTS / f"{base}.py", folder / base, 0) for base in BASES}


@pytest.mark.parametrize("workers", [2, 3])
@pytest.mark.parametrize("base", BASES)
def test_correct_by_hand(
    base: str, workers: int, sequential: dict[str, Side], runner: Runner, tmp_path: Path
) -> None:
    alone = sequential[base]
    script = SCRIPTS / f"{base}_by_hand.py"
    choices = alone.directory / "choices.json"
    together = observed(runner, script, tmp_path, workers, choices=choices)
    verdict = verdict_on(alone, together, script, workers)
    assert verdict.outcome is Outcome.EQUIVALENT, verdict
    seen = {one.quantity: one.compared for one in verdict.largest}["samples"]
    assert all(verdict.rows) and sum(verdict.rows) == seen


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_mistake_is_found(
    mutant: Mutant, sequential: dict[str, Side], runner: Runner, tmp_path: Path
) -> None:
    script = tmp_path / "mutant.py"
    script.write_text(mutant.source())
    alone = sequential[mutant.base]
    choices = alone.directory / "choices.json"
    together = observed(runner, script, tmp_path / "run", 2, choices=choices)
    verdict = verdict_on(alone, together, script, 2)
    assert verdict.outcome is Outcome.DIFFERENT, verdict
    assert verdict.first is not None and verdict.diagnosis is not None
    assert (verdict.first.quantity, verdict.diagnosis.name) == (mutant.first, mutant.diagnosis), (
        verdict
    )
