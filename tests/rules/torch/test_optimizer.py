"""Optimizers in an engine's wrapper, with the names of their parameters."""

import tempfile
from pathlib import Path

import pytest

from tests.rules.tools import beyond, network, script
from trainera.pipeline import convert_script
from trainera.plan import Options

GIVEN = "optimizer = torch.optim.SGD(model.parameters(), lr=0.1)"


def lines(source: str, options: Options | None = None) -> str:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "train.py"
        path.write_text(source)
        plan, files = convert_script(path, "horovod", options)
    assert not plan.refusals, plan.refusals
    return files[0].after.decode()


def wrapped(made: str, names: str | None) -> str:
    given = f", named_parameters={names}" if names else ""
    return f"optimizer = crew.averaged(hvd.DistributedOptimizer, {made}{given})"


@pytest.mark.parametrize(
    ("parameters", "names"),
    [
        ("model.parameters()", "model.named_parameters()"),
        ("params=model.parameters()", "model.named_parameters()"),
        ("list(model.parameters())", "model.named_parameters()"),
        (
            "filter(lambda p: p.requires_grad, model.parameters())",
            "model.named_parameters()",
        ),
        ("[p for p in model.parameters() if p.requires_grad]", "model.named_parameters()"),
        (
            "[{'params': model[0].parameters()}, {'params': model[1].parameters(), 'lr': 1.0}]",
            '[*model[0].named_parameters("model[0]"), *model[1].named_parameters("model[1]")]',
        ),
    ],
)
def test_names_of_the_parameters(parameters: str, names: str) -> None:
    made = f"torch.optim.SGD({parameters}, lr=0.1)"
    source = script(model="model = nn.Sequential(nn.Linear(3, 2), nn.Linear(2, 1))")
    after = lines(source.replace(GIVEN, f"optimizer = {made}"))
    assert wrapped(made, names) in after


def test_names_by_a_variable() -> None:
    source = script().replace(GIVEN, "weights = list(model.parameters())\n" + GIVEN)
    after = lines(source.replace("SGD(model.parameters()", "SGD(weights"))
    assert wrapped("torch.optim.SGD(weights, lr=0.1)", "model.named_parameters()") in after


def test_the_network_is_not_wrapped() -> None:
    after = lines(script(model=network(), after="torch.save(model.state_dict(), 'last.pt')"))
    assert "model = crew.alike(Net())" in after
    assert "crew.once(torch.save, model.state_dict(), 'last.pt')" in after


def test_networks_are_named_in_the_order_of_the_script() -> None:
    names = ["third", "first", "fifth", "model", "last"]
    made = "\n".join(f"{name} = nn.Linear(3, {1 if name == 'last' else 3})" for name in names)
    source = script(model=made, loss="loss = last(model(fifth(first(third(x))))).sum()")
    every = "[p for net in (last, first, fifth, model, third) for p in net.parameters()]"
    after = lines(source.replace("model.parameters()", every))
    named = ", ".join(f'*{name}.named_parameters("{name}")' for name in names)
    assert f"named_parameters=[{named}]" in after


def test_data_parallel_stays_on_one_device() -> None:
    after = lines(script(model="model = nn.DataParallel(nn.Linear(3, 1))"))
    assert "nn.DataParallel(nn.Linear(3, 1), device_ids=crew.own_device())" in after


def test_data_parallel_with_devices_by_position_is_refused() -> None:
    source = script(model="model = nn.DataParallel(nn.Linear(3, 1), [0, 1])")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "train.py"
        path.write_text(source)
        plan, files = convert_script(path, "horovod")
    assert [refusal.what for refusal in plan.refusals] == [
        "DataParallel is given devices by position"
    ]
    assert not files


def test_further_arguments() -> None:
    after = lines(script(), Options(extras=("fp16", "adasum")))
    assert "compression=hvd.Compression.fp16, op=hvd.Adasum)" in after


def test_a_name_of_the_scripts_own_is_refused() -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "train.py"
        path.write_text(script(setup="hvd = 3"))
        plan, _ = convert_script(path, "horovod")
        assert [refusal.what for refusal in plan.refusals] == ["the script has a 'hvd' of its own"]
        assert not convert_script(path, "ddp")[0].refusals


def test_ddp_leaves_optimizers_alone() -> None:
    assert beyond() == []


def test_rates_of_a_batch_that_grows() -> None:
    options = Options(batch="per-worker", lr="linear", warmup_epochs=5)
    made = "torch.optim.SGD(model.parameters(), lr=0.1)"
    assert beyond(options) == [
        "loader = crew.split(DataLoader(data, batch_size=8, shuffle=True), per_worker=True)",
        f'optimizer = crew.scaled({made}, "linear", warmup=5)',
    ]
    averaged = f"crew.averaged(hvd.DistributedOptimizer, {made}, "
    assert f"crew.scaled({averaged}named_parameters=model.named_parameters()), " in lines(
        script(), options
    )
