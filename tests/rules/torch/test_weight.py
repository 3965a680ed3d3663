"""The weight of a slice's loss: k·N/n for a mean, N for a sum, a refusal for anything else."""

import pytest

from tests.rules.tools import (
    added_unless_refused,
    beyond,
    changed,
    must_refuse,
    network,
    noted,
    refused,
    script,
)
from trainera.plan import Options

SUM = "criterion = nn.MSELoss(reduction='sum')"
NONE = "criterion = nn.MSELoss(reduction='none')"
SHARE = "(loss * loader.share).backward()"
MOVED = "x, y = {}\nloss = criterion(model(x), y)"
PARTS = "(loss * loader.parts).backward()"


@pytest.mark.parametrize(
    "parts",
    [
        {},
        {"loss": "loss = F.mse_loss(model(x), y)"},
        {"loss": "loss = criterion(model(x), y) / 4"},
        {"loss": "loss = 1 - 0.5 * criterion(model(x), y)"},
        {"loss": "loss = -criterion(model(x), y)"},
        {"loss": "loss = criterion(model(x), y) + F.l1_loss(model(x), y)"},
        {"loss": "loss = torch.stack([criterion(model(x), y), F.l1_loss(model(x), y)]).mean()"},
        {"loss": "loss = sum([criterion(model(x), y), F.l1_loss(model(x), y)])"},
        {"loss": "loss = (model(x) - y).pow(2).mean()"},
        {"loss": "loss = ((model(x) - y) ** 2).sum(1).mean()"},
        {"loss": "loss = ((model(x) - y) ** 2).sum() / x.size(0)"},
        {"loss": "loss = ((model(x) - y) ** 2).sum() / len(x)"},
        {"loss": "loss = ((model(x) - y) ** 2).sum() / y.numel()"},
        {"criterion": SUM, "loss": "loss = criterion(model(x), y) / x.shape[0]"},
        {"criterion": NONE, "loss": "loss = criterion(model(x), y).mean()"},
        {"loss": "loss = criterion(model(x), y)\nif epoch:\n    loss = 2 * loss"},
        {"loss": "loss = criterion(model(x), y) if epoch else F.l1_loss(model(x), y)"},
        {"criterion": "def criterion(out, y):\n    return ((out - y) ** 2).mean()"},
        {"criterion": "criterion = nn.MSELoss() if data else nn.L1Loss()"},
        {"loss": MOVED.format("map(lambda part: part.to('cpu'), (x, y))")},
        {"loss": MOVED.format("list(map(lambda part: part.float().cpu(), [x, y]))")},
        {"loss": MOVED.format("map(torch.autograd.Variable, (x, y))")},
        {"loss": MOVED.format("(part.to('cpu') for part in (x, y))")},
    ],
)
def test_means(parts: dict[str, str]) -> None:
    assert SHARE in changed(script(**parts))
    assert beyond(**parts) == []


@pytest.mark.parametrize("each", ["part - part.mean()", "part.mean(0)", "part[:2].to('cpu')"])
def test_what_is_mapped_is_not_only_moved(each: str) -> None:
    loss = MOVED.format(f"map(lambda part: {each}, (x, y))")
    assert added_unless_refused(loss=loss) is None


@pytest.mark.parametrize(
    "parts",
    [
        {"criterion": SUM},
        {"criterion": SUM, "loss": "loss = criterion(model(x), y) / 8"},
        {"criterion": NONE, "loss": "loss = criterion(model(x), y).sum()"},
        {"loss": "loss = F.mse_loss(model(x), y, reduction='sum')"},
        {"loss": "loss = criterion(model(x), y) * x.size(0)"},
        {"loss": "loss = ((model(x) - y) ** 2).sum() / len(data)"},
        {"loss": "loss = ((model(x) - y) ** 2).mean(1).sum()"},
    ],
)
def test_sums(parts: dict[str, str]) -> None:
    assert beyond(**parts) == [PARTS]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("loss.backward(retain_graph=True)", "(loss * loader.share).backward(retain_graph=True)"),
        ("(2 * loss).backward()", "(2 * loss * loader.share).backward()"),
        ("(loss + loss).backward()", "((loss + loss) * loader.share).backward()"),
        ("loss.mean().backward()", "(loss.mean() * loader.share).backward()"),
        ("(-loss).backward()", "(-loss * loader.share).backward()"),
        (
            "torch.amp.GradScaler('cpu').scale(loss).backward()",
            "torch.amp.GradScaler('cpu').scale(loss * loader.share).backward()",
        ),
        (
            "torch.amp.GradScaler('cpu').scale(loss / 2).backward()",
            "torch.amp.GradScaler('cpu').scale(loss / 2 * loader.share).backward()",
        ),
    ],
)
def test_what_is_weighed(before: str, after: str) -> None:
    assert beyond(backward=before) == [after]


