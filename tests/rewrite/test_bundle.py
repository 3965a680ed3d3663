"""The runtime inside a file."""

import ast
import re
import subprocess
import sys
from importlib.util import find_spec

import pytest
from rewriting import CREW, PATH, before, convert, make_edit, wrap

from trainera.rewrite.apply import FileEdits, apply, apply_all
from trainera.rewrite.bundle import BEGIN, END, bundle, complaints, crew_sources
from trainera.rewrite.modules import RUNTIMES

FAKE = {
    "__init__": """\
from trainera.crew.counting import total as sum
from trainera.crew.state import rank, split
__all__ = ["rank", "split", "sum"]
""",
    "state": '''\
"""Doc of the file."""

import os
import os.path
from collections import OrderedDict, deque
from math import pi as circle

LIMIT = 3
TEXT = """one
  two"""


class Crew:
    """Doc.

    More.
    """

    def __init__(self) -> None:
        self.number = 0
        self.names: "deque[str]" = deque()


# The one object.
CREW = Crew()
CREW.label = "label"
UNUSED = OrderedDict()


def rank():
    return CREW.number


def split(x):
    CREW.number += 1
    return f"""{x}
 {os.path.basename(TEXT)} {circle:.2f}"""
''',
    "counting": """\
import functools

from trainera.crew.state import CREW, LIMIT

def twice(function):
    @functools.wraps(function)
    def both(*args):
        return function(*args) * 2
    return both

@twice
def total(*values):
    CREW.number += LIMIT
    return len(values)
""",
}


def built(names: set[str], **options) -> dict[str, object]:
    space: dict[str, object] = {"__name__": "script"}
    exec(bundle(names, sources=FAKE, **options), space)
    return space


def test_only_what_is_used_is_written():
    text = bundle({"rank"}, sources=FAKE)
    assert text.startswith(BEGIN)
    assert text.endswith(END)
    for name in ("UNUSED", "LIMIT", "total", "twice", "functools", "OrderedDict", "circle", "math"):
        assert name not in text
    for name in ("CREW = Crew()", "# The one object.", 'CREW.label = "label"', "import deque"):
        assert name in text
    assert "import trainera" not in text
    assert "from trainera" not in text


def test_names_live_inside_the_function():
    space = built({"sum", "split", "rank"})
    assert set(space) - {"__builtins__"} == {"__name__", "_trainera_crew", "crew"}
    crew = space["crew"]
    assert crew.sum(1, 2) == 4
    assert crew.rank() == 3
    assert crew.split("a") == "a\n one\n  two 3.14"
    assert built({"rank"}, alias="runtime")["runtime"].rank() == 0


def test_strings_keep_their_text_and_docstrings_move():
    text = bundle({"split"}, sources=FAKE)
    assert '    TEXT = """one\n  two"""\n' in text
    assert '        """Doc.\n\n        More.\n        """\n' in text


def test_unknown_name():
    with pytest.raises(AssertionError, match="the runtime has no nothing"):
        bundle({"nothing"}, sources=FAKE)


def test_shared_runtime():
    names = {"sum", "rank"}
    try:
        first, second = built(names, shared=True)["crew"], built(names, shared=True)["crew"]
        assert first is second
        first.sum()
        assert second.rank() == 3
    finally:
        del sys.modules["_trainera_crew"]


def test_files_of_one_script_share_the_runtime():
    script, module = b"crew_ = 1\na()\n", b"b()\n"
    files = [
        FileEdits(path=PATH, source=source, edits=(make_edit(source, snippet, action, CREW),))
        for source, snippet, action in [
            (script, "a()", before("crew.join()")),
            (module, "b()", wrap("crew.rank() + {}")),
        ]
    ]
    for converted in apply_all(files, standalone=True):
        text = converted.after.decode()
        assert '"_trainera_crew" in sys.modules' in text
        assert "shared.__dict__.update(join=join, rank=rank)" in text
    plain = apply_all(files)
    assert [CREW in converted.after.decode() for converted in plain] == [True, True]
    (alone,) = apply_all(files[1:], standalone=True)
    assert "SimpleNamespace(rank=rank)" in alone.after.decode()


