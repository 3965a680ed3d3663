"""Horovod for tf.keras 2: a process for each device, which computes its rows of every batch."""

from trainera.engines.base import Phrase
from trainera.engines.keras.base import KerasEngine

HOROVOD = "import horovod.tensorflow as hvd"
TF_CREW = "from trainera import tf_crew as crew"

ENGINE = KerasEngine(
    name="horovod",
    title="Horovod for tf.keras",
    framework="keras",
    needs=("tensorflow", "horovod"),
    get="pip install 'tensorflow==2.15.*', then: trainera engines install horovod",
    backend="tensorflow",
    line=2,
    join=Phrase(text="crew.join_horovod(hvd)", imports=(HOROVOD, TF_CREW)),
    once=Phrase(text="crew.once", imports=(TF_CREW,)),
    in_turn=Phrase(text="crew.in_turn", imports=(TF_CREW,)),
    agree=Phrase(text="crew.agree({})", imports=(TF_CREW,)),
    grow=Phrase(text="crew.grow_batches({})", imports=(TF_CREW,)),
    launcher="horovodrun -np {workers} python {script}",
    agent="horovod",
    timeline="HOROVOD_TIMELINE",
    hosts="horovodrun -np {workers} -H {hosts} {python} {script}",
    proof="import horovod.tensorflow as hvd; hvd.init()",
)
