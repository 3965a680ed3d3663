"""Messages: the place, the source line, the caret under the right character."""

from pathlib import Path

import pytest

from trainera.cli import render
from trainera.errors import UserError
from trainera.plan import Edit, Insert, Keyword, Note, Plan, Refusal, Through, Wrap
from trainera.read.source.place import Place

SOURCE = "import torch\n\toptimizer = LBFGS(p)\n名前 = LBFGS(p)\n" + "x = 1; " * 40 + "LBFGS()\n"


@pytest.fixture
def path() -> Path:
    Path("a.py").write_text(SOURCE, encoding="utf-8")
    return Path("a.py")


def spot(path: Path, line: int, column: int, length: int) -> Place:
    end = column + length
    return Place(path=path, line=line, column=column, end_line=line, end_column=end)


def refusal(place: Place) -> Plan:
    one = Refusal(rule="closure", place=place, what="what", why="why", do="do")
    return Plan(script=place.path, engine="ddp", refusals=(one,))


def test_a_refusal_says_where_what_why_and_the_way_out(
    path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    render.print_refusals(refusal(spot(path, 1, 7, 5)), stderr=True)
    assert capsys.readouterr().err.splitlines() == [
        "a.py:1:8: closure: what — why — do",
        "    1 | import torch",
        "      |        ^^^^^",
    ]


def test_a_note_is_marked_as_one(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    note = Note(rule="seed", place=spot(path, 1, 0, 6), what="what", why="why")
    render.print_notes(Plan(script=path, engine="ddp", notes=(note,)), stderr=False)
    assert capsys.readouterr().out.startswith("a.py:1:1: seed: note: what — why\n    1 | import")


@pytest.mark.parametrize(("line", "column"), [(2, 13), (3, 5)])
def test_the_caret_minds_tabs_and_wide_letters(
    path: Path, line: int, column: int, capsys: pytest.CaptureFixture[str]
) -> None:
    from rich.cells import cell_len

    render.print_refusals(refusal(spot(path, line, column, 5)), stderr=False)
    _, source, caret = capsys.readouterr().out.splitlines()
    assert cell_len(source[: source.index("LBFGS")]) == caret.index("^")
    assert caret.count("^") == 5


def test_of_a_long_line_the_place_is_shown(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    render.print_refusals(refusal(spot(path, 4, 280, 5)), stderr=False)
    _, source, caret = capsys.readouterr().out.splitlines()
    assert source.index("LBFGS") == caret.index("^")
    assert len(source) < 120
    assert "| …" in source


def test_a_span_of_several_lines_is_marked_to_the_end_of_the_first(
    path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    place = Place(path=path, line=1, column=7, end_line=3, end_column=2)
    render.print_refusals(refusal(place), stderr=False)
    assert capsys.readouterr().out.splitlines()[-1] == "      |        ^^^^^"


def test_a_place_whose_file_has_gone_is_still_told(capsys: pytest.CaptureFixture[str]) -> None:
    render.print_refusals(refusal(spot(Path("gone.py"), 3, 0, 1)), stderr=False)
    assert capsys.readouterr().out == "gone.py:3:1: closure: what — why — do\n"


def test_escape_sequences_of_a_source_do_not_reach_the_terminal(
    capsys: pytest.CaptureFixture[str],
) -> None:
    Path("a.py").write_text('x = "\x1b[31m"\n')
    render.print_refusals(refusal(spot(Path("a.py"), 1, 0, 1)), stderr=False)
    assert "\x1b" not in capsys.readouterr().out


def test_brackets_in_messages_are_not_markup(
    path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    render.print_error(UserError("pip install trainera[torch]"))
    assert capsys.readouterr().err == "trainera: pip install trainera[torch]\n"


def test_an_error_with_a_position_gets_its_source_line(
    path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    render.print_error(UserError("a.py:1:8: syntax: invalid syntax"))
    assert capsys.readouterr().err.splitlines() == [
        "a.py:1:8: syntax: invalid syntax",
        "    1 | import torch",
        "      |        ^",
    ]


def test_an_error_that_shows_its_source_is_left_alone(
    path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    render.print_error(UserError("a.py:1:8: syntax: invalid\n  import torch\n         ^"))
    assert capsys.readouterr().err == "a.py:1:8: syntax: invalid\n  import torch\n         ^\n"


def test_paths_are_said_from_here(elsewhere: Path) -> None:
    assert render.shown(elsewhere / "sub" / "a.py") == "sub/a.py"
    assert render.shown(elsewhere.parent / "a.py") == str(elsewhere.parent / "a.py")
    assert render.shown(Path("..") / "a.py") == "../a.py"


@pytest.mark.parametrize(
    ("action", "text"),
    [
        (Wrap(template="crew.split({})"), "crew.split(…)"),
        (Through(function="crew.once"), "crew.once(…)"),
        (Insert(text="crew.join()", where="before"), "+ crew.join()"),
        (Keyword(name="disable", value="True"), "disable=True"),
    ],
)
def test_a_change_in_a_few_characters(action: Wrap, text: str) -> None:
    assert render.change(action) == text


def test_edits_of_one_reason_are_explained_together(
    path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def edit(line: int, rule: str) -> Edit:
        action = Wrap(template="({})")
        return Edit(rule=rule, place=spot(path, line, 0, 1), action=action, reason=f"for {rule}")

    edits = (edit(3, "split"), edit(2, "weight"), edit(1, "split"), edit(3, "split"))
    render.print_explanation(Plan(script=path, engine="ddp", edits=edits), stderr=False)
    assert capsys.readouterr().out == "1, 3: split: for split\n2: weight: for weight\n"


def test_a_diff_in_a_pipe_is_byte_for_byte(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    render.print_diff(["--- a\n+++ b\n@@ -1 +1 @@\n-ä\r\n+ö\r\n"])
    assert capfdbinary.readouterr().out == "--- a\n+++ b\n@@ -1 +1 @@\n-ä\r\n+ö\r\n".encode()