def test_runtime_takes_the_place_of_its_import():
    source = "import torch\nsplit = None\n\nx = a()\n"
    converted = convert(source, ("a()", wrap("crew.rank({})"), CREW, "import os"), standalone=True)
    text = converted.after.decode()
    assert text.startswith(f"import torch\nimport os\n{BEGIN}\n")
    assert text.endswith(f"crew = _trainera_crew()\n{END}\nsplit = None\n\nx = crew.rank(a())\n")
    assert converted.lines[:3] == (1, 1, 1)
    assert converted.lines[-3:] == (2, 3, 4)
    assert set(converted.lines[:-3]) == {1}


def test_runtime_under_another_name_and_line_ends():
    source = b"crew = 1\r\na()\r\n"
    edit = make_edit(source, "a()", wrap("rowers.rank() + {}"), f"{CREW} as rowers")
    text = apply(PATH, source, [edit], standalone=True).after.decode()
    assert "\r\nrowers = _trainera_crew()\r\n" in text
    assert "\n" not in text.replace("\r\n", "")


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ("from __future__ import annotations", "future import"),
        ("def f():\n    global a", "global statement"),
        ("from trainera.crew.state import rank as r", "star, or renamed"),
        ("from .state import rank", "not absolute"),
        ("def f():\n    from trainera.crew.state import rank", "not absolute"),
        ("from trainera import plan", "import of trainera"),
        ("import trainera.plan", "import of trainera"),
        ("if True:\n    x = 1", "If at the top level"),
        ("def rank(): pass", "rank is also defined in state"),
        ("from math import pi as os", "os is something else"),
        ("import LIMIT", "LIMIT hides that of state"),
        ("def f(x):\n    return split(x)", "split would be that of state"),
        ("def f(x):\n    return deque(x)", "deque would be that of an import elsewhere"),
        ("from trainera.crew.state import missing", "missing, which no file defines"),
        ("shared = 1", "shared is a name of the bundle"),
        ("x = globals()", r"globals\(\)"),
    ],
)
def test_complaints(line, complaint):
    assert complaints(FAKE) == []
    found = complaints({**FAKE, "other": line})
    assert any(re.search(complaint, text) for text in found), found


def test_local_names_are_no_complaint():
    source = "def f(split):\n    deque = split\n    return [rank for rank in deque]\n"
    assert complaints({**FAKE, "other": source}) == []


@pytest.mark.parametrize("runtime", RUNTIMES)
def test_the_real_runtimes_keep_the_rules(runtime):
    assert complaints(crew_sources(runtime)) == []


def test_every_part_of_the_real_runtime_can_be_written():
    sources = crew_sources()
    names = {
        alias.asname or alias.name
        for statement in ast.parse(sources["__init__"]).body
        if isinstance(statement, ast.ImportFrom)
        for alias in statement.names
    }
    for name in sorted(names):
        compile(bundle({name}), name, "exec")
    assert len(bundle({"rank"})) < len(bundle(names)) / 4


SCRIPT = """\
import torch
from torch.utils.data import DataLoader, TensorDataset


def split(x):
    raise RuntimeError("this is the script's own")


def sum(*values):
    raise RuntimeError("this is the script's own")


loader = DataLoader(TensorDataset(torch.arange(10)), batch_size=4, shuffle=True, num_workers=1)
total = 0
for (x,) in loader:
    total += x.numel()
print(total, "trainera" in sys.modules)
"""


@pytest.mark.skipif(find_spec("torch") is None, reason="needs torch")
def test_script_with_the_real_runtime_runs_without_trainera(tmp_path):
    converted = convert(
        SCRIPT,
        ("loader", before("crew.join()"), CREW, "import sys"),
        (
            SCRIPT[SCRIPT.index("DataLoader(T") : SCRIPT.index("\ntotal = 0")],
            wrap("crew.split({})"),
        ),
        ("print", before("total = crew.sum(total)")),
        standalone=True,
    )
    script = tmp_path / "train_ddp.py"
    script.write_bytes(converted.after)
    result = subprocess.run(
        [sys.executable, "-W", "ignore", str(script)], capture_output=True, text=True, timeout=120
    )
    assert result.stdout == "10 False\n", result.stderr
