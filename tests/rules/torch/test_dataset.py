"""Datasets whose samples hang on what was read before."""

import pytest

from tests.rules.tools import beyond, refused

IMPORTS = "import random\nimport numpy as np\nfrom torch.utils.data import Dataset"


def dataset(*body: str, start: str = "pass") -> str:
    """A dataset with these lines in its ``__getitem__``."""
    lines = "\n".join(f"        {line}" for line in body)
    return (
        "class Rows(Dataset):\n"
        "    def __init__(self):\n"
        "        self.x = torch.randn(20, 3)\n"
        f"        {start}\n"
        "    def __len__(self):\n"
        "        return 20\n"
        "    def __getitem__(self, i):\n"
        f"{lines}\n"
        "        return self.x[i], self.x[i].sum(0, keepdim=True)\n"
        "data = Rows()"
    )


@pytest.mark.parametrize(
    ("line", "start"),
    [
        ("self.reads += 1", "self.reads = 0"),
        ("self.seen.append(i)", "self.seen = []"),
        ("self.x = self.x * 1.01", "pass"),
        ("self.counts[i] += 1", "self.counts = [0] * 20"),
        ("noise = self.rng.normal()", "self.rng = np.random.default_rng(0)"),
        ("noise = self.rng.random()", "self.rng = random.Random(0)"),
        ("n = torch.randn(3, generator=self.g)", "self.g = torch.Generator().manual_seed(0)"),
        ("row = next(self.rows)", "self.rows = iter(range(99))"),
        ("line = self.file.readline()", "self.file = open('a')"),
        ("self.cache['last'] = i", "self.cache = {}"),
    ],
)
def test_refused(line: str, start: str) -> None:
    found = refused(imports=IMPORTS, setup=dataset(line, start=start))
    assert [(rule, place) for rule, place, _, _ in found] == [("dataset", line)]


@pytest.mark.parametrize(
    "setup",
    [
        "g = np.random.default_rng(0)\n" + dataset("noise = g.normal()"),
        "reads = 0\n" + dataset("global reads", "reads += 1"),
        dataset("self.load(i)").replace(
            "data =", "    def load(self, i):\n        self.x *= 2\ndata ="
        ),
    ],
)
def test_refused_elsewhere(setup: str) -> None:
    assert [rule for rule, *_ in refused(imports=IMPORTS, setup=setup)] == ["dataset"]


@pytest.mark.parametrize(
    ("lines", "start"),
    [
        (["if i not in self.cache:", "    self.cache[i] = self.x[i]"], "self.cache = {}"),
        (["if self.file is None:", "    self.file = open('a')"], "self.file = None"),
        (["if not hasattr(self, 'file'):", "    self.file = open('a')"], "pass"),
        (["noise = np.random.normal() + random.random() + torch.rand(1)"], "pass"),
        (["rng = np.random.default_rng(i)", "noise = rng.normal()"], "pass"),
        (["self.rng.seed(i)", "noise = self.rng.random()"], "self.rng = random.Random()"),
        (["parts = []", "parts.append(i)"], "pass"),
        (["self.file.seek(9 * i)", "line = self.file.readline()"], "self.file = open('a')"),
    ],
)
def test_left_alone(lines: list[str], start: str) -> None:
    setup = dataset(*lines, start=start)
    start = start.replace("random.Random()", "crew.agree(random.Random())")
    assert beyond(imports=IMPORTS, setup=setup) == ([start] if "crew" in start else [])


def test_other_classes_may_change() -> None:
    meter = (
        "class Meter:\n    def __init__(self):\n        self.sum = 0\n"
        "    def update(self, value):\n        self.sum += value\nmeter = Meter()\nmeter.update(1)"
    )
    assert beyond(setup=meter) == []
