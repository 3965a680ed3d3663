"""Scripts that are mutilated at random: converted, refused or told what is wrong, never a crash."""

import random
import re
import warnings
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from trainera.errors import UserError
from trainera.pipeline import convert_script

CORPUS = Path(__file__).with_name("corpus")
SOURCES = [
    path.read_text() for path in sorted([*CORPUS.glob("*/train.py"), *CORPUS.glob("refused/*.py")])
]
NAME = re.compile(r"\b[a-z_]{2,}\b")
FRAGMENTS = [
    "loss.backward()",
    "print(loss.item())",
    "del loss",
    "total += loss.item()",
    "model = model.module",
    "x, y = y, x",
    "for x, y in loader: pass",
    "with torch.no_grad(): model(x)",
    "loss = loss if loss else None",
    "lambda x: x.mean()",
    "yield loss",
    "return loss",
    "global loss",
    "assert loss, loss.item()",
    "loader = zip(loader, loader)",
    "x[0], *y = x",
    "(loss := loss.mean())",
    "print(f'{loss=} {loss.item():{x.size(0)}.3f}')",
    "torch.save(model, open('a', 'w'))",
    "import torch.distributed",
    "class Net(Net): pass",
    "async def f():\n    async for x in loader: await x",
    "match loss:\n    case [x, *y]: pass",
    "try: loss\nexcept* ValueError: pass",
    "loader = [loader for loader in loader]",
    "model.fc.weight.data += x.mean(0)",
    "model(x)[y] += loss",
    "x.shape[0]; len(x); x.size(0)",
    "def loss(loss=loss): return loss(loss)",
    "model = lambda *a, **k: model(*a, **k)",
    "print(*x, **y)",
    "loss: float = loss.item()",
    "loss @= x",
    "del x[0], model.fc",
    "with open('a', 'w') as x, loader as y: pass",
    "if (n := x.size(0)) > 3: pass",
    "nonlocal loss",
    "exec('loss')",
    "type(model)(); model.__class__",
    "optimizer.step(lambda: loss)",
]


def mutilate(chance: random.Random) -> str:
    lines = chance.choice(SOURCES).splitlines()
    for _ in range(chance.randint(1, 4)):
        at, other = chance.randrange(len(lines)), chance.randrange(len(lines))
        blank = re.match(r"\s*", lines[at])
        margin = blank.group() if blank else ""
        match chance.randrange(9):
            case 0:
                del lines[at]
            case 1:
                lines.insert(at, lines[at])
            case 2:
                lines[at], lines[other] = lines[other], lines[at]
            case 3:
                lines[at] = "    " + lines[at]
            case 4:
                lines[at] = lines[at][4:]
            case 5:
                names = NAME.findall("\n".join(lines))
                old, new = chance.choice(names), chance.choice(names)
                lines[at] = re.sub(rf"\b{old}\b", new, lines[at])
            case 6:
                names = NAME.findall("\n".join(lines))
                old, new = chance.choice(names), chance.choice(names)
                lines = [re.sub(rf"\b{old}\b", new, line) for line in lines]
            case 7:
                fragment = chance.choice(FRAGMENTS).splitlines()
                lines[at:at] = [margin + line for line in fragment]
            case 8:
                donor = chance.choice(SOURCES).splitlines()
                start = chance.randrange(len(donor))
                piece = donor[start : start + chance.randint(1, 6)]
                lines[at:at] = [margin + line.strip() for line in piece]
        lines = lines or ["pass"]
    return "\n".join(lines) + "\n"


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("fuzz") / "train.py"


def survives(source: str, path: Path) -> bool:
    """Whether a script is converted; anything but that or a message to the user is raised."""
    path.write_text(source, encoding="utf-8")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SyntaxWarning)
        try:
            plan, converted = convert_script(path)
        except UserError:
            return False
        if plan.refusals:
            assert not converted
            return False
        for file in converted:
            compile(file.after, str(file.path), "exec", dont_inherit=True)
    return True


@settings(
    max_examples=150,
    deadline=None,
    derandomize=True,
    suppress_health_check=list(HealthCheck),
)
@given(seed=st.integers(0, 2**32))
def test_mutilated_scripts(place: Path, seed: int) -> None:
    source = mutilate(random.Random(seed))
    try:
        survives(source, place)
    except Exception as error:
        raise AssertionError(f"{type(error).__name__}: {error}\n{source}") from error


@pytest.mark.parametrize("fragment", FRAGMENTS)
def test_fragments_in_the_training_loop(place: Path, fragment: str) -> None:
    """Each of them once at the end of a step, where names are what they are in real scripts."""
    source = (CORPUS / "plain_loop" / "train.py").read_text()
    lines = source.splitlines()
    at = next(number for number, line in enumerate(lines) if "optimizer.step()" in line)
    margin = lines[at][: len(lines[at]) - len(lines[at].lstrip())]
    names = re.search(r"for .*?(\w+), (\w+)\)? in (\w+)", source)
    assert names is not None
    text = fragment.replace("loader", names.group(3))
    lines[at + 1 : at + 1] = [margin + line for line in text.splitlines()]
    survives("\n".join(lines) + "\n", place)
