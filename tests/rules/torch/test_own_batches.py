"""Batches that the script's own code gives one after another are split, or refused."""

from textwrap import dedent

import pytest

from tests.rules.tools import changed, converted, refused
from trainera.plan import Options

SKELETON = """\
import random
import numpy as np
import torch
import torch.nn.functional as F
from torch import nn
X, Y = torch.randn(40, 3), torch.randn(40, 1)
{code}
model = nn.Linear(3, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for epoch in range(2):
    for {target} in {source}:
        {then}
        loss = F.mse_loss(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    {after}
"""
BY_ORDER = """
def batches(x, y, n):
    order = torch.randperm(len(x))
    for i in range(0, len(x), n):
        j = order[i:i + n]
        yield x[j], y[j]
"""


def script(
    source: str, code: str = "", target: str = "x, y", then: str = "pass", after: str = "pass"
) -> str:
    return SKELETON.format(source=source, code=dedent(code), target=target, then=then, after=after)


@pytest.mark.parametrize(
    "code",
    [
        BY_ORDER,
        BY_ORDER.replace("torch.randperm(len(x))", "np.random.permutation(len(x))"),
        BY_ORDER.replace(
            "    order = torch.randperm(len(x))\n",
            "    order = list(range(len(x)))\n    random.shuffle(order)\n",
        ).replace("order[i:i + n]", "torch.tensor(order[i:min(i + n, len(x))])"),
        """
        def batches(x, y, n):
            for i in range(0, len(x), n):
                a = x[i:i + n]
                b = y[i:i + n]
                yield a, b
        """,
        """
        def batches(x, y, n, shuffle=True):
            if shuffle:
                places = np.arange(len(x))
                np.random.shuffle(places)
            for i in range(0, len(x) - n + 1, n):
                if shuffle:
                    part = places[i:i + n]
                else:
                    part = slice(i, i + n)
                yield x[part], y[part]
        """,
        """
        def batches(x, y, n):
            for j in torch.randperm(len(x)).split(n):
                yield x[j].float(), y[j]
        """,
        """
        def batches(x, y, n):
            while True:
                j = torch.randint(0, len(x), (n,))
                yield x[j], y[j]
        """,
        """
        def batches(x, y, n):
            samples = list(zip(x, y))
            random.shuffle(samples)
            for i in range(0, len(samples), n):
                a, b = zip(*samples[i:i + n])
                yield torch.stack(a), torch.stack(b)
        """,
        """
        class batches:
            def __init__(self, x, y, n):
                self.x, self.y, self.n = x, y, n
            def __iter__(self):
                order = torch.randperm(len(self.x))
                for i in range(0, len(order), self.n):
                    yield self.x[order[i:i + self.n]], self.y[order[i:i + self.n]]
        """,
    ],
)
def test_generators_that_pick_rows_are_split(code: str) -> None:
    lines = changed(script("batches(X, Y, 8)", code))
    assert "for x, y in crew.split(batches(X, Y, 8)):" in lines
    assert "(loss * crew.current().share).backward()" in lines


@pytest.mark.parametrize(
    "source",
    [
        "torch.randperm(40).split(8)",
        "torch.split(torch.randperm(40), 8)",
        "np.array_split(np.random.permutation(40), 5)",
        "torch.randperm(40).chunk(5)",
    ],
)
def test_a_random_order_in_parts_is_split(source: str) -> None:
    lines = changed(script(source, target="i", then="x, y = X[i], Y[i]"))
    assert f"for i in crew.split({source}):" in lines


def test_tables_in_the_same_parts_are_split() -> None:
    lines = changed(script("zip(X.split(8), Y.split(8))"))
    assert "for x, y in crew.split(zip(X.split(8), Y.split(8))):" in lines


def test_what_counts_batches_stays_around_them() -> None:
    lines = changed(script("enumerate(batches(X, Y, 8))", BY_ORDER, target="i, (x, y)"))
    assert "for i, (x, y) in enumerate(crew.split(batches(X, Y, 8))):" in lines


def test_a_generator_in_a_variable_is_asked_by_next() -> None:
    code = BY_ORDER + "stream = batches(X, Y, 8)\n"
    lines = changed(script("range(5)", code, target="k", then="x, y = next(stream)"))
    assert "stream = crew.split(batches(X, Y, 8))" in lines
    assert "(loss * stream.share).backward()" in lines


