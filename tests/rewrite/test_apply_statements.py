"""Insert."""

import pytest
from rewriting import after, before, convert, rewritten, wrap


def test_before_and_after_keep_the_indentation():
    source = "def f():\n\tif a:\n\t\tb\n\tc\n"
    assert rewritten(source, ("b", before("x"))) == "def f():\n\tif a:\n\t\tx\n\t\tb\n\tc\n"
    assert rewritten(source, ("b", after("x"))) == "def f():\n\tif a:\n\t\tb\n\t\tx\n\tc\n"
    assert rewritten(source, ("if a", after("x"))) == "def f():\n\tif a:\n\t\tb\n\tx\n\tc\n"
    assert rewritten(source, ("def f", after("x"))) == source + "x\n"


def test_several_at_one_place_keep_the_order():
    result = rewritten(
        "a\n",
        ("a", before("b1")),
        ("a", after("a1")),
        ("a", before("b2")),
        ("a", after("a2")),
        ("a", wrap("f({})")),
    )
    assert result == "b1\nb2\nf(a)\na1\na2\n"


def test_neighbours_keep_the_order():
    source = "for a in b:\n  c\nd"
    result = rewritten(
        source, ("c", after("1")), ("for", after("2")), ("d", before("3")), ("d", after("4"))
    )
    assert result == "for a in b:\n  c\n  1\n2\n3\nd\n4"


def test_comment_right_above_stays_with_its_statement():
    source = "a\n\n# one\n\n# two\n# three\nb  # four\n\n# five\nc\n"
    assert rewritten(source, ("b", before("x"))) == source.replace("# two", "x\n# two")
    assert rewritten(source, ("b", after("x"))) == source.replace("four\n", "four\nx\n")


@pytest.mark.parametrize(
    "head", ["#!/usr/bin/env python\n", "\n# coding: utf-8\n", "#!/x\n# coding: utf-8\n"]
)
def test_head_of_the_file_stays_first(head):
    assert rewritten(head + "a\n", ("a", before("x"))) == head + "x\na\n"


def test_a_string_is_no_comment():
    source = 'a\nx = """\n# b"""\nc\n'
    assert rewritten(source, ("c", before("y"))) == source.replace("c\n", "y\nc\n")


def test_after_a_compound_statement_with_comments():
    source = """\
for a in b:
    if c:
        d
        # of the if

    # of the loop

# of the file
e
"""
    result = rewritten(source, ("for", after("x")), ("if", after("y")), ("d", after("z")))
    assert (
        result
        == """\
for a in b:
    if c:
        d
        z
        # of the if
    y

    # of the loop
x

# of the file
e
"""
    )


@pytest.mark.parametrize(
    "source",
    [
        "try:\n  a\nexcept E:\n  b\nelse:\n  c\nfinally:\n  d\n",
        "try:\n  a\nexcept E:\n  b\n",
        "try:\n  a\nexcept E:\n  b\nelse:\n  c\n",
        "if a:\n  b\nelif c:\n  d\nelif e: f\n",
        "if a:\n  b\nelse: f\n",
        "while a:\n  b\nelse:\n  c\n",
        "with a as b:\n  c\n",
        "class A:\n  b = 1\n",
        "match a:\n  case 1:\n    b\n  case _: c\n",
        "for a in b: c\n",
        "@d\n@e\nasync def f():\n  async with a:\n    b\n",
    ],
)
def test_after_every_kind_of_compound_statement(source):
    keyword = source.split()[0] if source[0] != "@" else "async def"
    assert rewritten(source, (keyword, after("x"))) == source + "x\n"
    assert rewritten(source, (keyword, before("x"))) == "x\n" + source
    assert rewritten("if 1:\n  " + "\n  ".join(source.split("\n"))[:-2], (keyword, after("x")))


