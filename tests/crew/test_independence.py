"""What the trial of a network finds out: rows apart, rows mixed, or nothing."""

import dataclasses
import random
from typing import Any

import pytest
import torch
from torch import nn
from torch.nn import functional

from trainera.crew.comparing import APART, MIXES, UNDECIDED
from trainera.crew.independence import double_of, tried
from trainera.crew.wrapping import Through

ROWS = 6


class Own(nn.Module):
    """A linear layer of 4 values, with something done before it or after."""

    def __init__(self, work: Any, size: int = 4) -> None:
        super().__init__()
        self.layer = nn.Linear(size, size)
        self.gate = nn.Parameter(torch.zeros(()))
        self.kept: list[Any] = []
        self.work = work

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        return self.work(self, *args, **kwargs)


@dataclasses.dataclass
class Output:
    logits: torch.Tensor
    loss: torch.Tensor


class Recurrent(nn.Module):
    def __init__(self, kind: Any, **options: Any) -> None:
        super().__init__()
        self.inner = kind(4, 3, **options)

    def forward(self, x: torch.Tensor) -> Any:
        return self.inner(x)


def grown(net: Any, x: torch.Tensor) -> torch.Tensor:
    net.kept.append(x)
    return net.layer(x) * len(net.kept)


def attended(x: torch.Tensor) -> torch.Tensor:
    return torch.softmax(x @ x.transpose(-2, -1), -1) @ x


X = torch.randn(ROWS, 4, generator=torch.Generator().manual_seed(3))
STEPS = torch.randn(ROWS, 5, 4, generator=torch.Generator().manual_seed(4))
SQUARE = torch.randn(ROWS, ROWS, generator=torch.Generator().manual_seed(5))
MEAN = {
    "a mean": (lambda n, x: n.layer(x).pow(2).mean(), X),
    "a sum": (lambda n, x: n.layer(x).pow(2).sum(), X),
    "a loss of a batch": (lambda n, x: functional.cross_entropy(n.layer(x), x.argmax(1)), X),
    "a mean by feature, as many as rows": (lambda n, x: n.layer(x).mean(0), SQUARE),
}
ALONE = {
    "a layer": (lambda n, x: n.layer(x), X),
    "the batch second": (lambda n, x: n.layer(x).transpose(0, 1), STEPS),
    "the batch last": (lambda n, x: n.layer(x).T, X),
    "rows in one with steps": (lambda n, x: n.layer(x).flatten(0, 1), STEPS),
    "steps in one with rows": (lambda n, x: n.layer(x).transpose(0, 1).flatten(0, 1), STEPS),
    "several": (lambda n, x: (n.layer(x), {"a": [x.mean(), x.T]}), X),
    "a record": (lambda n, x: Output(n.layer(x), n.layer(x).mean()), X),
    "a distribution": (lambda n, x: torch.distributions.Normal(n.layer(x), 1.0), X),
    "attention over steps": (lambda n, x: attended(n.layer(x)), STEPS),
    "picked rows": (lambda n, x: n.layer(x)[x[:, 0] > 0], X),
    "noise": (lambda n, x: n.layer(x) + torch.randn(x.shape), X),
    "chance": (lambda n, x: n.layer(x) * random.random(), X),
    "dropout": (lambda n, x: functional.dropout(n.layer(x), 0.5, True), X),
    "a constant": (lambda n, x: (n.layer(x), n.layer.bias), X),
    "as many features as rows": (lambda n, x: n.layer(x), SQUARE),
    "what it keeps": (grown, X),
    "squeezed": (lambda n, x: n.layer(x).sum(1, keepdim=True).squeeze(), X),
    "changed in place": (lambda n, x: n.layer(x.mul_(2)), X),
    "itself turned around": (lambda n, x: n.layer(x), STEPS.transpose(0, 1)),
}
MIXED = {
    "centred": (lambda n, x: n.layer(x - x.mean(0)), X),
    "centred, the batch second": (lambda n, x: n.layer(x - x.mean(0)).transpose(0, 1), STEPS),
    "a softmax over rows": (lambda n, x: torch.softmax(n.layer(x), -2), X),
    "attention over rows": (lambda n, x: attended(n.layer(x)), X),
    "attention over rows turned": (lambda n, x: attended(x.transpose(0, 1)).transpose(0, 1), STEPS),
    "a branch that begins with 0": (lambda n, x: n.layer(x) + n.gate * x.mean(0), X),
    "the largest": (lambda n, x: n.layer(x).max(), X),
    "a root of a mean": (lambda n, x: n.layer(x).pow(2).mean().sqrt(), X),
    "a figure beside rows": (lambda n, x: (n.layer(x), n.layer(x).std()), X),
    "a figure in a record": (lambda n, x: Output(n.layer(x), n.layer(x).std()), X),
    "the last row": (lambda n, x: n.layer(x)[-1:], X),
    "each with each": (lambda n, x: n.layer(x) @ x.T, X),
    "how many rows": (lambda n, x: n.layer(x) / len(x), X),
    "a running total": (lambda n, x: n.layer(x).cumsum(0), X),
    "noise and a mean": (lambda n, x: n.layer(x) + torch.randn(4) + x.mean(0), X),
    "noise and a running total": (lambda n, x: n.layer(x).cumsum(0) + torch.rand(x.shape), X),
    "in training only": (lambda n, x: n.layer(x - x.mean(0) * n.training), X),
}


