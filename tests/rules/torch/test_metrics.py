"""A figure of a slice becomes the batch's before anyone sees it."""

import pytest

from tests.rules.tools import (
    WITH_VALIDATION,
    added_unless_refused,
    beyond,
    refused,
    right_or_refused,
    validation,
)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("print(loss.item())", "print(loader.mean(loss.item()))"),
        ("print(f'{loss.item():.3f}')", "print(f'{loader.mean(loss.item()):.3f}')"),
        ("print('%.3f' % loss.item())", "print('%.3f' % loader.mean(loss.item()))"),
        ("print('{}'.format(loss.item()))", "print('{}'.format(loader.mean(loss.item())))"),
        (
            "print('%d %f' % (epoch, loss.item()))",
            "print('%d %f' % (epoch, loader.mean(loss.item())))",
        ),
        ("losses.append(loss.item())", "losses.append(loader.mean(loss.item()))"),
        ("losses.append((epoch, loss.item()))", "losses.append((epoch, loader.mean(loss.item())))"),
        ("losses += [loss.item()]", "losses += [loader.mean(loss.item())]"),
        ("history[epoch] = loss.item()", "history[epoch] = loader.mean(loss.item())"),
        ("print(x.size(0))", "print(loader.sum(x.size(0)))"),
        ("print(len(x))", "print(loader.sum(len(x)))"),
        ("print(x.shape)", "print(loader.gather(x).shape)"),
        ("print((model(x) > y).sum().item())", "print(loader.sum((model(x) > y).sum().item()))"),
        (
            "print((model(x) > y).float().mean())",
            "print(loader.mean((model(x) > y).float().mean()))",
        ),
        (
            "print((model(x) > y).sum() / len(y))",
            "print(loader.mean((model(x) > y).sum() / len(y)))",
        ),
        ("print(x.max())", "print(loader.gather(x).max())"),
        ("print(x.std(0))", "print(loader.gather(x).std(0))"),
        ("print(y[0])", "print(loader.gather(y)[0])"),
        ("print(y[:2])", "print(loader.gather(y)[:2])"),
        ("print(loss.item() ** 2)", "print(loader.mean(loss.item()) ** 2)"),
        ("print(round(loss.item(), 2))", "print(round(loader.mean(loss.item()), 2))"),
        ("print(max(loss.item(), 1))", "print(max(loader.mean(loss.item()), 1))"),
        ("print(2 ** loss.item())", "print(2 ** loader.mean(loss.item()))"),
        ("if loss.item() > 9:\n    break", "if loader.mean(loss.item()) > 9:"),
        ("if x.size(0) < 8:\n    continue", "if loader.sum(x.size(0)) < 8:"),
        ("assert not torch.isnan(loss)", "assert not torch.isnan(loader.mean(loss))"),
        (
            "report(loss.item(), x.size(0))",
            "report(*loader.combine((loss.item(), x.size(0)), ('mean', 'sum')))",
        ),
        ("unknown(model(x), y)", "unknown(loader.gather(model(x)), loader.gather(y))"),
        ("for row in y:\n    print(row)", "for row in loader.gather(y):"),
        ("rows.extend(y.tolist())", "rows.extend(loader.gather(y.tolist()))"),
    ],
)
def test_whole_at_once(before: str, after: str) -> None:
    added = beyond(
        imports="from elsewhere import unknown",
        before="losses = []\nrows = []\nhistory = {}\ndef report(a, b):\n    print(a, b)",
        step=before,
    )
    assert added == [after]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        # Cutting off the decimals of each slice's figure is not cutting off the batch's.
        ("print(int(loss.item()))", "print(int(loader.mean(loss.item())))"),
        ("print(int(100 * loss.item()))", "print(int(loader.mean(100 * loss.item())))"),
        ("print(loss.int())", "print(loader.mean(loss).int())"),
        ("print(loss.long())", "print(loader.mean(loss).long())"),
    ],
)
def test_rounding_comes_last(before: str, after: str) -> None:
    assert beyond(step=before) == [after]


