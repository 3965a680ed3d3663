"""Files are written whole or not at all, and nobody's work is overwritten."""

import os
import stat
from pathlib import Path

import pytest

from trainera.cli import output
from trainera.errors import UserError
from trainera.plan import Converted


def converted(path: Path, after: bytes = b"after\n") -> Converted:
    return Converted(path=path, before=path.read_bytes(), after=after, lines=(1,))


@pytest.fixture
def source() -> Path:
    path = Path("train.py")
    path.write_bytes(b"before\n")
    return path


def everything() -> dict[str, bytes]:
    files = (path for path in Path().rglob("*") if path.is_file())
    return {path.as_posix(): path.read_bytes() for path in files}


def test_a_new_file_takes_the_permissions_of_its_source(source: Path) -> None:
    source.chmod(0o750)
    output.write(output.as_file(converted(source), Path("out.py")))
    assert stat.S_IMODE(Path("out.py").stat().st_mode) == 0o750
    assert everything() == {"train.py": b"before\n", "out.py": b"after\n"}


def test_in_place_keeps_permissions_and_links(source: Path) -> None:
    source.chmod(0o640)
    link = Path("link.py")
    link.symlink_to(source)
    output.write(output.in_place([converted(link)]))
    assert link.is_symlink()
    assert source.read_bytes() == b"after\n"
    assert stat.S_IMODE(source.stat().st_mode) == 0o640


def test_a_file_that_changed_meanwhile_is_not_overwritten(source: Path) -> None:
    one = converted(source)
    source.write_bytes(b"newer\n")
    with pytest.raises(UserError, match="changed while it was being converted"):
        output.in_place([one])


def test_what_trainera_wrote_may_be_replaced(source: Path) -> None:
    for after in (b"one\n", b"two\n"):
        outputs = output.as_file(converted(source, after), Path("out.py"))
        output.check_targets(outputs, force=False)
        output.write(outputs)
    assert Path("out.py").read_bytes() == b"two\n"


def test_what_was_edited_since_may_not(source: Path) -> None:
    outputs = output.as_file(converted(source), Path("out.py"))
    output.write(outputs)
    Path("out.py").write_bytes(b"after, and improved\n")
    with pytest.raises(UserError, match=r"out\.py: exists.*--force"):
        output.check_targets(outputs, force=False)
    output.check_targets(outputs, force=True)


def test_without_a_memory_writing_still_works(
    source: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(source))
    output.write(output.as_file(converted(source), Path("out.py")))
    assert Path("out.py").read_bytes() == b"after\n"


def test_the_script_itself_is_no_target(source: Path) -> None:
    outputs = output.as_file(converted(source), Path("sub/../train.py"))
    with pytest.raises(UserError, match="--in-place"):
        output.check_targets(outputs, force=True)


def test_a_directory_holds_changed_and_unchanged_modules_in_their_layout(source: Path) -> None:
    package = Path("package")
    package.mkdir()
    (package / "__init__.py").write_bytes(b"")
    (package / "data.py").write_bytes(b"data\n")
    modules = [package / "__init__.py", package / "data.py"]
    changed = [converted(package / "data.py")]
    output.write(output.as_directory(source, modules, changed, Path("../out")))
    os.chdir("../out")
    assert everything() == {
        "train.py": b"before\n",
        "package/__init__.py": b"",
        "package/data.py": b"after\n",
    }


@pytest.mark.parametrize("fails", ["fsync", "replace"])
def test_a_failure_leaves_no_temporary_file(
    fails: str, source: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    if fails == "fsync":
        monkeypatch.setattr(os, "fsync", fail)
    else:
        monkeypatch.setattr(Path, "replace", fail)
    with pytest.raises(OSError, match="No space"):
        output.write(output.in_place([converted(source)]))
    assert everything() == {"train.py": b"before\n"}
