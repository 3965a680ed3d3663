"""What looks at the whole batch is refused where each process takes its part for one.

**What.** Nothing is changed. With `tarantella`, layers that normalise by the batch and layers that
draw random numbers are refused, unless `--batchnorm local` or `--random own` says that this is
meant; so is what the engine is known not to do. What its users have to know is said.

**Why.** There each process computes with its rows as if they were the batch: batch statistics are
those of a part, and dropout is another one on each. That learns another network than the script.

**Example.**

    layers.BatchNormalization()   # refused with --engine tarantella

**Safety.** Layers are found by their names, in all modules of the script; networks of
`keras.applications` normalise by the batch unless they are known not to.

**Limits.** What a network that is loaded from elsewhere holds is not seen. No equality with the
sequential run is promised for such an engine, and `verify` does not start it.
"""

import ast
from collections.abc import Iterator

from trainera.engines.keras.base import KerasEngine
from trainera.plan import Note, Options
from trainera.read.keras.facts import KerasFacts, Spot
from trainera.read.keras.networks import last_name
from trainera.read.source.file import SourceFile
from trainera.rules.common._tools import Finding, refuse

NAME = "shares"
BY_BATCH = {"BatchNormalization", "SyncBatchNormalization", "BatchNormalizationV2"}
APPLICATIONS = "applications"
WITHOUT = {"VGG16", "VGG19", "vgg16", "vgg19", "ConvNeXtTiny", "ConvNeXtSmall", "ConvNeXtBase"}
"""Of the networks that come with Keras, those that do not normalise by the batch; their modules."""
SUMMED = "reduction=sum"
BY_CHANCE = {
    *("Dropout", "SpatialDropout1D", "SpatialDropout2D", "SpatialDropout3D", "AlphaDropout"),
    *("GaussianDropout", "GaussianNoise", "RandomFlip", "RandomRotation", "RandomZoom"),
    *("RandomTranslation", "RandomCrop", "RandomContrast", "RandomBrightness", "RandomHeight"),
    "RandomWidth",
}


def plan(facts: KerasFacts, engine: KerasEngine, options: Options) -> Iterator[Finding]:
    spot = next(iter(facts.trainings), Spot(facts.script, facts.script.tree.body[0]))
    for what, why in engine.caveats.items():
        yield Note(rule=NAME, place=spot.file.place(spot.node), what=what, why=why)
    for spot, name in _named(facts) if engine.shares_apart or engine.refuses else ():
        apart = engine.shares_apart
        if name in engine.refuses:
            do = "leave it out, or take --engine horovod"
            yield refuse(
                NAME, spot.file, spot.node, f"'{name}' stands here", engine.refuses[name], do
            )
        elif apart and name in BY_BATCH | {APPLICATIONS} and options.batchnorm == "global":
            yield refuse(
                NAME,
                spot.file,
                spot.node,
                "this network normalises by the batch",
                f"with {engine.title} each process normalises by its own part of it, which learns "
                "another network",
                "add --batchnorm local if that is meant, or take --engine horovod, which has the "
                "statistics of the whole batch",
            )
        elif apart and name in BY_CHANCE and options.random == "exact":
            yield refuse(
                NAME,
                spot.file,
                spot.node,
                "this layer draws random numbers",
                f"with {engine.title} each process draws its own, and not those of the script",
                "add --random own if that is meant, or take --engine horovod, which draws the "
                "script's",
            )


def _named(facts: KerasFacts) -> Iterator[tuple[Spot, str]]:
    """Where a file says a name that may matter."""
    for file in facts.files.values():
        for node in file.nodes:
            yield from ((Spot(file, node), name) for name in _names(node, file))


def _names(node: ast.AST, file: SourceFile) -> Iterator[str]:
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id != APPLICATIONS:
        yield node.id
    elif isinstance(node, ast.Attribute):
        of = last_name(node.value)
        if of == APPLICATIONS and node.attr not in WITHOUT:
            yield APPLICATIONS
        elif node.attr != APPLICATIONS:
            yield SUMMED if (of, node.attr) == ("Reduction", "SUM") else node.attr
    elif isinstance(node, ast.ImportFrom):
        words = {alias.name for alias in node.names}
        home = set((node.module or "").split("."))
        yield from words - {APPLICATIONS}
        if APPLICATIONS in home and not (home & WITHOUT or words <= WITHOUT):
            yield APPLICATIONS
    elif isinstance(node, ast.FunctionDef) and isinstance(file.parents.get(node), ast.ClassDef):
        yield node.name
    elif isinstance(node, ast.keyword) and node.arg == "reduction":
        if isinstance(node.value, ast.Constant) and node.value.value == "sum":
            yield SUMMED
