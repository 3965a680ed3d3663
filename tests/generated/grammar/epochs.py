"""One epoch of training: a loop over batches, its step, and what is told of it."""

from dataclasses import dataclass, field

from tests.generated.grammar.callbacks import Hooks, logs_of
from tests.generated.grammar.containers import boxes
from tests.generated.grammar.extras import inside, logged, transformed
from tests.generated.grammar.losses import reduced
from tests.generated.grammar.sinks import Sink, make_sinks
from tests.generated.grammar.sources import make_source
from tests.generated.grammar.words import Figures, Lines, Packing, block, shown
from tests.generated.grammar.world import Places, World, step_lines


@dataclass
class Step:
    """A step that stands somewhere else than in the loop."""

    lines: Lines
    figures: Figures
    packing: Packing
    parameters: tuple[str, ...]
    raw: bool


@dataclass
class Epoch:
    """The lines of an epoch and what it gives."""

    lines: Lines
    results: Figures
    batch: Figures = field(default_factory=dict)


def step_apart(world: World, at: Places) -> Step:
    """The body of a function or method that makes a step and returns figures."""
    script = world.script
    lines, figures = step_lines(world, at, "")
    raw = script.draw.often(0.4)
    if raw:
        figures = {**figures, "out": script.draw.one("out", "out.detach()")}
    if script.draw.often(0.3):
        figures = {**figures, "loss": "loss"} if script.draw.often(0.3) else figures
    packing = Packing.drawn(script, list(figures), "StepResult")
    return Step(
        [*lines, f"return {packing.pack(script, figures)}"],
        figures,
        packing,
        world.data.fields,
        raw,
    )


def step_alike(world: World, at: Places, step: Step) -> Lines:
    """Another body for a step, with another loss; it returns the same figures."""
    script = world.script
    lines, _ = step_lines(world, at, "")
    place = next(number for number, line in enumerate(lines) if line.startswith("loss = "))
    weight = "w" if "w" in world.data.fields else ""
    lines[place] = f"loss = {reduced(script, world.data, weight)}"
    if "norm" in step.figures and not any(line.startswith("norm = ") for line in lines):
        lines.append("norm = loss.detach()")
    return [*lines, f"return {step.packing.pack(script, step.figures)}"]


def epoch_lines(
    world: World,
    at: Places,
    loader: str,
    step: Step | None = None,
    call: str = "",
    hooks: Hooks | None = None,
    trainer: str = "",
    sinks_prefix: str = "",
) -> Epoch:
    """`call` is how the step apart is called; `trainer` is whom callbacks are told about."""
    script, draw = world.script, world.script.draw
    counted = hooks is not None or (world.accumulate > 0 and step is None)
    source = make_source(script, world.data, loader, counted=counted)
    if step is None:
        body, figures = step_lines(world, at, source.step)
        raw = True
    else:
        body, figures = _called(world, step, call)
        raw = step.raw
    if draw.often(0.5):
        known = {
            key: key if key not in ("loss", "n") else f"{key}_value"
            for key in figures
            if key != "out"
        }
        body = body + [f"{known[key]} = {_number(figures[key], key)}" for key in known]
        figures = {**figures, **known}
    else:
        figures = {key: _number(value, key) for key, value in figures.items()}
    figures.pop("out", None)
    sinks = make_sinks(script, world.data, figures, raw, sinks_prefix)
    for sink in sinks:
        body += sink.update
    if draw.often(0.3):
        script.features.add("boxes")
        body += boxes(script, figures, raw)
    body += _told(world, source.step, figures)
    if hooks is not None:
        body += hooks.call(
            at["callbacks"], "on_batch_end", trainer, source.step, logs_of(script, figures)
        )
    if world.loggers and draw.often(0.5):
        body += logged(script, world.loggers, source.step or "0", figures)
    body += _leaves(world, figures)
    start = [f"{at['model']}.train()"] + [line for sink in sinks for line in sink.start]
    if world.accumulate and step is None:
        start.append(f"{at['optimizer']}.zero_grad()")
    before = transformed(script, world.transforms) if world.transforms else []
    loop = source.before + block(source.head, source.unpack, before + _passed_over(world), body)
    lines = start + (inside(world.phase, loop) if world.phase else loop)
    return Epoch(lines, _results(sinks), figures)


def _number(expression: str, key: str) -> str:
    """A figure as a number: a step may have returned the loss itself."""
    return expression


def _results(sinks: list[Sink]) -> Figures:
    return {key: value for sink in sinks for key, value in sink.results.items()}


def _called(world: World, step: Step, call: str) -> tuple[Lines, Figures]:
    draw = world.script.draw
    packing = step.packing
    names = {one: {"out": "out", "loss": "value", "n": "n"}.get(one, one) for one in packing.fields}
    arguments = ", ".join(step.parameters)
    call = call.format(arguments)
    if packing.unpacks and draw.often(0.7):
        lines = [f"{', '.join(names.values())}{',' if len(names) == 1 else ''} = {call}"]
        figures = dict(names)
    else:
        lines = [f"result = {call}"]
        figures = packing.parts("result")
        if "out" in figures:
            lines.append(f"out = {figures['out']}")
    if step.figures["loss"] == "loss":
        figures["loss"] += ".item()"
    return lines, figures


def _told(world: World, step: str, figures: Figures) -> Lines:
    """Now and then a line in the middle of an epoch."""
    script, draw = world.script, world.script.draw
    if not draw.often(0.25):
        return []
    script.features.add("print in batch")
    names = draw.some(list(figures), 1, 2)
    lines = shown(script, {"step": step} if step else {}, {one: figures[one] for one in names})
    if not step and "loss" in names and draw.often(0.3):
        script.features.add("walrus")
        told = [line.replace(figures["loss"], "seen_loss") for line in lines]
        return block(f"if (seen_loss := {figures['loss']}) > 0.5:", told)
    if step and draw.often(0.6):
        return block(f"if {step} % {draw.one(2, 3)} == 0:", lines)
    if draw.often(0.3):
        return block(f"if {figures['loss']} > {draw.one(0.4, 0.8)}:", lines)
    return lines


def _passed_over(world: World) -> Lines:
    """Now and then a batch is not learned from, by what it holds."""
    draw = world.script.draw
    if not draw.often(0.06):
        return []
    world.script.features.add("continue")
    condition = draw.one(
        "x.mean().item() > 0.3",
        "len(x) < 4",
        "x.abs().max() > 3.0",
        "y.double().mean().item() > 1.2",
    )
    return block(f"if {condition}:", draw.one(["continue"], ['print("skipped")', "continue"]))


def _leaves(world: World, figures: Figures) -> Lines:
    """Now and then a batch decides that the epoch is over."""
    draw = world.script.draw
    if not draw.often(0.12):
        return []
    world.script.features.add("break by figure")
    return block(
        f"if {figures['loss']} {draw.one('< 0.2', '> 1.6')}:",
        draw.one(["break"], ['print("leaving")', "break"]),
    )
