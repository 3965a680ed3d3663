"""One worker goes down: the root cause is shown once, and nothing stays behind."""

import re
import textwrap

import pytest
from launching import Launch

from trainera.launch.failures import Failure, root_cause

IMPORT_S = 15
"""What importing torch may take on a busy machine."""

JOIN = """\
import os, sys, time, signal, torch, torch.distributed as dist
from trainera import crew
crew.join()
rank = dist.get_rank()
def step():
    dist.all_reduce(torch.ones(1))
step()
"""


def script(body: str) -> str:
    return JOIN + textwrap.dedent(body)


def test_exception_in_one_worker(launch: Launch) -> None:
    body = """
        print("go")
        def train():
            if rank == 1:
                raise ValueError("bad sample")
            while True:
                step()
        train()
    """
    ended = launch(script(body), 3).end()
    assert ended.status == 1
    assert ended.stdout == "go\n"
    assert re.match(r"trainera: worker 2 of 3 \(pid \d+\) failed:\n", ended.stderr)
    lines = ended.stderr.splitlines()[1:]
    assert lines[0] == "Traceback (most recent call last):"
    assert re.fullmatch(r'  File "/.*/train.py", line 15, in <module>', lines[1])
    assert lines[2] == "    train()"
    assert lines[-1] == "ValueError: bad sample"
    assert ended.stderr.count("Traceback") == 1
    assert ended.seconds < 15 + IMPORT_S


def test_exception_in_all_workers_with_the_users_lines(launch: Launch) -> None:
    before = "import helper\n\n\ndef main():\n    helper.deep(0)\n\n\nmain()\n"
    ended = launch(
        before,
        2,
        files={"helper.py": "def deep(x):\n    return 1 / x\n"},
        after={
            "train.py": "import os\nimport sys\n" + before,
            "helper.py": "import os\n\n\n\ndef deep(x):\n    return 1 / x\n",
        },
    ).end()
    assert ended.status == 1
    assert ended.stderr.count("Traceback") == 1
    assert [line for line in ended.stderr.splitlines() if "File" in line] == [
        f'  File "{tmp(ended.stderr)}/train.py", line 8, in <module>',
        f'  File "{tmp(ended.stderr)}/train.py", line 5, in main',
        f'  File "{tmp(ended.stderr)}/helper.py", line 2, in deep',
    ]
    assert "    helper.deep(0)\n" in ended.stderr
    assert ended.stderr.endswith("ZeroDivisionError: division by zero\n")
    assert ended.seconds < 10 + IMPORT_S


def tmp(stderr: str) -> str:
    match = re.search(r'File "(/.*)/train.py"', stderr)
    assert match
    return match[1]


def test_sigkill_in_the_middle_takes_the_loader_processes_along(launch: Launch) -> None:
    body = """
        from torch.utils.data import DataLoader
        loader = iter(DataLoader(list(range(10000)), 1, num_workers=2))
        next(loader)
        if rank == 1:
            os.kill(os.getpid(), signal.SIGKILL)
        while True:
            step()
    """
    ended = launch(script(body), 2).end()
    assert ended.status == 1
    assert re.fullmatch(
        r"trainera: worker 2 of 2 \(pid \d+\) was killed by signal 9 \(SIGKILL\) "
        r"— out of memory\?\n",
        ended.stderr,
    )
    assert ended.seconds < 15 + IMPORT_S


def test_a_worker_that_waits_and_does_not_listen_is_ended(launch: Launch) -> None:
    body = """
        import os, signal, time
        if os.environ["RANK"] == "1":
            os._exit(3)
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        while True:
            time.sleep(1)
    """
    ended = launch(body, 2).end()
    assert ended.status == 3
    assert re.fullmatch(
        r"trainera: worker 2 of 2 \(pid \d+\) ended with status 3 "
        r"while others were still running\n",
        ended.stderr,
    )
    assert ended.seconds < 15 + IMPORT_S


def test_last_words_of_a_crash(launch: Launch) -> None:
    body = """
        import os, signal, time
        if os.environ["RANK"] == "1":
            os.write(2, b"double free or corruption\\n")
            os.kill(os.getpid(), signal.SIGSEGV)
        time.sleep(600)
    """
    ended = launch(body, 2).end()
    assert ended.status == 1
    assert re.fullmatch(
        r"trainera: worker 2 of 2 \(pid \d+\) was killed by signal 11 \(SIGSEGV\)\n"
        r"double free or corruption\n",
        ended.stderr,
    )


def test_one_worker_that_ends_early_is_named(launch: Launch) -> None:
    body = """
        if rank == 1:
            sys.exit()
        while True:
            step()
    """
    ended = launch(script(body), 2).end()
    assert ended.status == 1
    assert ended.stderr.startswith(
        "trainera: worker 2 of 2 ended before the others, with status 0; worker 1 of 2 (pid "
    )


