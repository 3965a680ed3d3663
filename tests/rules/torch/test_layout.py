"""What goes around a value, and would be hard to read there, gets a line of its own."""

from pathlib import Path
from textwrap import indent

import pytest

from tests.rules.tools import beyond, changed, script
from trainera.pipeline import convert_script


@pytest.fixture(autouse=True)
def usual_lines(monkeypatch: pytest.MonkeyPatch, long_lines: None) -> None:
    monkeypatch.setattr("trainera.rules.common._tools.WIDTH", 100)


WRAPPED = "model = DistributedDataParallel(model, broadcast_buffers=False)"
LAYERS = "nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 4), nn.ReLU(), nn.Linear(4, 1)"
NORMALISED = "nn.Linear(3, 4), nn.BatchNorm1d(4), nn.Linear(4, 1)"


@pytest.mark.parametrize(
    ("model", "lines"),
    [
        ("model = nn.Sequential(\n    nn.Linear(3, 1),\n)", [WRAPPED]),
        ("model = nn.Sequential(\n    nn.Linear(3, 1),\n).to('cpu')  # here", [WRAPPED]),
        ("model: nn.Module = nn.Sequential(\n    nn.Linear(3, 1),\n)", [WRAPPED]),
        (f"model = nn.Sequential({LAYERS})", [WRAPPED]),
        (f"model = nn.Sequential({NORMALISED})", ["crew.batchnorm(model)", WRAPPED]),
        (
            "model = nn.Linear(3, 1)  # short",
            ["model = DistributedDataParallel(nn.Linear(3, 1), broadcast_buffers=False)  # short"],
        ),
        ("if True:\n    model = nn.Sequential(\n        nn.Linear(3, 1),\n    )", [WRAPPED]),
    ],
)
def test_a_network(model: str, lines: list[str]) -> None:
    assert beyond(model=model) == lines


@pytest.mark.parametrize(
    "model",
    [
        "model = other = nn.Sequential(\n    nn.Linear(3, 1),\n)",
        "a = 1; model = nn.Sequential(\n    nn.Linear(3, 1),\n)",
        "model = nn.Sequential(\n    nn.Linear(3, 1),\n); a = 1",
    ],
)
def test_where_another_line_would_not_do(model: str) -> None:
    assert not set(beyond(model=model)) & {WRAPPED, f"{WRAPPED}; a = 1"}
    assert any("(nn.Sequential(" in line for line in beyond(model=model))


def test_a_loader() -> None:
    loader = "loader = DataLoader(\n    data,\n    batch_size=8,\n)"
    assert beyond(loader=loader) == ["loader = crew.split(loader)"]


def test_the_other_name_of_a_network() -> None:
    model = "model = nn.Linear(3, 1)\nnet = model.to(\n    'cpu'\n)"
    lines = ["net = DistributedDataParallel(net, broadcast_buffers=False)", "model = net"]
    assert beyond(model=model) == lines


def test_a_long_line_is_broken() -> None:
    lines = changed(script(model="model = nn.Linear(3, 1)", step="model.requires_grad_(epoch > 1)"))
    start = lines.index("model = crew.with_frozen(")
    assert lines[start + 1 : start + 3] == [
        "DistributedDataParallel, model, broadcast_buffers=False, find_unused_parameters=True",
        ")",
    ]


def test_a_broken_line_is_indented(tmp_path: Path) -> None:
    path = tmp_path / "train.py"
    path.write_text("def main():\n" + indent(script(), "    ") + "main()\n", encoding="utf-8")
    _, files = convert_script(path, "horovod")
    expected = """\
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    optimizer = crew.averaged(
        hvd.DistributedOptimizer, optimizer, named_parameters=model.named_parameters()
    )
"""
    assert expected in files[0].after.decode()
