"""Random numbers in the loop over batches: those of rows are shared out, others agreed upon."""

import pytest

from tests.rules.tools import beyond, converted, refused, script
from trainera.plan import Options

OWN = Options(random="own")
ASKED = "crew.own_random_numbers()"
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
        "torch.randn(x.shape)",
        "torch.randn(x.size())",
        "torch.empty(x.shape).uniform_(0, 1)",
        "torch.distributions.Normal(0, 1).sample((len(x), 3))",
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


def test_a_generator_of_the_script_draws_them_alike() -> None:
    draw = "torch.from_numpy(loader.mine(rng.normal(size=(loader.sum(len(x)), 3))))"
    before = draw.replace("loader.mine(", "").replace("loader.sum(len(x))", "len(x)")[:-1]
    added = beyond(
        imports=IMPORTS,
        setup="rng = np.random.default_rng(0)",
        loss=f"z = {before}\nloss = criterion(model(z), y)",
    )
    assert added == [f"z = {draw}"]


@pytest.mark.parametrize(
    ("setup", "rows"),
    [
        ("noise = torch.randn(8, 3)", "noise[: len(x)]"),
        ("noise = torch.randn(8, 3)", "noise[: x.shape[0], :]"),
        ("pool = list(range(9))", "torch.tensor(random.sample(pool, len(x)))[:, None]"),
        ("from somewhere import make", "make(len(x))"),
    ],
)
def test_as_many_rows_as_the_whole_batch_has(setup: str, rows: str) -> None:
    """They fit no slice: they meet the whole batch, of which each worker takes its samples."""
    added = beyond(imports=IMPORTS, setup=setup, loss=f"loss = criterion(model(x * {rows}), y)")
    count = "x.shape[0]" if "shape" in rows else "len(x)"
    whole = rows.replace(count, f"loader.sum({count})")
    assert added == [f"loss = criterion(model(loader.mine(loader.gather(x) * {whole})), y)"]


def test_a_generator_of_torch_draws_alike() -> None:
    """It is in the same state on all workers: rows are drawn for the whole batch."""
    draw = "torch.randn({}.shape, generator=g)"
    setup = "g = torch.Generator().manual_seed(0)"
    assert beyond(setup=setup, loss=f"loss = criterion(model(x + {draw.format('x')}), y)") == [
        f"loss = criterion(model(x + loader.mine({draw.format('loader.gather(x)')})), y)"
    ]


def test_a_generator_of_torch_that_fills_a_slice() -> None:
    refused(
        setup="g = torch.Generator().manual_seed(0)",
        loss="n = torch.empty_like(x).normal_(generator=g)\nloss = criterion(model(x + n), y)",
    )


@pytest.mark.parametrize("change", ["noise.resize_(len(x), 3).normal_()", "noise.copy_(x)"])
def test_a_tensor_that_outlives_the_batch(change: str) -> None:
    loss = f"{change}\nloss = criterion(model(noise), y)"
    refused(setup="noise = torch.randn(8, 3)", loss=loss)


def test_noise_on_the_weights_is_the_same_on_all_workers() -> None:
    noise = "with torch.no_grad():\n    model.weight.add_(0.01 * torch.randn_like(model.weight))\n"
    loss = f"{noise}loss = criterion(model(x), y)"
    wanted = "model.module.weight.add_(0.01 * torch.randn_like(model.module.weight))"
    assert beyond(loss=loss) == [wanted]
    agreed = "model.module.weight.add_(0.01 * crew.agree(torch.randn_like(model.module.weight)))"
    assert beyond(OWN, loss=loss) == [ASKED, agreed]


@pytest.mark.parametrize(
    "change",
    [
        "model.weight.data.normal_()",
        "nn.init.normal_(model.weight)",
        "for p in model.parameters():\n    p.data.uniform_(-1, 1)",
    ],
)
def test_weights_that_are_drawn_anew_in_the_loop(change: str) -> None:
    refused(step=change)


def test_weights_that_are_dropped_out() -> None:
    network = """
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.a = nn.Linear(3, 1)

        def forward(self, x):
            return F.linear(x, F.dropout(self.a.weight, 0.5, self.training))
    """
    refused(setup=network, model="model = Net()")


@pytest.mark.parametrize(
    ("setup", "draw"),
    [
        ("", "torch.empty(1).uniform_(0.5, 1.5)"),
        ("", "torch.zeros(1).normal_()"),
        ("beta = torch.distributions.Beta(2.0, 2.0)", "beta.sample()"),
        ("", "torch.distributions.Beta(2.0, 2.0).sample()"),
        ("", "F.dropout(torch.ones(3), 0.5)"),
        ("drop = nn.Dropout(0.5)", "drop(torch.ones(3))"),
    ],
)
def test_other_ways_to_draw_once_for_the_batch(setup: str, draw: str) -> None:
    loss = f"s = {draw}\nloss = criterion(model(x * s), y)"
    assert beyond(setup=setup, loss=loss) == []
    assert beyond(OWN, setup=setup, loss=loss) == [ASKED, f"s = crew.agree({draw})"]


