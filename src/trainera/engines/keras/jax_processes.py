"""Keras 3 on JAX over several processes: each has every batch whole, and computes its rows."""

from trainera.engines.base import Phrase
from trainera.engines.keras.base import KerasEngine
from trainera.engines.keras.jax import JAX_CREW

ENGINE = KerasEngine(
    name="jax_processes",
    title="Keras on JAX over processes",
    framework="keras",
    needs=("keras", "jax"),
    get="pip install 'trainera[keras]'",
    backend="jax",
    join=Phrase(
        text="{keras}.distribution.set_distribution(crew.ProcessParallel())", imports=(JAX_CREW,)
    ),
    once=Phrase(text="crew.once", imports=(JAX_CREW,)),
    in_turn=Phrase(text="crew.in_turn", imports=(JAX_CREW,)),
    agree=Phrase(text="crew.agree({})", imports=(JAX_CREW,)),
    launcher="JAX_COORDINATOR_ADDRESS=host:port JAX_NUM_PROCESSES={workers} JAX_PROCESS_ID=… "
    "python {script}, once for each of {workers} processes",
    agent="jax_processes",
    measured=False,
)
