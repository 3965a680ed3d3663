"""Templates from torch's own database of layers, and some layers on layouts it does not have."""

import random
from collections.abc import Iterator
from typing import Any

import numpy as np
import torch

from tests.operations.variants import Template
from tests.operations.wording import NoWords, Words, call

UNTOLD = {
    "nn.EmbeddingBag": "bags are told by offsets",
    "nn.CTCLoss": "lengths are told apart from rows",
}
OWN = """\
class Own(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = {layer}

    def forward(self, {names}):
        return self.inner({names})


layer = Own()"""
"""The same layer inside a network of the script's own."""

BY_HAND = (
    ("nn.GRU(4, 3, batch_first=True)", ((7, 4), (7, 3, 4))),
    ("nn.GRU(4, 3)", ((7, 4), (3, 7, 4), (7, 3, 4))),
    ("nn.LSTM(4, 3, batch_first=True)", ((7, 4), (7, 3, 4))),
    ("nn.LSTM(4, 3)", ((7, 4), (3, 7, 4))),
    ("nn.RNN(4, 3, batch_first=True)", ((7, 4), (7, 3, 4))),
    ("nn.RNN(4, 3, 1)", ((7, 4), (3, 7, 4))),
    ("nn.LSTMCell(4, 3)", ((7, 4),)),
    ("nn.GRUCell(4, 3)", ((7, 4),)),
    ("nn.TransformerEncoderLayer(4, 2, 5, dropout=0.0)", ((7, 4), (3, 7, 4))),
    ("nn.TransformerEncoderLayer(4, 2, 5, 0.0, batch_first=True)", ((7, 4), (7, 3, 4))),
    (
        "nn.TransformerEncoder(nn.TransformerEncoderLayer(4, 2, 5, 0.0, batch_first=True), 1)",
        ((7, 4), (7, 3, 4)),
    ),
    ("nn.BatchNorm1d(4)", ((7, 4), (7, 4, 3))),
    ("nn.BatchNorm1d(4, affine=False)", ((7, 4),)),
    ("nn.BatchNorm1d(4, track_running_stats=False)", ((7, 4),)),
    ("nn.BatchNorm2d(3, bias=False)", ((7, 3, 2, 2),)),
    ("nn.BatchNorm2d(3)", ((7, 3, 2, 2),)),
    ("nn.InstanceNorm1d(4)", ((7, 4, 3),)),
    ("nn.InstanceNorm1d(7)", ((7, 4),)),
    ("nn.GroupNorm(2, 4)", ((7, 4), (7, 4, 3))),
    ("nn.LayerNorm(4)", ((7, 4), (7, 3, 4))),
    ("nn.LayerNorm([7, 4])", ((7, 4),)),
    ("nn.RMSNorm(4)", ((7, 4), (7, 3, 4))),
    ("nn.Linear(4, 2)", ((7, 4), (7, 3, 4), (3, 7, 4))),
    ("nn.Linear(7, 2)", ((4, 7),)),
    ("nn.Bilinear(4, 4, 2)", ((7, 4),)),
    ("nn.Conv1d(3, 2, 2)", ((7, 3, 4), (3, 7))),
    ("nn.Conv1d(7, 2, 2)", ((7, 4),)),
    ("nn.Conv2d(3, 2, 2)", ((7, 3, 4, 4), (3, 7, 4))),
    ("nn.Conv2d(7, 2, 2)", ((7, 4, 4),)),
    ("nn.ConvTranspose1d(3, 2, 2)", ((7, 3, 4),)),
    ("nn.MaxPool1d(2)", ((7, 3, 4), (7, 4))),
    ("nn.AvgPool1d(2, 1)", ((7, 3, 4), (7, 4), (4, 7))),
    ("nn.MaxPool2d(2)", ((7, 3, 4, 4), (7, 4, 4), (3, 7, 4))),
    ("nn.AdaptiveAvgPool1d(1)", ((7, 3, 4), (7, 4), (4, 7))),
    ("nn.AdaptiveAvgPool2d(1)", ((7, 3, 4, 4), (7, 4, 4))),
    ("nn.Softmax(dim=-1)", ((7, 4), (7,), (4, 7))),
    ("nn.Softmax(dim=0)", ((7, 4), (4, 7))),
    ("nn.Softmax(-2)", ((7, 4), (7, 3, 4))),
    ("nn.Softmax()", ((7, 4), (7, 3, 4))),
    ("nn.LogSoftmax(1)", ((7, 4), (4, 7))),
    ("nn.Softmax2d()", ((7, 3, 4, 4), (7, 4, 4))),
    ("nn.Softmin(0)", ((7, 4),)),
    ("nn.GLU()", ((7, 4), (4, 8))),
    ("nn.GLU(0)", ((8, 4), (8, 7))),
    ("nn.PReLU(4)", ((7, 4), (7, 4, 3))),
    ("nn.Flatten()", ((7, 3, 4), (7, 4), (3, 7))),
    ("nn.Flatten(0)", ((7, 3, 4), (7, 4))),
    ("nn.Flatten(0, 1)", ((7, 3, 4),)),
    ("nn.Flatten(1, 2)", ((7, 3, 4, 4),)),
    ("nn.Flatten(-2)", ((7, 4), (7, 3, 4))),
    ("nn.Unflatten(1, (2, 2))", ((7, 4),)),
    ("nn.Unflatten(0, (1, 7))", ((7, 4),)),
    ("nn.Upsample(scale_factor=2)", ((7, 3, 4),)),
    ("nn.PixelShuffle(2)", ((7, 4, 3, 3),)),
    ("nn.ConstantPad1d(1, 0.5)", ((7, 4), (7, 3, 4), (4, 7))),
    ("nn.ZeroPad2d(1)", ((7, 3, 4), (7, 4, 4, 4))),
    ("nn.Identity()", ((7, 4),)),
    ("nn.CosineSimilarity(0)", ((7, 4),)),
    ("nn.CosineSimilarity()", ((7, 4),)),
    ("nn.CosineSimilarity(-1)", ((7, 4), (7,))),
    ("nn.PairwiseDistance()", ((7, 4), (7,))),
    ("nn.MSELoss()", ((7, 4),)),
    ("nn.MSELoss(None, None, 'sum')", ((7, 4),)),
    ("nn.MSELoss(False)", ((7, 4),)),
    ("nn.MSELoss(reduction='none')", ((7, 4),)),
    ("nn.L1Loss(reduce=False)", ((7, 4),)),
    ("nn.HuberLoss('sum')", ((7, 4),)),
    ("nn.KLDivLoss(reduction='batchmean')", ((7, 4),)),
    ("nn.KLDivLoss()", ((7, 4),)),
    ("nn.CrossEntropyLoss()", ((7, 4),)),
    ("nn.CrossEntropyLoss(reduction='sum')", ((7, 4),)),
    ("nn.CosineEmbeddingLoss()", ((7, 4),)),
    ("nn.Sequential(nn.Linear(4, 3), nn.Softmax(0))", ((7, 4),)),
    ("nn.Sequential(nn.Linear(4, 3), nn.Flatten(0))", ((7, 4), (7, 2, 4))),
)
"""Layers, and the shapes they are given; a layer that takes two tensors is given two of them."""


