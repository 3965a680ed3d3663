"""Horovod for PyTorch: the optimizer averages gradients, which are exchanged tensor by tensor."""

from trainera.engines.base import CREW, Phrase
from trainera.engines.torch.base import TorchEngine

HOROVOD = "import horovod.torch as hvd"

ENGINE = TorchEngine(
    name="horovod",
    title="Horovod for PyTorch",
    framework="torch",
    needs=("torch", "horovod"),
    get="trainera engines install horovod",
    join=Phrase(text="crew.join_horovod(hvd)", imports=(HOROVOD, CREW)),
    # The network stays as it is; all start from the first worker's weights.
    wrap=Phrase(text="crew.alike({})"),
    wrap_with_idle_layers="crew.alike({})",
    wrap_with_frozen_layers="crew.alike({})",
    bare="{}",
    optimizer=Phrase(
        text="crew.averaged(hvd.DistributedOptimizer, {}{options})", imports=(HOROVOD, CREW)
    ),
    optimizer_names="named_parameters={}",
    extras={"fp16": "compression=hvd.Compression.fp16", "adasum": "op=hvd.Adasum"},
    mean_weight="share",
    sum_weight="parts",
    launcher="horovodrun -np {workers} python {script}",
    agent="horovod",
    timeline="HOROVOD_TIMELINE",
    hosts="horovodrun -np {workers} -H {hosts} {python} {script}",
    proof="import horovod.torch as hvd; hvd.init()",
)
