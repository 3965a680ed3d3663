"""What `bench` is told of engines and scripts: which takes what, and whether it runs here."""

from pathlib import Path

from trainera import engines, pipeline
from trainera.bench.platforms import Offer, Platform, Pythons
from trainera.engines.base import Engine
from trainera.engines.keras.base import KerasEngine

FIRST = ("ddp", "jax")
"""What the other engines of a framework are compared with."""


def offers(pythons: Pythons) -> list[Offer]:
    """All engines that are measured, each asked of the Python that runs its scripts."""
    found = [_offer(engine, pythons) for engine in engines.every() if engine.measured]
    return sorted(found, key=lambda one: (one.engine not in FIRST, one.engine))


def written_for(script: Path) -> Platform:
    """What a script trains with."""
    framework, backend = pipeline.written_for(script)
    return Platform(framework=framework, backend=backend)


def _offer(engine: Engine, pythons: Pythons) -> Offer:
    backend = engine.backend if isinstance(engine, KerasEngine) else ""
    platform = Platform(framework=engine.framework, backend=backend)
    missing = engine.missing(lambda modules: pythons.lacks(platform, ["trainera", *modules]))
    if missing is not None:
        missing = f"{missing}, {pythons.way_out(platform)}"
    return Offer(
        engine=engine.name,
        platform=platform,
        missing=missing,
        grows=engine.framework == "torch",
        another=engine.another,
        unequal=engine.unequal,
    )
