"""Wrap, Through and Keyword."""

import ast

import pytest
from rewriting import PATH, convert, keyword, make_edit, rewritten, through, wrap

from trainera.rewrite.apply import apply


@pytest.mark.parametrize(
    ("source", "snippet", "template", "expected"),
    [
        ("x = DataLoader(a)", "DataLoader(a)", "crew.split({})", "x = crew.split(DataLoader(a))"),
        ("loss.backward()", "loss", "({} * s.share)", "(loss * s.share).backward()"),
        ("loss.backward()", "loss", "{} * s.share", "(loss * s.share).backward()"),
        ("(a + b).backward()", "a + b", "({} * s)", "((a + b) * s).backward()"),
        ("x += loss.item()", "loss.item()", "({} * f)", "x += loss.item() * f"),
        ("x += a.b * n", "a.b", "{} * f", "x += a.b * f * n"),
        ("x += n * a.b", "a.b", "{} * f", "x += n * (a.b * f)"),
        ("x = a if b else c", "a if b else c", "{} * f", "x = (a if b else c) * f"),
        ("f(a + b)", "a + b", "{} * f", "f((a + b) * f)"),
        ("x = (a + b)", "a + b", "crew.f({})", "x = crew.f(a + b)"),
        ("x = ((a + b)).c", "a + b", "crew.f({})", "x = (crew.f(a + b)).c"),
        ("x = (a + b)", "a + b", "crew.f({}, 1)", "x = (crew.f(a + b, 1))"),
        ("f((a, b))", "(a, b)", "crew.f({})", "f(crew.f((a, b)))"),
        ("x = a, b", "a, b", "crew.f({})", "x = crew.f((a, b))"),
        ("f(i for i in a)", "(i for i in a)", "crew.f({})", "f(crew.f(i for i in a))"),
        ("f( i for i in a )", "( i for i in a )", "crew.f({})", "f( crew.f(i for i in a) )"),
        ("f((i for i in a))", "(i for i in a)", "crew.f({})", "f(crew.f((i for i in a)))"),
        ("f(i for i in a)", "(i for i in a)", "crew.f({}, 1)", "f(crew.f((i for i in a), 1))"),
        ("x = lambda: a", "lambda: a", "crew.f({})", "x = crew.f(lambda: a)"),
        ("x = lambda: a", "lambda: a", "{}()", "x = (lambda: a)()"),
        ("x = f(lambda: a)", "a", "{} + 1", "x = f(lambda: a + 1)"),
        ("x = a", "a", "(lambda: {})", "x = (lambda: a)"),
        ("x = 1", "1", "{}.real", "x = (1).real"),
        ("x = not a", "a", "{} and b", "x = not (a and b)"),
        ("x = -a ** b", "-a ** b", "crew.f({})", "x = crew.f(-a ** b)"),
        ("x = y[a:b]", "a", "crew.f({})", "x = y[crew.f(a):b]"),
        ("f(*a, **b)", "a", "crew.f({})", "f(*crew.f(a), **b)"),
        ("f(*a)", "a", "{} + b", "f(*a + b)"),
        ("for i in a: pass", "a", "crew.f({})", "for i in crew.f(a): pass"),
        ("while a: pass", "a", "crew.agree({})", "while crew.agree(a): pass"),
        ("with open(p) as f: pass", "open(p)", "crew.f({})", "with crew.f(open(p)) as f: pass"),
        ("@dec(a)\ndef f(): pass", "dec(a)", "crew.f({})", "@crew.f(dec(a))\ndef f(): pass"),
        ("def f(x=a): pass", "a", "crew.f({})", "def f(x=crew.f(a)): pass"),
        ("def f():\n  return-x", "-x", "crew.f({})", "def f():\n  return crew.f(-x)"),
        ("x = a if-b else[c]", "[c]", "crew.f({})", "x = a if-b else crew.f([c])"),
        ("x = y if'a'else z", "'a'", "{} and n", "x = y if('a' and n)else z"),
        ("x = y if'a'else z", "'a'", "'b' + {}", "x = y if 'b' + 'a'else z"),
        ("x = [a for a in b if(c)]", "c", "crew.f({})", "x = [a for a in b if crew.f(c)]"),
        ("x = {a: b}", "b", "{'k': {}}", "x = {a: {'k': b}}"),
        ("x = a", "a", "(i for i in {})", "x = (i for i in a)"),
        ("x = a", "a", "(b, {})", "x = (b, a)"),
        ("f(a)", "a", "(b, {})", "f((b, a))"),
        ("assert(a), b", "a", "crew.f({})", "assert crew.f(a), b"),
        ("x: int = a", "a", "crew.f({})", "x: int = crew.f(a)"),
        ("x = y = a", "a", "crew.f({})", "x = y = crew.f(a)"),
        ("x = 'a' 'b'", "'a' 'b'", "crew.f({})", "x = crew.f('a' 'b')"),
        ("async def f():\n  await a", "a", "crew.f({})", "async def f():\n  await crew.f(a)"),
        ("def f():\n  x = yield a", "yield a", "crew.f({})", "def f():\n  x = crew.f((yield a))"),
        ("print((y := a))", "y := a", "crew.f({})", "print(crew.f(y := a))"),
        ("é = 'é' + ü", "ü", "crew.f({})", "é = 'é' + crew.f(ü)"),
    ],
)
def test_wrap(source, snippet, template, expected):
    assert rewritten(source, (snippet, wrap(template))) == expected


