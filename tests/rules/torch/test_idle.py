"""When the wrapper is told that some layers may get no gradient in a step: only where it may be."""

from typing import Any

import pytest

from tests.rules.tools import converted, script

TOLD = "find_unused_parameters=True"


def net(forward: str, layers: str = "", more: str = "") -> str:
    """A network with two heads and these lines in its forward()."""
    body = "".join(f"        {line}\n" for line in forward.splitlines())
    made = "".join(f"        {line}\n" for line in layers.splitlines())
    return (
        f"{more}\n"
        "class Net(nn.Module):\n"
        "    def __init__(self):\n"
        "        super().__init__()\n"
        "        self.trunk = nn.Linear(3, 4)\n"
        "        self.one = nn.Linear(4, 1)\n"
        "        self.two = nn.Linear(4, 1)\n"
        f"{made}"
        "    def forward(self, x, y=None):\n"
        f"{body}"
        "model = Net()"
    )


BOTH = "h = self.trunk(x)\nreturn self.one(h), self.two(h)"
DICTIONARY = "h = self.trunk(x)\nreturn {'one': self.one(h), 'two': self.two(h)}"
OWN_LOSS = (
    "def own_loss(a, b, y):\n"
    "    first = F.mse_loss(a, y)\n"
    "    second = -0.5 * torch.mean(1 + b - b.pow(2))\n"
    "    return first + second\n"
)
OF_ONE = "def own_loss(a, b, y):\n    return F.mse_loss(a, y)\n"
LOSS_CLASS = (
    "class Loss(nn.Module):\n"
    "    def forward(self, outputs, y):\n"
    "        a, b = outputs\n"
    "        return F.mse_loss(a, y) + F.l1_loss(b, y)\n"
)
RESIDUAL = (
    "class Block(nn.Module):\n"
    "    def __init__(self, down=None):\n"
    "        super().__init__()\n"
    "        self.conv = nn.Linear(4, 4)\n"
    "        self.down = down\n"
    "    def forward(self, x):\n"
    "        skip = x\n"
    "        if self.down is not None:\n"
    "            skip = self.down(x)\n"
    "        return self.conv(x) + skip\n"
)
ATTENTION = (
    "class Attention(nn.Module):\n"
    "    def __init__(self):\n"
    "        super().__init__()\n"
    "        self.key, self.value = nn.Linear(4, 4), nn.Linear(4, 4)\n"
    "    def forward(self, x):\n"
    "        weights = torch.softmax(self.key(x), dim=-1)\n"
    "        return weights * self.value(x), weights\n"
)
UNPACKED = "a, b = model(x)\n"


@pytest.mark.parametrize(
    "parts",
    [
        {"model": net(BOTH), "loss": UNPACKED + "loss = criterion(a, y) + 0.1 * criterion(b, y)"},
        {
            "model": net(BOTH),
            "loss": UNPACKED + "loss = criterion(a, y)\nloss += criterion(b.squeeze(1), y[:, 0])",
        },
        {
            "model": net(BOTH),
            "loss": "out = model(x)\nloss = criterion(out[0], y) + criterion(out[1], y)",
        },
        {
            "model": net(BOTH),
            "loss": "losses = []\nfor out in model(x):\n    losses.append(criterion(out, y))\n"
            "loss = sum(losses)",
        },
        {
            "model": net(DICTIONARY),
            "loss": "out = model(x)\nloss = criterion(out['one'], y) + criterion(out['two'], y)",
        },
        {"model": net(BOTH), "setup": OWN_LOSS, "loss": UNPACKED + "loss = own_loss(a, b, y)"},
        {
            "model": net(BOTH),
            "setup": LOSS_CLASS,
            "criterion": "criterion = Loss()",
            "loss": "loss = criterion(model(x), y)",
        },
        {  # an output from which the loss is computed inside, and nobody else looks at
            "model": net(
                "out = self.two(torch.relu(self.one(self.trunk(x)).expand(-1, 4)))\n"
                "loss = None\n"
                "if y is not None:\n    loss = F.mse_loss(out, y)\n"
                "return out, loss"
            ),
            "loss": "out, loss = model(x, y)",
        },
        {  # either branch has the layer
            "model": net(
                "h = self.trunk(x)\n"
                "if h.shape[1] > 9:\n    out = self.one(h[:, :4])\nelse:\n    out = self.one(h)\n"
                "return out + self.two(h)"
            ),
        },
        {  # what is not there has no gradient
            "model": net(
                "h = self.block(self.trunk(x))\nreturn self.one(h) + self.two(h)",
                "self.block = Block(nn.Linear(4, 4))",
                RESIDUAL,
            ),
        },
        {  # the weights of attention are not looked at, but used
            "model": net(
                "h, seen = self.look(self.trunk(x))\nreturn self.one(h) + self.two(h)",
                "self.look = Attention()",
                ATTENTION,
            ),
        },
    ],
)
def test_not_told_where_all_layers_are_reached(parts: dict[str, str]) -> None:
    source = script(**parts)
    plan, after = converted(source)
    assert not plan.refusals
    assert "DistributedDataParallel(" in after
    assert TOLD not in after
    names: dict[str, Any] = {"__name__": "__main__"}
    exec(compile(source, "train.py", "exec"), names)
    assert all(one.grad is not None for one in names["model"].parameters())


