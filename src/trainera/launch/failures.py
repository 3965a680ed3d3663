"""Why a run failed: of all the workers that went down, which one pulled the others along.

A worker that meets an exception leaves a record in the run's directory; one that is killed cannot,
so the launcher writes down what the system says. The root cause is the first failure by time that
is not merely the loss of another worker.
"""

import json
import re
import signal
import traceback
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal

_LOST = re.compile(
    r"gloo|nccl|connection (closed|reset|refused)|broken pipe|timed out|first worker.* failed",
    re.IGNORECASE,
)
"""What the messages of torch.distributed say when another worker is gone."""

_DISTRIBUTED = ("torch/distributed/", "torch/nn/parallel/", "torch/autograd/", "trainera/crew/")


@dataclass(frozen=True, kw_only=True)
class Failure:
    """How one worker went down."""

    rank: int
    pid: int
    time_s: float
    """On the monotonic clock, which all processes of a machine share."""
    kind: Literal["exception", "exit", "silent", "signal"]
    """An uncaught exception, ``sys.exit``, a status without either (``os._exit``), a signal."""
    status: int
    """The exit status, or the number of the signal."""
    text: str = ""
    """The traceback, the argument of ``sys.exit``, or the last words on standard error."""
    consequence: bool = False
    """The exception only says that another worker was lost."""


def write(failure: Failure, directory: Path) -> None:
    """Leaves the record where the launcher looks for it, whole or not at all."""
    draft = directory / f"failure-{failure.rank}.draft"
    draft.write_text(json.dumps(asdict(failure)), encoding="utf-8")
    draft.replace(_record(directory, failure.rank))


def read(directory: Path, rank: int) -> Failure | None:
    """The record that this worker left, if it did."""
    try:
        return Failure(**json.loads(_record(directory, rank).read_text(encoding="utf-8")))
    except FileNotFoundError:
        return None


def _record(directory: Path, rank: int) -> Path:
    return directory / f"failure-{rank}.json"


def is_consequence(error: BaseException) -> bool:
    """Whether the exception, or one that it came from, is the loss of another worker.

    Gloo raises plain RuntimeErrors, so that their text has to tell. An OSError about a connection
    is the script's own business.
    """
    seen: set[int] = set()
    link: BaseException | None = error
    while link is not None and id(link) not in seen:
        seen.add(id(link))
        kind = type(link)
        lost = kind.__module__.startswith("torch.") and kind.__name__.startswith("Dist")
        lost = lost or kind.__name__ in ("HorovodInternalError", "WorkerLost")
        if lost or (kind is RuntimeError and _in_distributed(link) and _LOST.search(str(link))):
            return True
        link = link.__cause__ or link.__context__
    return False


def _in_distributed(error: BaseException) -> bool:
    """Whether it was raised in torch.distributed, DDP or backward, or in trainera's runtime."""
    frames = traceback.extract_tb(error.__traceback__)
    return any(place in frame.filename for frame in frames for place in _DISTRIBUTED)


def root_cause(failures: Iterable[Failure]) -> Failure | None:
    """The first failure by time, those that followed from another only if there is no other."""
    return min(
        failures,
        key=lambda failure: (failure.consequence, failure.time_s, failure.rank),
        default=None,
    )


def own_words(cause: Failure, failures: Sequence[Failure], finished: int, of: int) -> str | None:
    """What the script itself has to say about its end, if that is all there is to be said.

    So it is with one worker, and where ``sys.exit`` ended all of them alike.
    """
    alike = {(one.kind, one.status) for one in failures} == {("exit", cause.status)}
    if alike and len(failures) + finished == of:
        return next((one.text for one in failures if one.text), "")
    if of == 1 and cause.kind in ("exception", "exit"):
        return cause.text.rstrip("\n")
    return None


def describe(cause: Failure, failures: Sequence[Failure], finished: Sequence[int], of: int) -> str:
    """What the user reads about the worker that brought the run down.

    `finished` are the ranks that had come to a good end by then.
    """
    who = f"worker {cause.rank + 1} of {of} (pid {cause.pid})"
    if cause.kind == "exception":
        headline = f"{who} failed:"
        if cause.consequence and finished:
            gone = " and ".join(str(rank + 1) for rank in finished)
            headline = f"worker {gone} of {of} ended before the others, with status 0; {headline}"
    elif cause.kind == "signal":
        headline = f"{who} was killed by signal {cause.status} ({_name(cause.status)})"
        if cause.status == signal.SIGKILL:
            headline += " — out of memory?"
    else:
        headline = f"{who} ended with status {cause.status}"
        if sum(not one.consequence for one in failures) + len(finished) < of:
            headline += " while others were still running"
    return f"{headline}\n{cause.text}".rstrip()


def _name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return "unnamed"
