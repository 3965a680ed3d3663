"""Where the rows of a batch go, operation by operation: certain, or nowhere."""

import pytest
import torch
from torch import nn
from torch.utils.checkpoint import checkpoint

from trainera.crew.following import Rows, meeting_rows, rows_in_result
from trainera.crew.stretching import LOOKOUT

ROWS = 4
TABLE, WIDE, LABELS = (ROWS, 3), (ROWS, ROWS), (ROWS,)


def place(
    name: str,
    result: tuple[int, ...],
    *given: tuple[int, ...],
    other: tuple[int, ...] | None = None,
) -> int | None:
    followed = [Rows(torch.Size(shape), 0) for shape in given]
    others = [torch.Size(other)] if other is not None else []
    return rows_in_result(name, followed, others, torch.Size(result))


@pytest.mark.parametrize(
    ("name", "result", "given", "expected"),
    [
        ("sub", TABLE, [TABLE], 0),
        ("sub", WIDE, [WIDE], 0),
        ("sub", (2, ROWS, 3), [TABLE], 1),
        ("sub", WIDE, [LABELS, (ROWS, 1)], None),
        ("relu", WIDE, [WIDE], 0),
        ("softmax", TABLE, [TABLE], 0),
        ("view", (1, ROWS), [LABELS], 1),
        ("view", (ROWS, 9), [(ROWS, 3, 3)], 0),
        ("view", (ROWS, ROWS**2), [(ROWS, ROWS, ROWS)], 0),
        ("view", (8, ROWS), [(ROWS, 8)], None),
        ("flatten", (12,), [TABLE], None),
        ("max", LABELS, [TABLE], 0),
        ("argmax", LABELS, [WIDE], None),
        ("sum", (3,), [TABLE], None),
        ("T", (3, ROWS), [TABLE], 1),
        ("T", WIDE, [WIDE], None),
        ("mul", TABLE, [TABLE, (3, 3)], None),
    ],
)
def test_rows_of_a_result(
    name: str, result: tuple[int, ...], given: list[tuple[int, ...]], expected: int | None
) -> None:
    assert place(name, result, *given) == expected


def test_a_table_of_as_many_entries_leaves_doubt() -> None:
    assert place("matmul", (ROWS, 1), TABLE, other=(3, 1)) == 0
    assert place("matmul", (ROWS, 1), TABLE, other=(3, ROWS)) is None


@pytest.mark.parametrize(
    ("one", "other", "meet"),
    [
        (Rows(torch.Size((4, 1)), 0), Rows(torch.Size((4,)), 0), True),
        (Rows(torch.Size((4, 1)), 0), Rows(torch.Size((1, 4)), 1), True),
        (Rows(torch.Size((4, 1, 3)), 0), Rows(torch.Size((4, 3)), 0), True),
        (Rows(torch.Size((4, 1)), 0), Rows(torch.Size((5,)), 0), True),
        (Rows(torch.Size((4, 1)), 0), Rows(torch.Size((4, 3)), 0), False),
        (Rows(torch.Size((4, 4)), 0), Rows(torch.Size((4,)), 0), False),
        (Rows(torch.Size((1, 1)), 0), Rows(torch.Size((1,)), 0), False),
        (Rows(torch.Size((4, 1, 3)), 0), Rows(torch.Size((4, 2)), 0), False),
    ],
)
def test_rows_that_meet(one: Rows, other: Rows, meet: bool) -> None:
    """Not where nothing is stretched, and not where torch itself refuses the shapes."""
    assert (meeting_rows([one, other]) is not None) is meet
    assert (meeting_rows([other, one]) is not None) is meet