def test_two_branches() -> None:
    added = beyond(backward="if epoch:\n    loss.backward()\nelse:\n    (2 * loss).backward()")
    assert added == ["(2 * loss * loader.share).backward()"]


def test_a_loader_that_has_no_name_where_it_is_needed() -> None:
    added = beyond(
        before="def step(loss):\n    loss.backward()\n    optimizer.step()", backward="step(loss)"
    )
    assert added == ["(loss * crew.current().share).backward()"]


def test_a_count_of_its_own_is_the_whole_batchs() -> None:
    added = beyond(loss="m = y > 0\nloss = ((model(x) - y) ** 2 * m).sum() / m.sum()")
    assert added == ["loss = ((model(x) - y) ** 2 * m).sum() / loader.sum(m.sum())", PARTS]


@pytest.mark.parametrize(
    "step",
    [
        "print('loss.backward()')  # loss.backward()",
        "class Tape:\n    def backwards(self):\n        pass\nTape().backwards()",
        "optimizer.zero_grad()",
    ],
)
def test_lookalikes_are_left_alone(step: str) -> None:
    assert beyond(step=step) == []


RAGGED = "m = y[:, 0] > 0\nout = model(x)\n"


@pytest.mark.parametrize(
    "loss",
    [
        "loss = F.mse_loss(out[m], y[m])",
        "loss = (out[m] - y[m]).pow(2).mean()",
        # Divided by the number of rows that this worker's slice has, not the batch.
        "loss = ((out - y) ** 2)[m].sum() / len(y[m])",
        "loss = ((out - y) ** 2)[m].sum() / out[m].shape[0]",
        "loss = ((out - y) ** 2)[m].sum() / y[m].size(0)",
        "loss = F.mse_loss(out[m], y[m], reduction='sum') / out[m].shape[0]",
        "n = len(y[m])\nloss = ((out - y) ** 2)[m].sum() / max(n, 1)",
        "loss = F.mse_loss(out[m], y[m]) * len(y[m]) / 8",
    ],
)
def test_rows_picked_by_a_condition(loss: str) -> None:
    """Refused, or divided by the whole batch's count."""
    lines = added_unless_refused(loss=RAGGED + loss)
    good = ("loader.sum(", "loader.gather_picked(")
    assert lines is None or any(word in line for line in lines for word in good), lines


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("criterion(model(x), y).sqrt()", "loader.mean(criterion(model(x), y)).sqrt()"),
        ("criterion(model(x), y) ** 2", "loader.mean(criterion(model(x), y)) ** 2"),
        ("torch.log(criterion(model(x), y))", "torch.log(loader.mean(criterion(model(x), y)))"),
        (
            "criterion(model(x), y) * y.mean()",
            "loader.mean(criterion(model(x), y)) * loader.mean(y.mean())",
        ),
        (
            "criterion(model(x), y) / F.l1_loss(model(x), y)",
            "loader.mean(criterion(model(x), y)) / loader.mean(F.l1_loss(model(x), y))",
        ),
        (
            "criterion(model(x), y).clamp(max=1)",
            "loader.mean(criterion(model(x), y)).clamp(max=1)",
        ),
        ("(model(x) - y).norm()", "loader.gather(model(x) - y).norm()"),
        ("(model(x) - y).abs().max()", "loader.gather((model(x) - y).abs()).max()"),
        ("(model(x) - y).std()", "loader.gather(model(x) - y).std()"),
        (
            "(model(x) - y).abs().topk(2, 0)[0].mean()",
            "loader.gather((model(x) - y).abs()).topk(2, 0)[0].mean()",
        ),
        (
            "(model(x) - y).abs().sort(0)[0][:4].mean()",
            "loader.gather((model(x) - y).abs()).sort(0)[0][:4].mean()",
        ),
        ("(model(x) - y).median()", "loader.gather(model(x) - y).median()"),
        (
            "(model(x) @ model(x).t()).mean()",
            "(loader.gather(model(x)) @ loader.gather(model(x)).t()).mean()",
        ),
    ],
)
def test_losses_of_the_whole_batch(before: str, after: str) -> None:
    """Every worker computes them; gradients flow back through what was made whole."""
    lines = changed(script(loss=f"loss = {before}"))
    assert f"loss = {after}" in lines
    assert not any("backward" in line for line in lines)  # it counts as it is


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("x = x - x.mean(0)", "x = x - loader.mean(x.mean(0))"),
        ("x = x / x.max()", "x = x / loader.gather(x).max()"),
        (
            "x = (x - x.mean()) / x.std()",
            "x = (x - loader.mean(x.mean())) / loader.gather(x).std()",
        ),
        (
            "x = x[x[:, 0] < x.mean()] * 0 + x",
            "x = loader.mine(loader.gather_picked(x[x[:, 0] < loader.mean(x.mean())] * 0)"
            " + loader.gather(x))",
        ),
        ("x = x * (x < x.mean())", "x = x * (x < loader.mean(x.mean()))"),
    ],
)
def test_rows_with_a_figure_of_the_whole_batch(before: str, after: str) -> None:
    """Only the figure is made whole: the rows stay with their workers."""
    assert beyond(loss=f"{before}\nloss = criterion(model(x), y)") == [after]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("k = int(0.5 * len(x))", "k = int(loader.sum(0.5 * len(x)))"),
        ("k = int((y > 0).sum() / 2)", "k = int(loader.sum((y > 0).sum() / 2))"),
        ("k = ((y > 0).sum() * 0.5).long()", "k = loader.sum((y > 0).sum() * 0.5).long()"),
        ("k = int((y > 0).sum())", None),
    ],
)
def test_numbers_are_cut_off_once(before: str, after: str | None) -> None:
    """The sum of what is left of each slice's number would be less."""
    loss = "loss = ((model(x) - y) ** 2).flatten().topk(int(k))[0].mean()"
    lines = added_unless_refused(loss=f"{before}\n{loss}")
    whole = "loss = loader.gather(((model(x) - y) ** 2).flatten()).topk(int(k))[0].mean()"
    if after is None:  # a count is a whole number in every slice
        assert lines == [whole.replace("int(k)", "int(loader.sum(k))")]
    else:
        assert lines == [after, whole]


