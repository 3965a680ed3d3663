"""Random numbers in the loop over batches: those of rows are shared out, others agreed upon."""

import pytest

from tests.rules.tools import beyond, refused

IMPORTS = "import random\nimport numpy as np"


@pytest.mark.parametrize(
    "noise",
    [
        "torch.randn(len(x), 3)",
        "torch.randn((x.size(0), 3))",
        "torch.randn(size=(x.shape[0], 3))",
        "torch.normal(0.0, 1.0, (len(x), 3))",
        "torch.randint(0, 9, (len(x), 3)).float()",
        "torch.empty(len(x), 3).normal_()",
        "torch.FloatTensor(len(x), 3).fill_(1.0)",
        "torch.autograd.Variable(torch.FloatTensor(len(x), 3).uniform_(0, 1))",
    ],
)
def test_a_row_a_sample(noise: str) -> None:
    """Each worker makes the rows of its samples: nothing has to change."""
    assert beyond(imports=IMPORTS, loss=f"z = {noise}\nloss = criterion(model(z), y)") == []


def test_a_type_that_depends_on_the_machine() -> None:
    kind = "Tensor = torch.cuda.FloatTensor if torch.cuda.is_available() else torch.FloatTensor"
    assert beyond(setup=kind, loss="loss = criterion(model(x), Tensor(len(x), 1).fill_(1.0))") == []


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            "torch.Tensor(np.random.normal(0, 1, (x.shape[0], 3)))",
            "torch.Tensor(loader.mine(np.random.normal(0, 1, (loader.sum(x.shape[0]), 3))))",
        ),
        (
            "torch.Tensor(np.random.uniform(-1, 1, size=(len(x), 3)))",
            "torch.Tensor(loader.mine(np.random.uniform(-1, 1, size=(loader.sum(len(x)), 3))))",
        ),
        (
            "torch.from_numpy(np.random.randn(len(x), 3)).float()",
            "torch.from_numpy(loader.mine(np.random.randn(loader.sum(len(x)), 3))).float()",
        ),
    ],
)
def test_numpy_draws_the_rows_of_the_whole_batch(before: str, after: str) -> None:
    """All workers draw the same numbers, so each has to take its own out of those of all."""
    loss = "loss = criterion(model(z), y)"
    assert beyond(imports=IMPORTS, loss=f"z = {before}\n{loss}") == [f"z = {after}"]


def test_numpy_rows_inside_of_the_network() -> None:
    draw = "torch.Tensor(np.random.normal(0, 1, x.shape[0]))[:, None]"
    network = f"""
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.a = nn.Linear(3, 1)

        def forward(self, x):
            return self.a(x + {draw})
    """
    refused(imports=IMPORTS, setup=network, model="model = Net()")


def test_one_number_of_torch_for_the_batch() -> None:
    """Drawn by each worker, the factor would be another one for each slice."""
    added = beyond(loss="loss = torch.rand(1) * criterion(model(x), y)")
    assert added == ["loss = crew.agree(torch.rand(1)) * criterion(model(x), y)"]


@pytest.mark.parametrize("draw", ["random.random()", "np.random.beta(1.0, 1.0)"])
def test_one_number_that_is_the_same_on_all_workers(draw: str) -> None:
    assert beyond(imports=IMPORTS, loss=f"loss = {draw} * criterion(model(x), y)") == []


def test_a_choice_inside_of_the_network() -> None:
    """Each worker would take another path through it, for what was one decision."""
    draw = "torch.rand(1).item()"
    network = f"""
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.a, self.b = nn.Linear(3, 3), nn.Linear(3, 1)

        def forward(self, x):
            if {draw} < 0.5:
                x = self.a(x)
            return self.b(x)
    """
    refused(imports=IMPORTS, setup=network, model="model = Net()")


def test_before_the_loop_all_draw_the_same() -> None:
    assert beyond(imports=IMPORTS, start="if random.random() < 0.5:\n    print('half')") == []
    assert beyond(imports=IMPORTS, before="scale = np.random.rand()") == []
