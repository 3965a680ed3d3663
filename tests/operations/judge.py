"""Plans, converts and runs the scripts of a case, and says what came of it."""

import contextlib
import re
import shutil
import signal
import traceback
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch

from tests.operations.cases import ROW_WISE, Case, alike, find_truth
from tests.operations.crews import Runner, execute
from tests.operations.scripts import EVALUATED, USES, Script, scripts_of
from tests.tools.rounding import SHAKES, explained, of_value, shaken
from trainera.errors import UserError
from trainera.pipeline import convert_script

WRONG, CRASHED, PLANNER = "wrong", "crashed", "planner crashed"
REFUSED, GATHERED, TAKEN, WHOLE = "refused", "gathered", "taken", "whole loader"
ROUNDING = "hangs on rounding"
TOLERANCE = 1e-9
BAD = (WRONG, CRASHED, PLANNER)
PLAN_S = 20.0
PORTION = 12
"""So many cases are planned before their scripts are run, one after the other."""
VAGUE = re.compile(r"no answer after|worker \d+ died|a worker was gone")
"""Failures that may be the machine's fault."""
STOPPED = re.compile(
    r"^UserWarning: Using a target size|^RuntimeError: trainera:|^SystemExit: (3$|trainera:)"
)
"""Failures that converted scripts are meant to end with: refusals of what only the run shows."""
TOO_FEW = re.compile(r"workers share batches of")


@dataclass(frozen=True)
class Outcome:
    """What came of one case in one use."""

    family: str
    entry: str
    use: str
    key: str
    truth: str
    verdict: str
    message: str = ""
    script: str = ""

    @property
    def for_nothing(self) -> bool:
        return self.verdict in (GATHERED, WHOLE, REFUSED) and self.truth == ROW_WISE


@contextlib.contextmanager
def limited(seconds: float) -> Iterator[None]:
    """Interrupts what takes longer."""

    def give_up(*_: Any) -> None:
        raise TimeoutError(f"no answer after {seconds} s")

    usual = signal.signal(signal.SIGALRM, give_up)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, usual)


@dataclass
class Trial:
    """One script on its way: what it should print, and what it became."""

    case: Case
    script: Script
    truth: str
    path: Path
    expected: list[Any]
    verdict: str = ""
    message: str = ""
    after: str = ""

    @property
    def converted(self) -> Path:
        return self.path.with_name("train_ddp.py")

    def outcome(self) -> Outcome:
        case, text = self.case, self.script.standing_alone if self.verdict in BAD else ""
        return Outcome(
            case.family,
            case.entry,
            self.script.use,
            case.key,
            self.truth,
            self.verdict,
            f"{'; '.join(self.script.shown)}: {self.message}" if text else self.message,
            text,
        )