def test_a_loss_with_its_sign_turned() -> None:
    assert beyond(loss="loss = -torch.exp(-criterion(model(x), y))") == [
        "loss = -torch.exp(loader.mean(-criterion(model(x), y)))"
    ]


def test_one_loss_for_training_and_for_evaluation() -> None:
    lines = changed(
        script(
            setup="def rmse(a, b):\n    return torch.sqrt(F.mse_loss(a, b))",
            loss="loss = rmse(model(x), y)",
            end="for x, y in DataLoader(data, batch_size=4):\n    print(rmse(model(x), y).item())",
        )
    )
    assert "return torch.sqrt(crew.current().mean(F.mse_loss(a, b)))" in lines


def test_gradients_by_hand() -> None:
    loss = "loss = criterion(model(x), y)\n"
    rows = refused(
        loss=f"{loss}g = torch.autograd.grad(loss, list(model.parameters()), create_graph=True)\n"
        "loss = loss + sum(one.pow(2).sum() for one in g)"
    )
    assert [row[2] for row in rows] == ["gradients are computed by torch.autograd.grad"]


def test_columns_of_the_whole_batch_are_rows() -> None:
    """Of a product of the batch with itself both dimensions are; a slice fits neither."""
    loss = "z = model(x)\ns = (z @ z.t()).sum(0)\nloss = (s * y.squeeze(1)).mean()"
    assert beyond(loss=loss) == [
        "all_z = loader.gather(z)",
        "s = (all_z @ all_z.t()).sum(0)",
        "loss = (s * loader.gather(y.squeeze(1))).mean()",
    ]


def test_samples_recombined() -> None:
    """Partners from anywhere in the batch, and each worker goes on with its own samples."""
    loss = "mixed = 0.7 * x + 0.3 * x.roll(1, 0)\nloss = criterion(model(mixed), y.flip(0))"
    assert beyond(loss=loss) == [
        "mixed = loader.gather(0.7 * x) + 0.3 * loader.gather(x).roll(1, 0)",
        "loss = criterion(loader.gather(model(loader.mine(mixed))), loader.gather(y).flip(0))",
    ]


