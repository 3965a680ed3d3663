"""Any edits of any expressions of real scripts: valid Python, and nothing else changes."""

import ast
import subprocess
import sys
from functools import cache
from pathlib import Path
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rewriting import CREW, PATH

from trainera.plan import Edit, Insert, Keyword, Through, Wrap
from trainera.read.source.positions import Positions
from trainera.rewrite.apply import apply
from trainera.rewrite.lines import compile_with_original_lines, lines_of

HERE = Path(__file__).parent
SCRIPTS = sorted([*HERE.parent.glob("corpus/*/*.py"), *HERE.glob("*.py")])
TEMPLATES = ["crew.f({})", "({} * crew.n)", "{}.module", "crew.f({}, k='v')", "-{}", "{} or None"]


@cache
def read(path: Path) -> tuple[bytes, Positions, list[ast.expr], list[ast.stmt]]:
    source = path.read_bytes()
    tree = ast.parse(source)
    unloaded = {
        id(part)
        for node in ast.walk(tree)
        for part in [
            *(ast.walk(node) if isinstance(node, ast.pattern) else []),
            *([node.slice] if isinstance(node, ast.Subscript) else []),
            *(node.values if isinstance(node, ast.JoinedStr) else []),
            *([node.format_spec] if isinstance(node, ast.FormattedValue) else []),
        ]
    }
    unloaded |= {
        id(node.value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }
    expressions = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.expr)
        and isinstance(getattr(node, "ctx", ast.Load()), ast.Load)
        and not isinstance(node, ast.Starred | ast.Slice | ast.FormattedValue)
        and id(node) not in unloaded
    ]
    elifs = {
        id(node.orelse[0])
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and len(node.orelse) == 1
    }
    statements = [
        node for node in ast.walk(tree) if isinstance(node, ast.stmt) and id(node) not in elifs
    ]
    return source, Positions(source, tree), expressions, statements


def check(path: Path, random: Random) -> None:
    source, positions, expressions, statements = read(path)
    edits: list[Edit] = []

    def add(node: ast.AST, action: Wrap | Through | Insert | Keyword) -> None:
        place = positions.place(node, PATH)
        edits.append(Edit(rule="r", place=place, action=action, reason="", imports=(CREW,)))

    for node in random.sample(expressions, min(6, len(expressions))):
        if isinstance(node, ast.Call) and random.random() < 0.5:
            through = Through(function="crew.once")
            add(node, random.choice([through, Keyword(name="new_keyword", value="'v'")]))
        else:
            add(node, Wrap(template=random.choice(TEMPLATES)))
    for node in random.sample(statements, min(3, len(statements))):
        add(node, Insert(text="crew.x = 1", where=random.choice(["before", "after"])))
    converted = apply(PATH, source, edits)
    assert len(lines_of(converted.after)) == len(converted.lines)
    before, after = lines_of(source), lines_of(converted.after)
    touched = {
        line
        for edit in edits
        if not isinstance(edit.action, Insert)
        for line in range(edit.place.line, edit.place.end_line + 1)
    }
    inline = {edit.place.end_line for edit in edits} | {edit.place.line for edit in edits}
    for number, line in enumerate(before, start=1):
        if number not in touched | inline:
            at = [i for i, origin in enumerate(converted.lines) if origin == number]
            new = [after[i] for i in at]
            # Parentheses around an expression may become those of the call, on their own line.
            same = [text for text in new if line in (text, text.replace("crew.f(", "("))]
            assert len(same) >= 1
            new.remove(same[0])
            assert {text.strip() for text in new} <= {"", CREW}
    compile_with_original_lines(converted, "train.py")


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(SCRIPTS), st.integers(0, 10**9))
def test_random_edits(path, seed):
    check(path, Random(seed))


@pytest.mark.parametrize("template", ["crew.f({})", "({} @ crew.n)"])
@pytest.mark.parametrize("path", SCRIPTS[::3], ids=lambda path: f"{path.parent.name}/{path.name}")
def test_wraps_around_everything_mean_what_they_say(path, template):
    """Wraps every expression of a file; taking them away from the tree gives the old tree."""
    source, positions, expressions, _ = read(path)
    edits = [
        Edit(rule="r", place=positions.place(n, PATH), action=Wrap(template=template), reason="")
        for n in expressions
        if not isinstance(n, ast.Constant)
    ]
    after = apply(PATH, source, edits).after
    assert ast.dump(_Unwrap().visit(ast.parse(after))) == ast.dump(ast.parse(source))


class _Unwrap(ast.NodeTransformer):
    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        return node.args[0] if ast.unparse(node.func) == "crew.f" else node

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        self.generic_visit(node)
        return node.left if ast.unparse(node.right) == "crew.n" else node


def test_nothing_heavy_is_imported_by_the_package():
    code = "import sys, trainera.rewrite; assert not {'torch', 'libcst'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)
    code = "import sys, trainera.rewrite.apply; assert 'torch' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)
