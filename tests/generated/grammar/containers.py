"""What a script does with figures and rows between a step and the line that tells of them.

Lists and dictionaries are made, copied, given other names, put into each other, changed by one name
and read by another. The grammar follows what each of them holds, so that every line can run.
"""

from dataclasses import dataclass, field

from tests.generated.grammar.words import Draw, Figures, Lines, Script, block

MOST = 6
"""No list gets longer, and no dictionary has more keys: what is printed stays readable."""


@dataclass
class Box:
    """A list or a dictionary. Several names may stand for it."""

    size: int = 0
    keys: list[str] = field(default_factory=list)
    rows: bool = False
    """A list with an item for each sample: its length is not known, but it has one at least."""

    @property
    def is_dictionary(self) -> bool:
        return bool(self.keys)


class Boxes:
    """Writes lines that make, change and read boxes."""

    def __init__(self, script: Script, figures: Figures, raw: bool) -> None:
        self.script = script
        self.draw: Draw = script.draw
        self.figures = figures
        self.raw = raw
        self.names: dict[str, Box] = {}
        self.lines: Lines = []

    def number(self) -> str:
        """A number: a figure of the batch, a constant, or what a box holds."""
        draw = self.draw
        if self.names and draw.randrange(3) == 0:
            return self.item(draw.choice(list(self.names)))
        if draw.randrange(4) == 0:
            return draw.one("7", "1.5", "0.0", "len(y)" if self.raw else "2", "-1")
        value = draw.choice(list(self.figures.values()))
        return draw.one(value, value, f"2.0 * {value}", f"{value} + 1", f"-{value}")

    def item(self, name: str) -> str:
        box, draw = self.names[name], self.draw
        if box.is_dictionary:
            key = draw.choice(box.keys)
            return draw.one(f'{name}["{key}"]', f'{name}["{key}"]', f'{name}.get("{key}", 0)')
        if box.rows:
            return draw.one(f"{name}[0]", f"{name}[-1]", f"sum({name})", f"max({name})")
        place = draw.randrange(box.size)
        return draw.one(f"{name}[{place}]", f"{name}[{place - box.size}]", f"max({name})")

    def made(self, wish: str, expression: str, box: Box) -> None:
        name = self.script.name(wish)
        self.lines.append(f"{name} = {expression}")
        self.names[name] = box

    def new(self) -> None:
        """A box of numbers, or of a number for each sample."""
        draw = self.draw
        if self.raw and draw.randrange(4) == 0:
            made = draw.one("y.flatten().tolist()", "out.flatten().tolist()", "x[:, 0].tolist()")
            self.made("rows", made, Box(rows=True))
        elif draw.randrange(3) == 0:
            keys = draw.some(["loss", "a", "b", "c"], 1, 3)
            values = [self.number() for _ in keys]
            pairs = [f'"{key}": {value}' for key, value in zip(keys, values, strict=True)]
            words = [f"{key}={value}" for key, value in zip(keys, values, strict=True)]
            text = draw.one("{" + ", ".join(pairs) + "}", "dict(" + ", ".join(words) + ")")
            self.made("record", text, Box(keys=keys))
        else:
            values = [self.number() for _ in range(draw.randint(1, 3))]
            self.made("items", "[" + ", ".join(values) + "]", Box(len(values)))

    def again(self) -> None:
        """Another name, or a copy, of a box that is there."""
        draw = self.draw
        name = draw.choice(list(self.names))
        box = self.names[name]
        if draw.randrange(2):
            self.made("other", name, box)  # both names stand for one box from here on
        elif box.is_dictionary:
            key, value = draw.one("loss", "more"), self.number()
            keys = [*box.keys, *([] if key in box.keys else [key])]
            grown = draw.one(f'{{**{name}, "{key}": {value}}}', f"dict({name}, {key}={value})")
            text, kept = draw.one((f"dict({name})", box.keys), (f"{name}.copy()", box.keys))
            text, kept = draw.one((text, kept), (grown, keys))
            self.made("copied", text, Box(keys=list(kept)))
        else:
            text = draw.one(
                f"list({name})",
                f"{name}[:]",
                f"{name}.copy()",
                f"sorted({name})",
                f"list(reversed({name}))",
                f"{name}[::-1]",
                f"[2 * each for each in {name}]",
                f"[*{name}]",
            )
            self.made("copied", text, Box(box.size, rows=box.rows))

    def joined(self) -> None:
        """Two lists, one behind the other."""
        lists = [name for name, box in self.names.items() if not box.is_dictionary]
        if not lists:
            return self.new()
        one, other = self.draw.choice(lists), self.draw.choice(lists)
        both = self.names[one], self.names[other]
        size = sum(box.size for box in both)
        if size > MOST:
            return None
        rows = any(box.rows for box in both)
        if self.draw.randrange(3) == 0 and self.names[one].size * 2 <= MOST:
            text, size, rows = f"{one} * 2", 2 * both[0].size, both[0].rows
        else:
            text = self.draw.one(f"{one} + {other}", f"[*{one}, *{other}]")
        return self.made("joined", text, Box(size, rows=rows))

    def changed(self) -> None:
        """Something is put into a box, or moved in it."""
        draw = self.draw
        name = draw.choice(list(self.names))
        box, value = self.names[name], self.number()
        if box.is_dictionary:
            key = draw.one(*box.keys, "more")
            self.lines.append(
                draw.one(
                    f'{name}["{key}"] = {value}',
                    f'{name}.update({{"{key}": {value}}})',
                    f"{name}.update({key}={value})",
                    f'{name} |= {{"{key}": {value}}}',
                )
            )
            box.keys += [] if key in box.keys else [key]
        elif box.rows:
            self.lines.append(
                draw.one(f"{name}.sort()", f"{name}.reverse()", f"{name}[0] = {value}")
            )
        elif box.size < MOST and draw.randrange(2):
            by_function = self.function("put", ["items", "value"], "items.append(value)")
            self.lines.append(
                draw.one(
                    f"{name}.append({value})",
                    f"{name}.insert({draw.randrange(box.size + 1)}, {value})",
                    f"{name} += [{value}]",
                    f"{name}.extend([{value}])",
                    f"{by_function}({name}, {value})",
                )
            )
            box.size += 1
        elif box.size > 1 and draw.randrange(3) == 0:
            taken = self.script.name("taken")
            self.lines.append(draw.one(f"{taken} = {name}.pop()", f"{taken} = {name}.pop(0)"))
            self.lines.append(f"print({taken})")
            box.size -= 1
        else:
            place = draw.randrange(box.size)
            self.lines.append(
                draw.one(
                    f"{name}[{place}] = {value}",
                    f"{name}[{place}] += {value}",
                    f"{name}.sort()",
                    f"{name}.reverse()",
                    f"{name}[{place}], {name}[0] = {name}[0], {name}[{place}]",
                )
            )

    def put_by_loop(self) -> None:
        """A list that a loop over another one fills."""
        name = self.draw.choice(list(self.names))
        box = self.names[name]
        source = f"{name}.values()" if box.is_dictionary else name
        made = self.script.name("filled")
        body = self.draw.one(f"{made}.append(each)", f"{made}.insert(0, 2 * each)")
        self.lines += [f"{made} = []", *block(f"for each in {source}:", [body])]
        self.names[made] = Box(len(box.keys) or box.size, rows=box.rows)

    def function(self, wish: str, parameters: list[str], body: str) -> str:
        """A function of the script's own, defined when it is needed first."""
        if f"boxes {wish}" not in self.script.features:
            self.script.features.add(f"boxes {wish}")
            self.script.define(*block(f"def {wish}({', '.join(parameters)}):", [body]))
        return wish

    def told(self) -> None:
        """Prints a box or two, whole or an item of it."""
        for name in self.draw.some(list(self.names), 1, 4):
            box = self.names[name]
            ways = [f"print({name})", f"print({self.item(name)})"]
            if not box.is_dictionary:
                ways += [
                    f"print(sum({name}) / len({name}))",
                    f'print(*(f"{{v:.9f}}" for v in {name}))',
                ]
            self.lines.append(self.draw.choice(ways))


def boxes(script: Script, figures: Figures, raw: bool) -> Lines:
    """Lines that do one thing after another with boxes, and print what came of it."""
    made = Boxes(script, figures, raw)
    made.new()
    for _ in range(script.draw.randint(2, 7)):
        script.draw.one(made.new, made.again, made.joined, made.changed, made.changed)()
        if script.draw.randrange(8) == 0:
            made.put_by_loop()
    made.told()
    return made.lines