def test_two_views_in_one_batch() -> None:
    views = "z = model(torch.cat([x, 2 * x]))\n"
    halves = "a, b = z.chunk(2)\nloss = criterion(a, y) + criterion(b, y)"
    assert beyond(loss=f"{views}{halves}") == []
    assert beyond(loss=f"{views}loss = criterion(z, torch.cat([y, y]))") == []
    assert beyond(loss=f"{views}loss = (z @ z.t()).mean()") == [
        "all_z = loader.gather(z, parts=2)",
        "loss = (all_z @ all_z.t()).mean()",
    ]


def test_a_row_of_a_table_for_each_sample() -> None:
    rare = "table = torch.ones(3)"
    loss = "loss = (table[y.long().squeeze(1)] * model(x).squeeze(1)).mean()"
    assert beyond(setup=rare, loss=loss) == []
    assert beyond(setup=rare, loss="table[y.long()] += 1\nloss = criterion(model(x), y)") == [
        "table[loader.gather(y.long())] += 1"
    ]


def test_gradients_with_respect_to_samples() -> None:
    start = "x.requires_grad_(True)\nout = model(x)\n"
    again = "loss = criterion(model(x + g), y)"
    mean = f"{start}g = torch.autograd.grad(criterion(out, y), x)[0]\n{again}"
    assert beyond(loss=mean) == [
        "g = torch.autograd.grad(criterion(out, y) * loader.own_fraction, x)[0]"
    ]
    penalty = "loss = criterion(out, y) + (g.norm(dim=1) - 1).pow(2).mean()"
    for call in (
        "(g,) = torch.autograd.grad(out.sum(), [x], create_graph=True)",
        "g = torch.autograd.grad(out, x, torch.ones_like(out), create_graph=True)[0]",
    ):
        assert beyond(loss=f"{start}{call}\n{penalty}") == []


def test_gradients_of_means_and_of_sums_by_one_function() -> None:
    """Means have to be weighed, sums not: the function's one line cannot be both."""
    rows = refused(
        setup="def slope(value, x):\n    return torch.autograd.grad(value, x)[0]",
        loss="x.requires_grad_(True)\nout = model(x)\nmean = slope(criterion(out, y), x)\n"
        "total = slope(model(x).sum(), x)\nloss = criterion(model(x + mean + total), y)",
    )
    assert rows[0][0] == "by-weight"


def test_a_function_of_masks_and_of_numbers() -> None:
    rows = refused(
        setup="def pick(rows, which):\n    return rows[which]",
        loss="out, first = model(x), y[:, 0]\n"
        "loss = pick(out, first > 0).sum() + pick(out, first.long()).sum()",
    )
    assert rows[0][2] == "this code is given shares of a batch and whole values"


def test_every_pair_by_cosine_similarity() -> None:
    loss = "z = model(x)\ns = F.cosine_similarity(z[:, None], z.unsqueeze(0), dim=2)\n"
    assert beyond(loss=f"{loss}loss = torch.logsumexp(s, 1).mean()") == [
        "s = F.cosine_similarity(loader.gather(z[:, None]), loader.gather(z).unsqueeze(0), dim=2)"
    ]


def test_every_pair_of_labels() -> None:
    same = "same = torch.eq(y.view(-1, 1), y.view(1, -1)).float()\n"
    assert beyond(loss=f"z = model(x)\n{same}loss = ((z @ z.T) * same).mean()") == [
        "same = torch.eq(loader.gather(y.view(-1, 1)), loader.gather(y).view(1, -1)).float()",
        "all_z = loader.gather(z)",
        "loss = ((all_z @ all_z.T) * same).mean()",
    ]


def test_rows_of_the_whole_batch_in_a_slice() -> None:
    written = "z = x.clone()\nz[:, :1] = x.roll(1, 0)[:, :1]\n"
    rows = refused(loss=f"{written}loss = criterion(model(z), y)")
    assert rows[0][2] == "rows of the whole batch are written into a worker's slice"


WITHOUT_WRAPPER = [
    "model = crew.average_after_backward(nn.Linear(3, 1))",
    "optimizer = crew.average_after_backward(torch.optim.SGD(model.parameters(), lr=0.1))",
]
FIXED = "noise = torch.randn(8, 3)\nfake = model(noise)\n"