class Judge:
    """Tries cases in a folder of its own."""

    def __init__(self, folder: Path, runner: Runner) -> None:
        self.folder = folder
        self.runner = runner
        self.count = 0

    def judge(self, cases: list[Case], uses: tuple[str, ...] = USES) -> list[Outcome]:
        """One outcome for each use of each case; none if torch itself does not take it."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            outcomes: list[Outcome] = []
            for at in range(0, len(cases), PORTION):
                trials = [
                    trial for case in cases[at : at + PORTION] for trial in self._plan(case, uses)
                ]
                self._run([trial for trial in trials if not trial.verdict])
                outcomes += [trial.outcome() for trial in trials if trial.verdict]
                for trial in trials:
                    shutil.rmtree(trial.path.parent, ignore_errors=True)
            return outcomes

    def _plan(self, case: Case, uses: tuple[str, ...]) -> list[Trial]:
        """The scripts of a case, converted."""
        trials = []
        try:
            with limited(PLAN_S):
                truth = find_truth(case)
                if truth is None:
                    return []
                for script in scripts_of(case, truth, uses):
                    self.count += 1
                    path = self.folder / str(self.count) / "train.py"
                    path.parent.mkdir()
                    path.write_text(script.source)
                    torch.save(script.tensors, path.with_name("case.pt"))
                    ran = execute(str(path))
                    if ran.error is None:  # else the sequential script does not run either
                        trials.append(Trial(case, script, truth.word, path, ran.printed))
        except TimeoutError:
            return []
        for trial in trials:
            self._convert(trial)
        return trials

    def _convert(self, trial: Trial) -> None:
        try:
            with limited(PLAN_S):
                plan, files = convert_script(trial.path)
        except UserError as error:
            trial.verdict, trial.message = REFUSED, str(error)
        except Exception as error:
            last = traceback.extract_tb(error.__traceback__)[-1]
            place = f"{Path(last.filename).name}:{last.lineno}"
            trial.verdict = PLANNER
            trial.message = f"{type(error).__name__}: {error} ({place})"
        else:
            if plan.refusals:
                trial.verdict, trial.message = REFUSED, str(plan.refusals[0].what)
            else:
                trial.after = files[0].after.decode()
                trial.converted.write_text(trial.after)

    def _run(self, trials: list[Trial]) -> None:
        """Runs converted scripts, those for one number of workers one after the other."""
        for size in sorted({trial.script.workers for trial in trials}):
            mine = [trial for trial in trials if trial.script.workers == size]
            for trial, ran in zip(
                mine, self.runner.run([trial.converted for trial in mine], size), strict=True
            ):
                vague = ran.error is not None and VAGUE.search(ran.error)
                if vague or (ran.error is None and unlike(trial.expected, ran.printed)):
                    # Once more, after other scripts than before: is it its own doing?
                    ran = self.runner.run([trial.converted], size)[0]
                if ran.error is not None:
                    if not TOO_FEW.search(ran.error):
                        meant = STOPPED.search(ran.error) is not None
                        trial.verdict, trial.message = REFUSED if meant else CRASHED, ran.error
                    continue
                trial.message = unlike(trial.expected, ran.printed)
                if not trial.message:
                    trial.verdict = _how(trial.script, trial.after)
                else:
                    trial.verdict = ROUNDING if _hangs_on_rounding(trial, ran.printed) else WRONG


def _hangs_on_rounding(trial: Trial, printed: list[Any]) -> bool:
    runs = [of_value(trial.expected, TOLERANCE)]
    for shake in SHAKES:
        other = trial.path.with_name("shaken.py")
        other.write_text(shaken(trial.script.source, *shake))
        ran = execute(str(other))
        if ran.error is None:
            runs.append(of_value(ran.printed, TOLERANCE))
        if explained(of_value(printed, TOLERANCE), runs):
            return True
    return False


def _how(script: Script, after: str) -> str:
    """Whether the operation was given a worker's rows, or the whole batch's."""
    if script.use == EVALUATED and "crew.split(DataLoader(TensorDataset(case" not in after:
        return WHOLE
    line = next((line for line in after.splitlines() if line.lstrip().startswith("value = ")), None)
    return TAKEN if line is not None and line.strip() == script.marked else GATHERED


def unlike(expected: Any, found: Any) -> str:
    """How what was printed differs; empty if it does not."""
    if len(expected) != len(found):
        return f"{len(found)} prints for {len(expected)}"
    for at, (left, right) in enumerate(zip(expected, found, strict=True)):
        if not same(left, right):
            return f"print {at + 1}: {short(right)} for {short(left)}"
    return ""


def same(left: Any, right: Any) -> bool:
    if isinstance(left, tuple) and isinstance(right, tuple):
        if left[:2] != right[:2]:
            return False
        one, other = left[2], right[2]
        if one.dtype.kind not in "fiubc":
            return bool(np.array_equal(one, other))
        return alike(torch.as_tensor(one), torch.as_tensor(other))
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(same, left, right))
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(same(left[key], right[key]) for key in left)
    if isinstance(left, float) and isinstance(right, float | int):
        return alike(torch.tensor(left).double(), torch.tensor(float(right)).double())
    return type(left) is type(right) and left == right


def short(value: Any) -> str:
    """A printed object in a few words."""
    if isinstance(value, tuple):
        array = value[2]
        numbers = np.array2string(array.flatten()[:4], precision=5, separator=",").replace("\n", "")
        more = "…" if array.size > 4 else ""
        return f"{value[1].removeprefix('torch.')}{list(array.shape)} {numbers}{more}"
    if isinstance(value, list):
        text = ", ".join(map(short, value[:3]))
        return text if len(value) == 1 else f"({text}{', …' if len(value) > 3 else ''})"
    return repr(value)[:80]
