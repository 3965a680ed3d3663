"""A dataset that changes while it is read is refused.

**What.** Nothing is changed. Refused are datasets whose `__getitem__` counts, appends, moves an
iterator on or draws from a generator of its own.

**Why.** A worker reads its slices only. Its copy of the dataset would change less often than the
sequential one, and what the next sample is would differ. Workers that draw from copies of one
generator would all draw the same numbers.

**Example.**

    def __getitem__(self, index):
        self.reads += 1                       # refused
        noise = self.generator.normal()       # refused; np.random.normal() is fine

**Safety.** Caches by index and files that are opened at the first read are no such changes.

**Limits.** Only classes of the script's own are looked at; what a function that `__getitem__` calls
changes is not seen.
"""

from collections.abc import Iterator

from trainera.engines.torch.base import TorchEngine
from trainera.plan import Options
from trainera.read.facts import Facts
from trainera.read.libraries.torch.datasets import changes
from trainera.rules.torch._tools import Finding, refuse

NAME = "dataset"


def plan(facts: Facts, engine: TorchEngine, options: Options) -> Iterator[Finding]:
    for file in facts.files.values():
        for node in changes(file):
            yield refuse(
                NAME,
                file,
                node,
                "the dataset changes while it is read",
                "each worker reads its slices only, so its copy would change otherwise",
                "let a sample depend on its index alone, and draw random numbers from torch, "
                "numpy.random or random themselves",
            )
