"""Scripts made at random from fixed seeds: converted, they print and save what they did before."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.generated import oracle
from tests.generated.grammar.script import make_script
from tests.generated.oracle import Judge, Outcome
from tests.generated.shrink import shrunk

SEEDS = range(150)
PARTS = 10
LEAST_CONVERTED = 0.6
OUTCOMES: dict[int, Outcome] = {}


@pytest.fixture(scope="module")
def judge() -> Iterator[Judge]:
    made = Judge()
    yield made
    made.close()


@pytest.mark.timeout(300)
@pytest.mark.parametrize("part", range(PARTS))
def test_same_after_conversion(part: int, judge: Judge) -> None:
    """Each script with two or three workers, by turns."""
    wrong = []
    for seed in SEEDS[part::PARTS]:
        source, _ = make_script(seed)
        outcome = judge.judge(source, (2 + seed // PARTS % 2,))
        OUTCOMES[seed] = outcome
        if outcome.bad or outcome.verdict == oracle.UNFIT:
            said = f"{outcome.verdict} with {outcome.workers} workers: {outcome.detail}"
            wrong.append(f"seed {seed}: {said}")
    assert not wrong, "\n".join([*wrong, "see: python -m tests.generated --seeds SEED:SEED+1"])


def test_most_are_converted() -> None:
    """A grammar whose scripts are refused would find nothing."""
    if len(OUTCOMES) < len(SEEDS):
        pytest.skip("not all parts were run")
    made = sum(outcome.verdict in oracle.CONVERTED for outcome in OUTCOMES.values())
    refused = Counter(
        oracle.shape(one.detail) for one in OUTCOMES.values() if one.verdict == oracle.REFUSED
    )
    assert made >= LEAST_CONVERTED * len(OUTCOMES), refused.most_common(10)


def test_every_script_depends_on_its_seed_only() -> None:
    assert all(make_script(seed)[0] == make_script(seed)[0] for seed in range(20))
    assert len({make_script(seed)[0] for seed in range(50)}) == 50


def test_shrinks_to_what_matters() -> None:
    source, _ = make_script(3)
    small = shrunk(source, lambda text: "DataLoader(" in text and "backward" in text, 60)
    assert "backward" in small
    assert len(small.splitlines()) <= 14, small


@pytest.mark.parametrize(
    ("source", "verdict"),
    [
        ("print(1 / 0)", oracle.UNFIT),
        ("import torch\nprint(torch.ones(1).item())", oracle.REFUSED),
    ],
)
def test_verdicts(source: str, verdict: str, judge: Judge) -> None:
    assert judge.judge(source + "\n").verdict == verdict


PRINTS = """\
import torch

torch.set_default_dtype(torch.float64)
torch.manual_seed(0)
net, x = torch.nn.Linear(3, 2), torch.rand(8, 3)
value = net(x)
print(float(value.sum()))
print({figure})
"""


@pytest.mark.parametrize(
    ("figure", "wrong", "right", "hangs"),
    [
        ("float(value.sum())", "float(value.sum())", "float(value.sum())", True),
        ("float(value.sum())", "float(value.sum() + 1e-6)", "float(value.sum())", False),
        ("float(value.sum() * 1e17 % 100)", "41.5", "float(value.sum())", True),
        ("float(value.sum() * 1e17 % 100)", "4e5", "float(value.sum())", False),
        ("float(value.sum() * 1e17 % 100)", "41.5", "float(value.mean())", False),
        ("'many' if value.sum() * 1e17 % 2 > 1 else 'few'", "'few'", "float(value.sum())", True),
        ("'many' if value.sum() * 1e17 % 2 > 1 else 'few'", "'none'", "float(value.sum())", False),
    ],
)
def test_what_rounding_explains(
    judge: Judge, tmp_path: Path, figure: str, wrong: str, right: str, hangs: bool
) -> None:
    """Each number has to be as near as last digits bring it; what hangs on none has to be right."""
    script = tmp_path / "train.py"
    script.write_text(PRINTS.replace("float(value.sum())", right, 1).format(figure=wrong))
    (tmp_path / "empty").mkdir()
    run = judge.runner.run(script, tmp_path / "empty", logs=tmp_path)
    found = oracle.shown(run, tmp_path / "empty")
    assert judge.hangs_on_rounding(PRINTS.format(figure=figure), found) is hangs
