"""Keras 3 or tf.keras 2 on TensorFlow: one process, known layers compute their rows by device."""

from trainera.engines.base import Phrase
from trainera.engines.keras.base import KerasEngine

MIRROR_CREW = "from trainera import mirror_crew as crew"

ENGINE = KerasEngine(
    name="mirrored",
    title="Keras on TensorFlow's devices",
    framework="keras",
    needs=("keras", "tensorflow"),
    get="pip install keras tensorflow, or 'tensorflow==2.15.*' for scripts written for tf.keras 2",
    backend="tensorflow",
    join=Phrase(text="crew.join_devices()", imports=(MIRROR_CREW,)),
    launcher="TRAINERA_DEVICES={workers} python {script}",
    agent="alone",
    one_process=True,
    environment={"TRAINERA_DEVICES": "{workers}"},
)
