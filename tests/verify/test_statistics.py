"""Equivalence is shown, not assumed."""

from trainera.verify.statistics import equivalence


def test_close_results_are_equivalent() -> None:
    result = equivalence("loss", [1.0, 1.01, 0.99, 1.0, 1.0], [1.0, 0.99, 1.02, 1.0, 1.01])
    assert result.holds and not result.fails
    assert "margin ±0.1" in str(result)


def test_scattered_results_decide_nothing() -> None:
    result = equivalence("loss", [1.0, 2.0, 0.2], [0.5, 1.5, 2.5])
    assert not result.holds and not result.fails


def test_results_apart_are_different() -> None:
    result = equivalence("loss", [1.0, 1.01, 0.99, 1.0], [2.0, 2.01, 1.99, 2.0])
    assert result.fails and not result.holds


def test_the_same_results_are_equivalent() -> None:
    assert equivalence("loss", [1.0, 1.0, 1.0], [1.0, 1.0, 1.0]).holds
