"""Keras scripts that cannot be spread over devices, or are already, are refused with a reason."""

from pathlib import Path

import pytest

from trainera.errors import Status, UserError
from trainera.pipeline import convert_script

REFUSED = Path(__file__).with_name("corpus") / "refused"
REASONS = {
    "estimator": "no training loop",
    "horovod_keras": "already-distributed",
    "jax_mesh": "already-distributed",
    "jax_pmap": "already-distributed",
    "keras_distribution": "already-distributed",
    "keras_tuner_search": "no training loop",
    "mirrored_strategy": "already-distributed",
    "multi_worker_strategy": "already-distributed",
    "never_fitted": "no training loop",
    "only_predicts": "no training loop",
    "scikit_wrapper": "backend",
    "tf1_session": "no training loop",
}


def test_there_is_a_reason_for_each() -> None:
    assert set(REASONS) == {path.stem for path in REFUSED.glob("*.py")}


@pytest.mark.parametrize("name", REASONS)
def test_refused(name: str) -> None:
    try:
        plan, converted = convert_script(REFUSED / f"{name}.py", "jax")
    except UserError as error:
        assert error.status is Status.REFUSED
        assert REASONS[name] in str(error)
        return
    assert not plan.edits and not converted
    assert [refusal.rule for refusal in plan.refusals] == [REASONS[name]]
    assert all(refusal.what and refusal.why and refusal.do for refusal in plan.refusals)
