"""A script that already runs on several workers is refused.

**What.** Nothing is changed. Scripts that use `torch.distributed`, DDP, Accelerate, Lightning,
Fabric, Horovod, DeepSpeed, the Hugging Face Trainer, Ray Train and others are recognised by what
they import.

**Why.** They were written for many processes; to split their batches once more would be wrong.

**Example.**

    from accelerate import Accelerator  # use: accelerate launch --num_processes N train.py

**Safety.** The message names the launcher to use.

**Limits.** An import that is not used counts, too.
"""

from collections.abc import Iterator

from trainera.engines.base import Engine
from trainera.plan import Options
from trainera.read.facts import Facts
from trainera.read.libraries.distributed import already
from trainera.rules.torch._tools import Finding

NAME = "already-distributed"


def plan(facts: Facts, engine: Engine, options: Options) -> Iterator[Finding]:
    found = already(facts.files)
    if found is not None:
        yield found
