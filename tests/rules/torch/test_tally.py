"""Running totals: added up once after the loop where nobody looks before, else at once."""

from textwrap import indent

import pytest

from tests.rules.tools import (
    WITH_VALIDATION,
    beyond,
    changed,
    refused,
    right_or_refused,
    script,
    validation,
)

GUARD = """
from contextlib import suppress
class Guard:
    def __enter__(self):
        return self
    def __exit__(self, kind, *more):
        return kind is ValueError
def check(t):
    if t > 1:
        raise KeyError
"""


@pytest.mark.parametrize(
    ("start", "step", "added"),
    [
        ("t = 0.0", "t += loss.item()", "t += loss.item() * loader.fraction"),
        ("t = 0", "t += loss.item()", "t += loss.item() * loader.fraction"),
        ("t = 0.0", "t = t + loss.item()", "t = t + loss.item() * loader.fraction"),
        ("t = 0.0", "t = loss.item() + t", "t = loss.item() * loader.fraction + t"),
        ("t = 0.0", "t += float(loss)", "t += float(loss) * loader.fraction"),
        ("t = 0.0", "t += loss.detach()", "t += loss.detach() * loader.fraction"),
        ("t = torch.zeros(1)", "t += loss.detach()", "t += loss.detach() * loader.fraction"),
        (
            "t = 0.0",
            "t += loss.item() / len(loader)",
            "t += loss.item() / len(loader) * loader.fraction",
        ),
        ("t = 0.0", "t += 1 + loss.item()", "t += (1 + loss.item()) * loader.fraction"),
        ("t = 0.0", "t += loss.item() * x.size(0)", "t += loss.item() * x.size(0) * loader.active"),
        ("t = 0.0", "t += loss.item() * 8", "t += loss.item() * 8 * loader.fraction"),
        ("t = 0", "t += x.size(0)", "t += x.size(0) * loader.active"),
        ("t = 0", "t += len(y)", "t += len(y) * loader.active"),
        (
            "t = 0",
            "t += (model(x) > y).sum().item()",
            "t += (model(x) > y).sum().item() * loader.active",
        ),
        ("t = 0.0", "if epoch:\n    t += loss.item()", "t += loss.item() * loader.fraction"),
        (
            "t = 0.0",
            "t += loss.item()\nif epoch > 5:\n    break",
            "t += loss.item() * loader.fraction",
        ),
    ],
)
def test_totals_that_wait(start: str, step: str, added: str) -> None:
    assert beyond(start=start, step=step, end="print(t)") == [added, "t = crew.sum(t)"]


def test_all_totals_of_a_loop_in_one_exchange() -> None:
    added = beyond(
        start="t = 0.0\nn = 0",
        step="t += loss.item()\nn += x.size(0)",
        end="print(t / len(loader), n)",
    )
    assert added == [
        "t += loss.item() * loader.fraction",
        "n += x.size(0) * loader.active",
        "t, n = crew.sum(t, n)",
    ]


def test_right_after_the_loop() -> None:
    lines = changed(script(start="t = 0.0", step="t += loss.item()", end="print(t)"))
    assert lines[-1] == "t = crew.sum(t)"


def test_workers_that_skip_need_no_factor() -> None:
    added = beyond(
        loader=WITH_VALIDATION,
        start="n = 0",
        end=validation("n += (model(x) > y).sum().item()") + "\nprint(n)",
    )
    assert added == [
        "val_loader = crew.split(DataLoader(data, batch_size=8), skip_empty=True)",
        "n = crew.sum(n)",
    ]


def test_a_mean_needs_its_fraction_even_then() -> None:
    added = beyond(
        loader=WITH_VALIDATION,
        start="t = 0.0",
        end=validation("t += criterion(model(x), y).item()") + "\nprint(t)",
    )
    assert added[1:] == [
        "t += criterion(model(x), y).item() * val_loader.fraction",
        "t = crew.sum(t)",
    ]


@pytest.mark.parametrize(
    ("parts", "added"),
    [
        (
            {"start": "t = 0.0", "step": "t += loss.item()\nprint(t)"},
            "t += loader.mean(loss.item())",
        ),
        (
            {"start": "t = 0.0", "step": "t += loss.item()\nif t > 9:\n    break"},
            "t += loader.mean(loss.item())",
        ),
        ({"start": "t = 1.0", "step": "t += loss.item()"}, "t += loader.mean(loss.item())"),
        ({"before": "t = 0.0", "step": "t += loss.item()"}, "t += loader.mean(loss.item())"),
        ({"before": "t = 0", "step": "t += x.size(0)"}, "t += loader.sum(x.size(0))"),
        ({"start": "t = 0.0", "step": "t -= loss.item()"}, "t -= loader.mean(loss.item())"),
        ({"start": "t = 1.0", "step": "t *= loss.item()"}, "t *= loader.mean(loss.item())"),
        (
            {"start": "t = 0.0", "step": "t += loss.item() ** 2"},
            "t += loader.mean(loss.item()) ** 2",
        ),
        ({"start": "t = [0.0]", "step": "t[0] += loss.item()"}, "t[0] += loader.mean(loss.item())"),
        (
            {"start": "t = {'a': 0.0}", "step": "t['a'] += loss.item()"},
            "t['a'] += loader.mean(loss.item())",
        ),
        (
            {"start": "t = 0.0", "step": "t += loss.item()\nif epoch:\n    t = 0.0"},
            "t += loader.mean(loss.item())",
        ),
        (
            {"start": "t = 0.0", "step": "t += loss.item()\nfor _ in range(2):\n    u = t"},
            "t += loader.mean(loss.item())",
        ),
    ],
    ids=str,
)
def test_totals_that_are_read_at_once(parts: dict[str, str], added: str) -> None:
    assert beyond(**parts, end="print(t)") == [added]


