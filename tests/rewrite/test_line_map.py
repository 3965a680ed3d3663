"""Tracebacks of converted files show the lines of the original."""

import sys
import traceback

import pytest
from rewriting import CREW, after, before, convert, through, wrap

from trainera.plan import Converted
from trainera.rewrite.lines import compile_with_original_lines


def test_lines_of_inserted_and_changed_lines():
    source = "import a\n\nfor b in c:\n    d\n    e(\n        f,\n    )\ng\n"
    converted = convert(
        source,
        ("for", after("x"), CREW),
        ("for", before("y")),
        ("d", after("z")),
        ("e(\n        f,\n    )", through()),
        ("f", wrap("h({})")),
    )
    lines = converted.after.decode().splitlines()
    assert list(zip(converted.lines, lines, strict=True)) == [
        (1, "import a"),
        (1, CREW),
        (2, ""),
        (3, "y"),
        (3, "for b in c:"),
        (4, "    d"),
        (4, "    z"),
        (5, "    crew.once("),
        (5, "        e,"),
        (6, "        h(f),"),
        (7, "    )"),
        (3, "x"),
        (8, "g"),
    ]


@pytest.mark.parametrize("source", ["a", "a\n", "a\n\n", "a\r\nb", "a\n# end"])
def test_one_number_for_each_line(source):
    converted = convert(source, ("a", after("x")), ("a", before("y")))
    assert len(converted.lines) == len(converted.after.decode().splitlines())
    assert converted.lines[:3] == (1, 1, 1)
    assert list(converted.lines[3:]) == list(range(2, len(source.splitlines()) + 1))


def run(converted: Converted, **names: object) -> dict[str, object]:
    space = {"__name__": "script", **names}
    exec(compile_with_original_lines(converted, "train.py"), space)
    return space


def test_traceback_has_the_lines_of_the_original():
    source = """\
import sys

def f(a):
    b = a

    return (
        1 /
        b
    )

f(1)
f(0)
"""
    converted = convert(
        source,
        ("b", before("pass"), "import os"),
        ("f(1)", before("pass")),
        ("f(0)", wrap("max({}, 1)")),
        ("b", before("sys")),
    )
    with pytest.raises(ZeroDivisionError) as caught:
        run(converted)
    frames = traceback.extract_tb(caught.value.__traceback__)
    assert [(frame.filename, frame.lineno) for frame in frames[-2:]] == [
        ("train.py", 12),
        ("train.py", 7),
    ]
    if sys.version_info >= (3, 11):
        changed, unchanged = frames[-2:]
        assert changed.colno is None
        assert (unchanged.colno, unchanged.end_lineno, unchanged.end_colno) == (8, 8, 9)


def test_error_in_an_inserted_line_is_shown_at_its_statement():
    converted = convert("a = 1\n\n\nb = 2\n", ("b", before("a / 0"), "import os"))
    with pytest.raises(ZeroDivisionError) as caught:
        run(converted)
    assert traceback.extract_tb(caught.value.__traceback__)[-1].lineno == 4


def test_future_imports_and_docstrings_work():
    source = "'Doc.'\nfrom __future__ import annotations\ndef f(a: nowhere): 'of f'\nb = 1\n"
    space = run(convert(source, ("b", before("c = 1"), "import os")))
    assert space["__doc__"] == "Doc."
    assert space["f"].__annotations__ == {"a": "nowhere"}
    assert space["f"].__doc__ == "of f"
    assert space["c"] == 1
    source = source.replace("from __future__ import annotations\n", "")
    with pytest.raises(NameError):  # nor is the future of this very test file inherited
        run(convert(source, ("b", before("c = 1"))))


def test_behaviour_is_that_of_the_converted_file():
    source = """\
import sys
def g(n):
    total = 0
    for i in range(n):
        match i:
            case 1 | 2: total += i
            case _:
                total += [j for j in (i, i)][0]
    try:
        raise KeyError(f'''{total}
            {n}''')
    except KeyError as error:
        return error.args
    finally: total = None
class A:
    x: int = 1
    @staticmethod
    def f(*, a=lambda: 3): return a()
result = g(4), A.f(), A.x
"""
    converted = convert(
        source,
        ("total += i", before("total += 0")),
        ("for", after("total *= 2")),
        ("n", wrap("{} + 1"), "import os"),
    )
    plain: dict[str, object] = {"__name__": "script"}
    exec(compile(converted.after, "x", "exec"), plain)
    assert run(converted)["result"] == plain["result"] == ((f"{2 * 10}\n            4",), 3, 1)


def test_latin_1_file():
    source = "# coding: latin-1\nx = 'é'\ny = 1\n".encode("latin-1")
    space = run(convert(source, ("y", before("z = x"))))
    assert space["z"] == "é"
