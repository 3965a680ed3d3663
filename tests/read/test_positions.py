"""The source text at the place of every node must be that node."""

import ast
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trainera.read.source.positions import Positions, decode, line_offsets

FILES = sorted(Path(__file__).parents[2].glob("src/trainera/**/*.py"))


def expressions(tree: ast.AST):
    """All nodes whose own text can be parsed as an expression."""
    specs = {node.format_spec for node in ast.walk(tree) if isinstance(node, ast.FormattedValue)}
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            pieces = [value for value in node.values if isinstance(value, ast.Constant)]
            specs.update(pieces)
    for node in ast.walk(tree):
        wanted = isinstance(node, ast.expr) and not isinstance(
            node, ast.FormattedValue | ast.Starred | ast.Slice
        )
        if wanted and node not in specs:
            yield node


def check(source: str | bytes) -> int:
    data = source if isinstance(source, bytes) else source.encode()
    tree = ast.parse(data)
    positions = Positions(data, tree)
    count = 0
    for node in expressions(tree):
        text = positions.source(node)
        try:
            parsed = ast.parse(f"({text}\n)", mode="eval").body
        except SyntaxError:  # a tuple of slices or with a star, in a subscript
            parsed = ast.parse(f"_[{text}\n]", mode="eval").body.slice
        assert ast.unparse(parsed) == ast.unparse(node), text
        count += 1
    return count


def names(source: str) -> list[tuple[int, int, int, int]]:
    data = source.encode()
    tree = ast.parse(data)
    positions = Positions(data, tree)
    return sorted(positions.span(node) for node in ast.walk(tree) if isinstance(node, ast.Name))


F_STRINGS = [
    'f"{loss.item():.3f}"',
    'f"{a} {a} {b} {a}"',
    'f"a {a} a"',
    'f"{a=} {a = } { a =!r} {a.b=:>{width}}"',
    'f"{{a}} {a} {{{a}}} }}{{"',
    'f\'{d["key"]} {d["key"]}\'',
    'f"{a:{b}.{c}f} {c}"',
    'f"{a!r:{b!s}>{c:d}}"',
    'f"{a:%H:%M} {b}"',
    'f"{a:{b}{c}}"',
    '"a{a}" f"{a}" "{b}" f"{b}"',
    '("a{a}"  # note {a} "\n  f"{a}"\n  \'b\' f\'{b} {a}\')',
    '"a" \\\n  f"{a}" rf"\\{b}"',
    'f"""one {a}\n two {a} {\n  b\n  + a} three {c}\n"""',
    "f'''{a}\n\n{a\n}'''",
    'f"{a, b} {a,} {(a, b)} {(a), (b)} { a, b }"',
    'f"{a == b} {a != b!r} {a <= b} {a >= b:d} {a < b} {a > b}"',
    'f"{(lambda x: x + a)(b)} {(y := a)} {[i for i in a if i != b]}"',
    "f'{ {1: a, 2: {b}}[1] } {a[1:2]} {a[b:c]}'",
    'f"é {a} ü {b}"',
    '"é" f"日本 {a} {b:é>{c}}"',
    'x = "日本"; y = f"{a}" + "é" + f"{b}"',
    r'f"\N{DIGIT ONE} {a} \{b} \\{c} \x41{a}"',
    r'rf"\N{a} {b}"',
    'fR"{a}" F"{b}"',
    "f'{f\"{a} {b}\"} {a}'",
    "f'''{f\"{a:{f'{b}'}} {b}\"} {a}'''",
    "f'''\n{f\"\"\"{a}\n {b}\"\"\"}\n{a}'''",
    "f'{\"a:b!c}\"} {a}'",
    'f\'{a["x"]!r:>10} {"#"}\'',
    "f'{a if b else c} {not a} {-a} {a ** b} {await_}'",
    "f'{*a, *b} {a}'",
    "f'{yield_} {a @ b}' 'x' f''",
    "print(f'{x}' + f'{x}', f'{x}', key=f'{x}')",
    "def f():\n\treturn f'{x}'\n\f\nclass A:\n    x = f'''\n{x}'''\n",
    "lambda: (yield f'{a}')",
    "f'{a}' if f'{b}' else f'''{c}\n{a}'''",
]


