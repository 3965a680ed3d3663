"""Scripts whose own code lies elsewhere in the project: packages, src layouts, relative imports."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

NET = """
from torch import nn
from {norms} import Norm


class Small(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(4, 6), Norm(6), nn.ReLU(), nn.Linear(6, 2))

    def forward(self, x):
        return self.body(x)
"""
NORMS = "from torch import nn\n\n\nclass Norm(nn.BatchNorm1d):\n    pass\n"
LOOP = """
import torch
from {meters} import Average


class Trainer:
    def __init__(self, net, loader):
        self.net, self.loader = net, loader
        self.optimizer = torch.optim.SGD(net.parameters(), lr=0.1)

    def fit(self):
        for epoch in range(3):
            meter = Average()
            for x, y in self.loader:
                self.optimizer.zero_grad()
                loss = torch.nn.functional.cross_entropy(self.net(x), y)
                loss.backward()
                self.optimizer.step()
                meter.update(loss.item(), len(x))
            print(f"epoch {{epoch}}: {{meter.total / meter.count:.10f}}")
"""
METERS = """
class Average:
    def __init__(self):
        self.total, self.count = 0.0, 0

    def update(self, value, count):
        self.total += value * count
        self.count += count
"""
TRAIN = """
import torch
from torch.utils.data import DataLoader, TensorDataset
from {net} import Small
from {loop} import Trainer

torch.set_default_dtype(torch.float64)
torch.manual_seed(0)
x = torch.randn(50, 4)
loader = DataLoader(TensorDataset(x, (x[:, 0] > 0).long()), batch_size=8, shuffle=True)
Trainer(Small(), loader).fit()
"""


def write(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


@pytest.fixture
def apart(tmp_path: Path) -> Path:
    """A script in a folder of its own, a package at the top, another in `src`."""
    files = {"pyproject.toml": "", "lib/__init__.py": "", "src/helpers/__init__.py": ""}
    files |= {"lib/nets/__init__.py": "", "lib/nets/small.py": NET.format(norms="..norms")}
    files |= {"lib/norms.py": NORMS, "lib/loop.py": LOOP.format(meters="helpers.meters")}
    files |= {"src/helpers/meters.py": METERS}
    files |= {"projects/x/train.py": TRAIN.format(net="lib.nets.small", loop="lib.loop")}
    write(tmp_path, files)
    return tmp_path


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """A package with relative imports, of which the script is a module."""
    files = {"pkg/__init__.py": "", "pkg/inner/__init__.py": "", "pkg/norms.py": NORMS}
    files |= {"pkg/net.py": NET.format(norms=".norms"), "pkg/inner/meters.py": METERS}
    files |= {"pkg/loop.py": LOOP.format(meters=".inner.meters")}
    files |= {"pkg/train.py": TRAIN.format(net=".net", loop=".loop")}
    write(tmp_path, files)
    return tmp_path


def said(folder: Path, *command: str, path: str = "", stderr: bool = False) -> str:
    env = os.environ | {"PYTHONPATH": path}
    if "convert" in command:
        env["PYTHONSAFEPATH"] = "1"  # as for the command `trainera`: nothing here is in its way
    ran = subprocess.run(
        [sys.executable, *command], cwd=folder, env=env, capture_output=True, text=True, timeout=180
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return ran.stderr if stderr else ran.stdout


def test_a_package_elsewhere_in_the_project(apart: Path) -> None:
    path = os.pathsep.join((".", "src"))
    alone = said(apart, "projects/x/train.py", path=path)
    run = ("-m", "trainera", "run", "projects/x/train.py", "-n")
    assert said(apart, *run, "2", path=path) == alone
    assert alone.count("epoch") == 3


@pytest.mark.parametrize("path", ["", "src"])
def test_all_files_that_change_are_written(apart: Path, path: str) -> None:
    convert = ("-m", "trainera", "convert", "projects/x/train.py", "-o", "out/")
    told = said(apart, *convert, path=path, stderr=True)
    assert "run it with: PYTHONPATH=out:out/src torchrun --nproc-per-node 2 out/projects" in told
    assert "crew.batchnorm(self.net)" in (apart / "out/lib/loop.py").read_text()
    assert "combine(" in (apart / "out/lib/loop.py").read_text()
    assert (apart / "out/src/helpers/meters.py").read_text() == METERS


def test_a_module_of_a_package(package: Path) -> None:
    alone = said(package, "-m", "pkg.train")
    assert said(package, "-m", "trainera", "run", "pkg/train.py", "-n", "3") == alone
    told = said(package, "-m", "trainera", "convert", "pkg/train.py", stderr=True)
    assert "run it with: PYTHONPATH=pkg_ddp torchrun --nproc-per-node 2 -m pkg.train" in told
    assert said(package, "-m", "pkg.train", path="pkg_ddp") == alone


def test_what_is_installed_is_a_library(apart: Path) -> None:
    for name in ("json", "numpy", "ray"):  # the last one is not installed here
        write(apart, {f"{name}/__init__.py": "raise SystemExit"})
    script = apart / "projects/x/train.py"
    script.write_text(f"import json\nimport numpy\nimport ray\n{script.read_text()}")
    told = said(apart, "-m", "trainera", "convert", "projects/x/train.py", "-o", "o/", stderr=True)
    assert "wrote o/: 8 files, 2 changed" in told
