"""``trainera engines install horovod``: what is missing is said, what was built is found again."""

import os
import sys
from pathlib import Path

import pytest

from trainera.cli.main import main
from trainera.errors import Status, UserError
from trainera.install import horovod, toolchain


@pytest.fixture
def empty_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A PATH without any program; what a test needs it puts there."""
    programs = tmp_path / "bin"
    programs.mkdir()
    monkeypatch.setenv("PATH", str(programs))
    monkeypatch.delenv("CXX", raising=False)
    return programs


def program(folder: Path, name: str) -> None:
    (folder / name).write_text("#!/bin/sh\n")
    (folder / name).chmod(0o755)


def test_without_a_compiler(empty_path: Path) -> None:
    with pytest.raises(UserError, match=r"no C\+\+ compiler is here .*apt install") as error:
        toolchain.find()
    assert error.value.status == Status.FAILED


def test_without_the_compiler_that_was_named(
    empty_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program(empty_path, "g++")
    monkeypatch.setenv("CXX", "no-such-compiler -O2")
    with pytest.raises(UserError, match="CXX=no-such-compiler"):
        toolchain.find()


def test_without_make(empty_path: Path) -> None:
    program(empty_path, "g++")
    with pytest.raises(UserError, match="no make is here"):
        toolchain.find()


def test_without_cmake_it_comes_from_the_index(empty_path: Path) -> None:
    program(empty_path, "g++")
    program(empty_path, "make")
    assert toolchain.find().cmake is None


def test_the_last_word_is_ours(tmp_path: Path) -> None:
    said = tmp_path / "said"
    compiler = tmp_path / "compiler"
    compiler.write_text(f'#!/bin/sh\necho "$@" > {said}\n')
    compiler.chmod(0o755)
    wrapper = toolchain.wrapper(str(compiler), horovod.STANDARD, tmp_path)
    os.system(f"{wrapper} -std=c++14 -c 'a file.cc'")
    assert said.read_text() == "-std=c++14 -c a file.cc -std=gnu++17 -g0\n"


def test_what_the_user_has_set_is_kept() -> None:
    plain = horovod.recipe("torch", {})
    assert dict(plain.switches)["HOROVOD_WITHOUT_MPI"] == "1"
    own = horovod.recipe("torch", {"HOROVOD_WITH_MPI": "1", "HOROVOD_GPU_OPERATIONS": "NCCL"})
    switches = dict(own.switches)
    assert switches["HOROVOD_WITH_MPI"] == "1"
    assert "HOROVOD_WITHOUT_MPI" not in switches
    assert switches["HOROVOD_GPU_OPERATIONS"] == "NCCL"
    assert own.name != plain.name


def test_for_what_is_not_installed() -> None:
    with pytest.raises(UserError, match="tensorflow, which cannot be imported here") as error:
        horovod.recipe("tensorflow", {})
    assert error.value.status == Status.FAILED


def test_a_failed_build_names_the_error_and_the_log(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """pip really runs, finds nothing to build, and its log is kept."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(horovod, "VERSION", "0.0.0.nothing")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    wanted = horovod.recipe("torch", {})
    with pytest.raises(UserError) as error:
        horovod.install(wanted, rebuild=False, progress=lambda percent, doing: None)
    log = tmp_path / "trainera" / "wheels" / wanted.name / "build.log"
    assert log.is_file()
    assert str(log) in str(error.value)
    assert "Could not find a version that satisfies" in str(error.value)


def test_an_engine_that_needs_no_building(capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["engines", "install", "ddp"]) == 2
    assert "ddp has nothing to build — pip install 'trainera[torch]'" in capfd.readouterr().err


def test_an_engine_that_does_not_exist(capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["engines", "install", "horvod"]) == 2
    assert "did you mean horovod?" in capfd.readouterr().err


def test_the_list(capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["engines", "list"]) == 0
    assert [" ".join(line.split()) for line in capfd.readouterr().out.splitlines()] == [
        "ddp PyTorch DDP: ready",
        "horovod Horovod for PyTorch: ready",
        "central-storage CentralStorageStrategy: CentralStorageStrategy needs tensorflow, which is "
        "not installed: pip install 'tensorflow==2.15.*'",
        "horovod Horovod for tf.keras: Horovod for tf.keras needs tensorflow, which is not "
        "installed: pip install 'tensorflow==2.15.*', then: trainera engines install horovod",
        "jax Keras on JAX: Keras on JAX needs keras and jax, which are not installed: "
        "pip install 'trainera[keras]'",
        "jax_processes Keras on JAX over processes: Keras on JAX over processes needs keras and "
        "jax, which are not installed: pip install 'trainera[keras]'",
        "mirrored Keras on TensorFlow's devices: Keras on TensorFlow's devices needs keras and "
        "tensorflow, which are not installed: pip install keras tensorflow, or "
        "'tensorflow==2.15.*' for scripts written for tf.keras 2",
        "multiworker MultiWorkerMirroredStrategy: MultiWorkerMirroredStrategy needs tensorflow, "
        "which is not installed: pip install 'tensorflow==2.15.*'",
        "parameter-server ParameterServerStrategy: ParameterServerStrategy needs tensorflow, which "
        "is not installed: pip install 'tensorflow==2.15.*'",
        "tarantella Tarantella: Tarantella needs tarantella, which is not installed: no package "
        "registry has it; build it, with GPI-2 and GaspiCxx, from "
        "https://github.com/cc-hpc-itwm/tarantella. Its launcher is `tarantella -n N -- SCRIPT`; "
        "what trainera converts for it was never run",
    ]


def test_what_is_installed_here_starts() -> None:
    assert sys.executable
    horovod.check("torch")
