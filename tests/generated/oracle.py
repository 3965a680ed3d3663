"""What becomes of a script: it is run as it is and converted, and all that is seen is compared."""

import re
import shutil
import signal
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType

import numpy as np

from tests.tools.rounding import SHAKES, Shown, explained, of_text, of_value, shaken, together
from tests.tools.runs import Run, Runner, load_saved, saved_difference, text_difference
from trainera.errors import UserError
from trainera.pipeline import convert_script

SAME, DIFFERENT, CRASHED, TOLD = "same", "different", "crashed", "told"
HANG, PLANNER, REFUSED, UNFIT = "hang", "planner crash", "refused", "sequential fails"
ROUNDING = "hangs on rounding"
BAD = (DIFFERENT, CRASHED, HANG, PLANNER)
CONVERTED = (SAME, DIFFERENT, CRASHED, HANG, TOLD, ROUNDING)
TOLERANCE = 1e-9
PLAN_LIMIT_S = 20.0
RUN_LIMIT_S = 60.0
TOLD_BY = re.compile(
    r"trainera: |cannot share a batch|the workers have made different batches|"
    r"did not see the same samples"
)
"""What the crew says when it gives up on purpose, instead of training something else."""
SECONDARY = re.compile(r"WorkerLost|the first worker failed|Connection (closed|reset)|gloo")
"""Failures that follow from that of another worker."""


@dataclass(frozen=True)
class Outcome:
    """What came of one script."""

    verdict: str
    detail: str = ""
    workers: int = 0
    spent: dict[str, float] = field(default_factory=dict)
    expected: str = ""
    found: str = ""

    @property
    def bad(self) -> bool:
        return self.verdict in BAD


class Overtime(Exception):
    """Planning takes too long."""


@contextmanager
def at_most(seconds: float) -> Iterator[None]:
    """Interrupts what is inside, by the time of the processor; in the main thread only."""

    def interrupt(number: int, frame: FrameType | None) -> None:
        raise Overtime(f"planning took more than {seconds:.0f} s")

    before = signal.signal(signal.SIGVTALRM, interrupt)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


class Judge:
    """Runs scripts in a folder of its own and compares."""

    def __init__(self, crews: tuple[int, ...] = (2, 3)) -> None:
        self.runner = Runner()
        self.folder = Path(tempfile.mkdtemp(prefix="generated-"))
        self.crews = crews

    def close(self) -> None:
        self.runner.close()
        shutil.rmtree(self.folder, ignore_errors=True)

    def judge(
        self,
        source: str,
        crews: tuple[int, ...] | None = None,
        wanted: tuple[str, ...] | None = None,
    ) -> Outcome:
        """`wanted`: no script is run of which the plan says that it is none of these."""
        spent: dict[str, float] = {}
        script = self._fresh("plain") / "train.py"
        script.write_text(source)
        began = time.perf_counter()
        converted, problem = plan(script)
        spent["plan"] = time.perf_counter() - began
        if wanted is not None and (problem.verdict if problem else DIFFERENT) not in wanted:
            return Outcome(REFUSED)
        began = time.perf_counter()
        alone, alone_folder = self._run(script, 0, "alone")
        spent["sequential"] = time.perf_counter() - began
        if not alone.ok:
            return Outcome(UNFIT, last_line(alone), spent=spent)
        if converted is None:
            assert problem is not None
            return Outcome(problem.verdict, problem.detail, spent=spent)
        target = self._fresh("converted") / "train.py"
        target.write_text(converted)
        for workers in self.crews if crews is None else crews:
            began = time.perf_counter()
            run, folder = self._run(target, workers, "crew")
            spent[f"workers {workers}"] = time.perf_counter() - began
            verdict, detail = compared(alone, alone_folder, run, folder)
            if verdict == DIFFERENT:
                again, again_folder = self._run(script, 0, "again")
                if compared(alone, alone_folder, again, again_folder)[0] != SAME:
                    return Outcome(UNFIT, "two sequential runs differ", spent=spent)
                if self.hangs_on_rounding(source, shown(run, folder)):
                    verdict = ROUNDING
            if verdict != SAME:
                return Outcome(verdict, detail, workers, spent, alone.output, run.output)
        return Outcome(SAME, spent=spent)

    def hangs_on_rounding(self, source: str, found: Shown) -> bool:
        """Whether the sequential script might show the same if last digits are others."""
        runs = []
        for name, text in [
            ("digits", source),
            *((str(one), shaken(source, *one)) for one in SHAKES),
        ]:
            script = self._fresh(f"source of {name}") / "train.py"
            script.write_text(text)
            run, folder = self._run(script, 0, name)
            if run.ok:
                runs.append(shown(run, folder))
            if explained(found, runs):
                return True
        return False

    def like(self, first: Outcome) -> Callable[[str], bool]:
        """Whether another script fails as the first one did."""

        def fails(source: str) -> bool:
            wanted = (PLANNER,) if first.verdict == PLANNER else (DIFFERENT,)
            found = self.judge(source, (first.workers,) if first.workers else (), wanted)
            return found.verdict == first.verdict and manner(found) == manner(first)

        return fails

    def _run(self, script: Path, workers: int, name: str) -> tuple[Run, Path]:
        folder, logs = self._fresh(name), self._fresh("logs")
        return self.runner.run(
            script, folder, workers=workers, timeout=RUN_LIMIT_S, logs=logs
        ), folder

    def _fresh(self, name: str) -> Path:
        folder = self.folder / name
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        return folder


