"""Rules that only refuse: each has a page, and its refusals bear its name."""

import pytest

from tests.rules.tools import refused
from tests.tools.corpus import REFUSED
from trainera.pipeline import plan_script
from trainera.rules import pages


@pytest.mark.parametrize(
    ("script", "rule"),
    [
        ("hardwired_batch_size", "network"),
        ("buffer_of_batch_statistics", "network"),
        ("lbfgs_closure", "optimizer"),
        ("accelerate_script", "already-distributed"),
    ],
)
def test_the_refusal_has_a_page(script: str, rule: str) -> None:
    path = next(path for path in REFUSED if path.stem == script)
    refusals = plan_script(path).refusals
    assert rule in {refusal.rule for refusal in refusals}
    assert "**Why.**" in pages()[rule]


def test_every_refusal_of_the_corpus_can_be_explained() -> None:
    scripts = [path for path in REFUSED if path.stem != "autograd_by_hand"]
    rules = {refusal.rule for path in scripts for refusal in plan_script(path).refusals}
    assert rules <= set(pages())


@pytest.mark.parametrize("turn", ["unsqueeze(0)", "transpose(0, 1)"])
def test_a_recurrent_layer_that_takes_samples_for_steps(turn: str) -> None:
    layer = "class Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
    layer += "        self.rnn = nn.LSTM(3, 1, batch_first=True)\n    def forward(self, x):\n"
    layer += f"        return self.rnn(x.{turn})[0].squeeze(0)\nmodel = Net()"
    assert [rule for rule, *_ in refused(model=layer)] == ["network"]
