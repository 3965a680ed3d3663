"""Every workload is a plain script that converts; its data are real where they are found."""

import gzip
import subprocess
import sys
from pathlib import Path
from typing import Literal

import pytest

from trainera.bench.catalogue import FOLDER, WORKLOADS, Workload
from trainera.pipeline import convert_script
from trainera.plan import Options

TORCH = [one for one in WORKLOADS if one.framework == "torch" and one.trains]


@pytest.mark.parametrize("engine", ["ddp", "horovod"])
@pytest.mark.parametrize("batch", ["global", "per-worker"])
@pytest.mark.parametrize("workload", TORCH, ids=lambda one: one.name)
def test_a_workload_converts(
    workload: Workload, batch: Literal["global", "per-worker"], engine: str
) -> None:
    plan, converted = convert_script(workload.script, engine, Options(batch=batch))
    assert not plan.refusals
    assert converted


def test_every_script_is_in_the_catalogue() -> None:
    known = {one.name for one in WORKLOADS} | {"workload_data", "fish_preprocess"}
    assert {path.stem for path in FOLDER.glob("*.py")} == known


def run(folder: Path, code: str, data: Path | None = None) -> str:
    environment = {"TRAINERA_DATA": str(data), "HOME": str(folder)} if data else {}
    done = subprocess.run(
        [sys.executable, "-c", f"import sys; sys.path.insert(0, {str(FOLDER)!r})\n{code}"],
        cwd=folder,
        env={"PATH": "/usr/bin:/bin", "HOME": str(folder), "OMP_NUM_THREADS": "1"} | environment,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_data_that_are_made_have_the_shape_of_real_ones(tmp_path: Path) -> None:
    code = """
from workload_data import *
for train, test, origin in (grey_digits(["mnist"], 50, 20), cifar10(50, 20), cifar100(50, 20),
                            reviews(50, 20, 16, 100), running_text(50, 20, 8, 100)):
    print(origin, len(train), len(test), *train[0][0].shape, int(train.tensors[1].max()) > 0)
train, classes, origin = fish(30, 37, 49)
print(origin, len(train), classes, *train[0][0].shape)
"""
    assert run(tmp_path, code).splitlines() == [
        "generated 50 20 1 28 28 True",
        "generated 50 20 3 32 32 True",
        "generated 50 20 3 32 32 True",
        "generated 50 20 16 True",
        "generated 50 20 8 True",
        "generated 30 9 1 37 49",
    ]


def idx(path: Path, shape: tuple[int, ...], content: bytes) -> None:
    header = bytes([0, 0, 8, len(shape)]) + b"".join(size.to_bytes(4, "big") for size in shape)
    path.write_bytes(gzip.compress(header + content))


def test_data_that_are_found_are_used(tmp_path: Path) -> None:
    data = tmp_path / "data"
    (data / "mnist").mkdir(parents=True)
    for part, count in (("train", 6), ("t10k", 4)):
        pixels = bytes(range(count)) * 784
        idx(data / "mnist" / f"{part}-images-idx3-ubyte.gz", (count, 28, 28), pixels)
        labels = bytes(range(count))
        idx(data / "mnist" / f"{part}-labels-idx1-ubyte.gz", (count,), labels)
    (data / "imdb").mkdir()
    for part in ("train", "test"):
        text = 'text,label\n"good, good film",1\nbad film,0\n'
        (data / "imdb" / f"{part}.csv.gz").write_bytes(gzip.compress(text.encode()))
    (data / "wikitext-2").mkdir()
    for part in ("valid", "test"):
        (data / "wikitext-2" / f"{part}.txt").write_text(" the cat and the dog and\n the cow" * 3)
    code = """
from workload_data import *
train, test, origin = grey_digits(["mnist"], 5, 3)
brightest = round(train[0][0].max().item() * 255)
print(origin, len(train), len(test), train.tensors[1].tolist(), brightest)
train, test, origin = reviews(2, 2, 5, 10)
print(origin, train.tensors[0].tolist(), train.tensors[1].tolist())
train, test, origin = running_text(4, 2, 3, 10)
print(origin, train[0][0].tolist(), train[0][1].tolist())
"""
    assert run(tmp_path, code, data).splitlines() == [
        "real 5 3 [0, 1, 2, 3, 4] 5",
        "real [[1, 6, 5, 3, 0], [1, 4, 3, 0, 0]] [1, 0]",
        "real [1, 3, 2] [3, 2, 1]",
    ]


@pytest.mark.parametrize("name", ["micro_matmul", "micro_convolution"])
def test_micro_benchmarks_print_figures(name: str, tmp_path: Path) -> None:
    code = f"import runpy; sys.argv = ['x']; runpy.run_module({name!r}, run_name='__main__')"
    lines = run(tmp_path, code).splitlines()
    assert lines
    assert all(line.startswith("figure ") for line in lines)
