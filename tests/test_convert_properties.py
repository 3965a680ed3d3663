"""What holds for every conversion, whatever the script: untouched lines, comments, bytes."""

import difflib
import io
import subprocess
import sys
import tokenize
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from trainera.pipeline import convert_script, plan_script
from trainera.plan import Converted, Plan

ROOT = Path(__file__).parent.parent
CORPUS = sorted((ROOT / "tests" / "corpus").glob("*/train.py"))
EXAMPLES = [path for path in sorted((ROOT / "examples").glob("*.py")) if path.stem != "demo"]
PACKAGES = [ROOT / "examples" / "package" / "train.py"]
PACKAGES += [path for path in CORPUS if len(list(path.parent.glob("**/*.py"))) > 1]
KERAS = sorted((ROOT / "tests" / "keras" / "corpus").glob("keras[23]/*/train.py"))
SCRIPTS = sorted({*CORPUS, *EXAMPLES, *PACKAGES, *KERAS})
SINGLE = [path for path in SCRIPTS if path not in PACKAGES]


@pytest.fixture(autouse=True)
def long_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    """What goes around a value stays on its line, however wide the characters on it are."""
    monkeypatch.setattr("trainera.rules.common._tools.WIDTH", 1000)


def name(path: Path) -> str:
    return f"{path.parent.name}/{path.stem}"


def together(paths: list[Path]) -> pytest.MarkDecorator:
    """Tests of one script run in one process, where it is converted once."""
    groups = [pytest.param(path, marks=pytest.mark.xdist_group(name(path))) for path in paths]
    return pytest.mark.parametrize("path", groups, ids=[name(path) for path in paths])


scripts = together(SCRIPTS)
alone = together(SINGLE)


@cache
def conversion(path: Path) -> tuple[Plan, tuple[Converted, ...]]:
    plan, converted = convert_script(path)
    assert not plan.refusals, [f"{refusal.place}: {refusal.what}" for refusal in plan.refusals]
    return plan, converted


def edited_lines(plan: Plan, path: Path) -> set[int]:
    """The lines that an edit spans."""
    return {
        line
        for edit in plan.edits
        if edit.place.path == path
        for line in range(edit.place.line, edit.place.end_line + 1)
    }


@scripts
def test_untouched_lines_are_the_same_bytes(path: Path) -> None:
    plan, converted = conversion(path)
    for file in converted:
        before, after = file.before.splitlines(keepends=True), file.after.splitlines(keepends=True)
        touched = edited_lines(plan, file.path)
        matcher = difflib.SequenceMatcher(None, before, after, autojunk=False)
        for tag, start, end, _, _ in matcher.get_opcodes():
            if tag != "equal":
                changed = set(range(start + 1, end + 1))
                assert changed <= touched, f"{file.path}: {sorted(changed - touched)}"


@scripts
def test_comments_survive(path: Path) -> None:
    for file in conversion(path)[1]:
        assert comments(file.before) == comments(file.after)


def comments(source: bytes) -> list[str]:
    tokens = tokenize.tokenize(io.BytesIO(source).readline)
    return [token.string for token in tokens if token.type == tokenize.COMMENT]


@scripts
def test_the_output_compiles(path: Path) -> None:
    for file in conversion(path)[1]:
        compile(file.after, str(file.path), "exec", dont_inherit=True)


@scripts
def test_the_output_is_distributed_already(path: Path, tmp_path: Path) -> None:
    _, converted = conversion(path)
    for file in converted:
        target = tmp_path / file.path.relative_to(path.parent)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(file.after)
    plan = plan_script(tmp_path / path.name)
    assert [refusal.rule for refusal in plan.refusals] == ["already-distributed"]


@scripts
def test_the_output_with_its_runtime_compiles_and_is_distributed_already(
    path: Path, tmp_path: Path
) -> None:
    _, converted = convert_script(path, standalone=True)
    for file in converted:
        compile(file.after, str(file.path), "exec", dont_inherit=True)
        target = tmp_path / file.path.relative_to(path.parent)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(file.after)
    plan = plan_script(tmp_path / path.name)
    assert [refusal.rule for refusal in plan.refusals] == ["already-distributed"]


@scripts
def test_every_edit_has_a_reason(path: Path) -> None:
    plan, _ = conversion(path)
    assert plan.edits
    for edit in plan.edits:
        assert edit.reason
        assert edit.place.path.exists()


@scripts
def test_planning_twice_gives_the_same(path: Path) -> None:
    assert plan_script(path).as_data() == conversion(path)[0].as_data()


