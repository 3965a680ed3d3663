"""Run by test_horovod_crew.py as two workers: each section compares with one process' training."""

import sys

import horovod.torch as hvd
import torch
from torch import nn

from trainera import crew

crew.join_horovod(hvd)
torch.set_default_dtype(torch.float64)
torch.manual_seed(0)
X = torch.randn(8, 3)
MINE = X[crew.rank() :: crew.size()]


def pair() -> tuple[nn.Module, nn.Module]:
    """The same network twice: for the crew and for one process."""
    torch.manual_seed(1)
    one = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2))
    two = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2))
    two.load_state_dict(one.state_dict())
    return one, two


def same(one: nn.Module, two: nn.Module) -> None:
    for left, right in zip(one.parameters(), two.parameters(), strict=True):
        torch.testing.assert_close(left, right, rtol=1e-12, atol=1e-12)


def thawed_and_added() -> None:
    models = pair()
    for model in models:
        model[0].requires_grad_(False)
    optimizers = [torch.optim.SGD(m[2].parameters(), lr=0.3, momentum=0.9) for m in models]
    optimizers[0] = crew.averaged(
        hvd.DistributedOptimizer, optimizers[0], named_parameters=models[0].named_parameters()
    )
    for step in range(6):
        for model, optimizer, data in zip(models, optimizers, (MINE, X), strict=True):
            if step == 2:
                model[0].requires_grad_(True)
                optimizer.add_param_group({"params": [model[0].weight]})
            if step == 4:
                optimizer.add_param_group({"params": [model[0].bias], "lr": 0.1})
            optimizer.zero_grad()
            model(data).pow(2).mean().backward()
            optimizer.step()
    same(*models)
    rates = [[group["lr"] for group in optimizer.param_groups] for optimizer in optimizers]
    assert rates == [[0.3, 0.3, 0.1]] * 2, rates


def hooks_run_once() -> None:
    model, _ = pair()
    optimizer = torch.optim.Adam(model.parameters(), lr=0.1)
    optimizer = crew.averaged(hvd.DistributedOptimizer, optimizer)
    seen: list[int] = []
    optimizer.register_step_post_hook(lambda *_: seen.append(1))
    model(MINE).mean().backward()
    optimizer.step()
    assert seen == [1], seen
    assert {state["step"].item() for state in optimizer.state.values()} == {1.0}


def one_start_for_all() -> None:
    torch.manual_seed(crew.rank())  # as if each worker had drawn its own
    model = nn.Linear(3, 2)
    model.register_buffer("mask", torch.rand(5) > 0.5)
    model.register_buffer("brief", torch.rand(3).bfloat16())
    crew.alike(model)
    for value in model.state_dict().values():
        assert torch.equal(crew.agree(value), value)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1 + crew.rank())
    optimizer = crew.averaged(hvd.DistributedOptimizer, optimizer)
    assert optimizer.param_groups[0]["lr"] == 0.1


def in_inference_mode() -> None:
    with torch.inference_mode():
        assert crew.sum(torch.ones(2) * (crew.rank() + 1)).tolist() == [3.0, 3.0]


def fp16() -> None:
    models = pair()
    for model, data in zip(models, (MINE, X), strict=True):
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        if model is models[0]:
            compression = hvd.Compression.fp16
            optimizer = crew.averaged(hvd.DistributedOptimizer, optimizer, compression=compression)
        model(data).pow(2).mean().backward()
        optimizer.step()
    gaps = [
        (left - right).abs().max().item()
        for left, right in zip(models[0].parameters(), models[1].parameters(), strict=True)
    ]
    assert 1e-9 < max(gaps) < 1e-3, gaps  # sent in 16 bits, and not wrong


def adasum() -> None:
    crew.averaged(
        hvd.DistributedOptimizer, torch.optim.SGD(pair()[0].parameters(), lr=0.1), op=hvd.Adasum
    )


def bfloat16() -> None:
    network = pair()[0].bfloat16()
    crew.averaged(hvd.DistributedOptimizer, torch.optim.SGD(network.parameters(), lr=0.1))


for name in sys.argv[1:]:
    globals()[name]()
    print(name, "holds")
