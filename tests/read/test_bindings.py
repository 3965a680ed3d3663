"""Whatever syntax binds a name: it holds no more what it held before."""

import sys
from textwrap import dedent, indent

import pytest

from tests.rules.tools import converted, refused, script

CENTRED = """
import sys, asyncio, contextlib, re
class Centred(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 1)

    def forward(self, x):
        return self.fc(x - x.mean(0))
"""
BINDINGS = {
    "assignment": "kind = given",
    "chained": "other = kind = given",
    "annotated": "kind: int = given",
    "augmented": "kind += 1",
    "tuple": "other, kind = 1, given",
    "nested": "(other, [kind, more]) = 1, (given, 3)",
    "starred": "other, *kind = 1, given",
    "walrus": "print(kind := given)",
    "walrus in a list": "[(kind := one) for one in sys.argv]",
    "walrus in a set": "{(kind := one) for one in sys.argv}",
    "walrus in a dictionary": "{one: (kind := one) for one in sys.argv}",
    "walrus in a generator": "any((kind := one) for one in sys.argv)",
    "walrus in a comprehension's test": "[one for one in sys.argv if (kind := one)]",
    "walrus that may be left out": "print(len(sys.argv) and (kind := given))",
    "for": "for kind in sys.argv: pass",
    "for, nested": "for other, (kind, *more) in zip(sys.argv, sys.path): pass",
    "for, starred": "for other, *kind in zip(sys.argv, sys.path): pass",
    "with": "with contextlib.nullcontext(given) as kind: pass",
    "with, nested": "with contextlib.nullcontext((1, given)) as (other, kind): pass",
    "except": "try:\n    open('missing')\nexcept OSError as kind:\n    print(kind)",
    "except group": "try:\n    open('missing')\nexcept* OSError as kind:\n    print(kind)",
    "import": "import json as kind",
    "import, its first part": "import kind.inner",
    "from": "from json import dumps as kind",
    "from, the same name": "from json import kind",
    "function": "def kind(): pass",
    "async function": "async def kind(): pass",
    "class": "class kind: pass",
    "del": "if len(sys.argv) > 3:\n    del kind\n    kind = given",
    "match": "match given:\n    case kind: pass",
    "match as": "match given:\n    case int() as kind: pass",
    "match or": "match given:\n    case (1 as kind) | (2 as kind): pass",
    "match sequence": "match sys.argv:\n    case [kind, other]: pass",
    "match star": "match sys.argv:\n    case [other, *kind]: pass",
    "match mapping": "match given:\n    case {'kind': kind}: pass",
    "match rest": "match given:\n    case {'other': 1, **kind}: pass",
    "match class": "match given:\n    case complex(real=kind): pass",
    "match, its guard": "match given:\n    case kind if kind > len(sys.argv): pass",
    "global": "def f():\n    global kind\n    kind = given\nf()",
}
if sys.version_info >= (3, 12):
    BINDINGS["type alias"] = "type kind = int"
ASYNC = {
    "async for": "async for kind in given: pass",
    "async with": "async with given as kind: pass",
    "async comprehension": "[(kind := one) async for one in given]",
}
IN_FUNCTION = """
async def make(given):
    kind = 1
{lines}
    return {chosen}
"""
CHOSEN = "nn.Linear(3, 1) if kind == 1 else Centred()"
START = "kind = 1\ngiven = int(sys.argv[-1])\n"


@pytest.mark.parametrize("form", BINDINGS)
def test_forms_that_bind_a_name(form: str) -> None:
    refused(setup=f"{CENTRED}{START}{BINDINGS[form]}", model=f"model = {CHOSEN}")


@pytest.mark.parametrize("form", [form for form in (*BINDINGS, *ASYNC) if form != "global"])
def test_forms_that_bind_a_name_of_a_function(form: str) -> None:
    lines = indent(dedent((BINDINGS | ASYNC)[form]), "    ")
    made = IN_FUNCTION.format(lines=lines, chosen=CHOSEN)
    made = made if form in ASYNC else made.replace("async def make", "def make")
    refused(setup=CENTRED + made, model="model = make(int(sys.argv[-1]))")


IN_CLASS = {
    "in a branch": "kind = 1\n    if len(sys.argv) > 3:\n        kind = 2",
    "one of two": "kind = 1\n    other, kind = 1, len(sys.argv)",
    "in a loop": "kind = 1\n    for kind in sys.argv: pass",
    "of its own names": "given = len(sys.argv)\n    kind = given",
}


@pytest.mark.parametrize("form", IN_CLASS)
def test_forms_that_bind_an_attribute_of_a_class(form: str) -> None:
    setup = f"{CENTRED}given = 1\nclass Options:\n    {IN_CLASS[form]}\nkind = Options.kind"
    refused(setup=setup, model=f"model = {CHOSEN}")


def test_a_name_that_is_bound_elsewhere_only() -> None:
    setup = f"{CENTRED}{START}match given:\n    case other: pass\n[(more := 1) for kind in '']"
    plan, _ = converted(script(setup=setup, model=f"model = {CHOSEN}"))
    assert not plan.refusals


@pytest.mark.parametrize(
    "lines",
    [
        "match loss.item():\n    case figure: print('%.3f' % figure)",
        "match (1, loss.item()):\n    case (1, figure): print('%.3f' % figure)",
        "match {'loss': loss.item()}:\n    case {'loss': figure}: print('%.3f' % figure)",
    ],
)
def test_a_figure_that_a_pattern_takes_out(lines: str) -> None:
    plan, text = converted(script(step=lines))
    assert plan.refusals or "loader.mean(loss.item())" in text