def entries() -> list[Any]:
    from torch.testing._internal.common_modules import module_db

    return [info for info in module_db if info.name not in UNTOLD]


def templates_of(info: Any, seed: int) -> Iterator[Template]:
    """Each sample of a layer, by itself and inside a network, in training and in evaluation."""
    torch.manual_seed(seed)
    random.seed(seed)
    np.random.seed(seed)
    try:
        samples = info.module_inputs_func(
            info, device="cpu", dtype=torch.float64, requires_grad=False, training=True
        )
    except Exception:
        return
    for sample in samples:
        if sample.forward_input is None:
            continue
        made, given = sample.constructor_input, sample.forward_input
        try:
            words, making = Words(), Words()
            arguments = [*map(words.of, given.args)]
            named = {key: words.of(value) for key, value in given.kwargs.items()}
            layer = call(
                info.name,
                [*map(making.of, made.args)],
                {key: making.of(value) for key, value in made.kwargs.items() if key != "device"},
            )
        except NoWords:
            continue
        for at, tensor in enumerate(making.tensors):
            numbers = [round(number, 2) for number in tensor.double().flatten().tolist()]
            text = f"torch.tensor({numbers})"
            layer = layer.replace(f"<{at}>", text)
        yield from _set_up(info.name, layer, arguments, named, tuple(words.tensors))


def by_hand() -> dict[str, list[Template]]:
    found: dict[str, list[Template]] = {}
    for layer, shapes in BY_HAND:
        name = layer.partition("(")[0]
        for shape in shapes:
            generator = torch.Generator().manual_seed(len(layer))
            one, other = (
                torch.rand(shape, generator=generator, dtype=torch.float64) for _ in range(2)
            )
            for arguments, tensors in ((["<0>"], (one,)), (["<0>", "<1>"], (one, other))):
                found.setdefault(name, []).extend(_set_up(name, layer, arguments, {}, tensors))
    return found


def _set_up(
    name: str,
    layer: str,
    arguments: list[str],
    named: dict[str, str],
    tensors: tuple[torch.Tensor, ...],
) -> Iterator[Template]:
    expression = call("layer", arguments, named)
    setups = [(f"layer = {layer}",)]
    if not named:
        setups.append((wrapped(layer, len(arguments)),))
    if "Norm" in name or "Dropout" in name or "Transformer" in name:
        setups.append((f"layer = {layer}", "layer.eval()"))
    for setup in setups:
        yield Template("layers", name, expression, tensors, setup)


def wrapped(layer: str, count: int) -> str:
    """A layer that takes so many arguments, inside a network of the script's own."""
    return OWN.format(layer=layer, names=", ".join(f"part{at}" for at in range(count)))
