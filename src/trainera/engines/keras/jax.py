"""Keras 3 on JAX: one process, every batch spread over the devices, one device's arithmetic."""

from trainera.engines.base import Phrase
from trainera.engines.keras.base import KerasEngine

JAX_CREW = "from trainera import jax_crew as crew"

ENGINE = KerasEngine(
    name="jax",
    title="Keras on JAX",
    framework="keras",
    needs=("keras", "jax"),
    get="pip install 'trainera[keras]'",
    backend="jax",
    join=Phrase(
        text="{keras}.distribution.set_distribution(crew.DataParallel())", imports=(JAX_CREW,)
    ),
    spread=Phrase(text="crew.spread({})", imports=(JAX_CREW,)),
    launcher="XLA_FLAGS=--xla_force_host_platform_device_count={workers} python {script}",
    agent="alone",
    one_process=True,
    environment={
        "TRAINERA_DEVICES": "{workers}",
        # Devices that are CPUs share cores: on a busy machine one may have to wait for long.
        "XLA_FLAGS": "--xla_force_host_platform_device_count={workers} "
        "--xla_cpu_collective_call_warn_stuck_timeout_seconds=120 "
        "--xla_cpu_collective_call_terminate_timeout_seconds=1200",
    },
)
