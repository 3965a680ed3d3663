"""Which batches made by hand are cut, and which loops are left alone."""

from textwrap import dedent, indent

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
{setup}
model = nn.Linear(3, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
{before}
{loop}
{batch}
    loss = F.mse_loss(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    {step}
"""


def script(
    batch: str, *, loop: str = "for k in range(0, 40, 8):", setup: str = "", before: str = "",
    step: str = "",
) -> str:  # fmt: skip
    filled = SKELETON.format(
        setup=dedent(setup), before=before, loop=loop, batch=indent(dedent(batch), "    "),
        step=step,
    )  # fmt: skip
    return "".join(line for line in filled.splitlines(keepends=True) if line.strip())


def cuts(batch: str, **parts: str) -> list[str]:
    """The lines with a cut."""
    lines = changed(script(batch, **parts))
    assert "(loss * crew.current().share).backward()" in lines
    assert any("crew.steps(" in line for line in lines)
    return [line for line in lines if "crew.cut(" in line]


GET_BATCH = """
    def get_batch(n):
        i = torch.randint(len(X), (n,))
        return X[i], Y[i]
"""


@pytest.mark.parametrize(
    "index",
    [
        "torch.randint(0, 40, (8,))",
        "torch.randint(high=40, size=(8,))",
        "torch.randperm(40)[:8]",
        "np.random.choice(40, 8)",
        "np.random.choice(40, size=8, replace=False)",
        "np.random.randint(0, 40, size=8)",
        "random.sample(range(40), 8)",
        "random.choices(range(40), k=8)",
        "order[k:k + 8]",
    ],
)
def test_numbers_of_samples_are_cut(index: str) -> None:
    before = "order = torch.randperm(40)"
    found = cuts(f"i = {index}\nx, y = X[i], Y[i]", before=before)
    assert found == [f"i = crew.cut({index})"]


def test_numbers_that_are_looked_up_at_once_are_cut_where_they_stand() -> None:
    batch = "x, y = X[order[k:k + 8]], Y[order[k:k + 8]]"
    expected = "x, y = X[crew.cut(order[k:k + 8])], Y[crew.cut(order[k:k + 8])]"
    assert cuts(batch, before="order = np.random.permutation(40)") == [expected]


def test_an_order_may_be_a_list_that_is_shuffled() -> None:
    before = "order = list(range(40))\nrandom.shuffle(order)"
    assert cuts("i = order[k:k + 8]\nx, y = X[i], Y[i]", before=before)


def test_what_a_function_of_the_script_draws_is_cut_where_it_is_called() -> None:
    found = cuts("x, y = get_batch(8)", setup=GET_BATCH)
    assert found == ["x, y = crew.cut(get_batch(8))"]


def test_so_is_what_a_method_draws() -> None:
    setup = """
        class Data:
            def next(self, n):
                i = np.random.randint(0, len(X), n)
                return X[i], Y[i]
        data = Data()
    """
    assert cuts("x, y = data.next(8)", setup=setup) == ["x, y = crew.cut(data.next(8))"]


def test_the_same_part_of_two_tables_is_cut_in_both() -> None:
    found = cuts("x = X[k:k + 8]\ny = Y[k:k + 8]")
    assert found == ["x = crew.cut(X[k:k + 8])", "y = crew.cut(Y[k:k + 8])"]


def test_a_loop_that_trains_by_a_function() -> None:
    source = script("x, y = X[k:k + 8], Y[k:k + 8]").replace(
        "    loss.backward()", "    learn(loss)"
    )
    source = source.replace(
        "model = nn.Linear", "def learn(loss):\n    loss.backward()\nmodel = nn.Linear"
    )
    lines = changed(source)
    assert "x, y = crew.cut(X[k:k + 8]), crew.cut(Y[k:k + 8])" in lines
    assert "(loss * crew.current().share).backward()" in lines


def test_a_while_loop_asks_whether_it_goes_on() -> None:
    source = script(
        "x, y = get_batch(8)", setup=GET_BATCH, loop="while k < 3:", before="k = 0", step="k += 1"
    )
    lines = changed(source)
    assert "while crew.next_step(k < 3):" in lines
    assert "x, y = crew.cut(get_batch(8))" in lines
    assert "crew.end_steps()" not in lines


def test_a_while_loop_that_is_left_says_so() -> None:
    source = script(
        "x, y = get_batch(8)", setup=GET_BATCH, loop="while True:", step="if loss < 1: break"
    )
    _, after = converted(source + "print(len(X))\n")
    assert "while crew.next_step(True):" in after
    assert after.endswith("\ncrew.end_steps()\nprint(len(X))\n")


def test_a_while_loop_that_returns_is_refused() -> None:
    source = script("x, y = get_batch(8)", setup=GET_BATCH, loop="while True:", step="return")
    head, loop = source.split("while True:")
    body = "def train():\n    while True:" + loop.replace("\n", "\n    ").rstrip() + "\ntrain()\n"
    assert {rule for rule, *_ in refused(head + body)} == {"split", "weight"}


def test_loops_that_only_evaluate_are_left_alone() -> None:
    after = """\
with torch.no_grad():
    for k in range(3):
        x, y = get_batch(8)
        print(F.mse_loss(model(x), y))
"""
    source = script("x, y = get_batch(8)", setup=GET_BATCH) + after
    _, converted_source = converted(source)
    assert converted_source.endswith(after)


def test_a_script_with_a_loader_keeps_to_it() -> None:
    source = script("x, y = X[k:k + 8], Y[k:k + 8]").replace(
        "for k in range(0, 40, 8):", "for x, y in loader:"
    )
    source = source.replace("    x, y = X[k:k + 8], Y[k:k + 8]\n", "")
    source = source.replace(
        "model = nn", "loader = torch.utils.data.DataLoader(list(zip(X, Y)), 8)\nmodel = nn"
    )
    assert not any("crew.cut" in line or "crew.steps" in line for line in changed(source))


@pytest.mark.parametrize(
    ("batch", "parts"),
    [
        # One table alone: its rows may be steps in time.
        ("x, y = X[k:k + 8], X[k + 1:k + 9, :1]", {}),
        # One sample at a time.
        ("i = random.randint(0, 39)\nx, y = X[i:i + 1], Y[i:i + 1]", {}),
        # All samples at once.
        ("x, y = X, Y", {}),
        # Rows are turned into columns.
        (
            "x, y = get_batch(8)",
            {"setup": GET_BATCH.replace("X[i], Y[i]", "X[i].T, Y[i]")},
        ),
        (
            "x, y = get_batch(8)",
            {"setup": GET_BATCH.replace("X[i]", "torch.stack([X[j] for j in i], 1)")},
        ),
    ],
)
def test_what_is_not_seen_to_be_samples_is_refused(batch: str, parts: dict[str, str]) -> None:
    rules = {rule for rule, *_ in refused(script(batch, **parts))}
    assert rules == {"split", "weight"}


def test_steps_in_time_are_refused() -> None:
    source = script("x, y = X[k:k + 8], Y[k:k + 8]").replace(
        "model = nn.Linear(3, 1)",
        "class Net(nn.Module):\n"
        "    def __init__(self):\n"
        "        super().__init__()\n"
        "        self.rnn = nn.GRU(3, 1)\n"
        "    def forward(self, x):\n"
        "        return self.rnn(x)[0]\n"
        "model = Net()",
    )
    assert [rule for rule, *_ in refused(source)] == ["network"]


def test_batches_made_by_hand_do_not_grow() -> None:
    plan, _ = converted(script("x, y = get_batch(8)", setup=GET_BATCH), Options(batch="per-worker"))
    assert [refusal.rule for refusal in plan.refusals] == ["handmade"]
