"""Networks of which the class is chosen when the script runs: each is looked into."""

from pathlib import Path

import pytest

from tests.rules.tools import beyond, converted, refused, script
from trainera.pipeline import plan_script

TWO = """
class Plain(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 1)

    def forward(self, x, y=None):
        out = self.fc(x)
        loss = F.mse_loss(out, y) if y is not None else None
        return out, loss

class Deep(nn.Module):
    def __init__(self):
        super().__init__()
        self.one, self.two = nn.Linear(3, 4), nn.Linear(4, 1)

    def forward(self, x, y=None):
        out = self.two(torch.tanh(self.one(x)))
        loss = None
        if y is not None:
            loss = F.mse_loss(out, y)
        return out, loss

class Centred(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 1)

    def forward(self, x):
        return self.fc(x - x.mean(0))
"""


def test_losses_that_all_of_them_give() -> None:
    model = "if len(data) > 7:\n    model = Plain()\nelse:\n    model = Deep()"
    plan, text = converted(script(setup=TWO, model=model, loss="out, loss = model(x, y)"))
    assert not plan.refusals
    assert "(loss * loader.share).backward()" in text


def test_one_of_them_mixes_samples() -> None:
    refused(setup=TWO, model="model = Centred() if len(data) > 7 else nn.Linear(3, 1)")
    refused(setup=TWO, model="model = nn.Linear(3, 1) if len(data) > 7 else Centred()")


def test_classes_in_a_dictionary() -> None:
    model = "kinds = {'a': Centred, 'b': Centred}\nmodel = kinds['a']()"
    refused(setup=TWO, model=model)


def test_none_of_them_does() -> None:
    model = "model = nn.Sequential(nn.Linear(3, 1)) if len(data) > 7 else nn.Linear(3, 1)"
    (added,) = beyond(model=model)
    assert added.startswith("model = DistributedDataParallel(nn.Sequential(nn.Linear(3, 1)) if")


@pytest.mark.parametrize(
    "chosen",
    [
        "kinds[name]()",
        "kinds.get(name)()",
        "kinds.get(name, Plain)()",
        "globals()[name]()",
        "vars()[name]()",
        "eval(name)()",
        "getattr(sys.modules[__name__], name)()",
    ],
)
def test_a_class_that_is_chosen_by_its_name(chosen: str) -> None:
    """Any that can be called like that may be meant."""
    setup = f"import sys\n{TWO}\nname = sys.argv[1]\n"
    centred = setup + "kinds = {'a': Plain, 'b': Centred}"
    refused(setup=centred, model=f"model = {chosen}")
    needs_more = setup.replace("def __init__(self):", "def __init__(self, width):")
    needs_more += """
class Helper:
    def __init__(self, first, second):
        print(first)

def make():
    return nn.Linear(3, 1)

kinds = {'a': make, 'b': Helper}
"""
    _, text = converted(
        script(setup=needs_more, model=f"model = {chosen.replace('Plain', 'make')}")
    )
    assert f"DistributedDataParallel({chosen.replace('Plain', 'make')}" in text


def test_a_function_of_another_module_by_its_name(tmp_path: Path) -> None:
    (tmp_path / "zoo.py").write_text(f"import torch\nfrom torch import nn\n{TWO}")
    for module in ("zoo.__dict__[name]", "vars(zoo)[name]", "getattr(zoo, name)"):
        train = script(imports="import sys\nimport zoo", model="model = " + module + "()")
        train = train.replace("name]", "sys.argv[1]]").replace("name)", "sys.argv[1])")
        (tmp_path / "train.py").write_text(train)
        plan = plan_script(tmp_path / "train.py")
        assert "network" in [refusal.rule for refusal in plan.refusals], module


REGISTRIES = [
    "REG = {}\ndef register(cls):\n    REG[cls.__name__] = cls\n    return cls\n",
    "REG = dict()\ndef register(cls):\n    REG.update({cls.__name__: cls})\n    return cls\n",
]


@pytest.mark.parametrize("registry", REGISTRIES)
def test_classes_that_register_themselves(registry: str) -> None:
    setup = registry + TWO.replace("class ", "@register\nclass ")
    refused(setup=setup, model="model = REG['Centred']()")
    alike = setup[: setup.index("@register\nclass Centred")]
    _, text = converted(script(setup=alike, model="model = REG['Plain']()", loss=OWN_LOSS))
    assert "DistributedDataParallel(" in text


OWN_LOSS = "loss = criterion(model(x)[0], y)"


@pytest.mark.parametrize("chosen", ["globals().get(name)", "nn.Module.__subclasses__()[-1]"])
def test_classes_that_are_found_in_other_ways(chosen: str) -> None:
    refused(setup=f"name = 'Centred'\n{TWO}", model=f"model = {chosen}()")


def test_layers_that_are_put_into_a_list_first() -> None:
    layers = "parts = [nn.Linear(3, 3)]\nfor _ in range(2):\n    parts.append({}())\n"
    model = "model = nn.Sequential(*parts, nn.Linear({}, 1))"
    refused(setup=TWO + layers.format("Centred"), model=model.format(1))
    assert beyond(setup=layers.format("nn.Tanh"), model=model.format(3))


PICKED = """
def pick(kind, deep=False):
    if {test}:
        return Centred()
    return nn.Linear(3, 1)
"""


@pytest.mark.parametrize(
    ("test", "call"),
    [
        ("kind == 1", "pick(2)"),
        ("1 < kind", "pick(1)"),
        ("kind != 'plain'", "pick('plain')"),
        ("deep", "pick(1)"),
        ("not deep", "pick(1, deep=True)"),
        ("deep and kind > 2", "pick(3)"),
        ("False", "pick(3)"),
    ],
)
def test_a_choice_by_a_constant(test: str, call: str) -> None:
    """What cannot be reached is no reason to refuse."""
    plan, _ = converted(script(setup=TWO + PICKED.format(test=test), model=f"model = {call}"))
    assert not plan.refusals


MAY_BE_OTHERWISE = {
    "bound by another function": """
kind = 0
def step():
    global kind
    kind += 1
for _ in range(2):
    step()
    model = Centred() if kind == 2 else nn.Linear(3, 1)
""",
    "an error midway": """
try:
    kind = 1
    open("missing").close()
    kind = 2
except OSError:
    model = Centred() if kind == 1 else nn.Linear(3, 1)
""",
    "an error that is dropped": """
import contextlib
with contextlib.suppress(OSError):
    kind = 1
    open("missing").close()
    kind = 2
model = Centred() if kind == 1 else nn.Linear(3, 1)
""",
    "none at first": """
kind = None
if len(data) > 7:
    kind = 1
model = nn.Linear(3, 1) if kind == 1 else Centred()
""",
    "none at the end of a function": """
def chosen():
    if len(data) > 7:
        return 1
kind = chosen()
model = nn.Linear(3, 1) if kind == 1 else Centred()
""",
    "counted": """
kind = 0
for _ in range(3):
    model = Centred() if kind == 2 else nn.Linear(3, 1)
    kind += 1
""",
    "one of two": """
kind = 1
if len(data) > 7:
    kind = 2
model = nn.Linear(3, 1) if kind == 1 else Centred()
""",
    "a tensor": """
kind = torch.zeros(())
kind += 1
model = nn.Linear(3, 1) if kind == 0 else Centred()
""",
}


@pytest.mark.parametrize("case", MAY_BE_OTHERWISE)
def test_a_choice_by_what_may_change(case: str) -> None:
    refused(setup=TWO, model=MAY_BE_OTHERWISE[case])
