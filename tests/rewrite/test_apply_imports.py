"""Where imports go, and when they are not needed."""

import pytest
from rewriting import CREW, PATH, after, before, convert, make_edit, rewritten, wrap

from trainera.rewrite.apply import apply

DDP = "from torch.nn.parallel import DistributedDataParallel"
EDIT = ("end()", wrap("crew.f({})"), CREW)


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("import a\nfrom b import c\nend()\n", "import a\nfrom b import c\n+\nend()\n"),
        ("import a  # b\n\n# c\nend()\n", "import a  # b\n+\n\n# c\nend()\n"),
        ("end()\n", "+\nend()\n"),
        ("end()", "+\nend()"),
        ("#!/x\n# coding: utf-8\n\n# note\nend()\n", "#!/x\n# coding: utf-8\n\n# note\n+\nend()\n"),
        ("'doc'\nend()\n", "'doc'\n\n+\nend()\n"),
        ("'doc'\nfrom __future__ import a\nend()\n", None),
        (
            "import a\nx = 1\nimport b\nend()\nimport c\n",
            "import a\nx = 1\nimport b\n+\nend()\nimport c\n",
        ),
        (
            "import a\ndef f(): pass\nimport b\nend()\n",
            "import a\n+\ndef f(): pass\nimport b\nend()\n",
        ),
        (
            "import a\ntry:\n  import b\nexcept E: pass\nimport c\nend()\n",
            "import a\ntry:\n  import b\nexcept E: pass\nimport c\n+\nend()\n",
        ),
        (
            "import a\nif b:\n  import c\nend()\n",
            "import a\n+\nif b:\n  import c\nend()\n",
        ),
        ("from a import (\n  b,\n  c,\n)\nend()\n", "from a import (\n  b,\n  c,\n)\n+\nend()\n"),
        ("import a; b = 1\nend()\n", "import a; b = 1\n+\nend()\n"),
        ("import a; end()\n", "+\nimport a; end()\n"),
        ("import a\r\nend()\r\n", "import a\r\n+\r\nend()\r\n"),
    ],
)
def test_place(source, expected):
    if expected is None:
        source = source.replace("import a", "import annotations")
        expected = source.replace("annotations\n", "annotations\n+\n")
    expected = expected.replace("+", CREW).replace("end()", "crew.f(end())")
    assert rewritten(source, EDIT) == expected


def test_each_import_once_and_trainera_last():
    result = rewritten(
        "import torch\na(b)\n",
        ("a(b)", wrap("crew.f({})"), CREW),
        ("b", wrap("crew.g({})"), CREW, DDP, "import sys"),
    )
    assert result == f"import torch\nimport sys\n{DDP}\n{CREW}\ncrew.f(a(crew.g(b)))\n"


@pytest.mark.parametrize(
    ("there", "needed", "present"),
    [
        ("from torch.nn.parallel import DataParallel, DistributedDataParallel", DDP, True),
        ("from torch.nn.parallel import DistributedDataParallel as DDP", DDP, False),
        ("from torch.nn.parallel import DataParallel", DDP, False),
        ("from torch.nn import parallel", DDP, False),
        ("from torch.nn.parallel import *", DDP, False),
        ("import torch, sys", "import sys", True),
        ("import torch.nn", "import torch", False),
        ("import sys as s", "import sys", False),
        ("from .torch import x", "from torch import x", False),
        (CREW, CREW, True),
    ],
)
def test_imports_that_are_there_already(there, needed, present):
    result = rewritten(f"{there}\nend()\n", ("end()", wrap("f({})"), needed))
    assert result == f"{there}\n{'' if present else needed + chr(10)}f(end())\n"


def test_guarded_imports_do_not_count():
    source = f"if a:\n  {CREW}\nend()\n"
    assert rewritten(source, EDIT).count(CREW) == 2


def test_line_inserted_after_the_last_import_comes_after_the_new_imports():
    source = "import a\nimport b\n\nc\n"
    result = rewritten(source, ("import b", after("crew.join()"), CREW))
    assert result == f"import a\nimport b\n{CREW}\ncrew.join()\n\nc\n"
    result = rewritten("import a", ("import a", after("crew.join()"), CREW))
    assert result == f"import a\n{CREW}\ncrew.join()"


def test_line_inserted_before_an_import_comes_after_the_new_imports():
    source = "import a\nx()\nimport b\n"
    result = rewritten(source, ("import b", before("crew.join()"), CREW))
    assert result == f"import a\n{CREW}\nx()\ncrew.join()\nimport b\n"


def test_applying_edits_to_their_result_adds_no_second_import():
    once = convert("import a\nend()\nfin()\n", EDIT).after
    twice = apply(PATH, once, [make_edit(once, "fin()", wrap("crew.f({})"), CREW)]).after
    assert twice.decode() == f"import a\n{CREW}\ncrew.f(end())\ncrew.f(fin())\n"
