"""Callbacks: lists of one to four objects or functions that are told of batches and epochs."""

from dataclasses import dataclass

from tests.generated.grammar.words import Figures, Lines, Script, block, method, packed, shown

KINDS = ("Printer", "BatchPrinter", "History", "Saver", "Decay", "Stopper", "Collector", "Average")


@dataclass
class Hooks:
    """How a script calls its callbacks."""

    make: str
    """The list of them."""
    style: str
    figure: str
    """The figure of an epoch that they look at."""
    names: tuple[str, ...]
    closing: bool

    def call(self, hooks: str, what: str, *arguments: str) -> Lines:
        listed = ", ".join(arguments)
        if self.style == "dispatch":
            return [f'fire({hooks}, "{what}", {listed})']
        if self.style == "group":
            return [f"{hooks}.{what}({listed})"]
        if self.style == "comprehension":
            return [f"[callback.{what}({listed}) for callback in {hooks}]"]
        return block(f"for callback in {hooks}:", [f"callback.{what}({listed})"])


def make_hooks(script: Script, batch: Figures, epoch: Figures, saves: bool) -> Hooks:
    """`batch` and `epoch` are the names of the figures in the logs; `saves`: a trainer's save()."""
    draw = script.draw
    chosen = draw.some(KINDS, 1, 4)
    script.features.add(f"callbacks {len(chosen)}")
    figure = draw.choice(list(epoch))
    base = script.name("Callback")
    script.define(
        *block(
            f"class {base}:",
            block("def on_batch_end(self, trainer, step, logs):", ["pass"]),
            method("def on_epoch_end(self, trainer, epoch, logs):", ["pass"]),
            method("def on_train_end(self, trainer):", ["pass"]),
        )
    )
    names = [_callback(script, kind, base, figure, batch, epoch, saves) for kind in chosen]
    made = "[" + ", ".join(f"{one}()" for one in names) + "]"
    style = draw.one("loop", "loop", "loop", "dispatch", "group", "comprehension")
    if style == "dispatch":
        body = block("for callback in callbacks:", ["getattr(callback, what)(*arguments)"])
        script.define(*block("def fire(callbacks, what, *arguments):", body))
    elif style == "group":
        name = script.name("CallbackList")
        lines = block(
            f"class {name}:",
            block("def __init__(self, callbacks):", ["self.callbacks = callbacks"]),
        )
        for what, arguments in (
            ("on_batch_end", "trainer, step, logs"),
            ("on_epoch_end", "trainer, epoch, logs"),
            ("on_train_end", "trainer"),
        ):
            body = block("for callback in self.callbacks:", [f"callback.{what}({arguments})"])
            lines += [
                f"    {line}" if line else ""
                for line in method(f"def {what}(self, {arguments}):", body)
            ]
        script.define(*lines)
        made = f"{name}({made})"
    return Hooks(made, style, figure, tuple(names), draw.often(0.7))


def _callback(
    script: Script, kind: str, base: str, figure: str, batch: Figures, epoch: Figures, saves: bool
) -> str:
    draw = script.draw
    name = script.name(kind)
    value = f'logs["{figure}"]'
    some = draw.choice([one for one in batch if one != "n"])
    start: Lines = []
    parts: Lines = []
    in_batch = "def on_batch_end(self, trainer, step, logs):"
    in_epoch = "def on_epoch_end(self, trainer, epoch, logs):"
    at_end = "def on_train_end(self, trainer):"
    if kind == "Printer":
        parts = method(in_epoch, shown(script, {"epoch": "epoch"}, {figure: value}))
    elif kind == "BatchPrinter":
        told = shown(script, {"step": "step"}, {some: f'logs["{some}"]'})
        parts = method(in_batch, draw.one(told, block("if step % 2 == 0:", told)))
    elif kind == "History":
        start = ["self.rows = []"]
        keep = draw.one(value, "dict(logs)", "logs", f"(epoch, {value})")
        parts = method(in_epoch, [f"self.rows.append({keep})"])
        parts += method(at_end, ["print(self.rows)"])
    elif kind == "Saver":
        start = ["self.best = float('inf')"]
        save = draw.one(
            'torch.save(trainer.model.state_dict(), "best.pt")',
            f'torch.save({{"model": trainer.model.state_dict(), "figure": {value}}}, "best.pt")',
        )
        if saves and draw.often(0.6):
            script.features.add("callback saves by trainer")
            save = 'trainer.save("best.pt")'
        parts = method(in_epoch, block(f"if {value} < self.best:", [f"self.best = {value}", save]))
    elif kind == "Decay":
        change = block("for group in trainer.optimizer.param_groups:", ['group["lr"] *= 0.5'])
        where, condition = draw.one(
            (in_epoch, f"if {value} > 0.5:"),
            (in_epoch, f"if {value} > self.last:"),
            (in_batch, f'if logs["{some}"] > 0.6:'),
        )
        start = ["self.last = 0.0"]
        keep = [f"self.last = {value}"] if where == in_epoch else []
        parts = method(where, block(condition, change), keep)
    elif kind == "Stopper":
        start = ["self.best = float('inf')", "self.bad = 0"]
        body = block(f"if {value} < self.best - 0.01:", [f"self.best = {value}", "self.bad = 0"])
        body += block("else:", ["self.bad += 1"])
        parts = method(
            in_epoch, body, block(f"if self.bad >= {draw.one(1, 2)}:", ["trainer.stop = True"])
        )
    elif kind == "Collector":
        start = ["self.values = []"]
        parts = method(in_batch, [f'self.values.append(logs["{some}"])'])
        told = shown(script, {}, {"collected": "sum(self.values)"})
        parts += method(draw.one(in_epoch, at_end), told)
    else:
        start = ["self.average = None"]
        state = "trainer.model.state_dict()"
        body = block(
            "if self.average is None:",
            [f"self.average = {{k: v.clone() for k, v in {state}.items()}}"],
        )
        body += block(
            "else:",
            block(
                f"for k, v in {state}.items():", ["self.average[k].mul_(0.9).add_(v, alpha=0.1)"]
            ),
        )
        parts = method(draw.one(in_epoch, in_batch), body)
        total = "sum(v.sum().item() for v in self.average.values())"
        parts += method(at_end, shown(script, {}, {"average": total}))
    first = block("def __init__(self):", start) if start else ["kind = " + f'"{name.lower()}"']
    script.define(*block(f"class {name}({base}):", first, parts))
    return name


def logs_of(script: Script, figures: Figures) -> str:
    return packed(script, figures, script.draw.one("dict", "call"))
