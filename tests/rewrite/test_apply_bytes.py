"""What is not edited stays the same, byte for byte."""

import pytest
from rewriting import CREW, after, before, convert, through, wrap

EDITS = (
    ("b", wrap("crew.f({})"), CREW),
    ("b", before("x")),
    ("b", after("y")),
)


def body(newline: str) -> str:
    return newline.join(["import a", "if a:", "    b  # c ", "", "d = '''", " e '''"])


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("end", ["", "end", "end end", "end    ", "end# f", "end  # f end"])
@pytest.mark.parametrize("head", ["", "\ufeff"])
def test_line_ends_and_byte_order_mark(newline, end, head):
    source = head + body(newline) + end.replace("end", newline)
    lines = [
        "import a",
        CREW,
        "if a:",
        "    x",
        "    crew.f(b)  # c ",
        "    y",
        "",
        "d = '''",
        " e '''",
    ]
    expected = head + newline.join(lines) + end.replace("end", newline)
    assert convert(source, *EDITS).after == expected.encode()


def test_mixed_line_ends():
    source = "import a\r\nif b:\n  c\r\n  d\n"
    result = convert(source, ("c", before("x"), CREW), ("c", after("y")), ("d", after("z"))).after
    assert result.decode() == (f"import a\r\n{CREW}\r\nif b:\n  x\n  c\r\n  y\r\n  d\n  z\n")


def test_latin_1():
    source = "# -*- coding: latin-1 -*-\né = 'à'; b = f'é{é}'\nc\n".encode("latin-1")
    result = convert(source, ("c", wrap("f({})"), CREW))
    assert result.after.decode("latin-1") == (
        f"# -*- coding: latin-1 -*-\n{CREW}\né = 'à'; b = f'é{{é}}'\nf(c)\n"
    )


def test_characters_that_the_file_cannot_hold_are_escaped_in_the_runtime(monkeypatch):
    monkeypatch.setattr("trainera.rewrite.apply.bundle", lambda *_, **__: "crew = '→'")
    source = "# coding: latin-1\nc = 'é'\n".encode("latin-1")
    result = convert(source, ("'é'", wrap("crew.f({})"), CREW), standalone=True)
    assert result.after.decode("latin-1") == (
        "# coding: latin-1\ncrew = '\\u2192'\nc = crew.f('é')\n"
    )


def test_form_feeds():
    source = "import a\n\f\nb(1)\n\fb(2)\n\f  \nif b:\n  \f  c\n  d\n"
    result = convert(
        source,
        ("b(1)", after("w"), CREW),
        ("b(2)", before("x")),
        ("b(2)", wrap("f({})")),
        ("c", before("y")),
        ("d", after("z")),
    ).after.decode()
    assert result == (
        f"import a\n{CREW}\n\f\nb(1)\nw\nx\n\ff(b(2))\n\f  \nif b:\n  y\n  \f  c\n  d\n  z\n"
    )


def test_tabs_and_trailing_blanks():
    source = "if a:\t\n\tb \t\n\t\n\tc\t;\t d\t\n   \n"
    result = convert(source, ("b", after("x")), ("d", before("y"))).after.decode()
    assert result == "if a:\t\n\tb \t\n\tx\n\t\n\tc\t;\t y; d\t\n   \n"


def test_odd_layout_survives():
    source = """\
x = {  'a':1 ,
   "b" : [ 1,2,
 3 ] }   # tail
def  f ( a ,*, b = 1 ) -> int :   return  a+ b


class A : pass
print ( x , end = '' ) ;
y = a \\
    + b
"""
    result = convert(source, ("print ( x , end = '' )", through())).after.decode()
    assert result == source.replace("print ( x", "crew.once(print, x")