STOPPED = {
    "classes before rows": lambda x, y: y == torch.arange(3)[:, None],
    "a table of more dimensions": lambda x, y: torch.fmax(torch.randn(5, 1, 3), x),
    "hidden layer as wide as the slice": lambda x, y: (
        nn.Sequential(nn.Linear(3, 4), nn.Linear(4, 1))(x) - y
    ),
    "by hand": lambda x, y: (x @ torch.randn(3, 1) + 1).sigmoid() == y,
    "reflected": lambda x, y: (1 - y) / (2 * x[:, :1]),
    "in between": lambda x, y: torch.where(x[:, 0] > 0, y.unsqueeze(1), 0.0),
    "three operands": lambda x, y: torch.addcmul(torch.ones(1), x.sum(1), y.float()[:, None]),
    "comparison": lambda x, y: x.argmax(1, keepdim=True).eq(y.long()),
    "logical": lambda x, y: (x.max(1).values > 0) & (y > 0).reshape(-1, 1),
    "powers": lambda x, y: x.abs().mean(1, keepdim=True) ** y,
    "greatest": lambda x, y: torch.maximum(x.norm(dim=1), y.view(-1, 1).clone()),
    "loss that does not warn": lambda x, y: nn.functional.kl_div(x[:, :1], y, reduction="sum"),
    "loss module": lambda x, y: nn.PoissonNLLLoss()(x[:, 1:2], y),
    "kept dimension": lambda x, y: torch.stack([y, y], 1).mean(1, keepdim=True) - y,
    "attribute": lambda x, y: x[:, :1].T - y.data[:, None],
}
PASSED = {
    "more dimensions, put in where they are seen": lambda x, y: y[None] == torch.arange(3)[:, None],
    "equal shapes": lambda x, y: (x.sum(1) - y).sum() * (x[:, :1] * y[:, None]),
    "a weight for each feature": lambda x, y: y[:, None] * torch.randn(3) + x - x.mean(0),
    "a weight for each of four classes": lambda x, y: y[:, None] * torch.randn(4),
    "as many features": lambda x, y: (
        (w := x.repeat(1, 4)[:, :4]) - w.mean(0) + y[:, None] * w.mean(0)
    ),
    "counts": lambda x, y: y[:, None] - torch.bincount(y.long().abs() % 4, minlength=4),
    "classes in a table": lambda x, y: y[:, None] == torch.arange(4),
    "in a network": lambda x, y: Pairs()(x),
    "tensors of no batch": lambda x, y: (torch.randn(4, 1) - torch.randn(4)).sum(),
}


class Pairs(nn.Module):
    """A network that does with its rows what a loop must not."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(3, 1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return (self.layer(x) - x[:, 0]).sum(1)


def look(operation) -> None:  # type: ignore[no-untyped-def]
    call = nn.Module.__call__
    step = LOOKOUT.begin()
    try:
        x, y = LOOKOUT.marked((torch.randn(ROWS, 3), torch.randn(ROWS)), ROWS)
        operation(x, y)
    finally:
        LOOKOUT.end(step)
        LOOKOUT.found = ""
    assert nn.Module.__call__ is call
    assert torch.overrides._get_current_function_mode_stack() == []


@pytest.mark.parametrize("case", STOPPED)
def test_stopped(case: str) -> None:
    with pytest.raises(RuntimeError, match=r"test_following.py:\d+: \w+ of tensors of the shapes"):
        look(STOPPED[case])
    assert not LOOKOUT.known


@pytest.mark.parametrize("case", PASSED)
def test_passed(case: str) -> None:
    look(PASSED[case])
    assert not LOOKOUT.known


def test_shapes_changed_in_place() -> None:
    def turn(x: torch.Tensor, y: torch.Tensor) -> None:
        y.unsqueeze_(1)
        x[:, :1] - y
        y.squeeze_(1)
        x[:, 0] - y

    look(turn)
    with pytest.raises(RuntimeError, match=r"\[4, 1\] and \[4\]"):
        look(lambda x, y: (y.unsqueeze_(1), y - x[:, 0]))


def test_what_is_compiled_is_left_alone() -> None:
    @torch.compile(backend="eager", fullgraph=True)
    def loss(out: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return ((out.squeeze(1) - y) ** 2).mean()

    network = torch.compile(nn.Linear(3, 1), backend="eager", fullgraph=True)
    torch._dynamo.utils.counters.clear()
    try:
        for _ in range(3):
            look(lambda x, y: loss(network(x), y).backward())
        assert LOOKOUT.gave_way
        assert torch._dynamo.utils.counters["stats"]["unique_graphs"] == 2
        LOOKOUT.gave_way = False
        with pytest.raises(RuntimeError, match="meets every other"):
            look(lambda x, y: network(x) - y)
    finally:
        LOOKOUT.gave_way = False


def test_a_network_that_is_called_on_the_way_back() -> None:
    """torch holds the modes in its hands then, and puts them where they were."""
    modes = torch.overrides._get_current_function_mode_stack
    network = nn.Linear(3, 1)

    def train(x: torch.Tensor, y: torch.Tensor) -> None:
        with torch.device("cpu"):
            before = modes()
            out = checkpoint(network, x, use_reentrant=False)
            (out.squeeze(1) - y).sum().backward()
            assert modes() == before
        assert modes() == [LOOKOUT]

    look(train)


def test_modes_of_the_script_stay() -> None:
    """Though they are entered before, and left while it looks, or the other way round."""
    modes = torch.overrides._get_current_function_mode_stack
    with torch.device("cpu"):
        (device,) = modes()
        step = LOOKOUT.begin()
        assert modes() == [LOOKOUT, device]
    assert modes() == [LOOKOUT]
    torch.set_default_device("cpu")
    assert modes()[1:] == [LOOKOUT]
    LOOKOUT.end(step)
    assert len(modes()) == 1
    step = LOOKOUT.begin()
    assert modes()[1:] == [LOOKOUT]
    torch.set_default_device(None)
    LOOKOUT.end(step)
    assert modes() == []