def test_noise_of_a_fixed_size() -> None:
    """Every worker computes all that comes of it, so that it counts as it is."""
    assert beyond(loss=FIXED + "loss = criterion(model(x), y) + fake.mean()") == []
    assert beyond(backward="loss.backward()\n" + FIXED + "fake.mean().backward()") == []
    assert noted(backward="loss.backward()\n" + FIXED + "fake.mean().backward()") == [
        "this loss is computed by every worker, all of it"
    ]
    dropout = "model = nn.Sequential(nn.Linear(3, 1), nn.Dropout(0.5))"
    assert len(beyond(model=dropout, step=FIXED + "torch.save(fake, 'f.pt')")) == 2  # only shown
    numpy = FIXED.replace("torch.randn(8, 3)", "torch.Tensor(np.random.normal(0, 1, (8, 3)))")
    both = "loss = criterion(model(x), y) + fake.mean()"
    assert beyond(imports="import numpy as np", loss=numpy + both) == []


@pytest.mark.parametrize(
    ("parts", "words"),
    [
        ({"loss": FIXED + "loss = fake.mean()"}, "nothing would be shared out"),
        (
            {
                "model": "model = nn.Sequential(nn.Linear(3, 1), nn.Dropout(0.5))",
                "backward": "loss.backward()\n" + FIXED + "fake.mean().backward()",
            },
            "each worker would drop other values",
        ),
        # what cannot be seen may be a batch
        ({"imports": "import feed", "loss": "loss = model(feed.get()).mean()"}, ""),
        ({"before": "rows = iter(list(loader))", "loss": "loss = model(next(rows)[0]).mean()"}, ""),
    ],
)
def test_what_is_computed_by_everyone_and_refused(parts: dict[str, str], words: str) -> None:
    assert words in " ".join(row[3] for row in refused(**parts))


def test_another_number_of_rows_for_the_network() -> None:
    """Each worker's own rows are cut out only where there is one for each sample."""
    must_refuse(loss="loss = model(torch.cat([x, x.roll(1, 0)])).mean()")
    must_refuse(loss="i = model(x)[:, 0].topk(4)[1]\nloss = model(x[i]).mean()")


def test_gradients_that_backward_left_at_samples() -> None:
    start = "x.requires_grad_(True)\ncriterion(model(x), y).backward()\n"
    rows = refused(loss=f"{start}loss = criterion(model(x + x.grad), y)")
    assert rows[0][2] == "the gradient with respect to the batch itself is read from .grad"


def test_dropout_of_the_whole_batch() -> None:
    rows = refused(
        setup="head = nn.Sequential(nn.Dropout(0.5), nn.Linear(1, 1))",
        loss="z = torch.sort(model(x), 0)[0]\nloss = head(z).mean()",
    )
    assert "there may be dropout" in rows[0][2]


def test_rows_in_another_order() -> None:
    assert beyond(loss="i = torch.randperm(len(y)).cpu()\nloss = criterion(model(x), y[i])") == [
        "i = torch.randperm(loader.sum(len(y))).cpu()",
        "loss = criterion(model(x), loader.mine(loader.gather(y)[i]))",
    ]


def test_a_loss_that_nobody_knows() -> None:
    assert beyond(imports="from elsewhere import criterion", criterion="") == [
        "loss = criterion(loader.gather(model(x)), loader.gather(y))"
    ]


@pytest.mark.parametrize(
    "parts",
    [
        {"loss": "loss = criterion(model(x), y.mean(0))"},
        {"loss": "loss = criterion(model(x), y.mean())"},
        {"imports": "import sys", "criterion": "criterion = nn.MSELoss(reduction=sys.argv[1])"},
        {"imports": "import json", "criterion": "criterion = nn.MSELoss(**json.load(open('c')))"},
        {"criterion": "criterion = nn.MSELoss()\ncriterion.reduction = 'sum'"},
        {"criterion": "criterion = nn.CTCLoss()"},
        {"backward": "torch.autograd.backward(loss)"},
    ],
)
def test_losses_that_are_neither(parts: dict[str, str]) -> None:
    must_refuse(**parts)


def test_a_dimension_that_may_be_the_batch() -> None:
    """After squeeze(-1) the last dimension is the batch, perhaps: then it sums over samples."""
    assert beyond(loss="loss = ((model(x).squeeze(-1) - y.squeeze(-1)) ** 2).sum(-1).mean()") == [
        "loss = loader.gather((model(x).squeeze(-1) - y.squeeze(-1)) ** 2).sum(-1).mean()"
    ]


