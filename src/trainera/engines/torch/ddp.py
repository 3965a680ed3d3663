"""PyTorch DistributedDataParallel: gradients are averaged while they are computed."""

from dataclasses import replace

from trainera.engines.base import CREW, Phrase
from trainera.engines.torch.base import TorchEngine

WRAPPED = TorchEngine(
    name="ddp",
    title="PyTorch DDP",
    framework="torch",
    needs=("torch",),
    get="pip install 'trainera[torch]'",
    join=Phrase(text="crew.join()"),
    # Buffers are kept equal by the crew, and a broadcast would hang where slices run out early.
    wrap=Phrase(
        text="DistributedDataParallel({}, broadcast_buffers=False)",
        imports=("from torch.nn.parallel import DistributedDataParallel", CREW),
    ),
    wrap_with_idle_layers=(
        "DistributedDataParallel({}, broadcast_buffers=False, find_unused_parameters=True)"
    ),
    wrap_with_frozen_layers=(
        "crew.with_frozen("
        "DistributedDataParallel, {}, broadcast_buffers=False, find_unused_parameters=True)"
    ),
    bare="{}.module",
    mean_weight="share",
    sum_weight="parts",
    launcher="torchrun --nproc-per-node {workers} {script}",
    agent="agent",
)

ENGINE = replace(
    WRAPPED,
    fallback=replace(
        WRAPPED,
        wrap=Phrase(text="crew.average_after_backward({})"),
        wrap_with_idle_layers="crew.average_after_backward({})",
        wrap_with_frozen_layers="crew.average_after_backward({})",
        bare="{}",
        optimizer=Phrase(text="crew.average_after_backward({})"),
    ),
)
