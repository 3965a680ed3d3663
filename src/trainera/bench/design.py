"""The design of an experiment: which runs, in which order. Pure functions of what was asked."""

import itertools
import random
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from trainera.bench.strategies import Strategy
from trainera.errors import UserError
from trainera.results import Kind


@dataclass(frozen=True, kw_only=True)
class Subject:
    """A script that is trained: a workload or the user's own."""

    name: str
    script: str
    arguments: tuple[str, ...] = ()
    metric: str = ""
    """Regular expression of the figure that tells how well it learned; one group."""
    metric_name: str = ""
    seed: str = ""
    """The option that sets the seed: it then changes from block to block, alike for all."""
    own_folder: bool = True
    """Whether it runs in a folder of its own, or where the user is."""
    trains: bool = True
    """False for a micro-benchmark, which has nothing to make parallel."""
    engines: tuple[str, ...] = ()
    """Those that can take it here."""
    framework: str = ""
    """What it is written for, in words: ``Keras on JAX``."""
    task: str = ""
    """What it has in common with its counterparts in other frameworks."""
    python: str = sys.executable
    """The program that runs it."""


@dataclass(frozen=True, kw_only=True)
class Design:
    """How the runs are repeated and ordered."""

    repetitions: int = 5
    energy_runs: int = 0
    warm_up: int = 1
    seed: int = 0
    factors: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Options of the script with the values that they take in turn."""
    fraction: int = 1
    """Only one in so many combinations of levels, so that every level comes equally often."""

    def __post_init__(self) -> None:
        if self.repetitions < 1:
            raise UserError(f"{self.repetitions} repetitions: give 1 or more")
        if min(self.energy_runs, self.warm_up) < 0:
            raise UserError("energy runs and warm-up runs cannot be fewer than 0")


@dataclass(frozen=True, kw_only=True)
class Run:
    """One run that is to be made."""

    subject: Subject
    strategy: Strategy
    kind: Kind
    block: int
    setting: Mapping[str, str]

    def as_data(self) -> dict[str, Any]:
        return asdict(self)

    @property
    def cell(self) -> tuple[str, str, tuple[tuple[str, str], ...]]:
        """What its repetitions have in common."""
        return self.subject.name, self.strategy.name, tuple(self.setting.items())


def from_data(data: Mapping[str, Any]) -> Run:
    """The run that `as_data` wrote."""
    subject = dict(data["subject"])
    for name in ("arguments", "engines"):
        subject[name] = tuple(subject[name])
    return Run(
        subject=Subject(**subject),
        strategy=Strategy(**data["strategy"]),
        kind=data["kind"],
        block=data["block"],
        setting=data["setting"],
    )


def plan(
    subjects: Sequence[Subject], strategies: Sequence[Strategy], design: Design
) -> tuple[Run, ...]:
    """All runs in the order in which they are made.

    A block holds every combination once, in random order, so that whatever changes slowly (heat,
    other users) falls on all alike. Warm-up blocks come first and are in no figure. Energy blocks
    stand between timed ones, evenly, as far from both ends as they can.
    """
    cells = [
        (subject, strategy, setting)
        for subject in subjects
        for strategy in strategies
        if strategy.engine is None or strategy.engine in subject.engines
        for setting in settings(design.factors, design.fraction)
    ]
    runs: list[Run] = []
    for block, kind in enumerate(_blocks(design)):
        order = list(cells)
        random.Random(f"{design.seed}/{block}").shuffle(order)
        runs += [
            Run(subject=subject, strategy=strategy, kind=kind, block=block, setting=setting)
            for subject, strategy, setting in order
        ]
    return tuple(runs)


def settings(factors: Mapping[str, Sequence[str]], fraction: int) -> list[dict[str, str]]:
    """Every combination of levels, or a regular fraction of them.

    The fraction keeps those whose level numbers add up to a multiple of it (the defining relation
    of a half of a two-level design, for more levels). Main effects stay balanced if the levels of
    each factor can be divided by it; otherwise it is refused.
    """
    if fraction < 1:
        raise UserError(f"fraction {fraction}: give 1 for all combinations, or 2 for half of them")
    if fraction > 1:
        if len(factors) < 2:
            raise UserError("a fraction needs at least two factors to choose from")
        for name, levels in factors.items():
            if len(levels) % fraction:
                raise UserError(
                    f"factor {name}: {len(levels)} levels cannot be divided by the fraction "
                    f"{fraction} — its levels would not come equally often"
                )
    found = []
    for chosen in itertools.product(*(enumerate(levels) for levels in factors.values())):
        if sum(number for number, _ in chosen) % fraction == 0:
            found.append(dict(zip(factors, (level for _, level in chosen), strict=True)))
    return found


def _blocks(design: Design) -> list[Kind]:
    blocks: list[Kind] = ["warm-up"] * design.warm_up
    due = [
        (number + 1) * design.repetitions / (design.energy_runs + 1)
        for number in range(design.energy_runs)
    ]
    for done in range(1, design.repetitions + 1):
        blocks.append("timed")
        while due and due[0] <= done:
            blocks.append("energy")
            due.pop(0)
    return blocks


def command_arguments(run: Run) -> tuple[str, ...]:
    """The script's arguments in a run: its own, then the seed, then the setting."""
    words = list(run.subject.arguments)
    if run.subject.seed and run.subject.seed not in run.setting:
        words += [run.subject.seed, str(run.block)]
    for option, level in run.setting.items():
        words += [option, level]
    return tuple(words)
