"""Lists that are joined, cut and spread: what outlives the batch is whole where it is put in."""

import pytest

from tests.rules.tools import beyond

BEFORE = "window = []\nzeros = [0.0, 0.0]\nbest = None"
KEPT = {
    "joined, then cut": "window = (window + [{}])[-4:]",
    "put in front": "window = ([{}] + window)[:3]",
    "cut, then joined": "window = window[-3:] + [{}]",
    "the first one left out": "zeros = (zeros + [{}])[1:]",
    "spread": "window = [*window, {}][-3:]",
    "in pairs": "window = sorted(window + [({}, 1)])[:3]",
    "looked at only": "print(min(window + [{}]))",
    "the least": "best = {0} if best is None else min(best, {0})",
}


@pytest.mark.parametrize("form", KEPT)
def test_a_figure_that_is_put_into_a_list(form: str) -> None:
    show = "print('%.3f' % sum(window))"
    (added, *_) = beyond(before=BEFORE, step=KEPT[form].format("loss.item()") + "\n" + show)
    assert added == KEPT[form].format("loader.mean(loss.item())")


def test_a_figure_and_a_list_with_names() -> None:
    lines = "v = loss.item()\nboth = window + [v]\nwindow = both[-3:]\nprint('%.3f' % sum(window))"
    assert beyond(before=BEFORE, step=lines) == ["both = window + [loader.mean(v)]"]
    lines = "new = [loss.item()]\nwindow = (window + new)[-3:]\nprint('%.3f' % sum(window))"
    assert beyond(before=BEFORE, step=lines) == [
        "window = (window + loader.combine(new, ('mean',)))[-3:]"
    ]


@pytest.mark.parametrize("cut", ["[:1]", "[-1:]", "[::-1]", "[1:][:1]"])
def test_a_cut_of_what_is_known(cut: str) -> None:
    """It is a list, of these items."""
    lines = f"pair = (loss.item(), loss.item()){cut}\nprint('%.3f' % pair[0])"
    assert "print('%.3f' % loader.mean(pair[0]))" in beyond(step=lines)