def windows(source: bytes) -> bytes:
    return source.replace(b"\r\n", b"\n").replace(b"\n", b"\r\n")


def tabs(source: bytes) -> bytes:
    """Tabs for the indentation that comes in steps of four; others (continuations) stay."""
    lines = []
    for line in source.splitlines(keepends=True):
        text = line.lstrip(b" ")
        steps, rest = divmod(len(line) - len(text), 4)
        lines.append(b"\t" * steps + b" " * rest + text)
    return b"".join(lines)


def with_mark(source: bytes) -> bytes:
    return b"\xef\xbb\xbf" + source


def without_end(source: bytes) -> bytes:
    return source.rstrip(b"\n")


def foreign(source: bytes) -> bytes:
    """Names of more than one byte in comments and strings, at the end of every simple line."""
    lines = []
    for line in source.splitlines():
        ends = line.rstrip().endswith((b")", b"]")) and b'"""' not in line and b"'''" not in line
        lines.append(line + "  # Trainerilla, ñandú, 漢字, 🚣".encode() if ends else line)
    return b"\n".join(lines) + b"\n"


def windows_with_mark(source: bytes) -> bytes:
    return with_mark(windows(source))


def tabs_without_end(source: bytes) -> bytes:
    return without_end(tabs(source))


@pytest.mark.parametrize("change", [windows, tabs, with_mark, without_end])
@pytest.mark.parametrize("path", EXAMPLES[:2], ids=name)
def test_each_layout(path: Path, change: Callable[[bytes], bytes], tmp_path: Path) -> None:
    same_edits(path, change, tmp_path)


@pytest.mark.parametrize("change", [windows_with_mark, tabs_without_end])
@alone
def test_two_layouts_at_once(path: Path, change: Callable[[bytes], bytes], tmp_path: Path) -> None:
    same_edits(path, change, tmp_path)


def same_edits(path: Path, change: Callable[[bytes], bytes], folder: Path) -> None:
    """Converting the changed script is the same as changing the converted one."""
    source = change(path.read_bytes())
    if not valid(source):
        return  # its continuation lines do not go with tabs
    script = folder / path.name
    script.write_bytes(source)
    plan, converted = convert_script(script)
    assert not plan.refusals
    assert converted[0].after == change(conversion(path)[1][0].after)


def valid(source: bytes) -> bool:
    try:
        compile(source, "train.py", "exec", dont_inherit=True)
    except SyntaxError:
        return False
    return True


@alone
def test_characters_of_several_bytes(path: Path, tmp_path: Path) -> None:
    source = foreign(path.read_bytes())
    if not valid(source):
        return
    script = tmp_path / path.name
    script.write_bytes(source)
    plan, converted = convert_script(script)
    usual, _ = conversion(path)
    assert [edit.action for edit in plan.edits] == [edit.action for edit in usual.edits]
    assert [edit.place.line for edit in plan.edits] == [edit.place.line for edit in usual.edits]
    assert comments(converted[0].after) == comments(source)


def test_strings_of_several_bytes_before_a_place_on_its_line(tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    text = (ROOT / "examples" / "digits.py").read_text()
    script.write_text(text, encoding="utf-8")
    expected = convert_script(script)[1][0].after.decode()
    for old in ("print(f'", 'print(f"'):
        text, expected = (part.replace(old, f"{old}épocà 漢 ") for part in (text, expected))
    script.write_text(text, encoding="utf-8")
    assert convert_script(script)[1][0].after.decode() == expected


def test_the_change_of_an_example_is_small() -> None:
    diff = trainera("convert", "examples/digits_args.py", "--diff").stdout
    lines = [line for line in diff.splitlines() if not line.startswith(("+++", "---"))]
    added = sum(line.startswith("+") for line in lines)
    removed = sum(line.startswith("-") for line in lines)
    assert 0 < max(added, removed) <= 25
    # A line that is changed counts once: a removal beyond the additions would be a pure one.
    assert removed <= added


def test_every_change_of_an_example_is_explained() -> None:
    plan, _ = conversion(ROOT / "examples" / "digits_args.py")
    said = trainera("convert", "examples/digits_args.py", "--diff", "--explain").stderr
    words = " ".join(said.split())
    for edit in plan.edits:
        assert edit.reason in words or edit.reason in said
        assert f"{edit.place.line}" in words


def trainera(*arguments: str) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        [sys.executable, "-m", "trainera", *arguments],
        capture_output=True,
        text=True,
        cwd=ROOT,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done