@pytest.mark.parametrize(
    "loss",
    [
        "scale = torch.rand(1)\nloss = criterion(model(x), y) * scale",
        "x = x + torch.randn(3)\nloss = criterion(model(x), y)",
        "weight = torch.randint(0, 2, (1,)).item()\nloss = weight * criterion(model(x), y)",
    ],
)
def test_random_numbers_of_the_whole_batch(loss: str) -> None:
    """One draw for all samples: all draw the same, or use the first worker's."""
    assert beyond(loss=loss) == []
    lines = beyond(Options(random="own"), loss=loss)
    assert any("crew.agree(" in line for line in lines), "every worker draws its own"


@pytest.mark.parametrize(
    ("parts", "what", "why"),
    [
        (
            {"criterion": NONE},
            "the loss is not reduced",
            "its weight in the batch is not known",
        ),
        (
            {"loss": "other = nn.Linear(3, 1)\nloss = criterion(other(x), y)"},
            "no network that an optimizer trains takes part in this loss",
            "there is nothing whose gradients could be averaged",
        ),
    ],
)
def test_refusals(parts: dict[str, str], what: str, why: str) -> None:
    assert refused(**parts) == [("weight", "loss.backward()", what, why)]


def test_two_steps_in_one() -> None:
    backward = "loss.backward(retain_graph=True)\n(2 * loss).backward()"
    assert beyond(backward=backward) == [
        *WITHOUT_WRAPPER,
        "(loss * loader.share).backward(retain_graph=True)",
        "(2 * loss * loader.share).backward()",
    ]


@pytest.mark.parametrize(
    ("loss", "backward"),
    [
        (
            "first, second = model(x), model(2 * x)",
            "first.mean().backward()\nsecond.mean().backward()",
        ),
        ("out = model(x)", "out.mean().backward(retain_graph=True)\n(out ** 2).mean().backward()"),
    ],
)
def test_gradients_of_an_older_call(loss: str, backward: str) -> None:
    """A wrapper would leave them as each worker has them, without a word."""
    added = beyond(loss=loss, backward=backward)
    assert added[:2] == WITHOUT_WRAPPER
    (note,) = noted(loss=loss, backward=backward)
    assert note.startswith("a second backward() since the network was called")


@pytest.mark.parametrize(
    "backward",
    [
        "loss.backward()\nmodel(x).mean().backward()",
        "if epoch:\n    loss.backward()\nelse:\n    (2 * loss).backward()",
        "extra = model(x).detach().mean()\nloss.backward()",
    ],
)
def test_several_steps_of_calls_of_their_own(backward: str) -> None:
    assert all("share).backward()" in line for line in beyond(backward=backward))


def test_outside_of_any_loop() -> None:
    rows = refused(after="loss = model(torch.randn(2, 3)).mean()\nloss.backward()")
    assert rows[0][2] == "gradients are computed outside of any loop over a DataLoader"


def test_a_loss_made_by_the_network_itself() -> None:
    model = (
        network()
        .replace("(self, x)", "(self, x, y)")
        .replace("return self.fc(x)", "return F.mse_loss(self.fc(x), y)")
    )
    added = beyond(model=model, loss="loss = model(x, y)")
    assert added == ["model = DistributedDataParallel(Net(), broadcast_buffers=False)"]


@pytest.mark.parametrize(
    ("criterion", "weight"),
    [
        ("nn.MSELoss(size_average=False)", "parts"),
        ("nn.MSELoss(size_average=True)", "share"),
        ("nn.MSELoss(reduce=True)", "share"),
        ("nn.MSELoss() if len(data) else nn.L1Loss()", "share"),
    ],
)
def test_other_ways_to_say_how_a_loss_reduces(criterion: str, weight: str) -> None:
    added = changed(script(criterion=f"criterion = {criterion}"))
    assert f"(loss * loader.{weight}).backward()" in added


def test_losses_that_reduce_in_different_ways_are_refused() -> None:
    criterion = "criterion = nn.MSELoss() if len(data) else nn.MSELoss(reduction='sum')"
    assert [row[0] for row in refused(criterion=criterion)] == ["weight"]


def test_one_of_several_losses_that_is_given_the_batch_second() -> None:
    """Of these, one takes the second dimension for the classes, and the batch is there."""
    criterion = "criterion = nn.CrossEntropyLoss() if len(data) else nn.MSELoss()"
    must_refuse(criterion=criterion, loss="loss = criterion(model(x).view(len(x), 1).t(), y.t())")
