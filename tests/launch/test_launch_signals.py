"""Interrupts: all workers end, quietly, and nothing stays behind."""

import fcntl
import os
import signal
import struct
import termios
import time

import pytest
from launching import Launch

SCRIPT = """
import os, sys, time
import torch, torch.distributed as dist
from trainera import crew
crew.join()
dist.all_reduce(torch.ones(1))
if dist.get_rank() == 0:
    open("ready", "w").write("yes")
while True:
    dist.all_reduce(torch.ones(1))
    time.sleep(0.01)
"""


LIGHT = """
import os, time
open("ready" * (os.environ["RANK"] == "0") or "other", "w").write("yes")
time.sleep(600)
"""


@pytest.mark.parametrize(
    ("script", "what", "group"),
    [
        (SCRIPT, signal.SIGINT, True),
        (LIGHT, signal.SIGINT, False),
        (LIGHT, signal.SIGTERM, False),
        (LIGHT, signal.SIGHUP, True),
    ],
)
def test_interrupt(launch: Launch, script: str, what: signal.Signals, group: bool) -> None:
    running = launch(script, 2)
    running.wait_for("ready")
    running.send(what, group=group)
    asked_s = time.monotonic()
    ended = running.end()
    assert ended.status == 128 + what
    assert ended.stderr == f"trainera: stopped by {what.name}\n"
    assert time.monotonic() - asked_s < 15


def test_interrupt_before_the_workers_are_ready(launch: Launch) -> None:
    # Into the import of torch: of the launcher's first, then of the workers'.
    for delay in (0.8, 2.2):
        running = launch(SCRIPT, 2, fresh=True)
        time.sleep(delay)
        running.send(signal.SIGINT)
        ended = running.end()
        if ended.status == -signal.SIGINT or "driver.py" in ended.stderr:
            continue  # too early: the test's own driver was still importing
        assert ended.status == 130
        # torch's C++ code, interrupted while it is imported, may say these two lines; nobody else.
        noise = ("terminate called after throwing", "  what():  KeyboardInterrupt")
        said = [line for line in ended.stderr.splitlines() if not line.startswith(noise)]
        assert said == ["trainera: stopped by SIGINT"]


def test_a_script_may_save_before_it_ends(launch: Launch) -> None:
    script = """
        import os, time
        try:
            open("ready" + os.environ["RANK"], "w").write("yes")
            time.sleep(600)
        except KeyboardInterrupt:
            time.sleep(1)
            print("saved")
    """
    running = launch(script, 2)
    running.wait_for("ready0")
    running.wait_for("ready1")
    running.send(signal.SIGINT)
    ended = running.end()
    assert (ended.status, ended.stdout) == (130, "saved\n")


@pytest.mark.parametrize("times", [1, 2])
def test_a_script_that_does_not_listen_is_killed(launch: Launch, times: int) -> None:
    script = """
        import os, signal, time
        from multiprocessing import Process
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        Process(target=time.sleep, args=(600,)).start()
        open("ready" + os.environ["RANK"], "w").write("yes")
        time.sleep(600)
    """
    running = launch(script, 2)
    running.wait_for("ready0")
    running.wait_for("ready1")
    asked_s = time.monotonic()
    for _ in range(times):
        running.send(signal.SIGINT)
        running.send(signal.SIGINT)  # at once, as from a tool in between: counts as the same
        time.sleep(1.2)
    ended = running.end()
    assert ended.status == 130
    took_s = time.monotonic() - asked_s
    assert (took_s > 4) if times == 1 else (took_s < 4)


def test_workers_die_with_a_killed_launcher(launch: Launch) -> None:
    running = launch(SCRIPT, 2)
    running.wait_for("ready")
    assert len(running.processes()) >= 2
    running.send(signal.SIGKILL)
    running.process.wait(10)
    deadline = time.monotonic() + 5
    while running.processes() and time.monotonic() < deadline:
        time.sleep(0.05)
    assert running.processes() == []


def test_what_is_ignored_stays_ignored(launch: Launch) -> None:
    script = """
        import os, signal
        if os.environ["RANK"] == "0":
            os.kill(os.getppid(), signal.SIGHUP)
        print("still here")
    """
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        running = launch(script, 2)
    finally:
        signal.signal(signal.SIGHUP, before)
    ended = running.end()
    assert (ended.status, ended.stdout, ended.stderr) == (0, "still here\n", "")


def test_streams_of_the_first_worker_are_the_terminal(launch: Launch) -> None:
    ours, theirs = os.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    script = """
        import os, sys
        from tqdm import tqdm
        for _ in tqdm(range(3), ncols=40): pass
        open("tty" + os.environ["RANK"], "w").write(f"{sys.stdout.isatty()} {sys.stderr.isatty()}")
        sys.stdout.buffer.write(bytes([0, 255, 13, 10]) + b"end")
    """
    try:
        running = launch(script, terminal=theirs)
        ended = running.end()
        os.set_blocking(ours, False)
        shown = os.read(ours, 100_000)
    finally:
        os.close(ours)
        os.close(theirs)
    assert ended.status == 0
    assert running.wait_for("tty0") == "True True"
    assert running.wait_for("tty1") == "False False"
    assert b"100%" in shown and shown.count(b"0%|") == 2  # 0% and 100%, drawn once
    assert shown.endswith(b"\x00\xff\r\r\nend")  # the terminal itself turns \n into \r\n