@pytest.mark.parametrize(
    "step",
    [
        "print(len(y[y > 0]))",
        "print(y[y > 0].shape[0])",
        "print(y[y > 0].size(0))",
        "n = len(y[y > 0])\nprint(n)",
    ],
)
def test_numbers_of_rows_picked_by_a_condition(step: str) -> None:
    added = beyond(step=step)
    assert len(added) == 1
    assert "loader.sum(" in added[0] or "loader.gather(" in added[0]


def test_the_text_of_a_debugging_format_stays() -> None:
    """f'{x=}' prints the expression: it must print the user's."""
    rows = refused(step="print(f'{loss.item()=}')")
    assert rows[0][0] == "metrics"


def test_after_the_loop() -> None:
    assert beyond(end="print(loss.item())") == ["print(loader.mean(loss.item()))"]


@pytest.mark.parametrize(
    "end",
    [
        # Another pass has changed the weights of the slices since.
        "for a, b in loader:\n    break\nprint(loss.item())",
        # The name stands for another loader by now.
        "kept = loader\nloader = DataLoader(data, batch_size=4)\nprint(loss.item())\nloader = kept",
    ],
)
def test_after_another_pass(end: str) -> None:
    """Either refused, or made whole before that."""
    right_or_refused("loss = loader.mean(loss)", end=end)


@pytest.mark.parametrize(
    ("before", "step", "after", "right"),
    [
        (
            "kept = {}",
            "if epoch == 0:\n    kept['loss'] = loss.item()",
            "print(kept['loss'])",
            ["kept['loss'] = loader.mean(loss.item())"],
        ),
        (
            "best = [9.0, 0]",
            "if loss.item() < best[0]:\n    best = [loss.item(), epoch]",
            "print(best[0])",
            ["if loader.mean(loss.item()) < best[0]:", "best = [loader.mean(loss.item()), epoch]"],
        ),
        (
            "class Meter:\n    best = 9.0\nmeter = Meter()",
            "if loss.item() < meter.best:\n    meter.best = loss.item()",
            "print(meter.best)",
            ["if loader.mean(loss.item()) < meter.best:", "meter.best = loader.mean(loss.item())"],
        ),
    ],
    ids=["dictionary", "list", "attribute"],
)
def test_figures_that_are_kept_over_batches(
    before: str, step: str, after: str, right: list[str]
) -> None:
    """Made whole by a later batch's weights they would be wrong in the short last batch."""
    right_or_refused(*right, before=before, step=step, after=after)


def test_one_expression_for_slices_and_wholes() -> None:
    rows = refused(
        before="def show(value):\n    print(value.mean())\nshow(torch.ones(3))", step="show(x)"
    )
    assert rows == [
        (
            "metrics",
            "print(value.mean())",
            "this code is given shares of a batch and whole values",
            "which of them it works on cannot be told here",
        )
    ]


def test_in_an_evaluation() -> None:
    added = beyond(
        loader=WITH_VALIDATION,
        end=validation("worst = max(worst, (model(x) - y).abs().max().item())"),
        start="worst = 0",
    )
    assert added == [
        "val_loader = crew.split(DataLoader(data, batch_size=8))",
        "worst = max(worst, val_loader.gather((model(x) - y).abs()).max().item())",
    ]


def test_in_a_comprehension() -> None:
    added = beyond(
        loader=WITH_VALIDATION,
        end="print(sum(criterion(model(x), y).item() for x, y in val_loader))",
    )
    assert added == [
        "val_loader = crew.split(DataLoader(data, batch_size=8))",
        "print(sum(val_loader.mean(criterion(model(x), y).item()) for x, y in val_loader))",
    ]


@pytest.mark.parametrize(
    "step",
    [
        "print(epoch)",
        "print(len(loader), len(data), loader.batch_size)",
        "print(optimizer.param_groups[0]['lr'])",
        "print(x.size(1), x.shape[1], x.dtype, x.device, x.dim())",
        "x, y = x.to('cpu'), y.to('cpu')",
        "keep = []\nkeep.append(loss)",
        "figures = {'loss': loss}",
        "print(model(torch.zeros(2, 3)).mean().item())",
        "print('loss.item()')  # loss.item()",
        "if loss is None:\n    break",
        "assert isinstance(x, torch.Tensor)",
        "del loss",
    ],
)
def test_what_needs_nothing(step: str) -> None:
    assert beyond(step=step) == []


