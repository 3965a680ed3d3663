"""Networks, and scripts around them, as published code puts them together."""

from pathlib import Path

import pytest

from tests.rules.tools import beyond, converted, network, refused, script
from trainera.pipeline import plan_script
from trainera.plan import Options

SHARE = "(loss * loader.share).backward()"
MADE = "model = DistributedDataParallel(Net(), broadcast_buffers=False{})"
IDLE = ", find_unused_parameters=True"

AUX = """\
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc, self.aux = nn.Linear(3, 1), nn.Linear(3, 1)
    def forward(self, x):
        if self.training:
            return self.fc(x), self.aux(x)
        return self.fc(x)
model = Net()
"""


def test_several_outputs_while_it_trains() -> None:
    loss = "out, aux = model(x)\nloss = criterion(out, y) + 0.3 * criterion(aux, y)"
    plan, after = converted(script(model=AUX, loss=loss))
    assert not plan.refusals
    assert SHARE in after


def test_several_outputs_that_mix_samples() -> None:
    mixed = AUX.replace("return self.fc(x)\n", "return self.fc(x - x.mean(0))\n")
    refused(model=mixed, loss="out, aux = model(x)\nloss = criterion(out, y)")


BLOCKS = """\
class Shift(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 3)
    def forward(self, x, size):
        return self.fc(x), size + 1
class Centre(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 3)
    def forward(self, x, size):
        return self.fc(x - x.mean(0)), size
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = nn.ModuleList()
        for _ in range(2):
            self.blocks.append(Shift()){more}
        self.fc = nn.Linear(3, 1)
    def forward(self, x):
        size = 0
        for block in self.blocks:
            x, size = block(x, size)
        return self.fc(x)
model = Net()
"""


def test_layers_that_a_list_is_given_later() -> None:
    assert beyond(model=BLOCKS.replace("{more}", "")) == [MADE.format(IDLE)]


@pytest.mark.parametrize("first", [True, False])
def test_each_of_them_is_looked_into(first: bool) -> None:
    model = BLOCKS.replace("{more}", "\n            self.blocks.append(Centre())")
    if first:
        model = model.replace("nn.ModuleList()", "nn.ModuleList([Centre()])")
    assert "combines samples" in refused(model=model)[0][2]


DROP_PATH = """\
def drop_path(x, p, training):
    if p == 0. or not training:
        return x
    keep = 1 - p
    shape = (x.shape[0],) + (1,) * (x.ndim - 1)
    mask = keep + torch.rand(shape, dtype=x.dtype, device=x.device)
    mask.floor_()
    return x.div(keep) * mask
class DropPath(nn.Module):
    def __init__(self, p):
        super().__init__()
        self.p = p
    def forward(self, x):
        return drop_path(x, self.p, self.training)
class Net(nn.Module):
    def __init__(self, p=0.1):
        super().__init__()
        self.drop = DropPath(p) if p > 0 else nn.Identity()
        self.fc = nn.Linear(3, 1)
    def forward(self, x):
        return self.fc(x + self.drop(x))
model = Net()
"""


def test_paths_that_are_dropped_for_each_sample() -> None:
    assert beyond(model=DROP_PATH) == [MADE.format("")]


def test_paths_that_are_dropped_for_the_batch() -> None:
    once = DROP_PATH.replace("(x.shape[0],) + (1,) * (x.ndim - 1)", "(1,)")
    assert beyond(model=once) == [
        MADE.format(", find_unused_parameters=True"),
    ]


def test_paths_that_are_dropped_for_each_sample_or_for_the_batch() -> None:
    """All draw alike, so that one line may be both; not if each worker draws its own."""
    both = DROP_PATH.replace("(x.shape[0],) + (1,) * (x.ndim - 1)", "(rows,) + (1,)")
    both = both.replace("drop_path(x, ", "drop_path(x, rows, ").replace(
        "return drop_path(x, rows, self.p, self.training)",
        "return drop_path(x, x.shape[0], self.p, self.training) + "
        "drop_path(x, 1, self.p, self.training)",
    )
    assert "drop_path(x, rows, p" in both
    beyond(model=both)
    assert converted(script(model=both), Options(random="own"))[0].refusals


WINDOWS = (
    "windows = x.view(x.shape[0], 3, 1).view(-1, 1, 1)",
    "rows = int(windows.shape[0] / (9 / 3))",
    "x = windows.view(rows, 3)",
)


def test_windows_of_an_image() -> None:
    assert beyond(model=network(*WINDOWS)) == [MADE.format("")]


def test_a_layer_that_is_computed_twice_to_save_memory() -> None:
    model = network("x = torch.utils.checkpoint.checkpoint(self.fc2, x)", layers="self.fc2 = Two()")
    two = network().replace("Net", "Two").replace("nn.Linear(3, 1)", "nn.Linear(3, 3)")
    two = two.replace("model = Two()", "")
    imports = "import torch.utils.checkpoint"
    assert beyond(imports=imports, setup=two, model=model) == [MADE.format("")]
    centred = two.replace("self.fc(x)", "self.fc(x - x.mean(0))")
    refused(imports=imports, setup=centred, model=model)


@pytest.mark.parametrize("layer", ["zoo.make('tiny')", "zoo.Net.from_pretrained('tiny')"])
def test_a_network_around_one_of_a_library(layer: str) -> None:
    model = (
        f"class Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
        f"        self.backbone = {layer}\n"
        "    def forward(self, x):\n        return self.backbone(x)\nmodel = Net()"
    )
    added = beyond(imports="import zoo", model=model)
    # Which layers it has is not known: there may be batch statistics among them.
    assert added == [
        "crew.try_networks(batch_first=True)",
        "model = DistributedDataParallel(crew.batchnorm(Net()), broadcast_buffers=False)",
    ]


