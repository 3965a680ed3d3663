"""Every script of the corpus trains the same network when it is converted: `verify` says so.

By two workers, and some of them by three and by Horovod's; what all of them print and save with
three is compared in test_corpus.py. ``python -m tests.tools.verify_corpus`` does it for any number,
through the command line.
"""

from pathlib import Path

import pytest

from tests.tools.corpus import CASES, settings, write_converted
from tests.tools.observed import observed, verdict_on
from tests.tools.runs import Runner
from trainera.verify.verdict import Outcome

AS_DIFFERENT_AS_CAN_BE = {
    *("batchnorm_cnn", "gan", "gradient_accumulation", "last_batch_of_one", "multi_head"),
    *("numpy_noise", "resume", "tiny_gpt", "whole_batch_losses", "zip_unequal"),
}
OTHERS = [case.name for case in CASES if case.name not in AS_DIFFERENT_AS_CAN_BE]


def crews(name: str) -> list[tuple[str, int]]:
    """Those who train a case."""
    if name in AS_DIFFERENT_AS_CAN_BE:
        return [("ddp", 2), ("ddp", 3), ("horovod", 2)]
    return [("ddp", 2), ("ddp", 3)] if name in OTHERS[::3] else [("ddp", 2)]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_case_is_equivalent(case: Path, runner: Runner, tmp_path: Path) -> None:
    arguments = [str(word) for word in settings(case).get("arguments", [])]
    alone = observed(runner, case / "train.py", tmp_path, 0, arguments=arguments, draws_alike=True)
    choices = alone.directory / "choices.json"
    for engine, workers in crews(case.name):
        folder = tmp_path / f"{engine}-{workers}"
        script = write_converted(case, tmp_path / engine, engine=engine)
        together = observed(
            runner, script, folder, workers, arguments=arguments, choices=choices, engine=engine,
            draws_alike=True,
        )  # fmt: skip
        verdict = verdict_on(alone, together, script, workers)
        assert verdict.outcome is Outcome.EQUIVALENT, verdict
        assert verdict.steps > 0
