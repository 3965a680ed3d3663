"""Constants decide what is read only where nothing else may be given to their names."""

from pathlib import Path

import pytest

from tests.rules.tools import converted, refused, script
from trainera.pipeline import plan_script

CENTRED = """
import sys
class Centred(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 1)

    def forward(self, x):
        return self.fc(x - x.mean(0))
kind = 1
"""
CHOICE = "model = Centred() if kind == 2 else nn.Linear(3, 1)"
CHANGED = {
    "by its key": "globals()['kind'] = 2",
    "by its key, in a function": "def f():\n    globals()['kind'] = 2\nf()",
    "by words": "globals().update(kind=2)",
    "by some keys": "globals().update({name: 2 for name in sys.argv})",
    "at the top, where these are one": "locals()['kind'] = 2",
    "without arguments": "vars()['kind'] = 2",
    "under another name": "names = globals()\nnames['kind'] = 2",
    "code": "exec('kind = 2')",
    "code that binds": "eval('(kind := 2)')",
    "code by another name": "run = exec\nrun('kind = 2')",
    "of the module": "setattr(sys.modules[__name__], 'kind', 2)",
    "of the module, some name": "setattr(sys.modules[__name__], sys.argv[1], 2)",
    "an attribute of the module": "sys.modules[__name__].kind = 2",
    "the module by a name": "import __main__\n__main__.kind = 2",
    "its dictionary": "import __main__\n__main__.__dict__['kind'] = 2",
    "its dictionary, asked for": "import __main__\nvars(__main__)['kind'] = 2",
    "handed over": "import __main__\ndef f(where):\n    where.kind = 2\nf(__main__)",
    "in a function nobody seems to call": "def f():\n    global kind\n    kind = 2",
}


@pytest.mark.parametrize("how", CHANGED)
def test_what_gives_a_name_another_value(how: str) -> None:
    refused(setup=CENTRED + CHANGED[how], model=CHOICE)


CERTAIN = {
    "looked at": "print(globals()['data'], 'kind' in globals(), vars()['data'])",
    "arguments": "import argparse\nargs = argparse.ArgumentParser().parse_args()\n"
    "for k, v in {'lr': 1}.items():\n    setattr(args, k, v)\nprint(vars(args))",
    "of itself": "class A:\n    def __init__(self, **more):\n        for k, v in more.items():\n"
    "            setattr(self, k, v)\n        self.kind = 2\nA()",
    "another name": "globals()['other'] = 2",
    "bound behind it": "exec('kind = 2')\nkind = 1",
    "a network's method": "nn.Linear(1, 1).eval()",
}


@pytest.mark.parametrize("how", CERTAIN)
def test_what_leaves_a_name_alone(how: str) -> None:
    plan, _ = converted(script(setup=CENTRED + CERTAIN[how], model=CHOICE))
    assert not plan.refusals


OF_CLASS = {
    "by computed names": "for key in sys.argv:\n    setattr(Options, key, 2)",
    "in a method": "def load(cls, key):\n    setattr(cls, key, 2)\nload(Options, 'kind')",
    "of what is not known": "def load(cls):\n    cls.kind = 2\n[load(one) for one in [Options]]",
}


@pytest.mark.parametrize("how", OF_CLASS)
def test_attributes_of_a_class(how: str) -> None:
    setup = CENTRED + "class Options:\n    kind = 1\n" + OF_CLASS[how]
    refused(setup=setup, model=CHOICE.replace("kind", "Options.kind"))


@pytest.mark.parametrize(
    "change",
    [
        "helper.KIND = 'deep'",
        "setattr(helper, 'KIND', 'deep')",
        "helper.__dict__['KIND'] = 'deep'",
        "helper.__dict__.update(KIND='deep')",
        "helper.choose('deep')",
        "other = helper\nother.KIND = 'deep'",
    ],
)
@pytest.mark.parametrize("chosen", ["helper.KIND == 'deep'", "helper.is_deep()", "KIND == 'deep'"])
def test_names_of_another_module(change: str, chosen: str, tmp_path: Path) -> None:
    (tmp_path / "helper.py").write_text(
        "KIND = 'plain'\n\ndef is_deep():\n    if KIND == 'deep':\n        return True\n"
        "    return False\n\ndef choose(kind):\n    global KIND\n    KIND = kind\n"
    )
    setup = f"import helper\n{CENTRED}\n{change}\nfrom helper import KIND"
    model = f"if {chosen}:\n    model = Centred()\nelse:\n    model = nn.Linear(3, 1)"
    (tmp_path / "train.py").write_text(script(setup=setup, model=model))
    assert plan_script(tmp_path / "train.py").refusals


def test_a_loss_that_is_made_another_one() -> None:
    setup = "how = 'mean'\ndef change():\n    globals()['how'] = 'sum'\nchange()"
    refused(setup=setup, loss="loss = F.mse_loss(model(x), y, reduction=how)")