@pytest.mark.parametrize("source", F_STRINGS)
def test_text_at_the_place_of_a_node_is_that_node(source):
    check(source)
    check(source.replace("\n", "\r\n"))
    if not any(word in source for word in (" = f", "def ")):
        check(f"if 1:\n    π = [\n  {source}\n ]\n")


def test_repeated_names_have_distinct_places():
    assert names('f"{a} {a}"') == [(1, 3, 1, 4), (1, 7, 1, 8)]
    assert names('f"""\n{a}\n {a}"""') == [(2, 1, 2, 2), (3, 2, 3, 3)]
    assert names('("a"\n f"{a:{a}}")') == [(2, 4, 2, 5), (2, 7, 2, 8)]
    assert names('"é", f"é{é}", é') == [(1, 9, 1, 10), (1, 14, 1, 15)]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_whole_files(path):
    check(path.read_bytes())


def test_encodings():
    check("# coding: latin-1\nx = 'é' + é + f'é{é}é{é}'\n".encode("latin-1"))
    source = "\ufeffé = f'é{é}'; é + é\n".encode()
    check(source)
    assert decode(source).startswith("é")


def test_place_carries_the_path():
    source = b"x = f'{y}'"
    tree = ast.parse(source)
    value = tree.body[0].value.values[0].value
    place = Positions(source, tree).place(value, Path("train.py"))
    assert str(place) == "train.py:1:8"
    assert (place.end_line, place.end_column) == (1, 8)


def test_field_and_specification_have_places_too():
    source = b"f'{a:{b}x}'"
    tree = ast.parse(source)
    field = tree.body[0].value.values[0]
    assert Positions(source, tree).source(field) == "{a:{b}x}"


def test_node_without_position():
    source = b"lambda a: a"
    tree = ast.parse(source)
    with pytest.raises(ValueError, match="arguments has no position"):
        Positions(source, tree).span(tree.body[0].value.args)


def test_line_offsets():
    assert line_offsets("") == [0]
    assert line_offsets("a\nb") == [0, 2]
    assert line_offsets("a\r\n\rb\n") == [0, 3, 4, 6]
    assert line_offsets("a\x0cb\x85c\u2028d") == [0]


ATOMS = st.sampled_from(
    ["a", "b.c", "d[0]", "e(1)", "f(g, h=i)", "(a, b)", "[a, a]", "é", "(not a)"]
)
EXPRESSIONS = st.recursive(
    ATOMS,
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from(["+", "<=", "==", "!=", "and", "if a else"]), inner).map(
            lambda parts: f"({' '.join(parts)})"
        ),
        inner.map(lambda text: f"( {text} )"),
        inner.map(lambda text: f"h({text}, {text})"),
    ),
    max_leaves=4,
)
SPECS = st.one_of(
    st.sampled_from(["", "!r", ":>5", "=", " = ", "=!r:>3", ":%H:%M"]),
    EXPRESSIONS.map(lambda text: f":{{{text}}}.{{{text}!s:>2}}f"),
)
PIECES = st.one_of(
    st.sampled_from(["", " ", "é", "{{", "}}", "a", "日本", "#", "\\n", "\\\\"]),
    st.tuples(EXPRESSIONS, SPECS).map(lambda pair: f"{{{pair[0]}{pair[1]}}}"),
)
LITERALS = st.one_of(
    st.tuples(
        st.sampled_from(["f", "F", "rf"]),
        st.sampled_from(['"', "'", '"""', "'''"]),
        st.lists(PIECES, max_size=4),
    ).map(lambda parts: f"{parts[0]}{parts[1]}{''.join(parts[2])}{parts[1]}"),
    st.tuples(st.sampled_from(["f'''", 'F"""']), st.lists(PIECES, max_size=4)).map(
        lambda parts: parts[0] + "\n ".join(["", *parts[1], ""]) + parts[0][1:]
    ),
    st.sampled_from(['"{a}"', "r'é'", "u'x'"]),
)
F_STRING = st.lists(LITERALS, min_size=1, max_size=3).flatmap(
    lambda parts: st.sampled_from([" ", "\n   ", "  # note '\n"]).map(
        lambda gap: f"({gap.join(parts)})"
    )
)


@settings(max_examples=150, deadline=None)
@given(st.lists(F_STRING, min_size=1, max_size=3))
def test_any_f_string(literals):
    check(f"é = [{', '.join(literals)}]\n")