@pytest.mark.parametrize(
    ("code", "status", "stderr"),
    [
        ("7", 7, ""),
        ("'no such data'", 1, "no such data\n"),
        ("0", 0, ""),
        ("None", 0, ""),
        ("300", 300 & 255, ""),
    ],
)
def test_sys_exit_in_all_workers(launch: Launch, code: str, status: int, stderr: str) -> None:
    ended = launch(f"import sys\nprint('out')\nsys.exit({code})\n", 2).end()
    assert (ended.status, ended.stdout, ended.stderr) == (status, "out\n", stderr)
    assert ended.seconds < 10 + IMPORT_S


def test_sys_exit_in_one_worker(launch: Launch) -> None:
    body = """
        if rank == 1:
            sys.exit(7)
        while True:
            step()
    """
    ended = launch(script(body), 2).end()
    assert ended.status == 7
    assert re.fullmatch(
        r"trainera: worker 2 of 2 \(pid \d+\) ended with status 7 "
        r"while others were still running\n",
        ended.stderr,
    )


def test_failures_under_the_runtime(launch: Launch) -> None:
    body = """
        import sys
        from trainera import crew
        crew.join()
        print("joined", crew.size())
        if sys.argv[1] == "exit":
            crew.once(sys.exit, "no data here")
        crew.once(open, "no/such/file")
    """
    ended = launch(body, 2, "exit").end()
    assert (ended.status, ended.stdout, ended.stderr) == (1, "joined 2\n", "no data here\n")
    ended = launch(body, 2, "fail").end()
    assert (ended.status, ended.stdout) == (1, "joined 2\n")
    assert ended.stderr.startswith("trainera: worker 1 of 2 (pid ")
    assert ended.stderr.count("Traceback") == 1
    assert ended.stderr.endswith("No such file or directory: 'no/such/file'\n")


def test_a_slower_worker_may_finish_before_sys_exit(launch: Launch) -> None:
    body = """
        import os, sys, time
        if os.environ["RANK"] == "0":
            time.sleep(3)
            print("saved")
        sys.exit(5)
    """
    ended = launch(body, 2).end()
    assert (ended.status, ended.stdout, ended.stderr) == (5, "saved\n", "")


def test_one_worker_alone_fails_as_plain_python_does(launch: Launch) -> None:
    ended = launch("def f():\n    return [][1]\n\n\nf()\n", 1).end()
    assert ended.status == 1
    assert ended.stderr.startswith("Traceback (most recent call last):\n  File ")
    assert ended.stderr.endswith("IndexError: list index out of range\n")
    assert "launch" not in ended.stderr.replace("test_launch", "")


def test_the_scripts_own_excepthook_speaks(launch: Launch) -> None:
    body = """
        import sys
        sys.excepthook = lambda kind, error, frames: print("mine:", error, file=sys.stderr)
        raise RuntimeError("x")
    """
    ended = launch(body, 1).end()
    assert (ended.status, ended.stderr) == (1, "mine: x\n")


def test_a_failed_worker_with_a_thread_that_does_not_end(launch: Launch) -> None:
    body = """
        import threading, time
        threading.Thread(target=time.sleep, args=(600,)).start()
        raise KeyError("thread")
    """
    ended = launch(body, 2).end()
    assert ended.status == 1
    assert ended.stderr.count("Traceback") == 1
    assert ended.stderr.endswith("KeyError: 'thread'\n")
    assert ended.seconds < 15 + IMPORT_S


def failure(rank: int, time_s: float, *, consequence: bool = False) -> Failure:
    return Failure(
        rank=rank, pid=1, time_s=time_s, kind="exception", status=1, consequence=consequence
    )


def test_the_root_cause_is_the_first_that_is_no_consequence() -> None:
    lost, later, cause = failure(0, 1.0, consequence=True), failure(1, 3.0), failure(2, 2.0)
    assert root_cause([lost, later, cause]) is cause
    assert root_cause([lost]) is lost
    assert root_cause([]) is None


def test_muted_output_does_not_pile_up_in_the_private_directory(launch: Launch) -> None:
    body = """
        import os, time
        from pathlib import Path
        if os.environ["RANK"] == "1":
            for _ in range(300):
                os.write(2, b"x" * 99_999 + b"\\n")
            time.sleep(1)
        else:
            time.sleep(0.7)
            [directory] = Path(os.environ["TMPDIR"]).iterdir()
            print(oct(directory.stat().st_mode), (directory / "stderr-1").stat().st_size < 2e6)
    """
    ended = launch(body, 2).end()
    assert (ended.stdout, ended.stderr) == ("0o40700 True\n", "")
