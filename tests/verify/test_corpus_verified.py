"""Every script of the corpus trains the same network when it is converted: `verify` says so.

``python -m tests.tools.verify_corpus`` does the same through the command line.
"""

from pathlib import Path

import pytest

from tests.tools.corpus import CASES, settings, write_converted
from tests.tools.observed import observed, verdict_on
from tests.tools.runs import Runner
from trainera.verify.verdict import Outcome

CREWS = [("ddp", 2), ("ddp", 3)]
ALSO_HOROVOD = {
    *("batchnorm_cnn", "gan", "gradient_accumulation", "last_batch_of_one", "multi_head"),
    *("numpy_noise", "resume", "tiny_gpt", "whole_batch_losses", "zip_unequal"),
}
"""Cases that are as different as they can be; the output of all is compared with Horovod's."""


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_case_is_equivalent(case: Path, runner: Runner, tmp_path: Path) -> None:
    arguments = [str(word) for word in settings(case).get("arguments", [])]
    alone = observed(runner, case / "train.py", tmp_path, 0, arguments=arguments)
    choices = alone.directory / "choices.json"
    also = [("horovod", 2)] if case.name in ALSO_HOROVOD else []
    for engine, workers in [*CREWS, *also]:
        folder = tmp_path / f"{engine}-{workers}"
        script = write_converted(case, tmp_path / engine, engine=engine)
        together = observed(
            runner, script, folder, workers, arguments=arguments, choices=choices, engine=engine
        )
        verdict = verdict_on(alone, together, script, workers)
        assert verdict.outcome is Outcome.EQUIVALENT, verdict
        assert verdict.steps > 0
