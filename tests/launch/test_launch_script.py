"""A script under the launcher sees the world as it does under ``python train.py``."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from launching import Launch

from trainera.errors import UserError
from trainera.launch import devices, local


def test_world_argv_and_one_output(launch: Launch) -> None:
    script = """
        import os, sys
        print("before join", flush=True)
        print("warning", file=sys.stderr)
        os.write(1, b"raw\\n")
        import torch, torch.distributed as dist
        dist.init_process_group("gloo")
        total = torch.tensor([dist.get_rank() + 1.0])
        dist.all_reduce(total)
        print(total.item(), dist.get_world_size(), sys.argv)
        threads = os.environ["OMP_NUM_THREADS"], os.environ["TRAINERA_THREADS"]
        print(*threads, torch.get_num_threads())
        dist.destroy_process_group()
    """
    ended = launch(script, 2, "--epochs", "3").end()
    threads = max(1, devices.cores() // 2)
    assert ended.stdout == (
        f"before join\nraw\n3.0 2 ['train.py', '--epochs', '3']\n{threads} {threads} {threads}\n"
    )
    assert ended.stderr == "warning\n"
    assert ended.status == 0


def test_the_users_own_number_of_threads_is_kept(launch: Launch) -> None:
    script = "import os; print(os.environ['OMP_NUM_THREADS'], os.environ['TRAINERA_THREADS'])"
    ended = launch(script, 2, environment={"OMP_NUM_THREADS": "3"}).end()
    assert (ended.stdout, ended.stderr) == ("3 3\n", "")


FAULTS = """
    import resource, torch
    for number in range(40):
        torch.empty(7_000_000).fill_(1.0)
        if number == 29:
            before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="another allocator")
def test_memory_that_is_freed_is_kept_for_the_next_step(launch: Launch) -> None:
    kept = launch(FAULTS, 1).end()
    assert int(kept.stdout) < 5_000
    theirs = launch(FAULTS, 1, environment={"MALLOC_MMAP_THRESHOLD_": "1000000"}).end()
    assert int(theirs.stdout) > 50_000


@pytest.mark.skipif(sys.platform != "linux", reason="another allocator")
def test_no_more_memory_is_kept_than_a_container_has(tmp_path: Path) -> None:
    limit = tmp_path / "memory.max"
    limit.write_text("1600000\n")
    environment: dict[str, str] = {}
    devices.keep_memory(environment, 2, limit)
    assert environment["MALLOC_TRIM_THRESHOLD_"] == "100000"
    limit.write_text("max\n")
    unlimited: dict[str, str] = {}
    devices.keep_memory(unlimited, 2, limit)
    assert int(unlimited["MALLOC_TRIM_THRESHOLD_"]) > 100_000


def test_loglevel_does_not_bring_the_agents_log(launch: Launch) -> None:
    ended = launch("print('quiet')", 2, environment={"LOGLEVEL": "INFO"}).end()
    assert (ended.stdout, ended.stderr) == ("quiet\n", "")


ABOUT_ITSELF = """
    import json, os, sys
    main = sys.modules["__main__"]
    print(json.dumps({
        "argv": sys.argv, "file": __file__, "name": __name__, "spec": __spec__,
        "package": __package__, "cached": __cached__, "path": sys.path, "cwd": os.getcwd(),
        "loader": type(__loader__).__name__, "builtins": str(__builtins__), "doc": __doc__,
        "annotations": __annotations__, "main": main.__dict__ is globals(),
        "names": sorted(k for k in globals() if k.startswith("__")),
    }, indent=1))
"""


@pytest.mark.parametrize("path", ["train.py", "elsewhere/train.py", "link.py", "linked/train.py"])
def test_main_is_as_under_plain_python(launch: Launch, tmp_path: Path, path: str) -> None:
    (tmp_path / "link.py").symlink_to("elsewhere/train.py")
    (tmp_path / "linked").symlink_to("elsewhere")
    (tmp_path / "elsewhere").mkdir()
    run = launch(ABOUT_ITSELF, 1, "a", "-b", path=path).end()
    plain = subprocess.run(
        [sys.executable, path, "a", "-b"], cwd=tmp_path, capture_output=True, text=True, timeout=60
    )
    assert run.stderr == ""
    assert run.stdout == plain.stdout


