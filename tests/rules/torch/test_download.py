"""Downloads are done by one worker first."""

import pytest

from tests.rules.tools import beyond, changed, script


@pytest.mark.parametrize(
    ("imports", "call", "through"),
    [
        (
            "from torchvision import datasets",
            "datasets.MNIST('d', download=True)",
            "datasets.MNIST, 'd', download=True",
        ),
        (
            "import torchvision",
            "torchvision.datasets.CIFAR10(root='d', train=False, download=True)",
            "torchvision.datasets.CIFAR10, root='d', train=False, download=True",
        ),
        (
            "import sys\nfrom torchvision.datasets import MNIST",
            "MNIST('d', download='get' in sys.argv)",
            "MNIST, 'd', download='get' in sys.argv",
        ),
        (
            "import urllib.request",
            "urllib.request.urlretrieve('u', 'f')",
            "urllib.request.urlretrieve, 'u', 'f'",
        ),
        ("from datasets import load_dataset", "load_dataset('mnist')", "load_dataset, 'mnist'"),
        (
            "from sklearn.datasets import fetch_openml",
            "fetch_openml('mnist_784')",
            "fetch_openml, 'mnist_784'",
        ),
        ("import torch.hub", "torch.hub.load('a/b', 'c')", "torch.hub.load, 'a/b', 'c'"),
    ],
)
def test_in_turn(imports: str, call: str, through: str) -> None:
    assert beyond(imports=imports, setup=f"extra = {call}") == [f"extra = crew.in_turn({through})"]


def test_inside_a_loader() -> None:
    lines = changed(
        script(
            imports="from torchvision import datasets",
            loader="loader = DataLoader(datasets.MNIST('d', download=True), batch_size=8)",
        )
    )
    assert (
        "loader = crew.split("
        "DataLoader(crew.in_turn(datasets.MNIST, 'd', download=True), batch_size=8))" in lines
    )


def test_in_a_function_once_for_all_its_calls() -> None:
    added = beyond(
        imports="from torchvision import datasets",
        setup="def get(train):\n    return datasets.MNIST('d', train=train, download=True)\n"
        "a, b = get(True), get(False)",
    )
    assert added == ["return crew.in_turn(datasets.MNIST, 'd', train=train, download=True)"]


@pytest.mark.parametrize(
    ("imports", "line"),
    [
        ("from torchvision import datasets", "extra = datasets.MNIST('d', download=False)"),
        ("from torchvision import datasets", "extra = datasets.MNIST('d')"),
        ("from torchvision import datasets", "extra = datasets.FakeData(size=8)"),
        ("from sklearn.datasets import load_digits", "extra = load_digits()"),
        ("", "download = True\nprint(download)"),
        ("", "def get(download):\n    print(download)\nget(download=True)"),
        ("", "print('urlretrieve')  # urllib.request.urlretrieve('u', 'f')"),
        ("import urllib.request", "print(urllib.request.quote('a b'))"),
    ],
)
def test_what_downloads_nothing(imports: str, line: str) -> None:
    assert beyond(imports=imports, setup=line) == []
