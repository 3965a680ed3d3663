"""The runtime of converted scripts: `from trainera import crew`."""

from trainera.crew.joining import join
from trainera.crew.normalising import batchnorm
from trainera.crew.reduction import sum
from trainera.crew.splitting import Split, current, split, whole
from trainera.crew.state import rank, size
from trainera.crew.turns import Nobody, agree, alike, bare, in_turn, once, through

__all__ = [
    "Nobody",
    "Split",
    "agree",
    "alike",
    "bare",
    "batchnorm",
    "current",
    "in_turn",
    "join",
    "once",
    "rank",
    "size",
    "split",
    "sum",
    "through",
    "whole",
]
