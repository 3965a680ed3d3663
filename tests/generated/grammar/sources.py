"""Where a loop takes its batches from: loaders, and what is put around them."""

from dataclasses import dataclass, field

from tests.generated.grammar.data import Data
from tests.generated.grammar.words import Lines, Packing, Script, block, method


@dataclass
class Source:
    """A loop over batches."""

    head: str
    unpack: Lines
    before: Lines = field(default_factory=list)
    step: str = ""
    """The number of the batch, if the loop counts."""


def unpacked(script: Script, packing: Packing, batch: str, fields: tuple[str, ...]) -> Lines:
    """Gives the fields of a batch names of their own."""
    draw = script.draw
    parts = packing.parts(batch)
    if packing.unpacks:
        style = draw.randrange(4)
        if style == 0 and len(fields) > 2:
            return [f"{fields[0]}, *rest = {batch}"] + [
                f"{one} = rest[{place}]" for place, one in enumerate(fields[1:])
            ]
        if style == 1:
            return [f"{one} = {parts[one]}" for one in fields]
        return [f"{', '.join(fields)} = {batch}"]
    if packing.style == "dict" and draw.often(0.15):
        return [f"{', '.join(fields)} = {batch}.values()"]
    if draw.often(0.3):
        return [f"{', '.join(fields)} = {', '.join(parts[one] for one in fields)}"]
    return [f"{one} = {parts[one]}" for one in fields]


def wrapped(script: Script, loader: str, packing: Packing) -> tuple[str, Packing]:
    """Something of the script's own around a loader, and how it gives a batch."""
    draw = script.draw
    kind = draw.one(
        "progress", "bar", "repack", "repack", "repack", "feed", "limited", "from", "prepared"
    )
    script.features.add(f"source {kind}")
    if kind == "progress":
        name = script.name("progress")
        body = block("if number % 3 == 0:", ['print("batch", number)'])
        inside = block("for number, item in enumerate(items):", body, ["yield item"])
        script.define(
            *block(f"def {name}(items):", inside, ['print("done")'] if draw.often(0.5) else [])
        )
        return f"{name}({loader})", packing
    if kind == "bar":
        name = script.name("Bar")
        count = ["self.seen += 1"] if draw.often(0.5) else []
        script.define(
            *block(
                f"class {name}:",
                block(
                    "def __init__(self, items, title=''):",
                    ["self.items = items", "self.title = title", "self.seen = 0"],
                ),
                method("def __len__(self):", ["return len(self.items)"]),
                method(
                    "def __iter__(self):", block("for item in self.items:", count, ["yield item"])
                ),
            )
        )
        title = ', title="train"' if draw.often(0.5) else ""
        return f"{name}({loader}{title})", packing
    if kind == "limited":
        name = script.name("limited")
        stop = draw.one("return", "break")
        body = block(
            "for place, batch in enumerate(loader):",
            block("if place >= limit:", [stop]),
            ["yield batch"],
        )
        script.define(*block(f"def {name}(loader, limit):", body))
        return f"{name}({loader}, {draw.randint(2, 6)})", packing
    if kind == "from":
        name = script.name("stream")
        script.define(*block(f"def {name}(loader):", ["yield from loader"]))
        return f"{name}({loader})", packing
    if kind == "prepared":
        name = script.name("prepare")
        fields = packing.fields
        new = Packing.drawn(script, fields, "Prepared")
        give = new.pack(script, {one: one for one in fields})
        script.define(
            *block(
                f"def {name}(batch):",
                unpacked(script, packing, "batch", fields),
                [f"x = {_changed(script)}", f"return {give}"],
            )
        )
        return draw.one(f"map({name}, {loader})", f"({name}(b) for b in {loader})"), new
    fields = packing.fields
    new = Packing.drawn(
        script, fields, "Batch", ("tuple", "dict", "dict", "call", "named", "typed", "dataclass")
    )
    script.features.add(f"yield {new.style}")
    change = [f"x = {_changed(script)}"] if draw.often(0.4) else []
    give = new.pack(script, {one: one for one in fields})
    inside = [*unpacked(script, packing, "batch", fields), *change, f"yield {give}"]
    if kind == "feed":
        name = script.name("Feed")
        script.define(
            *block(
                f"class {name}:",
                block("def __init__(self, loader):", ["self.loader = loader"]),
                method("def __len__(self):", ["return len(self.loader)"]),
                method("def __iter__(self):", block("for batch in self.loader:", inside)),
            )
        )
    else:
        name = script.name("batches")
        script.define(*block(f"def {name}(loader):", block("for batch in loader:", inside)))
    return f"{name}({loader})", new


def _changed(script: Script) -> str:
    return script.draw.one(
        "x * 0.5", "(x - 0.1) / 1.5", "x.clone()", "x.flip(1)", "x.clamp(-2, 2)", "2 * x - 1"
    )


def make_source(
    script: Script, data: Data, loader: str, wraps: float = 0.3, counted: bool = False
) -> Source:
    draw = script.draw
    packing = data.packing
    items = loader
    if draw.often(wraps):
        items, packing = wrapped(script, items, packing)
        if draw.often(0.15):
            items, packing = wrapped(script, items, packing)
    fields = packing.fields
    direct = packing.unpacks and draw.often(0.7)
    target = ", ".join(fields) if direct else "batch"
    unpack = [] if direct else unpacked(script, packing, "batch", fields)
    if counted or draw.often(0.25):
        inner = f"({target})" if direct else target
        style = draw.one("", "", ", 1", ", start=0", "zip", "by hand")
        if style == "zip":
            script.needs("import itertools")
            return Source(
                f"for step, {inner} in zip(itertools.count(), {items}):", unpack, step="step"
            )
        if style == "by hand":
            return Source(f"for {target} in {items}:", ["step += 1", *unpack], ["step = 0"], "step")
        return Source(f"for step, {inner} in enumerate({items}{style}):", unpack, step="step")
    return Source(f"for {target} in {items}:", unpack)