def plan(script: Path) -> tuple[str | None, Outcome | None]:
    """The converted source, or why there is none."""
    try:
        with at_most(PLAN_LIMIT_S):
            made, converted = convert_script(script)
    except UserError as error:
        return None, Outcome(REFUSED, f"told: {error}")
    except Exception as error:
        where = traceback.extract_tb(error.__traceback__)[-1]
        name = f"{type(error).__name__} in {Path(where.filename).name}:{where.name}"
        return None, Outcome(PLANNER, f"{name}: {error}")
    if made.refusals:
        first = made.refusals[0]
        return None, Outcome(
            REFUSED, f"{first.rule}: line {first.place.line}: {first.what} ({first.why})"
        )
    return (converted[0].after.decode() if converted else script.read_text()), None


def compared(alone: Run, alone_folder: Path, run: Run, folder: Path) -> tuple[str, str]:
    """How a run of the converted script compares with that of the script itself."""
    if not run.ok:
        failed = [status for status in run.statuses if status not in (0, None)]
        if not failed:
            return HANG, "; ".join(str(status) for status in run.statuses)
        said = "\n".join(run.errors)
        return (TOLD if TOLD_BY.search(said) else CRASHED), last_line(run)
    found = text_difference(alone.output, run.output, TOLERANCE)
    if found:
        return DIFFERENT, found
    names = {path.name for path in alone_folder.iterdir()}
    more = {path.name for path in folder.iterdir()} - names
    if more:
        return DIFFERENT, f"also written: {', '.join(sorted(more))}"
    for name in sorted(names):
        found = saved_difference(alone_folder / name, folder / name, TOLERANCE)
        if found:
            return DIFFERENT, found
    return SAME, ""


def shown(run: Run, folder: Path) -> Shown:
    """All that a run has left behind."""
    parts = [of_text(run.output, TOLERANCE)]
    for path in sorted(folder.iterdir()):
        if path.suffix in (".pt", ".pth", ".ckpt"):
            content = of_value(load_saved(path), TOLERANCE)
        elif path.suffix == ".npy":
            content = of_value(np.load(path), TOLERANCE)
        else:
            content = of_text(path.read_text(), TOLERANCE)
        parts += [of_text(path.name, TOLERANCE), content]
    return together(parts)


def last_line(run: Run) -> str:
    """The message of the failure that came first."""
    lines = []
    for status, error in zip(run.statuses, run.errors, strict=True):
        said = [
            line
            for line in error.splitlines()
            if re.match(r"\w[\w.]*(Error|Step|Lost|Exit|Exception)?: ", line)
        ]
        if status != 0 and said:
            lines.append(said[-1])
    first = [line for line in lines if not SECONDARY.search(line)] or lines
    return first[0] if first else f"statuses {run.statuses}"


def manner(outcome: Outcome) -> str:
    """In which way a script fails, without what is particular to it."""
    if outcome.verdict != DIFFERENT:
        return shape(outcome.detail)
    if "lines expected" in outcome.detail or "written" in outcome.detail:
        return re.sub(r"\d+", "#", outcome.detail)
    numbers = re.search(r"(?:line \d+: )(\S+) became (\S+) in", outcome.detail)
    if numbers:
        one, other = map(float, numbers.groups())
        apart = abs(one - other) > 1e-6 * max(abs(one), abs(other))
        return "numbers" if apart else "last digits of numbers"
    return "words" if outcome.detail.startswith("line ") else "files"


def shape(detail: str) -> str:
    """A message without names and numbers, so that alike ones are counted as one."""
    return re.sub(r"\d+", "#", re.sub(r"'[^']*'|`[^`]*`", "…", detail))[:160]
