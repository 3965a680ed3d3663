"""Figures that stand side by side travel in one exchange."""

import pytest

from tests.rules.tools import beyond

HITS = "hits = (model(x) > y).sum().item()\n"


@pytest.mark.parametrize(
    ("step", "line"),
    [
        (
            "print(epoch, loss.item(), y.mean().item())",
            "print(epoch, *loader.mean(loss.item(), y.mean().item()))",
        ),
        (
            "print(loss.item(), len(x), epoch, (loss.item() + 1), sep=' ')",
            "print(*loader.combine((loss.item(), len(x)), ('mean', 'sum')), epoch, "
            "loader.mean(loss.item() + 1), sep=' ')",
        ),
        (
            "print('%f %f' % ((loss.item()), (loss.item() + 1)))",
            "print('%f %f' % (loader.mean((loss.item()), (loss.item() + 1))))",
        ),
        (
            "print('%d %f %f' % (epoch, loss.item(), loss.item() + 1,))",
            "print('%d %f %f' % (epoch, *loader.mean(loss.item(), loss.item() + 1),))",
        ),
        (
            "print([loss.item(), len(x)])",
            "print([*loader.combine((loss.item(), len(x)), ('mean', 'sum'))])",
        ),
        (
            "print(f'{max(loss.item(), y.mean().item())}')",
            "print(f'{max(*loader.mean(loss.item(), y.mean().item()))}')",
        ),
        (  # quotes within quotes
            "print(f'{max(loss.item(), len(x))}')",
            "print(f'{max(loader.mean(loss.item()), loader.sum(len(x)))}')",
        ),
        (  # a tuple that ends in a comma
            "print((loss.item(), y.mean().item(),))",
            "print((loader.mean(loss.item()), loader.mean(y.mean().item()),))",
        ),
        (
            "print(loss.item(), *(1, 2), len(x))",
            "print(loader.mean(loss.item()), *(1, 2), loader.sum(len(x)))",
        ),
        (
            "print(loss.item(), x)",
            "print(loader.mean(loss.item()), loader.gather(x))",
        ),
    ],
)
def test_neighbours(step: str, line: str) -> None:
    assert beyond(step=step) == [line]


def test_several_lines_keep_their_comments() -> None:
    step = "print(\n    epoch,\n    loss.item(),  # of the batch\n    len(x),\n)"
    assert beyond(step=step) == [
        "*loader.combine((loss.item(),  # of the batch",
        "len(x)), ('mean', 'sum')),",
    ]
