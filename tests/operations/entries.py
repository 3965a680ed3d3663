"""All entries of all databases."""

from collections.abc import Iterator
from functools import partial
from itertools import chain
from typing import Any

from tests.operations import database, forms, layers
from tests.operations.cases import Case
from tests.operations.keys import case_of
from tests.operations.variants import Template, cases_of
from tests.operations.work import Entry

PORTION = 10
FAMILIES = ("functions", "layers", "forms", "numpy")


def all_entries(families: list[str], names: list[str], seed: int) -> list[Entry]:
    """The entries of some families, or of all; with names, only those that are called so."""
    found: list[Entry] = []
    wanted = families or FAMILIES
    if "functions" in wanted:
        found += [
            Entry("functions", database.title(op), partial(_from_database, op, seed))
            for op in database.entries()
        ]
    if "layers" in wanted:
        own = layers.by_hand()
        infos = {info.name: info for info in layers.entries()}
        found += [
            Entry("layers", name, partial(_from_layers, own.get(name, []), infos.get(name), seed))
            for name in dict.fromkeys([*infos, *own])
        ]
    for name, expressions in forms.expressions().items():
        family = "numpy" if name == "numpy" else "forms"
        if family in wanted:
            found += _in_portions(family, name, expressions)
    if not names:
        return found
    return [entry for entry in found if entry.name in names or entry.name.split(".")[-1] in names]


def _in_portions(family: str, name: str, expressions: tuple[str, ...]) -> list[Entry]:
    """One entry of many expressions as several, so that processes can share them."""
    return [
        Entry(family, name, partial(_by_hand, family, name, expressions[at : at + PORTION]), True)
        for at in range(0, len(expressions), PORTION)
    ]


def by_keys(keys: list[str]) -> list[Entry]:
    """Single cases, by the keys that lists of wrong ones show."""
    return [Entry("forms", key, lambda key=key: iter([case_of(key)]), True) for key in keys]


def _by_hand(family: str, name: str, expressions: tuple[str, ...]) -> Iterator[Case]:
    yield from forms.cases(family, name, expressions)


def _from_database(op: Any, seed: int) -> Iterator[Case]:
    return chain.from_iterable(map(cases_of, database.templates_of(op, seed)))


def _from_layers(own: list[Template], info: Any, seed: int) -> Iterator[Case]:
    templates = layers.templates_of(info, seed) if info else iter(())
    return chain.from_iterable(map(cases_of, chain(own, templates)))