@pytest.mark.parametrize(
    ("source", "snippet", "template", "expected"),
    [
        ('f"{loss.item():.3f}"', "loss.item()", "crew.f({})", 'f"{crew.f(loss.item()):.3f}"'),
        ('f"{a} {a!r} {b}"', "b", "crew.f({})", 'f"{a} {a!r} {crew.f(b)}"'),
        ('f"{a}"', "a", "{} + b", 'f"{a + b}"'),
        ('f"{a}"', "a", '{}["k"]', "f\"{a['k']}\""),
        ("f'{a}'", "a", '{}["k"]', "f'{a[\"k\"]}'"),
        ("f'''{a}'''", "a", "f({}, 'k')", "f'''{f(a, \"k\")}'''"),
        ('f"{a}"', "a", "{'k': {}}", "f\"{ {'k': a}}\""),
        ('f"{a}"', "a", "(lambda: {})()", 'f"{(lambda: a)()}"'),
        ('f"{a}"', "a", "lambda: {}", 'f"{(lambda: a)}"'),
        ('f"{a, b}"', "a, b", "crew.f({})", 'f"{crew.f((a, b))}"'),
        ('f"{a:{w}}"', "w", "crew.f({})", 'f"{a:{crew.f(w)}}"'),
        ('f"{a=}"', "a", "crew.f({})", 'f"{crew.f(a)=}"'),
        ('"a" f"{a}"  \'b\'', "a", "crew.f({})", '"a" f"{crew.f(a)}"  \'b\''),
        ('f"""\n{a}\n{b\n}"""', "b", "crew.f({})", 'f"""\n{a}\n{crew.f(b)\n}"""'),
        ("f'{f\"{a}\"}'", "a", "crew.f({})", "f'{f\"{crew.f(a)}\"}'"),
        ('f"é {é} {a}"', "a", "crew.f({})", 'f"é {é} {crew.f(a)}"'),
    ],
)
def test_wrap_inside_f_strings(source, snippet, template, expected):
    assert rewritten(source, (snippet, wrap(template))) == expected


def test_the_equals_sign_in_an_f_string_shows_the_new_text():
    """``f"{a=}"`` prints its own source, so a wrap there is seen; a rule may want to avoid it."""
    assert rewritten('f"{a = }"', ("a", wrap("crew.f({})"))) == 'f"{crew.f(a) = }"'


def test_several_wraps_of_one_place_nest_in_the_order_given():
    source = "m = Net().to(d)"
    result = rewritten(
        source,
        ("Net().to(d)", wrap("crew.batchnorm({})")),
        ("Net().to(d)", wrap("DDP({}, broadcast_buffers=False)")),
    )
    assert result == "m = DDP(crew.batchnorm(Net().to(d)), broadcast_buffers=False)"
    assert rewritten("x = (a)", ("a", wrap("f({})")), ("a", wrap("{} * 2"))) == "x = f(a) * 2"
    assert rewritten("(a).b", ("a", wrap("f({})")), ("a", wrap("{} * 2"))) == "(f(a) * 2).b"


def test_wraps_of_nested_expressions():
    result = rewritten(
        "x = a + b",
        ("a", wrap("f({})")),
        ("a + b", wrap("g({})")),
        ("b", wrap("{} * 2")),
    )
    assert result == "x = g(f(a) + b * 2)"


def test_wrap_of_an_expression_over_several_lines_with_comments():
    source = """\
loader = DataLoader(  # the data
    train_set,  # first

    batch_size=4,
)  # done
"""
    snippet = source[len("loader = ") : -len("  # done\n")]
    expected = source.replace("DataLoader(", "crew.split(DataLoader(", 1).replace(
        ")  # done", "))  # done"
    )
    assert rewritten(source, (snippet, wrap("crew.split({})"))) == expected
    source = "x = (  # why\n    a  # one\n    + b  # two\n)\n"
    assert rewritten(source, ("a  # one\n    + b", wrap("crew.f({})"))) == source.replace(
        "x = (", "x = crew.f("
    )
    assert rewritten(source, ("a  # one\n    + b", wrap("{} * s"))) == (
        "x = (  # why\n    (a  # one\n    + b) * s  # two\n)\n"
    )