def test_names_in_the_current_directory_do_not_get_in_the_way(launch: Launch) -> None:
    broken = "raise SystemError('the wrong module')"
    files = {"marshal_.py": broken, "traceback.py": broken, "json.py": broken, "trainera.py": ""}
    ended = launch(
        "import helper; print(helper.x)",
        path="sub/train.py",
        files={**files, "sub/helper.py": "x = 5"},
    ).end()
    assert (ended.status, ended.stdout, ended.stderr) == (0, "5\n", "")


def test_pickle_dataclasses_and_loader_processes(launch: Launch) -> None:
    script = """
        import multiprocessing, pickle
        from concurrent.futures import ProcessPoolExecutor
        from dataclasses import dataclass
        import torch
        from torch.utils.data import DataLoader, Dataset

        @dataclass
        class Point:
            x: "int"

        class Squares(Dataset):
            def __len__(self): return 6
            def __getitem__(self, i): return i * i

        def double(point): return Point(point.x * 2)

        if __name__ == "__main__":
            print(pickle.loads(pickle.dumps(Point(1))))
            for method in ("fork", "spawn"):
                loader = DataLoader(Squares(), 3, num_workers=1, multiprocessing_context=method)
                print(method, torch.cat(list(loader)).tolist())
            with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
                print(pool.submit(double, Point(4)).result())
    """
    ended = launch(script, 1).end()
    assert ended.stderr == ""
    assert ended.stdout.splitlines() == [
        "Point(x=1)",
        "fork [0, 1, 4, 9, 16, 25]",
        "spawn [0, 1, 4, 9, 16, 25]",
        "Point(x=8)",
    ]


def test_converted_modules_come_from_memory(launch: Launch, tmp_path: Path) -> None:
    plain = (
        "from . import other\nfrom .deep.part import where\n\n\ndef which():\n    return 'before'\n"
    )
    ended = launch(
        "import sys\nfrom pack import which, other, where\nprint(which(), other.x, where())\n",
        2,
        files={
            "pack/__init__.py": plain,
            "pack/other.py": "x = 'untouched'\n",
            "pack/deep/__init__.py": "",
            "pack/deep/part.py": "def where():\n    return __name__\n",
        },
        after={
            "train.py": "import sys\nfrom pack import which, other, where\n"
            "print('converted')\nprint(which(), other.x, where())\n",
            "pack/__init__.py": "import os\n" + plain.replace("before", "after"),
            "pack/deep/part.py": "def where():\n    return (__name__, __file__[-7:])\n",
        },
    ).end()
    assert ended.stderr == ""
    assert ended.stdout == "converted\nafter untouched ('pack.deep.part', 'part.py')\n"
    written = {path.name.partition(".")[0] for path in tmp_path.rglob("*.pyc")}
    assert written <= {"other", "__init__"}  # of pack.deep, which was not converted
    assert not list((tmp_path / "pack" / "__pycache__").glob("__init__*"))
    assert (tmp_path / "pack" / "__init__.py").read_text() == plain


def test_without_torch_the_message_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for name in [name for name in sys.modules if name.partition(".")[0] == "torch"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "torch", None)
    script = tmp_path / "train.py"
    script.write_text("print(1)")
    for call in (devices.auto_workers, lambda: local.run(script, (), (), 2, say=print)):
        with pytest.raises(UserError, match=r"pip install 'trainera\[torch\]'"):
            call()


def test_every_core_where_there_is_no_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    import torch

    monkeypatch.setattr(torch.cuda, "device_count", lambda: 0)
    assert devices.auto_workers() == len(os.sched_getaffinity(0))
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 7)
    assert devices.auto_workers() == 7


def test_threads_are_never_less_than_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(devices, "cores", lambda: 8)
    assert [devices.threads_of_a_worker(n) for n in (1, 3, 8, 9)] == [8, 2, 1, 1]


def test_no_workers_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="at least 1"):
        local.run(tmp_path / "train.py", (), (), 0, say=print)
