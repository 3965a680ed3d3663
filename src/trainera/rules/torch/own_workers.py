"""A script that makes workers of its own only if it is told to is a sequential one.

**What.** Many scripts can run on several workers by themselves, if an option says so. Nothing
changes while it does not. Where such a script would start, `init_process_group`,
`DistributedDataParallel(…)` or `mp.spawn(…)`, the call goes through `crew.no_own_workers(…)`, which
ends the run with status 3. `dist.is_initialized()` and `isinstance(model, DistributedDataParallel)`
become `False`, as they are in one process. A script that looks at `RANK` and its like in the
environment is told nothing: `crew.forget_launcher()`.

**Why.** The converted script is one of several workers, but the script itself knows nothing of it:
it must not share out once more what is shared out already.

**Example.**

      if args.distributed:
    -     dist.init_process_group("nccl")
    +     crew.no_own_workers(dist.init_process_group, "nccl")

**Safety.** Nothing is read behind such a call, and nothing is done there. A script that comes by
one on every path is refused (`already-distributed`), with the launcher that it was written for.

**Limits.** What else is done with these classes and functions, such as to hand them to other code,
is refused.
"""

import ast
from collections.abc import Iterator

from trainera.engines.base import CREW
from trainera.engines.torch.base import TorchEngine
from trainera.plan import Options, Replace, Through
from trainera.read.facts import Facts
from trainera.read.libraries.distributed import PLACE
from trainera.read.source.file import SourceFile
from trainera.rules.common._places import first_deed
from trainera.rules.torch._tools import Finding, before, edit, refuse, spots

NAME = "own-workers"


def plan(facts: Facts, engine: TorchEngine, options: Options) -> Iterator[Finding]:
    called = spots(facts.own_workers.values())
    for node, found in called.items():
        spot = found[0]
        if isinstance(node, ast.Call):
            reason = "the script may make workers of its own here: then the run ends"
            through = Through(function="crew.no_own_workers")
            yield edit(NAME, spot.file, node, through, reason, (CREW,))
        else:
            what = f"{spot.what} is used in a way that cannot be followed"
            why = "the converted script is one of several workers by other means"
            do = "convert the script without its code for several workers"
            yield refuse(NAME, spot.file, node, what, why, do)
    for node, found in spots(facts.untrue.values()).items():
        reason = "in one process it is: the script knows nothing of the other workers"
        yield edit(NAME, found[0].file, node, Replace(text="False"), reason, ())
    if any(map(_asks, facts.files.values())):
        yield edit(
            NAME,
            facts.script,
            first_deed(facts.script, facts.files),
            before("crew.forget_launcher()"),
            "the script asks the launcher who it is: it is told nothing, as in one process",
            (CREW,),
        )


def _asks(file: SourceFile) -> bool:
    """Whether a file looks at what a launcher has put into the environment."""
    if b"RANK" not in file.source and b"WORLD_SIZE" not in file.source:
        return False
    return any(
        PLACE.search(ast.unparse(node))
        for node in file.nodes
        if isinstance(node, ast.Call | ast.Subscript | ast.Compare)
    )
