"""What all parts of the grammar share: chance, lines of source, and the script being written."""

import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

Option = TypeVar("Option")
Lines = list[str]
Figures = dict[str, str]
"""Figures by name: each is the expression that gives it where it is used."""


class Draw(random.Random):
    """Choices that depend on nothing but the seed."""

    richness = 1.0
    """How likely an extra is: in small scripts a fault is found sooner, and is not hidden."""

    def one(self, *options: Option) -> Option:
        return options[self.randrange(len(options))]

    def often(self, chance: float) -> bool:
        return self.random() < (chance * self.richness if chance <= 0.5 else chance)

    def some(self, options: Sequence[Option], least: int, most: int) -> list[Option]:
        """Between `least` and `most` different ones, in a random order."""
        return self.sample(list(options), min(len(options), self.randint(least, most)))


def block(head: str, *bodies: Iterable[str]) -> Lines:
    """A compound statement; an empty body is a `pass`."""
    inside = [line for body in bodies for line in body]
    return [head, *indented(inside or ["pass"])]


def indented(lines: Iterable[str]) -> Lines:
    return [f"    {line}" if line else "" for line in lines]


def method(head: str, *bodies: Iterable[str]) -> Lines:
    """A method: set apart from the one before."""
    return ["", *block(head, *bodies)]


@dataclass
class Script:
    """A script while it is written: imports, then definitions, then what runs."""

    draw: Draw
    imports: set[str] = field(default_factory=set)
    definitions: list[Lines] = field(default_factory=list)
    """Classes and functions, each a block, in the order in which they need each other."""
    setup: Lines = field(default_factory=list)
    """What runs first: data, networks, optimizers."""
    used: dict[str, int] = field(default_factory=dict)
    features: set[str] = field(default_factory=set)
    """What the grammar chose, for the tally."""

    def name(self, wish: str) -> str:
        """A name that is not taken."""
        self.used[wish] = self.used.get(wish, 0) + 1
        return wish if self.used[wish] == 1 else f"{wish}_{self.used[wish]}"

    def needs(self, *lines: str) -> None:
        self.imports.update(lines)

    def define(self, *lines: str) -> None:
        self.definitions.append(list(lines))

    def text(self, ending: Iterable[str]) -> str:
        parts = [sorted(self.imports, key=lambda line: (line.startswith("from"), line)), [""]]
        for lines in self.definitions:
            parts += [[""], lines, [""]]
        parts += [[""], self.setup, list(ending)]
        return "\n".join(line for part in parts for line in part) + "\n"


def packed(script: Script, figures: Figures, style: str, name: str = "Result") -> str:
    """The figures as one expression, to be returned or yielded."""
    if style == "tuple":
        return ", ".join(figures.values()) + ("," if len(figures) == 1 else "")
    if style == "dict":
        return "{" + ", ".join(f'"{key}": {value}' for key, value in figures.items()) + "}"
    if style == "call":
        return "dict(" + ", ".join(f"{key}={value}" for key, value in figures.items()) + ")"
    return f"{name}(" + ", ".join(f"{key}={value}" for key, value in figures.items()) + ")"


def record_class(script: Script, fields: Sequence[str], wish: str, style: str) -> str:
    """Defines a named tuple or a dataclass with these fields."""
    name = script.name(wish)
    if style == "named":
        script.needs("from collections import namedtuple")
        listed = ", ".join(f'"{one}"' for one in fields)
        script.define(f'{name} = namedtuple("{name}", [{listed}])')
    elif style == "typed":
        script.needs("from typing import Any, NamedTuple")
        script.define(*block(f"class {name}(NamedTuple):", [f"{one}: Any" for one in fields]))
    else:
        script.needs("from dataclasses import dataclass", "from typing import Any")
        fields = [f"{one}: Any" for one in fields]
        script.define("@dataclass", *block(f"class {name}:", fields))
    return name


PACKINGS = ("tuple", "dict", "call", "named", "typed", "dataclass")


@dataclass
class Packing:
    """How several values travel as one."""

    style: str
    fields: tuple[str, ...]
    record: str = ""

    @classmethod
    def drawn(
        cls, script: Script, fields: Sequence[str], wish: str, styles: Sequence[str] = PACKINGS
    ) -> "Packing":
        style = script.draw.one(*styles)
        script.features.add(f"{wish} {style}")
        if style in ("tuple", "dict", "call"):
            return cls(style, tuple(fields))
        return cls(style, tuple(fields), record_class(script, fields, wish, style))

    def pack(self, script: Script, figures: Figures) -> str:
        return packed(script, {one: figures[one] for one in self.fields}, self.style, self.record)

    def parts(self, whole: str) -> Figures:
        """Each part as an expression, of something that holds them all."""
        if self.style in ("dict", "call"):
            return {one: f'{whole}["{one}"]' for one in self.fields}
        if self.style == "tuple":
            return {one: f"{whole}[{place}]" for place, one in enumerate(self.fields)}
        return {one: f"{whole}.{one}" for one in self.fields}

    @property
    def unpacks(self) -> bool:
        """Whether `a, b = it` gives the parts."""
        return self.style in ("tuple", "named", "typed")


def shown(script: Script, label: Figures, figures: Figures) -> Lines:
    """Prints figures in one of the usual ways; `label` holds whole numbers such as the epoch."""
    draw = script.draw
    digits = draw.one(6, 8, 10, 12)
    keys, names = list(figures), list(label)
    words = draw.one(
        " ".join(f"{one} {{}}" for one in names + keys),
        " | ".join(f"{one}={{}}" for one in names + keys),
        "["
        + " ".join(f"{one} {{}}" for one in names)
        + "] "
        + ", ".join(f"{k}: {{}}" for k in keys),
    )
    values = [*label.values(), *figures.values()]
    style = draw.randrange(10)
    if style <= 2:
        script.features.add("print f-string")
        holes = [f"{{{one}}}" for one in label.values()]
        holes += [f"{{{one}:.{digits}f}}" for one in figures.values()]
        quote = "'" if any('"' in one for one in values) else '"'
        return [f"print(f{quote}{words.format(*holes)}{quote})"]
    if style == 3:
        holes = ["%d"] * len(label) + [f"%.{digits}f"] * len(figures)
        listed = ", ".join(values) + ("," if len(values) == 1 else "")
        return [f'print("{words.format(*holes)}" % ({listed}))']
    if style == 4:
        holes = ["{}"] * len(label) + [f"{{:.{digits}f}}"] * len(figures)
        return [f'print("{words.format(*holes)}".format({", ".join(values)}))']
    if style == 5:
        return [f"print({', '.join(values)})"]
    if style == 6:
        script.features.add("print dict")
        return [f"print({packed(script, {**label, **figures}, 'dict')})"]
    if style == 7:
        return [f"print([{', '.join(values)}])"]
    if style == 8:
        script.features.add("logging")
        script.needs("import logging", "import sys")
        holes = ["%d"] * len(label) + [f"%.{digits}f"] * len(figures)
        return [f'logging.info("{words.format(*holes)}", {", ".join(values)})']
    name = script.name("line")
    pairs = packed(script, figures, "dict")
    head = [f"{name} = {pairs}"]
    count = "".join(f"{one}, " for one in label.values())
    pairs = f'(f"{{k}}={{v:.{digits}f}}" for k, v in {name}.items())'
    return [*head, f"print({count}*{pairs})"]