def test_end_of_a_file_without_newline():
    assert rewritten("a", ("a", after("x"))) == "a\nx"
    assert rewritten("a", ("a", before("x"))) == "x\na"
    assert rewritten("a  # b", ("a", after("x")), ("a", after("y"))) == "a  # b\nx\ny"
    assert rewritten("if a:\n  b", ("b", after("x")), ("if", after("y"))) == "if a:\n  b\n  x\ny"
    assert rewritten("if a:\n  b\n  ", ("b", after("x"))) == "if a:\n  b\n  x\n  "
    assert rewritten("if a:\n  b\n  # c", ("if", after("x"))) == "if a:\n  b\n  # c\nx"
    assert rewritten("a\n# end", ("a", after("x"))) == "a\nx\n# end"
    assert rewritten("if a:\n  b\n# end", ("if", after("x"))) == "if a:\n  b\nx\n# end"


def test_lines_of_several_statements():
    source = "if a:\n  b; c ; d  # e\n"
    assert rewritten(source, ("b", before("x"))) == "if a:\n  x\n  b; c ; d  # e\n"
    assert rewritten(source, ("b", after("x"))) == "if a:\n  b; x; c ; d  # e\n"
    assert rewritten(source, ("c", before("x"))) == "if a:\n  b; x; c ; d  # e\n"
    assert rewritten(source, ("d", after("x"))) == "if a:\n  b; c ; d  # e\n  x\n"
    assert rewritten("a;\n", ("a", after("x"))) == "a;\nx\n"
    assert rewritten("a; \\\n  b\n", ("b", before("x"))) == "a; \\\n  x; b\n"
    assert rewritten("a = 1 \\\n\nb\n", ("a", after("x"))) == "a = 1 \\\n\nx\nb\n"


def test_blocks_of_one_line():
    source = "for a in b: c; d  # e\n"
    assert rewritten(source, ("c", before("x"))) == "for a in b: x; c; d  # e\n"
    assert rewritten(source, ("d", after("x"))) == "for a in b: c; d; x  # e\n"
    assert rewritten("if a: b;\nc", ("b", after("x"))) == "if a: b; x;\nc"
    assert rewritten("if a: \\\n  b\n", ("b", before("x"))) == "if a: \\\n  x; b\n"
    assert rewritten("if a: f(b)", ("f(b)", after("x")), ("b", wrap("g({})"))) == (
        "if a: f(g(b)); x"
    )


def test_a_block_does_not_fit_into_a_shared_line():
    with pytest.raises(ValueError, match="line 1: 'if x: y' needs a line of its own"):
        convert("for a in b: c\n", ("c", before("if x: y")))
    assert rewritten("c\n", ("c", before("if x: y"))) == "if x: y\nc\n"


def test_before_or_after_an_elif():
    with pytest.raises(ValueError, match="line 3: no line fits before or after an elif"):
        convert("if a:\n  b\nelif c:\n  d\n", ("elif", before("x")))


def test_docstrings_stay_first():
    source = 'def f():\n    """Doc\n    string."""\n    a\n'
    expected = source.replace("    a", "    x\n    a")
    assert rewritten(source, ('"""Doc', before("x"))) == expected
    assert rewritten(source, ("a", before("x"))) == expected
    source = '"""Doc."""\na\n'
    assert rewritten(source, ('"""Doc', before("x"))) == '"""Doc."""\nx\na\n'
    assert rewritten("def f(): 'doc'\n", ("'doc'", before("x"))) == "def f(): 'doc'; x\n"
    assert rewritten("for a in b:\n  'c'\n", ("'c'", before("x"))) == "for a in b:\n  x\n  'c'\n"


def test_future_imports_stay_first():
    source = "'doc'\nfrom __future__ import annotations\nfrom __future__ import division\na\n"
    for statement in ("'doc'", "from", "from __future__ import division"):
        assert rewritten(source, (statement, before("x"))) == source[:-2] + "x\na\n"


def test_decorators():
    source = "@a\n@b(\n  c)\ndef f(): pass\n"
    assert rewritten(source, ("def", before("x"))) == "x\n" + source
    assert rewritten("d\n\n# e\n" + source, ("def", before("x"))) == "d\n\nx\n# e\n" + source


def test_main_guard():
    source = "import a\n\nif __name__ == '__main__':\n    main()\n"
    assert rewritten(source, ("main()", before("crew.join()"))) == source.replace(
        "main()", "crew.join()\n    main()"
    )
    source = "if __name__ == '__main__': main()"
    assert rewritten(source, ("main()", before("crew.join()"))) == (
        "if __name__ == '__main__': crew.join(); main()"
    )
