"""Plans and converts the cases of a snapshot and writes down what came of each."""

import json
import os
import re
import signal
import sys
import time
import traceback
import warnings
from collections.abc import Iterable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

from tests.tools.snapshot.cases import Case
from trainera.errors import Status, UserError
from trainera.pipeline import convert_script

ENGINES = ("ddp", "horovod")
RESULTS, TIMES, CRASHES = "results", "times.json", "crashes"
GIVEN_UP_S = 120
"""A script that takes more time of the processor is interrupted and counts as a crash."""
CONVERTED, REFUSED, TOLD, CRASHED = "converted", "refused", "told", "crashed"
ADDRESS = re.compile(r"\b0x[0-9a-f]+")


def outcome(case: Case, engine: str) -> tuple[dict[str, Any], str]:
    """What trainera makes of a case, and the traceback if it crashes.

    The current directory is the script's, so that all paths in it are relative.
    """

    def give_up(*_: Any) -> None:
        raise TimeoutError(f"no answer after {GIVEN_UP_S} s")

    signal.signal(signal.SIGPROF, give_up)
    signal.setitimer(signal.ITIMER_PROF, GIVEN_UP_S)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            plan, converted = convert_script(Path(case.script), engine, case.options)
    except UserError as error:
        return {"verdict": TOLD, "status": int(error.status), "error": str(error)}, ""
    except Exception as error:
        # Where it crashed changes with every line that is moved, what it is about does not.
        told = ADDRESS.sub("0x…", f"{type(error).__name__}: {error}")
        return {"verdict": CRASHED, "error": told}, traceback.format_exc()
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
    status = Status.REFUSED if plan.refusals else Status.DONE
    files = {str(one.path): one.after.decode("utf-8", "surrogateescape") for one in converted}
    return {
        "verdict": REFUSED if plan.refusals else CONVERTED,
        "status": int(status),
        "plan": plan.as_data(),
        "files": files,
    }, ""


def examine(work: tuple[Case, Path]) -> tuple[str, dict[str, str], dict[str, float]]:
    """Writes the outcomes of one case; returns its name, verdicts and the time that it took."""
    case, folder = work
    # What is imported late must not be found beside the script: that would run a user's module.
    sys.path[:] = [path for path in sys.path if path]
    os.chdir(case.folder)
    found, tracebacks = {}, ""
    start, start_of_work = time.perf_counter(), time.process_time()
    for engine in ENGINES:
        found[engine], crash = outcome(case, engine)
        tracebacks += crash
    took = {
        "wall_s": round(time.perf_counter() - start, 3),
        "processor_s": round(time.process_time() - start_of_work, 3),
    }
    _write(folder / RESULTS / f"{case.name}.json", json.dumps(found, indent=1) + "\n")
    if tracebacks:
        _write(folder / CRASHES / f"{case.name}.txt", tracebacks)
    return case.name, {engine: one["verdict"] for engine, one in found.items()}, took


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def save(cases: Iterable[Case], folder: Path, processes: int = 2) -> dict[str, dict[str, str]]:
    """Saves the outcomes of all cases, and apart from them how long each took."""
    folder = folder.absolute()
    work = [(case, folder) for case in cases]
    verdicts, times = {}, {}
    with ProcessPoolExecutor(processes) as pool:
        for name, verdict, took in pool.map(examine, work, chunksize=4):
            verdicts[name], times[name] = verdict, took
    slowest_first = dict(sorted(times.items(), key=lambda item: -item[1]["processor_s"]))
    _write(folder / TIMES, json.dumps(slowest_first, indent=1) + "\n")
    return verdicts


def saved_times(folder: Path) -> dict[str, float]:
    """Seconds of the processor by the name of the case, the slowest first."""
    times = json.loads((folder / TIMES).read_text())
    return {name: took["processor_s"] for name, took in times.items()}