def test_noise_on_every_parameter() -> None:
    step = "with torch.no_grad():\n    for p in model.parameters():\n        p.add_({})"
    draw = "torch.randn_like(p)"
    assert beyond(step=step.format(draw)) == []
    assert beyond(OWN, step=step.format(draw)) == [ASKED, f"p.add_(crew.agree({draw}))"]


def test_numbers_made_of_the_number_of_samples() -> None:
    loss = "scale = math.sqrt(len(x)) / 3\nloss = criterion(model(x), y) * scale"
    assert beyond(imports="import math", loss=loss) == ["scale = math.sqrt(loader.sum(len(x))) / 3"]


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
    """Drawn by each worker on its own, the factor would be another one for each slice."""
    loss = "loss = torch.rand(1) * criterion(model(x), y)"
    assert beyond(loss=loss) == []
    agreed = "loss = crew.agree(torch.rand(1)) * criterion(model(x), y)"
    assert beyond(OWN, loss=loss) == [ASKED, agreed]


@pytest.mark.parametrize("draw", ["random.random()", "np.random.beta(1.0, 1.0)"])
def test_one_number_that_is_the_same_on_all_workers(draw: str) -> None:
    assert beyond(imports=IMPORTS, loss=f"loss = {draw} * criterion(model(x), y)") == []


def test_a_choice_inside_of_the_network() -> None:
    """It is one decision for the whole batch."""
    network = """
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.a, self.b = nn.Linear(3, 3), nn.Linear(3, 1)

        def forward(self, x):
            if torch.rand(1).item() < 0.5:
                x = self.a(x)
            return self.b(x)
    """
    wrapped = (
        "model = DistributedDataParallel(Net(), broadcast_buffers=False, "
        "find_unused_parameters=True)"
    )
    parts = {"imports": IMPORTS, "setup": network, "model": "model = Net()"}
    assert beyond(**parts) == [wrapped]
    agreed = "if crew.agree(torch.rand(1)).item() < 0.5:"
    assert beyond(OWN, **parts) == [ASKED, agreed, wrapped]
    scripted = network.replace(
        "    def forward", "    @torch.jit.script_method\n        def forward"
    )
    refused(imports=IMPORTS, setup=scripted, model="model = Net()")
    refused(
        imports=IMPORTS, setup=network.replace("torch.rand(1)", "x[0, 0]"), model="model = Net()"
    )


def test_before_the_loop_all_draw_the_same() -> None:
    assert beyond(imports=IMPORTS, start="if random.random() < 0.5:\n    print('half')") == []
    assert beyond(imports=IMPORTS, before="scale = np.random.rand()") == []


HELPERS = """
def noise(n, width=3):
    return torch.randn(n, width)

def targets(n):
    return torch.full((n, 1), 0.9), torch.zeros(n, 1)

class Meter:
    def __init__(self):
        self.n = 0

    def update(self, n):
        self.n += n
        return torch.zeros(3)

meter = Meter()
"""


def test_helpers_that_make_rows() -> None:
    """They are told how many samples a slice has, where one that counts is told of all."""
    loss = "n = len(x)\nones, _ = targets(n)\nloss = criterion(model(noise(n) + x), ones)"
    assert beyond(setup=HELPERS, loss=loss) == []
    assert beyond(setup=HELPERS, step="meter.update(len(x))") == [
        "meter.update(loader.sum(len(x)))"
    ]


def test_a_helper_that_makes_rows_and_something_for_the_batch() -> None:
    both = "loss = criterion(model(noise(len(x)) + x), y) + noise(1, 1).sum()"
    beyond(setup=HELPERS, loss=both)
    plan, _ = converted(script(setup=HELPERS, loss=both), OWN)
    (refusal,) = plan.refusals
    assert refusal.rule == "agree"


def test_each_worker_draws_its_own_if_asked_for() -> None:
    assert beyond(OWN) == [ASKED]
    plan, _ = converted(script(), OWN)
    (note,) = [note for note in plan.notes if note.rule == "random"]
    assert note.what == "dropout and noise are not those of the sequential run"


def test_all_workers_take_part_where_an_evaluation_draws() -> None:
    """One that skipped a batch without a sample would go on with other numbers."""
    evaluation = """
    model.eval()
    test, correct = DataLoader(data, batch_size=8), 0
    with torch.no_grad():
        for x, y in test:
            correct += (model({}) > y).sum().item()
    print(correct)
    """
    quiet = beyond(after=evaluation.format("x"))
    assert any("skip_empty=True" in line for line in quiet)
    noisy = beyond(after=evaluation.format("x + torch.randn_like(x)"))
    assert not any("skip_empty=True" in line for line in noisy)
