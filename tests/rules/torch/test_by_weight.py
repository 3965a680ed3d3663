"""Losses whose mean is over class weights or over the targets that are not ignored."""

import pytest

from tests.rules.tools import beyond, changed, refused, right_or_refused, script

CLASSES = "model = nn.Linear(3, 2)"
WEIGHTED = "criterion = nn.CrossEntropyLoss(weight=torch.tensor([1.0, 2.0]))"
CALL = "loss = criterion(model(x), y)"
WRAPPED = "model = DistributedDataParallel(nn.Linear(3, 2), broadcast_buffers=False)"
BY_WEIGHT = "loss = loader.by_weight(criterion(model(x), y), y, of=criterion)"


@pytest.mark.parametrize(
    "criterion",
    [
        WEIGHTED,
        "criterion = nn.CrossEntropyLoss(torch.tensor([1.0, 2.0]))",
        "weights = torch.tensor([1.0, 2.0])\ncriterion = nn.CrossEntropyLoss(weights)",
        "criterion = nn.NLLLoss(torch.tensor([1.0, 2.0]))",
        "criterion = nn.CrossEntropyLoss(ignore_index=0)",
        "criterion = nn.CrossEntropyLoss(ignore_index=0).to('cpu')",
        "criterion = nn.NLLLoss(weight=torch.tensor([1.0, 2.0]))",
        "criterion = nn.CrossEntropyLoss(weight=torch.ones(2), label_smoothing=0.1)",
        "criterion = nn.CrossEntropyLoss()  # targets of -100 are ignored",
    ],
)
def test_a_weighted_loss(criterion: str) -> None:
    assert beyond(model=CLASSES, criterion=criterion, loss=CALL) == [WRAPPED, BY_WEIGHT]


@pytest.mark.parametrize(
    ("call", "arguments"),
    [
        ("F.cross_entropy(model(x), y, ignore_index=0)", "y, ignore_index=0"),
        ("F.cross_entropy(model(x), y, weight=w)", "y, weight=w"),
        ("F.nll_loss(model(x), y, weight=w, ignore_index=1)", "y, weight=w, ignore_index=1"),
        ("F.cross_entropy(model(x), y.view(-1), weight=w)", "y.view(-1), weight=w"),
    ],
)
def test_a_weighted_function(call: str, arguments: str) -> None:
    added = beyond(model=CLASSES, before="w = torch.ones(2)", loss=f"loss = {call}")
    assert added == [WRAPPED, f"loss = loader.by_weight({call}, {arguments})"]


def test_the_weight_by_position() -> None:
    call = "F.cross_entropy(model(x), y, w)"
    right_or_refused(
        WRAPPED,
        f"loss = loader.by_weight({call}, y, weight=w)",
        model=CLASSES,
        before="w = torch.ones(2)",
        loss=f"loss = {call}",
    )


def test_in_an_evaluation_too() -> None:
    added = beyond(
        model=CLASSES,
        criterion=WEIGHTED,
        loss=CALL,
        start="total = 0.0",
        step="total += loss.item()",
    )
    assert added == [
        WRAPPED,
        BY_WEIGHT,
        "total += loss.item() * loader.fraction",
        "total = crew.sum(total)",
    ]


@pytest.mark.parametrize(
    "criterion",
    [
        "criterion = nn.CrossEntropyLoss()",
        "criterion = nn.CrossEntropyLoss(weight=None)",
        "criterion = nn.CrossEntropyLoss(label_smoothing=0.1)",
        "criterion = nn.NLLLoss()",
        # Element weights: the mean is still over all elements.
        "criterion = nn.BCEWithLogitsLoss(pos_weight=torch.tensor([2.0]))",
        "criterion = nn.BCELoss(weight=torch.tensor([2.0, 1.0]))",
        "criterion = nn.MultiMarginLoss(weight=torch.ones(2))",
        "weight = 3\ncriterion = nn.CrossEntropyLoss()",
    ],
)
def test_plain_means_are_left_alone(criterion: str) -> None:
    assert beyond(model=CLASSES, criterion=criterion, loss=CALL) == [WRAPPED]


@pytest.mark.parametrize(
    "criterion",
    [
        "criterion = nn.CrossEntropyLoss(weight=torch.ones(2), reduction='sum')",
        "criterion = nn.CrossEntropyLoss(ignore_index=0, reduction='sum')",
    ],
)
def test_a_weighted_sum_is_a_sum(criterion: str) -> None:
    assert beyond(model=CLASSES, criterion=criterion, loss=CALL) == [
        WRAPPED,
        "(loss * loader.parts).backward()",
    ]


@pytest.mark.parametrize(
    "call",
    [
        "criterion(input=model(x), target=y)",
        "F.cross_entropy(model(x), target=y, weight=torch.ones(2))",
    ],
)
def test_targets_that_cannot_be_repeated(call: str) -> None:
    rows = refused(
        imports="from elsewhere import make",
        model=CLASSES,
        criterion=WEIGHTED,
        loss=f"loss = {call}",
    )
    assert rows[0][:3] == ("weight", "loss.backward()", "the loss cannot be split over workers")


def test_a_weighted_loss_of_whole_and_split_batches() -> None:
    rows = refused(
        model=CLASSES,
        criterion=f"{WEIGHTED}\ndef measure(a, b):\n    return criterion(model(a), b)",
        loss="loss = measure(x, y)",
        after="print(measure(torch.randn(2, 3), torch.tensor([0, 1])))",
    )
    assert rows[0] == (
        "by-weight",
        "return criterion(model(a), b)",
        "this loss is computed from slices of batches and from whole ones",
        "which of them it works on cannot be told here",
    )


TWO = (
    "loader = DataLoader(data, batch_size=8, shuffle=True)\nother = DataLoader(data, batch_size=5)"
)


def two_loaders(loss: str, model: str = "model = nn.Linear(3, 1)") -> str:
    source = script(loader=TWO, loss=loss, model=model)
    return source.replace("for x, y in loader:", "for (x, y), (u, v) in zip(loader, other):")


@pytest.mark.parametrize(
    ("loss", "after"),
    [
        (
            "loss = criterion(model(x), y) + criterion(model(u), v)",
            "loss = criterion(model(x), y) * loader.fraction"
            " + criterion(model(u), v) * other.fraction",
        ),
        (
            "a, b = criterion(model(x), y), model(u).sum()\nloss = a - 0.5 * b",
            "loss = a * loader.fraction - 0.5 * b * other.active",
        ),
    ],
)
def test_losses_of_two_loaders_count_by_their_own_batches(loss: str, after: str) -> None:
    added = changed(two_loaders(loss))
    assert after in added
    assert "(loss * crew.size()).backward()" in added


def test_rows_of_two_loaders_are_not_compared() -> None:
    rows = refused(two_loaders("loss = criterion(model(x), v)"))
    assert [rule for rule, *_ in rows] == ["weight"]


def test_batch_statistics_of_two_loaders_are_refused() -> None:
    model = "model = nn.Sequential(nn.Linear(3, 1), nn.BatchNorm1d(1))"
    rows = refused(two_loaders("loss = criterion(model(x), y) + model(u).mean()", model))
    assert [rule for rule, *_ in rows] == ["weight"]
