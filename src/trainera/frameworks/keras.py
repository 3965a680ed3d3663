"""Keras: what trains, and which rules there are."""

import re
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version

from trainera import engines, rules
from trainera.engines.base import Engine
from trainera.engines.keras.base import KerasEngine
from trainera.errors import UserError
from trainera.frameworks.base import Files, Finding
from trainera.plan import Edit, Options, Refusal
from trainera.read.keras.reading import read
from trainera.read.source.file import SourceFile
from trainera.rules.common import already_distributed

IMPORTS = re.compile(rb"^\s*(import|from)\s+(keras|tensorflow)\b", re.MULTILINE)
TRAINS = re.compile(
    rb"\.(fit|fit_generator|train_on_batch)\s*\(|GradientTape|value_and_grad|jax\.grad\b"
)


ON_TENSORFLOW = ("horovod", "multiworker")
"""Engines for Keras of TensorFlow's, in the order in which they are taken if they can run here."""
ON_DEVICES = "mirrored"
"""What is taken where Keras is of the line that those know nothing of."""


def _is_keras_3_here() -> bool:
    """Whether TensorFlow's Keras is Keras 3 here, as it is from TensorFlow 2.16 on."""
    try:
        new = not version("keras").startswith("2.")
    except PackageNotFoundError:
        return False
    return new and engines.get(ON_DEVICES, "keras").missing() is None


class Keras:
    """Scripts that train by Keras's `fit`, or by a loop of their own over its networks."""

    wanted = "give the script that calls fit()"

    def uses(self, files: Files) -> bool:
        sources = [file.source for file in files.values()]
        return any(map(IMPORTS.search, sources)) and not any(
            b".backward(" in one for one in sources
        )

    def backend(self, files: Files) -> str:
        return read(files).backend_name

    def default_engine(self, files: Files) -> str:
        facts = read(files)
        if facts.backend_name != "tensorflow":
            return "jax"
        if facts.chooses_backend or _is_keras_3_here():
            return ON_DEVICES
        ready = (name for name in ON_TENSORFLOW if engines.get(name, "keras").missing() is None)
        return next(ready, ON_TENSORFLOW[0])

    def refused(self, files: Files) -> Refusal | None:
        return already_distributed.refusal(files)

    def trains(self, file: SourceFile) -> bool:
        return TRAINS.search(file.source) is not None

    def findings(self, files: Files, engine: Engine, options: Options) -> list[Finding]:
        assert isinstance(engine, KerasEngine)
        chosen: dict[str, str] = {}
        if not engine.shares_apart:
            chosen["batchnorm"] = options.batchnorm
        if engine.grow is None:
            chosen["batch"] = options.batch
        for option, value in chosen.items():
            if value != "global":
                why = f"{engine.title} computes with the whole batch"
                raise UserError(f"--{option} {value}: {why} — leave it out")
        if options.random != "exact" and not engine.shares_apart:
            raise UserError(
                f"--random own: {engine.title} draws the same numbers on any device — leave it out"
            )
        facts = read(files)
        found: list[Finding] = []
        for _, module in rules.modules("keras"):
            found += import_module(module).plan(facts, engine, options)
        return found

    def depth(self, edit: Edit) -> int:
        return 0


FRAMEWORK = Keras()
