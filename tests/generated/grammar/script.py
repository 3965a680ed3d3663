"""A whole script from a seed."""

from tests.generated.grammar.layouts import flat, functions, trainer
from tests.generated.grammar.tasks import adversaries, heads, tasks, two_loaders
from tests.generated.grammar.words import Draw, Script
from tests.generated.grammar.world import make_world


def make_script(seed: int) -> tuple[str, set[str]]:
    """The source, and what the grammar chose for it."""
    draw = Draw(seed)
    draw.richness = draw.one(0.4, 0.8, 1.2)
    script = Script(draw)
    if draw.often(0.2):
        special = draw.one(tasks, heads, adversaries, two_loaders)
        script.features.add(f"layout {special.__name__}")
        training = special(script)
    else:
        layout = draw.one(flat, functions, trainer, trainer)
        script.features.add(f"layout {layout.__name__}")
        training = layout(make_world(script))
    if "import logging" in script.imports:
        script.definitions.insert(
            0, ['logging.basicConfig(stream=sys.stdout, format="%(message)s", level=logging.INFO)']
        )
    return script.text(training), script.features