@pytest.fixture(autouse=True)
def _seeded() -> None:
    """A difference in the second order, as of a root, is too small to be seen now and then."""
    torch.manual_seed(0)


def verdict(network: nn.Module, *args: Any, rows: int = ROWS, **kwargs: Any) -> str:
    return tried(double_of(network), args, kwargs, rows)


@pytest.mark.parametrize("rows", [ROWS, 3, 2])
@pytest.mark.parametrize("name", [*ALONE, *MEAN])
def test_rows_apart(name: str, rows: int) -> None:
    work, x = (ALONE | MEAN)[name]
    if x is SQUARE or name == "itself turned around":
        rows = ROWS
    x = x[:rows].clone() if name != "itself turned around" else x
    kept = x.clone()
    if name == "picked rows":
        x[0, 0], x[-1, 0] = -1, 1
        kept = x.clone()
    assert verdict(Own(work, x.shape[-1]), x, rows=rows) == APART
    assert torch.equal(x, kept)


@pytest.mark.parametrize("rows", [ROWS, 3, 2])
@pytest.mark.parametrize("name", list(MIXED))
def test_rows_mixed(name: str, rows: int) -> None:
    work, x = MIXED[name]
    assert verdict(Own(work), x[:rows], rows=rows) == MIXES


@pytest.mark.parametrize(
    ("network", "x", "expected"),
    [
        (Recurrent(nn.GRU, batch_first=True), STEPS, APART),
        (Recurrent(nn.GRU), STEPS, MIXES),
        (Recurrent(nn.GRU), STEPS.transpose(0, 1), APART),
        (Recurrent(nn.GRU), X, MIXES),
        (Recurrent(nn.LSTM, batch_first=True, dropout=0.3, num_layers=2), STEPS, APART),
        (nn.TransformerEncoderLayer(4, 2, 8, batch_first=True), STEPS, APART),
        (nn.TransformerEncoderLayer(4, 2, 8), STEPS, MIXES),
        (nn.Sequential(nn.Linear(4, 4), nn.BatchNorm1d(4), nn.Dropout()), X, APART),
        (nn.Sequential(nn.Linear(4, 4), nn.BatchNorm1d(4, track_running_stats=False)), X, APART),
        (nn.Sequential(nn.Linear(4, 4), nn.Softmax(-2)), X, MIXES),
        (nn.Sequential(nn.Linear(4, 4), nn.Softmax(-2)), STEPS, APART),
        (nn.utils.weight_norm(nn.Linear(4, 4)), X, APART),
        (nn.utils.spectral_norm(nn.Linear(4, 4)), X, APART),
        (nn.Linear(4, 4).bfloat16(), X.bfloat16(), APART),
    ],
)
@pytest.mark.filterwarnings("ignore")
def test_layers_of_torch(network: nn.Module, x: torch.Tensor, expected: str) -> None:
    assert verdict(network, x) == expected


