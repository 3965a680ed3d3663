"""Networks: small, without chance, of one or several classes."""

from dataclasses import dataclass

from tests.generated.grammar.data import Data
from tests.generated.grammar.words import Lines, Script, block, method


@dataclass
class Network:
    """How a network is made, and what it gives."""

    build: str
    gives: str = "plain"
    """`plain`, `pair` (output, hidden) or `dict` (out, hidden)."""
    method: str = ""
    """The network's own method for the training step's loss, if it has one."""


def make_network(script: Script, data: Data, name: str = "Net", plain: bool = False) -> Network:
    draw = script.draw
    script.needs("import torch", "from torch import nn")
    hidden = draw.randint(4, 6)
    gives = "plain" if plain or draw.often(0.75) else draw.one("pair", "dict")
    style = draw.one("sequential", "class", "class", "class", "factory", "factory", "registry")
    if gives != "plain" and style == "sequential":
        style = "class"
    script.features.add(f"network {style}")
    squeeze = ".squeeze(1)" if data.task == "binary" else ""
    if style == "sequential":
        tail = ", nn.Flatten(0)" if squeeze else ""
        layers = f"nn.Linear({data.width}, {hidden}), {_activation(script)}"
        return Network(f"nn.Sequential({layers}, nn.Linear({hidden}, {data.outputs}){tail})")
    if style == "class":
        name = script.name(name)
        _class(script, data, name, hidden, gives, squeeze, draw.randrange(4))
        return Network(f"{name}({draw.one('', f'hidden={hidden}')})", gives)
    kinds = draw.some(range(4), 2, 4)
    names = [script.name(f"{name}{letter}") for letter, _ in zip("ABCD", kinds, strict=False)]
    for one, kind in zip(names, kinds, strict=True):
        _class(script, data, one, hidden, gives, squeeze, kind)
    chosen = draw.choice(names)
    if style == "registry":
        table = script.name("NETWORKS")
        rows = ", ".join(f'"{one.lower()}": {one}' for one in names)
        script.define(f"{table} = {{{rows}}}")
        return Network(f'{table}["{chosen.lower()}"]()', gives)
    maker = script.name("build_model")
    body: Lines = []
    for one in names[:-1]:
        body += block(f'if kind == "{one.lower()}":', [f"return {one}()"])
    body.append(f"return {names[-1]}()")
    script.define(*block(f"def {maker}(kind):", body))
    return Network(f'{maker}("{chosen.lower()}")', gives)


def _activation(script: Script) -> str:
    return script.draw.one("nn.ReLU()", "nn.Tanh()", "nn.GELU()", "nn.LeakyReLU(0.1)")


def _class(
    script: Script, data: Data, name: str, hidden: int, gives: str, squeeze: str, kind: int
) -> None:
    """Defines one class of networks."""
    draw = script.draw
    act = _activation(script)
    layers = {
        0: [f"self.body = nn.Sequential(nn.Linear({data.width}, hidden), {act})"],
        1: [f"self.first = nn.Linear({data.width}, hidden)", "self.norm = nn.LayerNorm(hidden)"],
        2: [
            f"sizes = [{data.width}, hidden, hidden]",
            "self.layers = nn.ModuleList(nn.Linear(a, b) for a, b in zip(sizes, sizes[1:]))",
        ],
        3: [
            f"self.a = nn.Linear({data.width}, hidden)",
            f"self.b = nn.Linear({data.width}, hidden)",
        ],
    }[kind]
    forward = {
        0: ["h = self.body(x)"],
        1: [f"h = {draw.one('torch.relu', 'torch.tanh')}(self.norm(self.first(x)))"],
        2: ["h = x", *block("for layer in self.layers:", ["h = torch.tanh(layer(h))"])],
        3: [
            draw.one("h = torch.sigmoid(self.a(x)) * self.b(x)", "h = self.a(x).relu() + self.b(x)")
        ],
    }[kind]
    give = {
        "plain": f"return self.head(h){squeeze}",
        "pair": f"return self.head(h){squeeze}, h",
        "dict": f'return {{"out": self.head(h){squeeze}, "hidden": h}}',
    }[gives]
    script.define(
        *block(
            f"class {name}(nn.Module):",
            block(
                f"def __init__(self, hidden={hidden}):",
                ["super().__init__()", *layers, f"self.head = nn.Linear(hidden, {data.outputs})"],
            ),
            method("def forward(self, x):", forward, [give]),
        )
    )