@pytest.mark.parametrize("step", ["del loss, x", "del x", "x -= x.mean()", "loss @= x"])
def test_statements_that_take_no_expression(step: str) -> None:
    """Nothing can be put around a target: a refusal is fine, an invalid script is not."""
    right_or_refused(step=step)


@pytest.mark.parametrize(
    "before",
    ["total = torch.zeros(3)\nprint(total.mean().item())", "losses = [1.0]\nprint(sum(losses))"],
)
def test_outside_of_the_loop_all_is_whole(before: str) -> None:
    assert beyond(before=before) == []


@pytest.mark.parametrize(
    ("step", "why"),
    [
        ("z = x.t(); print(z @ x)", "how to make the whole is not known"),
    ],
)
def test_refusals(step: str, why: str) -> None:
    rows = refused(step=step)
    assert rows == [("metrics", step, "a value of one worker's share is used here", why)]


def test_a_figure_of_an_earlier_batch() -> None:
    """Made whole while its batch is there, not by the weights of the next one."""
    right_or_refused(
        "last = loader.mean(loss.item())",
        before="last = 0.0",
        step="print(last)\nlast = loss.item()",
    )


@pytest.mark.parametrize(
    ("step", "after"),
    [
        ("print(y.size(-1))", "print(loader.gather(y).size(-1))"),
        ("print(y.shape[-1])", "print(loader.gather(y).shape[-1])"),
        ("print(y.view(-1).size(-1))", "print(loader.sum(y.view(-1).size(-1)))"),
        ("print(y.view(-1, 1).size(-1))", None),
        ("print(model(x).size(-1))", None),
    ],
)
def test_the_last_dimension_may_be_the_batch(step: str, after: str | None) -> None:
    """Of labels with one dimension the last is the first."""
    assert beyond(step=step) == ([after] if after else [])


def test_a_variable_by_its_name() -> None:
    added = beyond(step="print(globals()['loss'].item())")
    assert added == ["print(loader.mean(globals()['loss'].item()))"]


@pytest.mark.parametrize(
    "step",
    [
        "print('{loss}'.format(**locals()))",
        "print(vars()['lo' + 'ss'])",
        "print(eval('loss.item()'))",
    ],
)
def test_variables_by_names_made_up_are_refused(step: str) -> None:
    assert [(rule, line) for rule, line, _, _ in refused(step=step)] == [("metrics", step)]


@pytest.mark.parametrize(
    ("step", "lines"),
    [
        ("s = out @ out.T", ["all_out = loader.gather(out)", "s = all_out @ all_out.T"]),
        (
            "all_out = 0\nprint(out @ out.T)",
            ["all_out_2 = loader.gather(out)", "print(all_out_2 @ all_out_2.T)"],
        ),
        (
            "s = (out @ out.T) / len(out)",
            ["all_out = loader.gather(out)", "s = (all_out @ all_out.T) / loader.sum(len(out))"],
        ),
    ],
)
def test_rows_that_a_statement_asks_for_twice(step: str, lines: list[str]) -> None:
    assert beyond(loss="out = model(x)\nloss = criterion(out, y)", step=step) == lines


@pytest.mark.parametrize(
    "step",
    [
        "if (out @ out.T).sum() > 0:\n    pass",
        "s = epoch > 0 and out @ out.T",
        "s = [out @ out.T for _ in range(2)]",
        "s = lambda: out @ out.T",
        "s = 0 if epoch else out @ out.T",
        "s = (out := out + 1) @ out.T",
    ],
)
def test_rows_that_a_statement_may_not_ask_for(step: str) -> None:
    lines = added_unless_refused(loss="out = model(x)\nloss = criterion(out, y)", step=step)
    assert not any("all_out" in line for line in lines or [])
