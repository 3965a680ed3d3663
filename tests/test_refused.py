"""What cannot be split is refused, with a reason and a way out, and nothing is written."""

from pathlib import Path

import pytest

from tests.tools.corpus import REFUSED
from trainera.errors import Status, UserError
from trainera.pipeline import convert_script


@pytest.mark.parametrize("script", REFUSED, ids=lambda path: path.stem)
def test_refused(script: Path) -> None:
    try:
        plan, converted = convert_script(script)
    except UserError as error:
        assert error.status is Status.REFUSED
        assert "no training loop" in str(error)
        return
    assert plan.refusals and not plan.edits and not converted
    for refusal in plan.refusals:
        assert refusal.place.path == script
        assert refusal.what and refusal.why and refusal.do


REASONS = {
    "hardwired_batch_size": ("network", "fewer rows"),
    "buffer_of_batch_statistics": ("network", "drift apart"),
    "lbfgs_closure": ("optimizer", "share"),
    "accelerate_script": ("already-distributed", "nothing to convert"),
    "no_loader": ("split", "shared out"),
    "manual_sgd": ("wrap", "cannot be told"),
}


@pytest.mark.parametrize("name", REASONS)
def test_the_reason_is_the_right_one(name: str) -> None:
    rule, words = REASONS[name]
    script = next(path for path in REFUSED if path.stem == name)
    plan, _ = convert_script(script)
    assert any(r.rule == rule and words in r.why for r in plan.refusals), plan.refusals


@pytest.mark.parametrize(
    ("name", "launcher"),
    [
        ("already_distributed", "torchrun"),
        ("accelerate_script", "accelerate launch"),
        ("lightning_script", "devices=N"),
        ("huggingface_trainer", "torchrun"),
    ],
)
def test_the_launcher_is_named(name: str, launcher: str) -> None:
    script = next(path for path in REFUSED if path.stem == name)
    plan, _ = convert_script(script)
    assert launcher in plan.refusals[0].do
