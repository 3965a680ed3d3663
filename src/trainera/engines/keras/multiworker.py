"""tf.keras 2 on TensorFlow's own collectives: as Horovod, with nothing to build."""

from trainera.engines.base import Phrase
from trainera.engines.keras.base import KerasEngine
from trainera.engines.keras.horovod import TF_CREW

ENGINE = KerasEngine(
    name="multiworker",
    title="MultiWorkerMirroredStrategy",
    framework="keras",
    needs=("tensorflow",),
    get="pip install 'tensorflow==2.15.*'",
    backend="tensorflow",
    line=2,
    join=Phrase(
        text="crew.join_strategy({tensorflow}.distribute.MultiWorkerMirroredStrategy)",
        imports=(TF_CREW,),
    ),
    once=Phrase(text="crew.once", imports=(TF_CREW,)),
    in_turn=Phrase(text="crew.in_turn", imports=(TF_CREW,)),
    agree=Phrase(text="crew.agree({})", imports=(TF_CREW,)),
    grow=Phrase(text="crew.grow_batches({})", imports=(TF_CREW,)),
    launcher="TF_CONFIG='…' python {script}, once for each of {workers} workers",
    agent="multiworker",
)
