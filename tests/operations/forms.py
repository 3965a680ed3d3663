"""Expressions by hand: operators, indexing, sizes, numpy, and wordings that databases do not have.

The expressions stand in text files. The names say what they are: `h` comes out of the network,
`k` is another part of the same batch, `w` is replicated; the digit is the number of dimensions.
`y` are labels, `m` a mask, `i` indices.
"""

import re
from pathlib import Path

import torch

from tests.operations.cases import Case, Operand

NAME = re.compile(r"\b([hkwmi][1234]|wn|y)\b")
FROM_END = re.compile(r"-[1234]|\bT\b|keepdim|True|stack|cat|None")
N = 7
FOLDER = Path(__file__).with_name("expressions")


def tensors() -> dict[str, Operand]:
    """Every tensor that an expression may name."""
    generator = torch.Generator().manual_seed(1)

    def rows(*shape: int) -> Operand:
        return Operand(torch.rand(shape, generator=generator, dtype=torch.float64) + 0.1, 0)

    def plain(*shape: int) -> Operand:
        return Operand(torch.rand(shape, generator=generator, dtype=torch.float64) + 0.1)

    return {
        "h1": rows(N),
        "h2": rows(N, 4),
        "h3": rows(N, 3, 4),
        "h4": rows(N, 3, 4, 4),
        "k1": rows(N),
        "k2": rows(N, 4),
        "k3": rows(N, 3, 4),
        "w1": plain(4),
        "w2": plain(4, 4),
        "w3": plain(3, 4),
        "wn": plain(N),
        "y": Operand(torch.tensor([3, 0, 1, 2, 3, 1, 0]), 0),
        "m1": Operand(torch.tensor([True, False, True, True, False, True, True]), 0),
        "m2": Operand(torch.rand(N, 4, generator=generator) > 0.4, 0),
        "i2": Operand(torch.randint(0, 4, (N, 4), generator=generator), 0),
    }


def cases(family: str, name: str, expressions: tuple[str, ...]) -> list[Case]:
    """Each expression, where the script shows how many dimensions there are and where not."""
    have = tensors()
    found = []
    for expression in expressions:
        used = dict.fromkeys(NAME.findall(expression))
        operands = {name: have[name] for name in used}
        if all(operand.dim is None for operand in operands.values()):
            raise ValueError(f"no rows in {expression}")
        both = [Case(family, name, expression, operands, (), known) for known in (True, False)]
        # What is counted from the end hangs on how many there are; else one of the two will do.
        found += both if FROM_END.search(expression) else [both[both[0].digest % 2]]
    return found


def expressions() -> dict[str, tuple[str, ...]]:
    """The expressions, by what they are about."""
    return {
        path.stem: tuple(path.read_text(encoding="utf-8").splitlines())
        for path in sorted(FOLDER.glob("*.txt"))
    }
