"""Random numbers that a worker draws for its own rows, in scripts made parallel by hand."""

import os
import sys
from functools import partial
from typing import Any

from keras.src import backend

from trainera.verify.observe.record import Recorder
from trainera.verify.observe.tf_keras.telling import hook

DRAWS = ("dropout", "random_normal", "random_uniform", "truncated_normal")


def watch_chance(recorder: Recorder) -> None:
    """Tells that layers draw: of a part of the batch they draw other numbers than of the whole."""
    if int(os.environ.get("HOROVOD_SIZE") or os.environ.get("WORLD_SIZE") or 1) == 1:
        return
    for name in DRAWS:
        hook(backend.RandomGenerator, name, partial(_noting, recorder, name))


def _noting(recorder: Recorder, name: str, plain: Any) -> Any:
    def draw(generator: Any, *args: Any, **options: Any) -> Any:
        stateless = generator._rng_type == generator.RNG_STATELESS  # initial weights
        if not stateless and not _is_joined():
            recorder.write("chance", what=f"{name.replace('_', ' ')} of a layer of tf.keras")
        return plain(generator, *args, **options)

    return draw


def _is_joined() -> bool:
    """trainera's crew draws for the whole batch."""
    state = sys.modules.get("trainera.tf_crew.state")
    return state is not None and state.CREW.joined
