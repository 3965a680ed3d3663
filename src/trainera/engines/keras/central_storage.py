"""TensorFlow's CentralStorageStrategy: a step of its own on each device, the weights on one."""

from trainera.engines.base import Phrase
from trainera.engines.keras.base import KerasEngine

OTHER_CREW = "from trainera import other_crew as crew"
FIT_ONLY = "of TensorFlow's strategy only steps that fit() takes are shared out"

ENGINE = KerasEngine(
    name="central-storage",
    title="CentralStorageStrategy",
    framework="keras",
    needs=("tensorflow",),
    get="pip install 'tensorflow==2.15.*'",
    backend="tensorflow",
    line=2,
    join=Phrase(
        text="crew.join_central_storage({tensorflow}.distribute.experimental.CentralStorageStrategy)",
        imports=(OTHER_CREW,),
    ),
    fit_only=FIT_ONLY,
    launcher="trainera bench {script} --strategies central-storage:{workers}",
    agent="alone",
    one_process=True,
    environment={"TRAINERA_DEVICES": "{workers}"},
    another="each device normalises and drops out by itself, on its share of a batch, so that with "
    "two devices another network is learned",
)
