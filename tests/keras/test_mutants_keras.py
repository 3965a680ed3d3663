"""`verify` finds every mistake of a Horovod version made by hand, and none where there is none."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.keras.mutants import BASES, MUTANTS, SCRIPTS
from tests.tools.observed import observed, verdict_on
from tests.tools.runs import Runner
from tests.verify.mutants import Mutant
from trainera.verify.run import Side
from trainera.verify.verdict import Outcome

Alone = Callable[[str], Side]


@pytest.fixture(scope="module")
def alone(keras2: Runner, tmp_path_factory: pytest.TempPathFactory) -> Alone:
    """The sequential run of a base script, run once."""
    done: dict[str, Side] = {}

    def run(base: str) -> Side:
        if base not in done:
            done[base] = observed(
                keras2, SCRIPTS / f"{base}.py", tmp_path_factory.mktemp(base), 0, timeout=200
            )
        return done[base]

    return run


@pytest.mark.parametrize(
    "base", [pytest.param(base, marks=pytest.mark.xdist_group(base)) for base in BASES]
)
def test_correct_by_hand(base: str, alone: Alone, keras2: Runner, tmp_path: Path) -> None:
    script = SCRIPTS / f"{base}_by_hand.py"
    together = observed(keras2, script, tmp_path, 2, timeout=200, engine="horovod")
    verdict = verdict_on(alone(base), together, script, 2)
    assert verdict.outcome is Outcome.EQUIVALENT, verdict
    seen = {one.quantity: one.compared for one in verdict.largest}
    assert all(verdict.rows) and sum(verdict.rows) == seen["samples"]
    assert seen["saved"] and seen["final values"]


@pytest.mark.parametrize(
    "mutant",
    [
        pytest.param(one, id=one.name, marks=pytest.mark.xdist_group(one.base))
        for one in MUTANTS
    ],
)  # fmt: skip
def test_mistake_is_found(mutant: Mutant, alone: Alone, keras2: Runner, tmp_path: Path) -> None:
    script = tmp_path / "mutant.py"
    script.write_text(mutant.source())
    together = observed(keras2, script, tmp_path / "run", 2, timeout=200, engine="horovod")
    verdict = verdict_on(alone(mutant.base), together, script, 2)
    assert verdict.outcome is Outcome.DIFFERENT, verdict
    assert verdict.first is not None and verdict.diagnosis is not None
    assert (verdict.first.quantity, verdict.diagnosis.name) == (mutant.first, mutant.diagnosis), (
        verdict
    )
