"""Texts are compared as a reader would."""

import pytest

from trainera.verify.printed import compare_texts


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("loss 0.5", "loss 0.5"),
        ("loss 0.500000000001", "loss 0.500000000002"),
        ("took 3.1s", "took 9.9s"),
        ("epoch 1, 0.25 ms/step", "epoch 1, 0.75 ms/step"),
        ("elapsed: 12", "elapsed: 15"),
        ("812 samples/s", "1500 samples/s"),
        ("2026-01-02 10:11:12 loss 3", "2027-03-04 01:02:03 loss 3"),
        ("peak 512 MB", "peak 300 MB"),
        ("nan", "nan"),
        ("", ""),
    ],
)
def test_the_same(one: str, other: str) -> None:
    assert compare_texts(one, other, 1e-9, exact=True).mismatch is None


@pytest.mark.parametrize(
    ("one", "other", "relative"),
    [
        ("loss 0.5", "loss 0.6", pytest.approx(1 / 6)),
        ("accuracy 0.795", "accuracy 0.796", pytest.approx(0.001 / 0.796)),
        ("loss 0.5", "lost 0.5", None),
        ("loss 0.5", "loss 0.5\nloss 0.4", None),
        ("loss 1 2", "loss 1", None),
        ("loss nan", "loss 1", float("inf")),
        ("1e-3", "1e-4", pytest.approx(0.9)),
    ],
)
def test_not_the_same(one: str, other: str, relative: float | None) -> None:
    found = compare_texts(one, other, 1e-9, exact=True).mismatch
    assert found is not None and found.relative == relative


def test_the_line_is_named() -> None:
    found = compare_texts("a 1\nb 2\nc 3", "a 1\nb 2\nc 4", 1e-9, exact=True).mismatch
    assert found is not None
    assert (found.line, found.sequential, found.parallel) == (3, "c 3", "c 4")


def test_a_rounded_digit_may_tip_over_in_single_precision() -> None:
    assert compare_texts("loss 0.795", "loss 0.796", 1e-4, exact=False).mismatch is None
    assert compare_texts("loss 0.795", "loss 0.799", 1e-4, exact=False).mismatch is not None
    assert compare_texts("right 7", "right 8", 1e-4, exact=False).mismatch is not None


def test_times_are_counted_as_left_out() -> None:
    result = compare_texts("loss 1 in 3 s", "loss 1 in 4 s", 1e-9, exact=True)
    assert (result.numbers, result.ignored) == (1, 1)
