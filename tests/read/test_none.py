"""What may be None is read both ways, whatever it is otherwise."""

import pytest

from tests.rules.tools import beyond

SETUP = """
import contextlib
from functools import partial
class Logger:
    def log(self, value):
        pass
@contextlib.contextmanager
def forgiving():
    try:
        yield
    except KeyError:
        pass
"""
GIVES = {
    "an object": "found = Logger() if len(data) > 7 else None",
    "a function": "found = (lambda value: value) if len(data) > 7 else None",
    "a class": "found = Logger if len(data) > 7 else None",
    "a partial call": "found = partial(max, 1) if len(data) > 7 else None",
    "a network": "found = nn.Linear(3, 1) if len(data) > 7 else None",
    "a loss": "found = nn.MSELoss() if len(data) > 7 else None",
    "a loader": "found = DataLoader(data) if len(data) > 7 else None",
    "a list": "found = [] if len(data) > 7 else None",
    "a library": "try:\n    import wandb as found\nexcept ImportError:\n    found = None",
    "a parameter": "def give(found=None):\n    return found\n"
    "found = give() if len(data) > 7 else give(Logger())",
    "an attribute": "class T:\n    kept = None\nt = T()\nif len(data) > 7: t.kept = Logger()\n"
    "found = t.kept",
    "a key": "found = {'a': Logger()}.get(input())",
    "a key that is put in on one path": "d = {}\nif len(data) > 7: d['a'] = Logger()\n"
    "found = d.get('a')",
    "an error that is dropped": "found = Logger()\nwith forgiving():\n    {}['a']\n"
    "    found = None",
    "an error that ends a block": "found = Logger()\ntry:\n    found = None\n    {}['a']\n"
    "    found = Logger()\nexcept KeyError:\n    pass",
}


@pytest.mark.parametrize("given", GIVES)
def test_a_test_for_none_is_read_both_ways(given: str) -> None:
    for test in ("found is None", "found is not None"):
        step = f"if {test}:\n    print(loss.item())\nelse:\n    print(2 * loss.item())"
        added = beyond(setup=SETUP, before=GIVES[given], step=step)
        assert sum("mean(" in line or "gather(" in line for line in added) == 2, added


@pytest.mark.parametrize("call", ["d.get('a', loss.item())", "d.setdefault('a', loss.item())"])
def test_a_default_counts_where_the_key_may_be_missing(call: str) -> None:
    added = beyond(before="d = {}\nif len(data) > 7: d['a'] = 1.0", step=f"print({call})")
    assert any("mean(" in line for line in added), added


def test_defaults_are_those_of_the_place_where_a_function_is_defined() -> None:
    setup = """
def build():
    criterion = nn.MSELoss(reduction="sum")
    def compute(out, y, criterion=criterion):
        return criterion(out, y)
    return compute
compute = build()
criterion = nn.MSELoss()
"""
    added = beyond(setup=setup, loss="loss = compute(model(x), y)")
    assert not any(".share" in line for line in added), added


@pytest.mark.parametrize(
    "made", ["re.match('x', str(loss.item()))", "pattern.match(str(loss.item()))"]
)
def test_what_a_library_makes_of_a_figure_may_be_none(made: str) -> None:
    before = "import re\npattern = re.compile('x')"
    added = beyond(before=before, step=f"found = {made}\nif found is None: print(loss.item())")
    assert any("print(loader.mean(loss.item()))" in line for line in added), added


def test_what_calls_itself_may_give_none_in_the_end() -> None:
    setup = """
def last(depth, value):
    if depth == 0:
        return value
    found = last(depth - 1, value)
    if found is not None:
        print(found.mean().item())
    else:
        print(value.sum().item())
    return None
"""
    added = beyond(setup=setup, step="last(2, x)")
    assert sum("gather(" in line or "mean(" in line or "sum(" in line for line in added) >= 2, added


def test_defaults_that_are_changed_from_outside_are_not_known() -> None:
    setup = """
def report(value, loud=False):
    if loud:
        print(value.item())
report.__defaults__ = (True,)
"""
    assert any("mean(" in line for line in beyond(setup=setup, step="report(loss)"))
