"""Evaluation: over a loader without gradients, in one of the usual forms."""

from tests.generated.grammar.extras import transformed
from tests.generated.grammar.sinks import batch_figures, make_sinks
from tests.generated.grammar.sources import make_source
from tests.generated.grammar.words import Figures, Lines, block
from tests.generated.grammar.world import Places, World, forward_lines


def evaluation_lines(world: World, at: Places, loader: str) -> tuple[Lines, Figures, bool]:
    """The body, its results, and whether it has to be decorated with no_grad."""
    script, draw = world.script, world.script.draw
    figures = batch_figures(script, world.data, "loss")
    sinks = make_sinks(script, world.data, figures, raw=True)
    source = make_source(script, world.data, loader, wraps=0.15)
    inner = forward_lines(world, at)
    inner.append(f"loss = {world.loss.call(at.get('criterion', ''))}")
    for sink in sinks:
        inner += sink.update
    changed = transformed(script, world.transforms) if world.transforms and draw.often(0.5) else []
    loop = source.before + block(source.head, source.unpack, changed, inner)
    start = [line for sink in sinks for line in sink.start]
    decorated = draw.often(0.3)
    mode = [f"{at['model']}.eval()"]
    body = (
        loop
        if decorated
        else block(
            draw.one(
                "with torch.no_grad():", "with torch.inference_mode():", "with torch.no_grad():"
            ),
            loop,
        )
    )
    if not decorated and draw.often(0.1):
        body = block("try:", body) + block("finally:", [f"{at['model']}.train()"])
    results = {f"valid_{key}": value for sink in sinks for key, value in sink.results.items()}
    return mode + start + body, results, decorated
