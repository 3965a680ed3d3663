"""Every script of the corpus trains the same network when it is converted: `verify` says so.

Half of them with 2 workers and half with 3, to stay within minutes; all of them with both:
``python -m tests.tools.verify_corpus``.
"""

from pathlib import Path

import pytest

from tests.tools.corpus import CASES, settings, write_converted
from tests.tools.observed import observed, verdict_on
from tests.tools.runs import Runner
from trainera.verify.verdict import Outcome


@pytest.mark.parametrize("number", range(len(CASES)), ids=lambda number: CASES[number].name)
def test_case_is_equivalent(number: int, runner: Runner, tmp_path: Path) -> None:
    case = CASES[number]
    workers = 2 + number % 2
    arguments = [str(word) for word in settings(case).get("arguments", [])]
    alone = observed(runner, case / "train.py", tmp_path, 0, arguments=arguments)
    script = write_converted(case, tmp_path / "converted")
    choices = alone.directory / "choices.json"
    together = observed(runner, script, tmp_path, workers, arguments=arguments, choices=choices)
    verdict = verdict_on(alone, together, script, workers)
    assert verdict.outcome is Outcome.EQUIVALENT, verdict
    assert verdict.steps > 0