@pytest.mark.parametrize(
    ("setup", "model"),
    [
        ("base = zoo.make()", "model = nn.Sequential(base, nn.Linear(3, 1))"),
        ("base = zoo.make()", "model = nn.Sequential(*list(base.children()), nn.Linear(3, 1))"),
        ("base = torch.hub.load('a', 'b')", "model = nn.Sequential(base, nn.Linear(3, 1))"),
        ("base = zoo.make()", network("x = self.base(x)").replace("Net()", "Net(base)")),
        ("base = zoo.make()", network("x = self.base.features(x)").replace("Net()", "Net(base)")),
        ("base = zoo.make()", "model = nn.Sequential(base.features, nn.Linear(3, 1))"),
        ("", "model = nn.Sequential(eval('nn.BatchNorm1d')(3), nn.Linear(3, 1))"),
        ("", network("x = self.base(x)", layers="self.base = zoo.make()")),
        ("", network("x = self.base(x)", layers="self.base = torch.load('base.pt')")),
        ("", network("x = self.base(x)", layers="self.base = getattr(nn, kind)(3)")),
        ("", "class Net(zoo.resnet.ResNet):\n    pass\nmodel = Net()".replace("zoo.", "timm.")),
        ("", network(layers="self.base = nn.Sequential(*list(zoo.make().children())[:-1])")),
    ],
)
def test_layers_of_a_library_may_use_batch_statistics(setup: str, model: str) -> None:
    model = model.replace(
        "self):\n        super().__init__()\n",
        "self, base=None):\n        super().__init__()\n        self.base = base\n",
        1,
    )
    _, after = converted(script(imports="import timm, zoo", setup=setup, model=model))
    assert "crew.batchnorm(" in after


def test_one_of_two_functions() -> None:
    """Each is looked into, whichever comes last."""
    both = "def half(a, b):\n    return criterion(a, b) / 2\ndef centred(a, b):\n    {}\n"
    loss = "measure = half if len(data) > 7 else centred\nloss = measure(model(x), y)"
    fine = both.format("return criterion(a, b)")
    assert beyond(before=fine, loss=loss) == []
    odd = both.format("return (criterion(a, b) ** 2).sqrt()")
    for swapped in (
        loss,
        loss.replace("half if", "centred if").replace("else centred", "else half"),
    ):
        refused(before=odd, loss=swapped)


def test_networks_side_by_side() -> None:
    source = script(
        setup="other = nn.Linear(3, 1)",
        before="second = torch.optim.Adam(other.parameters())\nhistory = [[], []]",
        loss="for net, opt, seen in zip([model, other], [optimizer, second], history):\n"
        "    loss = criterion(net(x), y)\n    opt.zero_grad()\n    loss.backward()\n"
        "    opt.step()\n    seen.append(loss.item())",
        backward="pass",
    )
    plan, after = converted(source)
    assert not plan.refusals
    assert "seen.append(loader.mean(loss.item()))" in after
    assert after.count("DistributedDataParallel(nn.Linear(3, 1), broadcast_buffers=False)") == 2


def test_parameters_sorted_into_groups() -> None:
    before = """
    def groups_of(net):
        groups = {"decay": {"params": [], "weight_decay": 0.1}, "none": {"params": []}}
        for name, p in net.named_parameters():
            kind = "none" if name.endswith("bias") else "decay"
            groups[kind]["params"].append(p)
        return list(groups.values())
    optimizer = torch.optim.AdamW(groups_of(model))
    """
    assert beyond(before=before) == ["for name, p in net.module.named_parameters():"]


def test_a_network_that_is_made_on_one_branch_and_loaded_on_another() -> None:
    model = """
    if len(data) > 7:
        model = torch.load("all.pt")["model"]
    else:
        model = nn.Linear(3, 1)
    if torch.cuda.is_available():
        model.cuda()
        model = nn.DataParallel(model)
    """
    added = beyond(model=model)
    assert "model = DistributedDataParallel(model, broadcast_buffers=False)" in added


def test_a_module_that_is_a_script_of_its_own(tmp_path: Path) -> None:
    """What it does as a script is no part of what imports it."""
    own = script().replace("for epoch", "def train():\n  for epoch").replace("import torch\n", "")
    body = own[own.index("def train") :].replace("\n    ", "\n      ")
    helper = (
        "import torch\nfrom torch import nn\nfrom torch.utils.data import DataLoader\n"
        "def make(data):\n    return DataLoader(data, batch_size=8)\n"
        f"{body}\nif __name__ == '__main__':\n    train()\n"
    )
    (tmp_path / "other.py").write_text(helper)
    path = tmp_path / "train.py"
    path.write_text(script(imports="from other import make", loader="loader = make(data)"))
    assert plan_script(path).refusals == ()
    path.write_text(
        script(imports="from other import make, train", loader="loader = make(data)\ntrain()")
    )
    assert plan_script(path).refusals


def test_what_a_network_asserts() -> None:
    """It decides nothing but whether the run goes on."""
    checks = ("n, width = x.size()", "assert n <= 64 and width <= 3, n", "assert x.max() < 9")
    plan, after = converted(script(model=network(*checks, "x = self.fc2(x)", layers=FC2)))
    assert not plan.refusals
    assert SHARE in after
    for decides in ("if x.max() < 9:\n            x = x + 1", "assert x.size(0) == 8"):
        found = refused(model=network(decides, layers=FC2))
        assert any("depends on which batch" in what for _, _, what, _ in found)


FC2 = "self.fc2 = nn.Linear(3, 3)"
