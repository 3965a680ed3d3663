import pytest


@pytest.fixture(autouse=True)
def long_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    """What goes around a value stays on its line, however long: cases are told by that."""
    monkeypatch.setattr("trainera.rules.common._tools.WIDTH", 1000)
