"""Whatever a user hands in: one clear message, a documented status, never a traceback."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.rules.tools import script
from trainera.cli import output
from trainera.cli.main import main

USAGE, REFUSED = 2, 3
PYTHON_2 = 'import torch\nfor x in loader:\n    print "loss", x\n'


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory of its own; what was written is not remembered at home."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("COLUMNS", "200")
    directory = tmp_path / "work"
    directory.mkdir()
    monkeypatch.chdir(directory)
    return directory


def trainera(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "trainera", *arguments],
        capture_output=True,
        encoding="utf-8",
        timeout=60,
        check=False,
        env={**os.environ, "PYTHONIOENCODING": "utf-8"},
    )


def told(*arguments: str, status: int) -> str:
    """The message, after checking that it is one and that nothing was written."""
    before = sorted(Path().iterdir())
    done = trainera(*arguments)
    assert done.returncode == status, done.stderr
    assert "Traceback" not in done.stderr
    assert "internal error" not in done.stderr
    assert done.stdout == ""
    assert sorted(Path().iterdir()) == before
    return done.stderr


def test_no_such_file() -> None:
    assert "nowhere.py: no such file" in told("convert", "nowhere.py", status=USAGE)


def test_a_directory() -> None:
    Path("folder").mkdir()
    message = told("convert", "folder", status=USAGE)
    assert "folder: is a directory; name the training script in it" in message


@pytest.mark.parametrize("content", [b"\x7fELF\x02\x01\x01\0\0\0", b"\0", b"import torch\n\0"])
def test_a_binary(content: bytes) -> None:
    Path("model.pt").write_bytes(content)
    assert "model.pt: is not Python source" in told("convert", "model.pt", status=USAGE)


def test_a_syntax_error_is_shown_with_its_place() -> None:
    Path("train.py").write_text("import torch\nfor x in loader\n    pass\n")
    lines = told("convert", "train.py", status=USAGE).splitlines()
    assert "train.py:2:16: syntax: expected ':'" in lines[0]
    caret = next(number for number, line in enumerate(lines) if line.strip() == "^")
    assert lines[caret - 1].strip() == "for x in loader"
    assert lines[caret].index("^") - lines[caret - 1].index("for") == 15


@pytest.mark.parametrize(
    "source",
    [
        "def f(:\n",
        "x = (1,\n",
        "if True:\npass\n",
        "\tif x:\n        y\n",
        "x = '''never closed\n",
        "return\n    5\n",
        "print(f'{')\n",
        "match x:\n    case\n",
        "é = = 1\n",
        # Parsed without complaint, but no program.
        script(after="return 5"),
        script(after="break"),
        script(after="nonlocal loss"),
        script(after="def f():\n    print(x)\n    global x"),
    ],
)
def test_other_syntax_errors(source: str) -> None:
    Path("train.py").write_text(source, encoding="utf-8")
    assert "train.py:" in told("convert", "train.py", status=USAGE)


def test_python_2() -> None:
    Path("train.py").write_text(PYTHON_2)
    message = told("convert", "train.py", status=USAGE)
    assert "train.py:3:" in message
    assert "Python 2" in message


@pytest.mark.parametrize("content", ["", "\n\n", "# only a comment\n"])
def test_an_empty_file(content: str) -> None:
    Path("train.py").write_text(content)
    message = told("convert", "train.py", status=REFUSED)
    assert "train.py: is empty: there is nothing to convert" in message


def test_no_training_loop() -> None:
    Path("train.py").write_text("import torch\nprint(torch.zeros(3))\n")
    assert "train.py: no training loop found" in told("convert", "train.py", status=REFUSED)


def test_no_loader() -> None:
    Path("train.py").write_text(script(loader="loader = [(torch.randn(8, 3), torch.randn(8, 1))]"))
    assert "no DataLoader found" in told("convert", "train.py", status=REFUSED)


def test_an_unknown_engine() -> None:
    Path("train.py").write_text(script())
    message = told("convert", "train.py", "--engine", "dpd", status=USAGE)
    assert "'dpd'" in message
    assert "ddp" in message


def test_text_that_is_not_utf_8() -> None:
    Path("train.py").write_bytes(script().encode() + b"# caf\xe9\n")
    assert "train.py: is not readable text" in told("convert", "train.py", status=USAGE)


def test_a_declared_encoding_is_read() -> None:
    source = b"# -*- coding: latin-1 -*-\n# caf\xe9\n" + script().encode()
    Path("train.py").write_bytes(source)
    done = trainera("convert", "train.py")
    assert done.returncode == 0, done.stderr
    assert b"caf\xe9" in Path("train_ddp.py").read_bytes()


def test_an_encoding_that_does_not_exist() -> None:
    Path("train.py").write_bytes(b"# coding: klingon\n" + script().encode())
    assert "train.py: is not readable text" in told("convert", "train.py", status=USAGE)


def test_a_loop_of_links() -> None:
    Path("a.py").symlink_to("b.py")
    Path("b.py").symlink_to("a.py")
    assert "a.py: cannot be read" in told("convert", "a.py", status=USAGE)


def test_a_link_to_nowhere() -> None:
    Path("a.py").symlink_to("nowhere.py")
    assert "a.py: no such file" in told("convert", "a.py", status=USAGE)


def test_a_name_of_a_file_that_is_too_long() -> None:
    assert "cannot be read" in told("convert", "a" * 300 + ".py", status=USAGE)


@pytest.mark.parametrize("depth", [95, 3000])
def test_deep_nesting(depth: int) -> None:
    Path("train.py").write_text(script(after="x = " + "(" * depth + "1" + ")" * depth))
    done = trainera("convert", "train.py", "-o", "-")
    assert done.returncode in (0, USAGE, REFUSED), done.stderr
    assert "Traceback" not in done.stderr
    assert "internal error" not in done.stderr


def test_a_long_chain() -> None:
    """Deep without parentheses: a sum of thousands of terms."""
    Path("train.py").write_text(script(after="x = " + " + ".join(["1"] * 3000)))
    done = trainera("convert", "train.py", "-o", "-")
    assert done.returncode in (0, USAGE, REFUSED), done.stderr
    assert "Traceback" not in done.stderr
    assert "internal error" not in done.stderr


@pytest.mark.parametrize(
    "arguments",
    [("convert",), ("convert", "a.py", "b.py"), ("convert", "--nonsense"), ("nonsense",)],
)
def test_wrong_usage(arguments: tuple[str, ...]) -> None:
    assert told(*arguments, status=USAGE)


def test_check_says_the_same() -> None:
    assert "nowhere.py: no such file" in told("check", "nowhere.py", status=USAGE)
    Path("train.py").write_text(PYTHON_2)
    assert "Python 2" in told("check", "train.py", status=USAGE)


def test_an_output_in_a_directory_that_does_not_exist() -> None:
    """It is made; there is no half of anything."""
    Path("train.py").write_text(script())
    done = trainera("convert", "train.py", "-o", "new/place/out.py")
    assert done.returncode == 0, done.stderr
    assert [path.name for path in Path("new/place").iterdir()] == ["out.py"]


def test_an_output_below_a_file() -> None:
    Path("train.py").write_text(script())
    Path("file").write_text("")
    done = trainera("convert", "train.py", "-o", "file/out.py")
    assert done.returncode in (1, USAGE)
    assert "Traceback" not in done.stderr
    assert "file" in done.stderr
    assert Path("file").read_text() == ""


def test_a_directory_in_the_place_of_the_output() -> None:
    Path("train.py").write_text(script())
    Path("train_ddp.py").mkdir()
    message = told("convert", "train.py", status=USAGE)
    assert "train_ddp.py: is a directory" in message
    assert list(Path("train_ddp.py").iterdir()) == []


@pytest.mark.parametrize(
    "failure", [KeyboardInterrupt, OSError(28, "No space left on device"), MemoryError]
)
@pytest.mark.parametrize("existing", [None, "mine\n"])
def test_stopped_in_the_middle(
    failure: BaseException | type[BaseException],
    existing: str | None,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The target is as it was before, and no temporary file stays behind."""
    Path("train.py").write_text(script())
    target = Path("out.py")
    if existing is not None:
        target.write_text(existing)

    def stop(*_: object) -> None:
        raise failure

    monkeypatch.setattr(os, "replace", stop)
    monkeypatch.setattr(Path, "replace", stop)
    status = main(["convert", "train.py", "-o", "out.py", "--force"])
    assert status not in (0, USAGE, REFUSED)
    assert "Traceback" not in capsys.readouterr().err
    names = {path.name for path in Path().iterdir()}
    assert names == ({"train.py", "out.py"} if existing else {"train.py"})
    if existing is not None:
        assert target.read_text() == existing


def test_a_write_that_fails_leaves_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    Path("train.py").write_text(script())

    def fail(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(output.os, "fsync", fail)
    assert main(["convert", "train.py", "-o", "out.py"]) == 1
    assert [path.name for path in Path().iterdir()] == ["train.py"]


def test_several_files_are_written_all_or_none(monkeypatch: pytest.MonkeyPatch) -> None:
    Path("project").mkdir()
    Path("project/parts.py").write_text(
        "from torch.utils.data import DataLoader\n"
        "def make(d):\n    return DataLoader(d, batch_size=8)\n"
    )
    Path("project/train.py").write_text(
        script(imports="from parts import make", loader="loader = make(data)")
    )
    before = {path.name: path.read_bytes() for path in Path("project").iterdir()}
    calls = []
    replace = Path.replace

    def second_fails(self: Path, target: Path) -> Path:
        calls.append(target)
        if len(calls) == 2:
            raise OSError(28, "No space left on device")
        return replace(self, target)

    monkeypatch.setattr(Path, "replace", second_fails)
    assert main(["convert", "project/train.py", "--in-place"]) != 0
    after = {path.name: path.read_bytes() for path in Path("project").iterdir()}
    assert after == before
