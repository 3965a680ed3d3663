"""Where the crew is joined: once, before anything else happens, in the script itself."""

from pathlib import Path
from textwrap import dedent

import pytest

from tests.rules.tools import beyond, converted, must_refuse, script
from trainera.pipeline import convert_script

IMPORTS = script().splitlines()[:4]
BODY = script().splitlines()[4:]


def main_script(head: str, foot: str) -> str:
    """A script whose work is in a function, with other lines above and below it."""
    lines = [*dedent(head).splitlines(), *IMPORTS, "def main():"]
    lines += [f"    {line}" for line in BODY]
    return "\n".join([*lines, *dedent(foot).splitlines()]) + "\n"


def follows_join(source: str) -> str:
    """The line that comes right after the join."""
    _, after = converted(source)
    lines = [line.strip() for line in after.splitlines()]
    assert lines.count("crew.join()") == 1
    return lines[lines.index("crew.join()") + 1]


def test_the_first_line_that_does_something() -> None:
    assert follows_join(script()).startswith("data = TensorDataset(")


@pytest.mark.parametrize(
    ("head", "foot", "following"),
    [
        ("", "main()", "main()"),
        ("", 'if __name__ == "__main__":\n    main()', "main()"),
        ("", 'if "__main__" == __name__:\n    main()', "main()"),
        ('"""Trains."""', "main()", "main()"),
        ("from __future__ import annotations", "main()", "main()"),
        ("EPOCHS = 3\nNAMES = ['a', 'b']\nRATE: float = 1e-3", "main()", "main()"),
        ("try:\n    import numpy\nexcept ImportError:\n    numpy = None", "main()", "main()"),
        (
            "",
            "torch.manual_seed(0)\nif __name__ == '__main__':\n    main()",
            "torch.manual_seed(0)",
        ),
        ("", "print('hello')\nmain()", "print('hello')"),
    ],
)
def test_place(head: str, foot: str, following: str) -> None:
    assert follows_join(main_script(head, foot)) == following


@pytest.mark.parametrize(
    "line",
    [
        "os.environ['CUDA_VISIBLE_DEVICES'] = '1'",
        "os.environ['OMP_NUM_THREADS'] = '3'",
        "os.environ.setdefault('CUDA_VISIBLE_DEVICES', '1')",
    ],
)
def test_the_environment_is_set_before(line: str) -> None:
    """The user pins a device or the threads: the worker has to see that when it joins."""
    source = "import os\n" + line + "\n" + script()
    _, after = converted(source)
    lines = after.splitlines()
    assert lines.index(line) < lines.index("crew.join()")


def test_a_guard_on_one_line() -> None:
    _, after = converted(main_script("", "if __name__ == '__main__': main()"))
    words = after[after.index("if __name__") :].replace(";", " ").split()
    assert words[-2:] == ["crew.join()", "main()"]


def test_the_import_comes_before_the_join() -> None:
    _, after = converted(script())
    lines = after.splitlines()
    assert lines.index("from trainera import crew") < lines.index("crew.join()")


def test_a_module_of_the_scripts_own_does_not_join(tmp_path: Path) -> None:
    (tmp_path / "data.py").write_text(
        "from torch.utils.data import DataLoader\n"
        "def make(data):\n    return DataLoader(data, batch_size=8)\n"
    )
    path = tmp_path / "train.py"
    path.write_text(script(imports="from data import make", loader="loader = make(data)"))
    _, files = convert_script(path)
    assert [file.after.count(b"crew.join()") for file in files] == [1, 0]


@pytest.mark.parametrize(
    "line",
    [
        "def joined():\n    join = 1\n    return join",
        "joined = 'crew.join()'",
        "class Crew:\n    def join(self):\n        pass\nCrew().join()",
        "def helper():\n    if __name__ == '__main__':\n        print('never first')\nhelper()",
    ],
)
def test_lookalikes_are_left_alone(line: str) -> None:
    assert beyond(before=line) == []


@pytest.mark.parametrize(
    "parts",
    [
        {"before": "crew = 5", "after": "print(crew)"},
        {"before": "for crew in range(3):\n    print(crew)"},
        {"imports": "import json as crew", "after": "print(crew.dumps(1))"},
        {"before": "def f(crew):\n    torch.save(crew, 'x')\nf(1)"},
    ],
)
def test_names_that_the_script_has_itself(parts: dict[str, str]) -> None:
    """The script's own `crew` would take the place of the runtime, or the other way round."""
    must_refuse(**parts)


def joined_with(tmp_path: Path, module: str, **parts: str) -> list[str]:
    """The lines of a converted script that imports a module of its own."""
    (tmp_path / "setup.py").write_text(module)
    path = tmp_path / "train.py"
    path.write_text(script(imports="from setup import value", **parts))
    _, files = convert_script(path)
    return files[0].after.decode().splitlines()


@pytest.mark.parametrize(
    "module",
    [
        "import torch\nvalue = torch.rand(1).item()\n",
        "import random\nvalue = random.random()\n",
        "print('hello')\nvalue = 1\n",
        "import torch\nclass Net:\n    weight = torch.randn(3)\nvalue = Net\n",
        "import torch\ndef noise(x=torch.randn(3)):\n    return x\nvalue = noise\n",
    ],
)
def test_a_busy_module_is_imported_after_the_join(tmp_path: Path, module: str) -> None:
    """What it draws must be the same on every worker."""
    lines = joined_with(tmp_path, module)
    assert lines.index("crew.join()") < lines.index("from setup import value")
    assert lines.index("from trainera import crew") < lines.index("crew.join()")


def test_a_module_that_imports_a_busy_one(tmp_path: Path) -> None:
    (tmp_path / "deeper.py").write_text("import torch\nnumber = torch.rand(1)\n")
    lines = joined_with(tmp_path, "from deeper import number\nvalue = 1\n")
    assert lines.index("crew.join()") < lines.index("from setup import value")


@pytest.mark.parametrize(
    "module",
    [
        "import torch\nvalue = torch.device('cuda' if torch.cuda.is_available() else 'cpu')\n",
        "import logging\nlog = logging.getLogger(__name__)\nvalue = 3\n",
        "import os\nvalue = os.path.join('data', 'train')\n",
        "value = 1\nif __name__ == '__main__':\n    print(value)\n",
    ],
)
def test_a_module_that_keeps_still_moves_nothing(tmp_path: Path, module: str) -> None:
    lines = joined_with(tmp_path, module)
    assert lines.index("from setup import value") < lines.index("crew.join()")
