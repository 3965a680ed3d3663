"""Every workload is a plain script that converts; its data are real where they are found."""

import gzip
import subprocess
import sys
from pathlib import Path
from typing import Literal

import pytest

from tests.keras.environments import python_of
from trainera.bench.catalogue import FOLDER, WORKLOADS, Workload
from trainera.pipeline import convert_script, written_for
from trainera.plan import Options

TORCH = [one for one in WORKLOADS if one.platform.framework == "torch" and one.trains]
KERAS = [one for one in WORKLOADS if one.platform.framework == "keras"]


@pytest.mark.parametrize("engine", ["ddp", "horovod"])
@pytest.mark.parametrize("batch", ["global", "per-worker"])
@pytest.mark.parametrize("workload", TORCH, ids=lambda one: one.name)
def test_a_workload_converts(
    workload: Workload, batch: Literal["global", "per-worker"], engine: str
) -> None:
    plan, converted = convert_script(workload.script, engine, Options(batch=batch))
    assert not plan.refusals
    assert converted


@pytest.mark.parametrize("workload", KERAS, ids=lambda one: one.name)
def test_a_workload_in_keras_converts(workload: Workload) -> None:
    engine = {"jax": "jax", "tensorflow": "horovod"}[workload.platform.backend]
    plan, converted = convert_script(workload.script, engine)
    assert not plan.refusals
    assert converted


@pytest.mark.parametrize("workload", WORKLOADS, ids=lambda one: one.name)
def test_the_catalogue_says_what_a_script_is_written_for(workload: Workload) -> None:
    said = workload.platform.framework, workload.platform.backend
    assert written_for(workload.script) == said
    assert not workload.task or workload.task in {one.name for one in TORCH}


def test_every_script_is_in_the_catalogue() -> None:
    known = {one.name for one in WORKLOADS}
    known |= {"workload_arrays", "workload_data", "fish_preprocess"}
    assert {path.stem for path in FOLDER.glob("*.py")} == known


def run(folder: Path, code: str, data: Path | None = None, python: str = sys.executable) -> str:
    environment = {"TRAINERA_DATA": str(data), "HOME": str(folder)} if data else {}
    done = subprocess.run(
        [python, "-c", f"import sys; sys.path.insert(0, {str(FOLDER)!r})\n{code}"],
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


def test_counterparts_are_of_one_size(tmp_path: Path) -> None:
    sizes = (100, 16, 64, 2)  # words of the vocabulary and of a text, width, layers
    in_torch = f"""
import mnist_cnn, cifar10_cnn, imdb_transformer, wikitext_transformer
for model in (mnist_cnn.Net(), cifar10_cnn.Net(), imdb_transformer.Reviewer(*{sizes}),
              wikitext_transformer.LanguageModel(*{sizes})):
    print(sum(one.numel() for one in model.parameters()))
"""
    in_keras = f"""
import os
os.environ["KERAS_BACKEND"] = "tensorflow"  # which compiles less; the scripts choose too late
import keras
import mnist_192_keras, mnist_cnn_keras, cifar10_cnn_keras
import imdb_transformer_keras, wikitext_transformer_keras
for model in (mnist_192_keras.build(), mnist_cnn_keras.build(), cifar10_cnn_keras.build(),
              imdb_transformer_keras.build(*{sizes}), wikitext_transformer_keras.build(*{sizes})):
    print(sum(weight.numpy().size for weight in model.trainable_weights))
"""
    hidden, *others = run(tmp_path, in_keras, python=python_of("keras3")).split()
    assert others == run(tmp_path, in_torch).split()
    assert int(hidden) == 784 * 192 + 192 + 192 * 10 + 10
    of_torch = (FOLDER / "mnist_192.py").read_text()
    assert "nn.Linear(784, 192), nn.Sigmoid(), nn.Linear(192, 10)" in of_torch
