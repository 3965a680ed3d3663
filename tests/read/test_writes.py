"""Rows of a batch that are written to: all of them, by a mask, or not at all."""

import pytest

from tests.rules.tools import beyond, refused

IMPORTS = "import random\nimport numpy as np"
LOSS = "\nloss = criterion(model(x), y)"


@pytest.mark.parametrize(
    "write",
    [
        "x[0] = 0",
        "x[-1] = x[-1] * 0",
        "x[::2] = 0",
        "y[:2] = 0",
        "x[0, 1] += 1",
        "for i in range(len(x)):\n    x[i] = x[i] / x[i].norm()",
        "for i, value in enumerate(y):\n    if value > 0:\n        x[i] += 1",
        "for row in x:\n    row.mul_(2)",
        "for row, value in zip(x, y):\n    row[0] += 1",
    ],
)
def test_rows_by_number(write: str) -> None:
    """Each worker would change the rows of that number in its slice, or copies of them."""
    refused(imports=IMPORTS, loss=f"x, y = x.clone(), y.clone()\n{write}{LOSS}")


@pytest.mark.parametrize("write", ["x[:] = 0", "x[:, 0] = 0", "x[..., 0] = 1", "x[x > 1] = 1"])
def test_all_rows_or_those_of_a_mask(write: str) -> None:
    assert beyond(loss=f"x = x.clone()\n{write}{LOSS}") == []


def test_a_mask_that_is_drawn() -> None:
    added = beyond(imports=IMPORTS, loss=f"x[np.random.rand(len(x)) < 0.1] = 0{LOSS}")
    assert added == ["x[loader.mine(np.random.rand(loader.sum(len(x)))) < 0.1] = 0"]
    added = beyond(imports=IMPORTS, loss=f"x[np.random.rand(*x.shape) < 0.1] = 0{LOSS}")
    assert added == ["x[loader.mine(np.random.rand(*loader.gather(x).shape)) < 0.1] = 0"]


def test_a_cycle_of_batches() -> None:
    refused(
        imports="from itertools import cycle",
        setup="other = DataLoader(data, batch_size=4)",
        before="pairs = cycle(other)",
        loss="a, b = next(pairs)\nloss = criterion(model(a), b)",
    )