@pytest.mark.parametrize(
    ("source", "snippet", "expected"),
    [
        ("torch.save(a, b)", "torch.save(a, b)", "crew.once(torch.save, a, b)"),
        ("f()", "f()", "crew.once(f)"),
        ("f( )", "f( )", "crew.once(f )"),
        ("f(*a, **b)", "f(*a, **b)", "crew.once(f, *a, **b)"),
        ("f (a)", "f (a)", "crew.once(f, a)"),
        ("f( a )", "f( a )", "crew.once(f, a )"),
        ("(f)(a)", "(f)(a)", "crew.once((f), a)"),
        ("a.b[0].c(d=1)", "a.b[0].c(d=1)", "crew.once(a.b[0].c, d=1)"),
        ("f(i for i in a)", "f(i for i in a)", "crew.once(f, (i for i in a))"),
        ("x = y if b else(f(a))", "f(a)", "x = y if b else(crew.once(f, a))"),
        ("with open(p) as f: pass", "open(p)", "with crew.once(open, p) as f: pass"),
        ("f(\n  # note\n  a\n)", "f(\n  # note\n  a\n)", "crew.once(f,\n  # note\n  a\n)"),
        ("f(  # note\n  a)", "f(  # note\n  a)", "crew.once(f,  # note\n  a)"),
        ("f(\n    a,\n    b,\n)", "f(\n    a,\n    b,\n)", "crew.once(\n    f,\n    a,\n    b,\n)"),
        ("f(\n)", "f(\n)", "crew.once(f\n)"),
        ("f(a)(b)", "f(a)(b)", "crew.once(f(a), b)"),
        ("f'{g(a)}'", "g(a)", "f'{crew.once(g, a)}'"),
        ("(f  # note\n (a))", "f  # note\n (a)", "(crew.once(f  # note\n , a))"),
    ],
)
def test_through(source, snippet, expected):
    assert rewritten(source, (snippet, through())) == expected


def test_through_several_functions():
    result = rewritten("f(a)", ("f(a)", through("inner")), ("f(a)", through("outer")))
    assert result == "outer(inner, f, a)"


def test_through_with_wraps_inside_and_around():
    result = rewritten(
        "save(m.state_dict(), p)",
        ("m", wrap("crew.bare({})")),
        ("save(m.state_dict(), p)", wrap("crew.agree({})")),
        ("save(m.state_dict(), p)", through()),
        ("p", wrap("crew.agree({})")),
        ("save", wrap("f({})")),
    )
    assert result == "crew.agree(crew.once(f(save), crew.bare(m).state_dict(), crew.agree(p)))"


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("f()", "f(k=1)"),
        ("f(a)", "f(a, k=1)"),
        ("f(a,)", "f(a, k=1,)"),
        ("f(k=2)", "f(k=1)"),
        ("f(a, k=(2 + 3), b=c)", "f(a, k=1, b=c)"),
        ("f(**b)", "f(**b, k=1)"),
        ("f((a))", "f((a), k=1)"),
        ("f(i for i in a)", "f((i for i in a), k=1)"),
        ("f(\n  a,  # note\n)", "f(\n  a, k=1,  # note\n)"),
        ("f(\n)", "f(\nk=1)"),
    ],
)
def test_keyword(source, expected):
    assert rewritten(source, (source, keyword("k", "1"))) == expected


def test_keywords_with_other_edits():
    assert (
        rewritten(
            "f(a)",
            ("f(a)", keyword("k", "1")),
            ("a", wrap("g({})")),
            ("f(a)", through()),
            ("f(a)", keyword("j", "2")),
            ("f(a)", wrap("{}.x")),
        )
        == "crew.once(f, g(a), k=1, j=2).x"
    )
    assert rewritten("f()", ("f()", through()), ("f()", keyword("k", "1"))) == "crew.once(f, k=1)"
    assert rewritten('f"{f()}"', ("f()", keyword("k", '"v"'))) == "f\"{f(k='v')}\""


def test_an_edit_that_meets_no_node_is_an_error():
    source = b"x[1, 2]"
    with pytest.raises(AssertionError, match=r"train\.py:1:3: test: .* applied 0 times"):
        apply(PATH, source, [make_edit(source, "1, 2", wrap("f({})"))])


def test_through_of_something_else_than_a_call_is_an_error():
    with pytest.raises(AssertionError, match="not a call: a"):
        convert("a", ("a", through()))


def test_edits_inside_a_replaced_keyword_are_an_error():
    with pytest.raises(AssertionError, match="another edit replaces"):
        convert("f(k=a)", ("f(k=a)", keyword("k", "1")), ("a", wrap("g({})")))


def test_text_that_is_not_python_is_an_error():
    with pytest.raises(AssertionError, match=r"no valid Python: return crew.f\(x\)"):
        convert("return x\n", ("x", wrap("crew.f({})")))


def test_meaning_of_a_wrap_is_the_call_of_the_function():
    for source in ("a + b * c - d", "not a or b", "a if b else c", "a < b < c", "-a ** -b"):
        tree = ast.parse(source)
        snippets = {ast.get_source_segment(source, n) for n in ast.walk(tree)} - {None}
        for snippet in snippets:
            if isinstance(ast.parse(snippet).body[0], ast.Expr):
                result = rewritten(source, (snippet, wrap("({} @ z)")))
                unwrapped = ast.unparse(_Unwrap().visit(ast.parse(result)))
                assert unwrapped == ast.unparse(tree)


class _Unwrap(ast.NodeTransformer):
    def visit_BinOp(self, node):
        self.generic_visit(node)
        return node.left if isinstance(node.op, ast.MatMult) else node