def test_a_value_of_the_last_batch_needs_a_name() -> None:
    lines = changed(script("batches(X, Y, 8)", BY_ORDER, after="print(loss.item())"))
    assert "for x, y in (batches_2 := crew.split(batches(X, Y, 8))):" in lines
    assert "print(batches_2.mean(loss.item()))" in lines


def test_what_is_made_elsewhere_gets_no_name() -> None:
    code = BY_ORDER + "def made():\n    return batches(X, Y, 8)\n"
    assert not any(":=" in line for line in changed(script("made()", code)))
    assert refused(script("made()", code, after="print(loss.item())"))


def test_so_it_does_where_the_loop_makes_its_batches() -> None:
    then = "x, y = X[i:i + 8], Y[i:i + 8]"
    source = script("range(0, 40, 8)", target="i", then=then, after="print(loss.item())")
    lines = changed(source)
    assert "for i in (steps := crew.steps(range(0, 40, 8))):" in lines
    assert "print(steps.mean(loss.item()))" in lines


@pytest.mark.parametrize(
    "code",
    [
        # One sample at a time.
        "def batches(x, y, n):\n    for i in torch.randperm(len(x)):\n        yield x[i], y[i]\n",
        # One stretch of time after another.
        "def batches(x, y, n):\n    for i in range(0, 9, n):\n        yield x[i:i+n], x[i+1:i+9]\n",
        # Turned.
        BY_ORDER.replace("x[j], y[j]", "x[j].T, y[j].T"),
        # Something that is no row.
        BY_ORDER.replace("x[j], y[j]", "x[j], y[j].mean()"),
        BY_ORDER.replace("x[j], y[j]", "x[j], len(j)"),
    ],
)
def test_what_is_not_seen_to_be_rows_is_refused(code: str) -> None:
    rules = {rule for rule, *_ in refused(script("batches(X, Y, 8)", code))}
    assert rules == {"split", "weight"}


def test_they_do_not_grow() -> None:
    plan, _ = converted(script("batches(X, Y, 8)", BY_ORDER), Options(batch="per-worker"))
    assert [refusal.rule for refusal in plan.refusals] == ["handmade"]


def test_a_loop_by_next_says_when_it_is_over() -> None:
    """The generator goes on, so that nothing else tells what is drawn for all again."""
    code = BY_ORDER + "stream = batches(X, Y, 8)\n"
    source = script("range(5)", code, target="k", then="x, y = next(stream)")
    _, after = converted(source + "print(torch.rand(2))\n")
    assert "\n    crew.end_steps()\n" in after  # after the inner loop, which asks


def test_a_loop_inside_of_another_that_asks_says_nothing() -> None:
    code = BY_ORDER + "stream = batches(X, Y, 8)\n"
    then = "x, y = next(stream)"
    _, after = converted(
        script("range(5)", code, target="k", then=then).replace(
            "for epoch in range(2):\n", "for epoch in range(2):\n    a, b = next(stream)\n"
        )
    )
    assert after.count("crew.end_steps()") == 1
    assert "\ncrew.end_steps()" in after


@pytest.mark.parametrize(
    "then", ["x, y = next(s)\n        next(s)", "(x, y), (u, v) = next(s), next(s)"]
)
def test_two_batches_at_once_are_refused(then: str) -> None:
    code = BY_ORDER + "s = batches(X, Y, 8)\n"
    assert refused(script("range(5)", code, target="k", then=then))


@pytest.mark.parametrize(
    "given",
    [
        "[x[k] for k in j], [y[k] for k in j]",
        "[(x[k], y[k]) for k in j]",
    ],
)
def test_lists_of_samples_are_refused(given: str) -> None:
    code = BY_ORDER.replace("x[j], y[j]", given)
    rules = {rule for rule, *_ in refused(script("batches(X, Y, 8)", code))}
    assert rules == {"split", "weight"}


def test_a_method_of_another_object_is_not_the_function_of_that_name() -> None:
    code = BY_ORDER.replace("batches", "split") + 'words = "a b".split(" ")\n'
    assert 'words = "a b".split(" ")' in converted(script("split(X, Y, 8)", code))[1]
