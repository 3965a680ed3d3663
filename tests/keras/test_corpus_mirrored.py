"""Same output: both Keras corpora on TensorFlow, sequential against devices of one process."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.tools.corpus import settings, told, tolerance_of, write_converted
from tests.tools.runs import Runner, saved_difference, text_difference
from trainera import engines

CORPUS = Path(__file__).with_name("corpus")
FOR_JAX_ONLY = {
    "jax_loop": "calls jax.jit",
    "jax_loop_unpacked": "calls jax.jit",
    "nearest_code": "has a train_step of JAX's",
    "tfdata_cosine": "jit_compile=True, which ends with a message (test_verbs_mirrored.py)",
    "own_train_step": "calls jax.value_and_grad",
    "generator_steps": "two fits share a generator that TensorFlow reads ahead",
    "batchnorm_cnn_augmented": "a top-5 accuracy in 64 bits, which TensorFlow's in_top_k cannot do",
}
"""Scripts of `keras3/` that are not for TensorFlow's devices; others need another backend."""
CASES = [
    case
    for line in ("keras2", "keras3")
    for case in sorted(path.parent for path in (CORPUS / line).glob("*/case.toml"))
    if case.name not in FOR_JAX_ONLY
]

Sequential = Callable[[Path, Runner], tuple[str, Path]]


@pytest.fixture(scope="module")
def sequential(tmp_path_factory: pytest.TempPathFactory) -> Sequential:
    """The sequential run of a case, run once."""
    done: dict[Path, tuple[str, Path]] = {}

    def run(case: Path, runner: Runner) -> tuple[str, Path]:
        if case not in done:
            folder = tmp_path_factory.mktemp(case.name)
            done[case] = (outputs(runner, case, case / "train.py", folder), folder)
        return done[case]

    return run


def outputs(
    runner: Runner, case: Path, script: Path, folder: Path, devices: int = 0, **options: list[str]
) -> str:
    """What a case prints in all of its runs, one after the other in one folder."""
    found = ""
    variables = engines.get("mirrored").variables(devices, {}) if devices else None
    for _ in range(settings(case).get("runs", 1)):
        arguments = settings(case).get("arguments", [])
        run = runner.run(script, folder, arguments, timeout=200, env=variables, **options)
        assert run.ok, run.report()
        found += run.output
    return found


def devices_of(case: Path) -> tuple[int, ...]:
    """Two, or for a third of the cases three, where nothing divides; a few are started plainly."""
    number = CASES.index(case)
    return (2 + (number % 3 == 0), *((0,) if number % 9 == 4 else ()))


def on_tensorflow(case: Path, folder: Path) -> Path:
    """The case, with TensorFlow for its backend."""
    if case.parent.name == "keras2":
        return case
    shutil.copytree(case, folder)
    script = folder / "train.py"
    text = script.read_text()
    for quote in "'\"":
        text = text.replace(f"{quote}jax{quote}", f"{quote}tensorflow{quote}")
    script.write_text(text)
    return folder


@pytest.mark.parametrize(
    ("case", "devices"),
    [
        pytest.param(
            case,
            devices,
            id=f"{case.name}-{devices}",
            marks=pytest.mark.xdist_group(f"mirrored-{case.name}"),
        )
        for case in CASES
        for devices in devices_of(case)
    ],
)
def test_same_output(
    case: Path,
    devices: int,
    request: pytest.FixtureRequest,
    sequential: Sequential,
    tmp_path_factory: pytest.TempPathFactory,
    tmp_path: Path,
) -> None:
    name = "keras2" if case.parent.name == "keras2" else "keras3_on_tensorflow"
    runner: Runner = request.getfixturevalue(name)
    copy = _copied(case, tmp_path_factory)
    expected, expected_folder = sequential(copy, runner)
    script = write_converted(copy, tmp_path / "source", engine="mirrored")
    folder = tmp_path / "run"
    folder.mkdir()
    actual = outputs(runner, copy, script, folder, devices)
    tolerance, ignore = tolerance_of(case), settings(case).get("ignore")
    difference = text_difference(told(expected, ignore), told(actual, ignore), tolerance)
    assert difference is None, f"{difference}\n--- expected\n{expected}\n--- found\n{actual}"
    for name in settings(case).get("saved", []):
        difference = saved_difference(expected_folder / name, folder / name, tolerance)
        assert difference is None, difference


COPIES: dict[Path, Path] = {}


def _copied(case: Path, factory: pytest.TempPathFactory) -> Path:
    if case not in COPIES:
        COPIES[case] = on_tensorflow(case, factory.mktemp("case") / case.name)
    return COPIES[case]