def test_further_arguments() -> None:
    mask = torch.ones(5, 5).tril()
    same = torch.ones(ROWS, ROWS).tril()

    def masked(n: Any, x: torch.Tensor, mask: torch.Tensor | None = None) -> torch.Tensor:
        return (x @ x.transpose(1, 2) * mask) @ n.layer(x)

    def named(n: Any, batch: dict[str, Any]) -> torch.Tensor:
        rows = [one[:length].mean(0) for one, length in zip(batch["x"], batch["n"], strict=True)]
        return torch.as_tensor(n.layer(torch.stack(rows)))

    assert verdict(Own(masked), STEPS, mask) == APART
    assert verdict(Own(masked), STEPS, mask=mask) == APART
    six = torch.randn(ROWS, ROWS, 4)
    assert verdict(Own(masked), six, mask=same) == APART
    assert verdict(Own(named), {"x": STEPS, "n": [1, 2, 3, 4, 5, 5]}) == APART


def test_several_views_of_each_sample() -> None:
    views = torch.randn(2 * ROWS, 4)
    assert verdict(nn.Linear(4, 4), views) == APART
    assert verdict(Own(lambda n, x: n.layer(x - x.mean(0))), views) == MIXES
    # Views of one sample may meet: they stay together.
    pairs = lambda n, x: (n.layer(x)[: len(x) // 2] - x[len(x) // 2 :]).pow(2).mean()  # noqa: E731
    assert verdict(Own(pairs), views) == APART
    turns = lambda n, x: (n.layer(x)[::2] - x[1::2]).abs()  # noqa: E731
    assert verdict(Own(turns), views) == APART
    assert verdict(Own(lambda n, x: n.layer(x) @ x.T), views) == MIXES


def test_what_cannot_be_told() -> None:
    def told(work: Any, x: torch.Tensor = X, rows: int = ROWS) -> str:
        return verdict(Own(work), x, rows=rows)

    assert told(lambda n, x: n.layer(x), rows=5) == UNDECIDED  # no rows of the batch
    assert told(lambda n, x: n.layer(x), torch.ones(ROWS, 4)) == UNDECIDED  # all alike
    assert told(lambda n, x: n.layer(x.view(ROWS, 4))) == UNDECIDED  # for so many rows only
    assert told(lambda n, x: n.layer(x).argmax(1)) == UNDECIDED  # whole numbers
    assert told(lambda n, x: None) == UNDECIDED
    assert told(lambda n, x: n.layer(x) * float("nan")) == UNDECIDED
    assert told(lambda n, x: (n.layer(x), torch.cat([x, x[:1]]))) == UNDECIDED
    assert told(lambda n, x: (n.layer(x) + torch.randn(4)).mean()) == UNDECIDED
    assert double_of(Own(iter([]).__next__)) is not None


def test_hooks_and_the_network_are_left_alone() -> None:
    seen: list[Any] = []
    network = nn.Sequential(nn.Linear(4, 4), nn.BatchNorm1d(4))
    network[0].register_forward_hook(lambda *given: seen.append(given))
    handle = nn.modules.module.register_module_forward_hook(lambda *given: seen.append(given))
    before = {key: value.clone() for key, value in network.state_dict().items()}
    state = torch.get_rng_state()
    assert verdict(network, X) == APART
    handle.remove()
    assert not seen
    assert network.training and network[1].training
    assert torch.equal(torch.get_rng_state(), state)
    assert all(torch.equal(value, before[key]) for key, value in network.state_dict().items())


def test_a_method_that_is_called_through_a_wrapper() -> None:
    class Wrapper(nn.Module):
        def __init__(self, module: nn.Module) -> None:
            super().__init__()
            self.module = module

        def forward(self, *args: Any) -> Any:
            verdicts.append(verdict(self.module, *args))
            return self.module(*args)

    class Net(nn.Linear):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return super().forward(x)

        def compared(self, x: torch.Tensor) -> torch.Tensor:
            return self(x - x.mean(0))

    verdicts: list[str] = []
    network = Net(4, 4)
    made = Through(Wrapper(network)).compared(X)
    assert verdicts == [MIXES]
    assert torch.equal(made, network.compared(X))
