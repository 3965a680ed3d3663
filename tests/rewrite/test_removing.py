"""A statement that is left without effect goes."""

import pytest

from tests.rewrite.rewriting import after, convert, wrap
from trainera.plan import Unwrap

CALL = "DataParallel(net)"


def result(source: str, *more: tuple) -> str:
    return convert(source, (CALL, Unwrap()), *more).after.decode()


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("net = Net()\nnet = DataParallel(net)\nrun(net)\n", "net = Net()\nrun(net)\n"),
        ("net = DataParallel(net)  # all GPUs\nrun(net)", "run(net)"),
        ("if a:\n    b()\n    net = DataParallel(net)\nc()", "if a:\n    b()\nc()"),
        ("if count() > 1:\n    net = DataParallel(net)\nc()\n", "if count() > 1:\n    pass\nc()\n"),
        ("if device_count() > 1:\n    net = DataParallel(net)\nc()\n", "c()\n"),
        ("if args.many: net = DataParallel(net)\nc()\n", "c()\n"),
        ("if a:\n    net = DataParallel(net)", "if a:\n    pass"),
        (
            "if a:\n    net = DataParallel(net)\nelse:\n    b()\nc()",
            "if a:\n    pass\nelse:\n    b()\nc()",
        ),
        (
            "if a:\n    b()\nelif c:\n    net = DataParallel(net)\nd()",
            "if a:\n    b()\nelif c:\n    pass\nd()",
        ),
        (
            "def f(net):\n    if a:\n        net = DataParallel(net)\n    return net\n",
            "def f(net):\n    return net\n",
        ),
        ("for a in b:\n    net = DataParallel(net)\nc()", "for a in b:\n    pass\nc()"),
        ("a(); net = DataParallel(net)\n", "a(); net = net\n"),
        ("other = DataParallel(net)\n", "other = net\n"),
        ("net = other = DataParallel(net)\n", "net = other = net\n"),
        ("net.a = DataParallel(net)\n", "net.a = net\n"),
        ("run(DataParallel(net))\n", "run(net)\n"),
    ],
)
def test_what_is_left(source: str, expected: str) -> None:
    assert result(source) == expected


def test_what_was_put_around_it_stays() -> None:
    wrapped = result("net = DataParallel(net)\n", (CALL, wrap("Wrapper({})")))
    assert wrapped == "net = Wrapper(net)\n"


def test_lines_after_it_stay() -> None:
    new = ("net = ", after("net = Wrapper(net)"))
    assert result("if a:\n    net = DataParallel(net)\n", new) == "if a:\n    net = Wrapper(net)\n"
    new = ("if a", after("net = Wrapper(net)"))
    assert result("if a:\n    net = DataParallel(net)\nb()\n", new) == "net = Wrapper(net)\nb()\n"


def test_a_condition_that_has_edits_stays() -> None:
    kept = result("if a:\n    net = DataParallel(net)\nb()\n", ("a", wrap("agree({})")))
    assert kept == "if agree(a):\n    pass\nb()\n"