@pytest.mark.parametrize(
    ("before", "step"),
    [
        ("t = 0.0\ndef show():\n    print(t)", "t += loss.item()\nshow()"),
        ("t = 0.0\nshow = lambda: print(t)", "t += loss.item()\nshow()"),
    ],
)
def test_totals_that_a_function_reads(before: str, step: str) -> None:
    """The function runs inside the loop, so the total cannot wait."""
    right_or_refused("t += loader.mean(loss.item())", before=before, start="t = 0.0", step=step)


@pytest.mark.parametrize(
    "around",
    [
        "try:\n    {}\nexcept KeyError:\n    pass",
        "try:\n    {}\nfinally:\n    print(t)",
        "with suppress(KeyError):\n    {}",
        "with Guard():\n    {}",
        "shown = (t for _ in range(9))\n{}\nnext(shown)",
        "async def show():\n    print(t)\n{}\nshow()",
    ],
)
def test_totals_that_an_error_or_later_code_may_show(around: str) -> None:
    """What leads past the line behind the loop, or looks before it, gets the whole."""
    loop = "for x, y in loader:\n    t += criterion(model(x), y).item()\n    check(t0)"
    body = around.replace("{}", loop.replace("\n", "\n    " if "    {}" in around else "\n"))
    function = "def last(t0):\n    t = 0.0\n" + indent(body, "    ") + "\n    return t"
    added = beyond(imports=GUARD, before=function + "\nprint(last(1))")
    assert added == ["t += loader.mean(criterion(model(x), y).item())"]


@pytest.mark.parametrize("around", ["with torch.no_grad():", "with tqdm(total=3) as bar:"])
def test_totals_within_what_keeps_errors(around: str) -> None:
    lines = (
        f"def last():\n    t = 0.0\n    {around}\n        for x, y in loader:\n"
        "            t += criterion(model(x), y).item()\n    return t\nprint(last())"
    )
    added = beyond(imports="from tqdm import tqdm", before=lines)
    assert added[-1] == "t = crew.sum(t)"


def test_totals_that_stay_in_a_block_that_errors_leave() -> None:
    """Whoever comes to the line that shows the total has come by the end of its loop."""
    lines = (
        "def last():\n    try:\n        t = 0.0\n        for x, y in loader:\n"
        "            t += criterion(model(x), y).item()\n        print(t)\n"
        "    except KeyboardInterrupt:\n        print('stopped')\nlast()"
    )
    assert beyond(before=lines)[-1] == "t = crew.sum(t)"


def test_totals_of_a_function_that_returns_from_its_loop() -> None:
    added = beyond(
        before=(
            "def first():\n    t = 0.0\n    for x, y in loader:\n"
            "        t += criterion(model(x), y).item()\n"
            "        if len(data) > 3:\n            return t\n    return t\nprint(first())"
        )
    )
    assert added == ["t += loader.mean(criterion(model(x), y).item())"]


@pytest.mark.parametrize(
    ("parts"),
    [
        {"start": "n = 0", "step": "n += 1", "end": "print(n)"},
        {"start": "n = 0", "step": "n += x.size(1)", "end": "print(n)"},
        {"start": "n = 0", "step": "n += len(loader)", "end": "print(n)"},
        {"start": "n = 0", "end": "n += epoch\nprint(n)"},
        {"start": "s = ''", "step": "s += 'x'", "end": "print(s)"},
        {"before": "n = 0\nfor row in range(3):\n    n += row"},
    ],
    ids=str,
)
def test_what_is_no_total_of_slices(parts: dict[str, str]) -> None:
    assert beyond(**parts) == []


@pytest.mark.parametrize(
    "step", ["n += len(y[y > 0])", "n += y[y > 0].shape[0]", "n += (y > 0).sum().item()"]
)
def test_rows_picked_by_a_condition_are_counted_over_all_workers(step: str) -> None:
    added = beyond(start="n = 0", step=step, end="print(n)")
    assert added == [f"{step} * loader.active", "n = crew.sum(n)"]


@pytest.mark.parametrize(
    "parts",
    [
        {"imports": "from settings import *"},
        {"before": "def reset():\n    global total\n    total = 0.0\nreset()"},
    ],
    ids=str,
)
def test_totals_that_are_made_elsewhere(parts: dict[str, str]) -> None:
    """What it starts at cannot be seen, so it cannot wait."""
    added = beyond(**parts, step="total += loss.item()", end="print(total)")
    assert added == ["total += loader.mean(loss.item())"]


def test_the_number_of_fields_is_no_number_of_samples() -> None:
    """A batch of (x, y) has length 2 on every worker; whether it is such is not known here."""
    right_or_refused(start="n = 0", end="for batch in loader:\n    n += len(batch)\nprint(n)")


def test_one_total_of_means_and_sums() -> None:
    source = script(
        before=(
            "def run(total, reduce):\n    t = 0.0\n    for x, y in loader:\n"
            "        t += reduce(model(x), y)\n    return t\n"
            "def a(out, y):\n    return (out - y).abs().mean().item()\n"
            "def b(out, y):\n    return (out - y).abs().sum().item()\n"
            "print(run(0, a), run(0, b))"
        )
    )
    assert refused(source)[0] == (
        "tally",
        "t += reduce(model(x), y)",
        "this total adds up means in one call and sums in another",
        "the two are combined over workers in different ways",
    )
