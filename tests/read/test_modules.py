"""Which of a user's own modules are read."""

from pathlib import Path
from textwrap import dedent

import pytest

from trainera.pipeline import own_modules as all_modules
from trainera.pipeline import plan_script
from trainera.read.source import modules
from trainera.read.source.file import load
from trainera.read.source.modules import own_modules

LOOP = """
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
from {home} import score

loader = DataLoader(TensorDataset(torch.randn(8, 3), torch.randn(8, 1)), batch_size=4)
model = nn.Linear(3, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for x, y in loader:
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(model(x), y)
    loss.backward()
    optimizer.step()
    print(score(model(x)))
"""


def write(folder: Path, **files: str) -> Path:
    """A script and its modules; two underscores stand for a folder."""
    for name, text in files.items():
        path = folder / (name.replace("__", "/").replace("/init", "/__init__") + ".py")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(dedent(text), encoding="utf-8")
    return folder / "train.py"


def found(script: Path) -> set[str]:
    return set(own_modules(load(script))) - {"__main__"}


def test_all_modules_are_read_however_they_are_imported(tmp_path: Path) -> None:
    script = write(
        tmp_path,
        train="import a\nfrom b import c\ndef f():\n    from d import e",
        a="import importlib\nimportlib.import_module('late')",
        b__init="",
        b__c="from ..a import x\nfrom . import f",
        b__f="",
        d="from e import *",
        e="",
        late="",
        unused="",
    )
    assert found(script) == {"a", "b", "b.c", "b.f", "d", "e", "late"}


def test_imports_for_type_checkers_are_not_followed(tmp_path: Path) -> None:
    script = write(
        tmp_path,
        train="import typing\nif typing.TYPE_CHECKING:\n    import a\nelse:\n    import b",
        a="",
        b="from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from a import Net",
    )
    assert found(script) == {"b"}
    assert {path.name for path in all_modules(script)} == {"a.py", "b.py"}


LAZY = """
    from typing import TYPE_CHECKING
    if TYPE_CHECKING:
        from .nets import Net as Net
        from .losses import *
        from .other import Other
    else:
        import sys
        sys.modules[__name__] = LazyModule(__name__)
"""


@pytest.mark.parametrize(
    "use",
    [
        "from lazy import Net, loss",
        "import lazy\nlazy.Net(), lazy.loss",
        "from lazy import *\nprint(Net, loss)",
        "from front import Net, loss",
        "from star import Net, loss",
        "def f():\n    from lazy import Net\ndef g():\n    from lazy import loss",
    ],
)
def test_a_lazy_package_tells_where_its_names_are(tmp_path: Path, use: str) -> None:
    script = write(
        tmp_path,
        train=use,
        lazy__init=LAZY,
        lazy__nets="from . import layers\nclass Net: ...",
        lazy__layers="",
        lazy__losses="def loss(): ...",
        lazy__other="class Other: ...",
        front="from lazy import Net, loss",
        star="from lazy import *",
    )
    assert found(script) - {"front", "star"} == {"lazy", "lazy.nets", "lazy.losses", "lazy.layers"}


def test_of_a_large_package_the_nearest_modules_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(modules, "FEW", 5)
    monkeypatch.setattr(modules, "MUCH", 400)
    zoo = {f"zoo__net{i}": f"from . import deep{i}\n" + "#" * 60 for i in range(30)}
    deep = {f"zoo__deep{i}": "" for i in range(30)}
    listed = "".join(f"from .net{i} import *\n" for i in range(30))
    script = write(
        tmp_path,
        train="from zoo import make\nimport mine",
        mine="",
        zoo__init=listed + "from .factory import make",
        zoo__factory="def make(): ...",
        **zoo,
        **deep,
    )
    read = found(script)
    assert {"zoo", "mine", "zoo.factory"} <= read
    assert len(read) < 12
    assert len(all_modules(script)) == 63


def test_the_bound_is_far_from_what_a_project_has(tmp_path: Path) -> None:
    parts = {f"m{i}": f"import m{i + 1}\n" + "x = 1\n" * 1000 for i in range(200)}
    assert len(found(write(tmp_path, train="import m0", **parts))) == 200


@pytest.mark.parametrize("star", [False, True])
def test_what_is_not_read_is_treated_like_a_library(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, star: bool
) -> None:
    """Nothing is known of it: it is given the whole batch."""
    monkeypatch.setattr(modules, "FEW", 1)
    monkeypatch.setattr(modules, "MUCH", 0)
    folders = (tmp_path / "own", tmp_path / "library")
    front = "from far import " + ("*" if star else "score") + "  # " + "x" * 99
    write(folders[0], train=LOOP.format(home="near"), near=front, far="def score(x): return x\n")
    write(folders[1], train=LOOP.format(home="near"), near=front.replace("far", "installed"))
    plans = [plan_script(folder / "train.py") for folder in folders]
    assert not plans[0].refusals
    first, second = (
        [(one.rule, one.place.line, one.place.column, one.action) for one in plan.edits]
        for plan in plans
    )
    assert first == second
    assert any(rule == "metrics" for rule, *_ in first)
