"""Runs a converted script in N workers on this machine and shows one output."""

import marshal
import os
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from types import CodeType, FrameType

from trainera.errors import Status, UserError
from trainera.launch import worker
from trainera.launch.devices import keep_memory, require_torch, threads_of_a_worker
from trainera.launch.failures import describe, own_words, root_cause
from trainera.launch.processes import Workers
from trainera.launch.system import adopting_orphans, loopback_interface
from trainera.plan import Converted
from trainera.read.source.file import load
from trainera.read.source.roots import home_of
from trainera.rewrite.lines import compile_with_original_lines


@dataclass(frozen=True, kw_only=True)
class Observer:
    """Somebody who looks at a run from inside of the workers and from outside."""

    module: str
    """Its function `begin` is called in every worker, before the script."""
    settings: dict[str, object]
    """What `begin` is given; types that marshal can write."""
    watch: Callable[[Mapping[int, int]], bool]
    """Called all the time with the process numbers by rank; whether the run is to be ended."""


_PREFIX = "crew-"
"""No longer than multiprocessing's own, whose sockets go there: their paths may have 108 bytes."""

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

_REPEATED_S = 1.0
"""Tools that start tools pass on what the terminal has sent already; a person is not so quick."""


def run(
    script: Path,
    converted: Sequence[Converted],
    arguments: Sequence[str],
    workers: int,
    *,
    say: Callable[[str], None],
    pass_on: Callable[[str], None] | None = None,
    observer: Observer | None = None,
    agent: str = "agent",
    environment: Mapping[str, str] | None = None,
    alone: bool = False,
) -> int:
    """Runs `script`, as `converted`, in that many workers; returns the exit status.

    Standard output is the first worker's alone. `say` is given what the user has to know besides:
    why the run failed, once. `pass_on` is given what the script itself says about its end.
    `agent` is the engine's, `environment` what the workers get besides.
    A script that runs `alone` is told nothing of any launcher.
    """
    if workers < 1:
        raise UserError(f"cannot run on {workers} workers: at least 1 is needed")
    codes = _compile(script, converted)
    with (
        _signals() as received,
        adopting_orphans(),
        tempfile.TemporaryDirectory(prefix=_PREFIX, ignore_cleanup_errors=True) as name,
    ):
        directory = Path(name)
        payload = _payload(script, codes, arguments) | {"alone": alone}
        if observer is not None:
            payload["observer"] = {"module": observer.module, "settings": observer.settings}
        (directory / "payload").write_bytes(marshal.dumps(payload))
        sys.stdout.flush()
        sys.stderr.flush()
        crew = Workers(directory, received, observer.watch if observer else None)
        good = False
        try:
            if not received:
                run_agent = _agent(agent)
                command = (sys.executable, "-u", worker.__file__, name)
                known = _environment(workers) | dict(environment or {})
                good = run_agent(crew, workers, command, known)
            status = _verdict(crew, good, received, workers, say, pass_on or _print)
        finally:
            crew.end(followers=not good)
    return status


def _agent(name: str) -> Callable[..., bool]:
    """Who starts the workers and sees them through."""
    if name == "agent":
        require_torch()
    run_agent: Callable[..., bool] = import_module(f"trainera.launch.{name}").run_agent
    return run_agent


def _verdict(
    crew: Workers,
    good: bool,
    received: Sequence[signal.Signals],
    workers: int,
    say: Callable[[str], None],
    pass_on: Callable[[str], None],
) -> int:
    """The exit status, after telling the user why it is not 0."""
    if received:
        say(f"stopped by {received[0].name}")
        return 128 + received[0]
    if good:
        return Status.DONE
    failures = crew.failures()
    cause = root_cause(failures)
    if cause is None:
        say("the workers ended for no reason that could be found")
        return Status.FAILED
    own = own_words(cause, failures, len(crew.finished()), workers)
    if own is None:
        say(describe(cause, failures, crew.finished(), workers))
    elif own:
        pass_on(own)
    return Status.FAILED if cause.kind == "signal" else cause.status


def _print(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def _compile(script: Path, converted: Sequence[Converted]) -> dict[str, CodeType]:
    """The code of every converted file, by its resolved path, and of the script in any case.

    Done once, here: the workers need not import the rewriter, and a SyntaxWarning comes once.
    """
    main = str(script.resolve())
    codes = {}
    for one in converted:
        path = str(one.path.resolve())
        codes[path] = compile_with_original_lines(one, _file(script) if path == main else path)
    if main not in codes:
        codes[main] = compile(script.read_bytes(), _file(script), "exec", dont_inherit=True)
    return codes


def _payload(
    script: Path, codes: dict[str, CodeType], arguments: Sequence[str]
) -> dict[str, object]:
    """All that a worker has to know, in types that marshal can write."""
    main = script.resolve()
    source = load(script)
    return {
        "script": str(script),
        "arguments": list(arguments),
        "file": _file(script),
        "directory": str(home_of(source).resolve()) if source.package else str(main.parent),
        "package": source.package or None,
        "main": codes[str(main)],
        "modules": codes,
        "parent": os.getpid(),
        "root": str(Path(worker.__file__).parents[2]),
    }


def _file(script: Path) -> str:
    """The script's ``__file__``: absolute, but with symbolic links as they are."""
    return str(Path.cwd() / script)


def _environment(workers: int) -> dict[str, str]:
    """The workers' environment, but for what the agent gives each of them."""
    environment = dict(os.environ)
    environment.setdefault("OMP_NUM_THREADS", str(threads_of_a_worker(workers)))
    # Tells crew.join() that the number above is meant: torchrun sets it to 1 for want of a better.
    environment["TRAINERA_THREADS"] = environment["OMP_NUM_THREADS"]
    keep_memory(environment, workers)
    # Sets and hashes of strings must come out alike on all workers.
    environment.setdefault("PYTHONHASHSEED", "0")
    # On one machine there is nobody to talk to outside, and host names often lead nowhere.
    if interface := loopback_interface():
        environment.setdefault("GLOO_SOCKET_IFNAME", interface)
    # When a worker is lost the libraries of the others complain at length, which helps nobody.
    environment.setdefault("TORCH_CPP_LOG_LEVEL", "ERROR")
    return environment


@contextmanager
def _signals() -> Iterator[list[signal.Signals]]:
    """Collects the signals that ask for the end, from now on, instead of dying of them.

    What is ignored stays so: that is how nohup keeps a run alive.
    """
    received: list[signal.Signals] = []
    last_s = -_REPEATED_S

    def note(number: int, _: FrameType | None) -> None:
        nonlocal last_s
        if time.monotonic() - last_s > _REPEATED_S:
            received.append(signal.Signals(number))
            last_s = time.monotonic()

    if threading.current_thread() is not threading.main_thread():
        yield received
        return
    before = {one: signal.getsignal(one) for one in _SIGNALS}
    for one, handler in before.items():
        if handler is not signal.SIG_IGN:
            signal.signal(one, note)
    try:
        yield received
    finally:
        for one, handler in before.items():
            if handler is not None:
                signal.signal(one, handler)