@pytest.mark.parametrize(
    "parts",
    [
        {"model": net(BOTH), "loss": UNPACKED + "loss = criterion(a, y)"},
        {"model": net(BOTH), "loss": UNPACKED + "loss = criterion(a, y) + b.detach().mean()"},
        {"model": net(BOTH), "loss": UNPACKED + "loss = criterion(a, y) + b.mean().item()"},
        {
            "model": net(BOTH),
            "loss": UNPACKED + "loss = criterion(a, y)\nif epoch > 0:\n"
            "    loss = loss + criterion(b, y)",
        },
        {
            "model": net(BOTH),
            "loss": UNPACKED + "with torch.no_grad():\n    extra = criterion(b, y)\n"
            "loss = criterion(a, y) + extra",
        },
        {"model": net(BOTH), "loss": "out = model(x)\nloss = criterion(out[0], y)"},
        {
            "model": net(BOTH),
            "loss": "out = model(x)\nfor k in range(1):\n    loss = criterion(out[k], y)",
        },
        {
            "model": net(BOTH),
            "loss": "outs = []\nouts.extend(model(x))\nloss = criterion(outs[0], y)",
        },
        {"model": net(DICTIONARY), "loss": "out = model(x)\nloss = criterion(out['one'], y)"},
        {"model": net(BOTH), "setup": OF_ONE, "loss": UNPACKED + "loss = own_loss(a, b, y)"},
        {"model": net(BOTH), "loss": UNPACKED + "loss = criterion(a, y) + b.shape[0] * 0.0"},
        {
            "model": net(BOTH),
            "loss": UNPACKED
            + "loss = criterion(a, y) + criterion(a, b.argmax(1, keepdim=True) * 1.0)",
        },
        {
            "model": net(
                "h = self.trunk(x)\nif h.shape[1] > 9:\n    return self.one(h)\nreturn self.two(h)"
            )
        },
        {
            "model": net(
                "h = self.trunk(x)\nout = self.one(h)\n"
                "if self.extra:\n    out = out + self.two(h)\nreturn out",
                "self.extra = False",
            )
        },
        {  # one forward for two classes, one of which leaves a part of its layer aside
            "model": net(
                "h = self.left(self.trunk(x)) + self.right(self.trunk(x))\n"
                "return self.one(h) + self.two(h)",
                "self.left, self.right = Left(), Right()",
                ATTENTION + "class Both(nn.Module):\n    def forward(self, x):\n"
                "        h, seen = self.part(x)\n        return seen\n"
                "class Plain(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
                "        self.fc = nn.Linear(4, 4)\n"
                "    def forward(self, x):\n        h = self.fc(x)\n        return h, h * 2\n"
                "class Left(Both):\n    def __init__(self):\n        super().__init__()\n"
                "        self.part = Plain()\n"
                "class Right(Both):\n    def __init__(self):\n        super().__init__()\n"
                "        self.part = Attention()\n",
            ),
        },
        {  # a part of the network runs without gradients
            "model": net(
                "h = self.trunk(x)\nwith torch.no_grad():\n    more = self.two(h)\n"
                "return self.one(h) + more, h"
            ),
            "loss": UNPACKED + "loss = criterion(a, y) + b.mean()",
        },
        {  # of attention only the weights are used
            "model": net(
                "h, seen = self.look(self.trunk(x))\nreturn self.one(seen) + self.two(seen)",
                "self.look = Attention()",
                ATTENTION,
            ),
        },
        {  # a head of several, chosen at run time
            "model": net(
                "h = self.trunk(x)\nouts = [head(h) for head in (self.one, self.two)]\n"
                "return outs[0], h"
            ),
            "loss": UNPACKED + "loss = criterion(a, y) + b.mean()",
        },
    ],
)
def test_told_where_a_layer_may_be_left_out(parts: dict[str, str]) -> None:
    plan, after = converted(script(**parts))
    assert not plan.refusals
    assert TOLD in after
