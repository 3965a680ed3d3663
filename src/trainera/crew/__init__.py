"""The runtime of converted scripts: `from trainera import crew`."""

from trainera.crew.averaging import average_after_backward
from trainera.crew.horovod import averaged, join_horovod
from trainera.crew.joining import forget_launcher, join, no_own_workers, own_device
from trainera.crew.normalising import batchnorm
from trainera.crew.reduction import sum
from trainera.crew.scaling import scaled
from trainera.crew.sharing import current
from trainera.crew.splitting import Split, split, whole
from trainera.crew.state import rank, size
from trainera.crew.stepping import cut, drawn, end_steps, next_step, steps
from trainera.crew.streams import own_random_numbers
from trainera.crew.trials import try_networks
from trainera.crew.turns import Nobody, agree, in_turn, once
from trainera.crew.wrapping import alike, bare, same_input, through, with_frozen

__all__ = [
    "Nobody",
    "Split",
    "agree",
    "alike",
    "average_after_backward",
    "averaged",
    "bare",
    "batchnorm",
    "current",
    "cut",
    "drawn",
    "end_steps",
    "forget_launcher",
    "in_turn",
    "join",
    "join_horovod",
    "next_step",
    "no_own_workers",
    "once",
    "own_device",
    "own_random_numbers",
    "rank",
    "same_input",
    "scaled",
    "size",
    "split",
    "steps",
    "sum",
    "through",
    "try_networks",
    "whole",
    "with_frozen",
]
