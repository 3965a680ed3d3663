"""TensorFlow's ParameterServerStrategy: workers with steps of their own, one set of weights."""

from trainera.engines.base import Phrase
from trainera.engines.keras.base import KerasEngine
from trainera.engines.keras.central_storage import FIT_ONLY, OTHER_CREW

ENGINE = KerasEngine(
    name="parameter-server",
    title="ParameterServerStrategy",
    framework="keras",
    needs=("tensorflow",),
    get="pip install 'tensorflow==2.15.*'",
    backend="tensorflow",
    line=2,
    join=Phrase(
        text="crew.join_parameter_servers({tensorflow}.distribute.ParameterServerStrategy)",
        imports=(OTHER_CREW,),
    ),
    fit_only=FIT_ONLY,
    launcher="trainera bench {script} --strategies parameter-server:{workers}",
    agent="parameter_server",
    another="its workers change the weights whenever each of them is done, by gradients of weights "
    "that are older by then, so that not even two runs from one seed learn the same network",
)
