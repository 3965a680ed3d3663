"""A script that already runs on several workers is refused.

**What.** Nothing is changed. Scripts that use `torch.distributed`, DDP, Accelerate, Lightning,
Fabric, Horovod, DeepSpeed, the Hugging Face Trainer, Ray Train, `tf.distribute`,
`keras.distribution` and others are recognised by what they import or call.

**Why.** They were written for many processes; to split their batches once more would be wrong.

**Example.**

    from accelerate import Accelerator  # use: accelerate launch --num_processes N train.py

**Safety.** The message names the launcher to use.

**Limits.** With `torch.distributed` and DDP it counts where the script comes by on every path; what
it does only if an option says so is guarded (see `own-workers`).
"""

from trainera.plan import Refusal
from trainera.read.facts import Facts
from trainera.read.libraries.distributed import already
from trainera.read.source.file import SourceFile
from trainera.rules.common._tools import refuse

NAME = "already-distributed"


WHY = "it was written for many processes, so there is nothing to convert"


def of_calls(facts: Facts) -> Refusal:
    """A script that makes workers of its own on every path."""
    spot = next(iter(facts.own_workers.values()))
    what = f"the script already runs on several workers, by {spot.what}"
    do = f"launch it with: torchrun --nproc-per-node N {facts.script.path.name}"
    return refuse(NAME, spot.file, spot.node, what, WHY, do)


def refusal(files: dict[str, SourceFile]) -> Refusal | None:
    """Names what makes the script parallel and how it is launched."""
    found = already(files)
    if found is None:
        return None
    what = f"the script already runs on several workers, by {found.what}"
    do = f"launch it with: {found.launcher} {files['__main__'].path.name}"
    return refuse(NAME, found.file, found.node, what, WHY, do)
