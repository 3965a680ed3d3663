"""Batch statistics are those of the global batch wherever a network may use some."""

import pytest

from tests.rules.tools import beyond, must_refuse, network, refused
from trainera.plan import Options

WITH = "nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.Linear(4, 1))"


def wrapped(text: str) -> str:
    return f"model = DistributedDataParallel({text}, broadcast_buffers=False)"


@pytest.mark.parametrize(
    "text",
    [
        WITH,
        WITH.replace("BatchNorm1d", "BatchNorm2d"),
        WITH + ".double()",
        "nn.Sequential(*[nn.BatchNorm1d(3) for _ in range(2)], nn.Linear(3, 1))",
    ],
)
def test_the_network_passes_through_the_crew(text: str) -> None:
    assert beyond(model=f"model = {text}") == [wrapped(f"crew.batchnorm({text})")]


def test_layers_of_a_class_of_the_scripts_own() -> None:
    lines = beyond(model=network("x = self.norm(x)", layers="self.norm = nn.BatchNorm1d(3)"))
    assert lines == [wrapped("crew.batchnorm(Net())")]


def test_a_batchnorm_of_the_scripts_own() -> None:
    lines = "class Norm(nn.BatchNorm1d):\n    pass\nmodel = nn.Sequential(Norm(3), nn.Linear(3, 1))"
    assert beyond(model=lines) == [
        wrapped("crew.batchnorm(nn.Sequential(Norm(3), nn.Linear(3, 1)))")
    ]


def test_a_network_that_is_moved_afterwards() -> None:
    assert beyond(model=f"model = {WITH}\nmodel.to('cpu')") == [
        "crew.batchnorm(model)",
        wrapped("model"),
    ]


@pytest.mark.parametrize(
    ("imports", "text"),
    [
        ("import torchvision", "torchvision.models.resnet18()"),
        ("import torchvision", "torchvision.models.resnet18(weights=None).to('cpu')"),
        ("from torchvision import models", "models.mobilenet_v2(num_classes=10)"),
        ("import timm", "timm.create_model('resnet18')"),
        ("from elsewhere import make_network", "make_network()"),
    ],
)
def test_a_network_whose_layers_cannot_be_seen(imports: str, text: str) -> None:
    """A library's network may well normalise batches: to pass it through costs nothing."""
    added = beyond(imports=imports, model=f"model = {text}")
    assert added == [wrapped(f"crew.batchnorm({text})")]


@pytest.mark.parametrize(
    "text",
    [
        "nn.Linear(3, 1)",
        "nn.Sequential(nn.Linear(3, 4), nn.LayerNorm(4), nn.Linear(4, 1))",
        "nn.Sequential(nn.InstanceNorm1d(3), nn.GroupNorm(1, 3), nn.Linear(3, 1))",
        "nn.Sequential(nn.Dropout(), nn.Linear(3, 1))  # no BatchNorm1d here",
    ],
)
def test_other_layers_are_left_alone(text: str) -> None:
    added = beyond(model=f"model = {text}")
    assert not any("batchnorm" in line for line in added)


def test_a_class_of_that_name_that_is_none() -> None:
    lines = beyond(before="class BatchNormNotes:\n    pass\nnotes = BatchNormNotes()")
    assert lines == []


def test_on_demand_the_layers_stay_local() -> None:
    assert beyond(Options(batchnorm="local"), model=f"model = {WITH}") == [wrapped(WITH)]


@pytest.mark.parametrize(
    "forward",
    [
        "x = F.batch_norm(x, None, None, training=True)",
        "x = torch.nn.functional.batch_norm(x, None, None, training=self.training)",
        "x = torch.batch_norm(x, None, None, None, None, True, 0.1, 1e-5, False)",
    ],
)
def test_statistics_without_a_layer_are_refused(forward: str) -> None:
    must_refuse(model=network(forward))


def test_a_call_that_is_given_slices_and_the_same() -> None:
    """Its statistics are those of all workers in one case, and its own in the other."""
    parts = {
        "setup": "def score(rows):\n    return model(rows).mean()",
        "model": "model = nn.Sequential(nn.Linear(3, 1), nn.BatchNorm1d(1))",
        "loss": "loss = score(x) + score(torch.randn(8, 3))",
    }
    (row,) = refused(**parts)
    assert row[0] == "batchnorm" and row[1] == "return model(rows).mean()"
    parts["model"] = "model = nn.Linear(3, 1)"
    assert beyond(**parts) == []
