"""PyTorch: what trains, what is decided before the rules can speak, which rules there are.

Some decisions have to be taken before the rules can speak, and each changes what the script's
values are: where the network is wrapped, which loaders stay whole because an evaluation cannot be
split, where a script without loaders makes its batches. So the script is read again after each.
"""

import ast
from importlib import import_module

from trainera import rules
from trainera.engines.base import Engine
from trainera.engines.torch.base import TorchEngine
from trainera.frameworks.base import Files, Finding
from trainera.plan import Edit, Note, Options, Refusal
from trainera.read.batches.generators import batch_streams
from trainera.read.batches.handmade import cuts_by_hand
from trainera.read.facts import Decisions, Facts, Trouble
from trainera.read.reader import read
from trainera.read.source.file import SourceFile
from trainera.rules.common import already_distributed
from trainera.rules.torch._tools import Words, refusal_of, refuse
from trainera.rules.torch.wrap import carriers

MAX_DECISIONS = 12

INNER = {
    "access": 0,
    "join": 0,
    "metrics": 1,
    "batchnorm": 1,
    "once": 1,
    "scale": 2,
    "wrap": 2,
    "weight": 3,
}
"""Rules by what has to be innermost where several change one place."""


class Torch:
    """Scripts that train by `backward()` and an optimizer of torch."""

    wanted = "give the script that calls backward()"

    def uses(self, files: Files) -> bool:
        return any(map(self.trains, files.values()))

    def backend(self, files: Files) -> str:
        return ""

    def default_engine(self, files: Files) -> str:
        return "ddp"

    def refused(self, files: Files) -> Refusal | None:
        return already_distributed.refusal(files)

    def trains(self, file: SourceFile) -> bool:
        return b".backward" in file.source

    def findings(self, files: Files, engine: Engine, options: Options) -> list[Finding]:
        assert isinstance(engine, TorchEngine)
        facts, decisions = _decided(files)
        if facts.parallel:
            return [already_distributed.of_calls(facts)]
        notes = _notes(facts, decisions)
        findings = _ask(facts, engine, options)
        refusals = [finding for finding in findings if isinstance(finding, Refusal)]
        if refusals and engine.fallback is not None:
            others = _ask(facts, engine.fallback, options)
            if not any(isinstance(finding, Refusal) for finding in others):
                return [*notes, *map(_past_the_wrapper, refusals), *others]
        return [*notes, *findings]

    def depth(self, edit: Edit) -> int:
        return INNER.get(edit.rule, 1)


FRAMEWORK = Torch()


def _decided(files: Files) -> tuple[Facts, Decisions]:
    """What is found in a script once nothing more is to be decided."""
    decisions = Decisions()
    for _ in range(MAX_DECISIONS):
        facts, promoted = read(files, decisions)
        new = _decide(files, facts, promoted, decisions)
        if new == decisions:
            break
        decisions = new
    return facts, decisions


def _decide(
    files: Files, facts: Facts, promoted: frozenset[ast.AST], before: Decisions
) -> Decisions:
    """What is to be taken for granted when the script is read again."""
    wraps = frozenset(
        (carrier.node, name)
        for carrier in carriers(facts).values()
        for name in (carrier.target, carrier.also)
        if name is not None
    )
    # What is amiss with a batch that was taken ahead may be mended by taking it whole.
    first_batches = before.first_batches | {node for _, node in facts.first_batches}
    settled = first_batches == before.first_batches
    handmade, streams = before.handmade, before.streams
    if not any(one.loop for one in facts.backwards.values()):
        # Batches that come one after another; failing that, those that the loop makes itself.
        streams = before.streams or batch_streams(files)
        if streams == before.streams:
            handmade = cuts_by_hand(files)
    return Decisions(
        wraps=wraps,
        whole=before.whole | (_left_whole(facts) if settled else frozenset()),
        models=before.models | promoted,
        first_batches=first_batches,
        handmade=handmade,
        streams=streams,
    )


def _ask(facts: Facts, engine: TorchEngine, options: Options) -> list[Finding]:
    words = _words()
    findings: list[Finding] = [
        refusal_of(trouble, words[trouble.rule, trouble.code])
        for trouble in facts.troubles.values()
    ]
    findings += _missing(facts)
    for _, module in rules.modules("torch"):
        findings += import_module(module).plan(facts, engine, options)
    return findings


def _notes(facts: Facts, decisions: Decisions) -> list[Note]:
    return [
        Note(
            rule="split",
            place=facts.loaders[node].file.place(node),
            what="this loader is left whole: every worker evaluates all of it",
            why="what is computed from it cannot be combined over the workers",
        )
        for node in decisions.whole
        if node in facts.loaders
    ]


def _past_the_wrapper(refusal: Refusal) -> Note:
    """Why a script is converted without a wrapper around the network."""
    return Note(
        rule=refusal.rule,
        place=refusal.place,
        what=f"{refusal.what}: gradients are averaged when backward() ends, not while it runs",
        why=refusal.why,
    )


def _words() -> dict[tuple[str, str], Words]:
    """What rules say to what a reading ran into."""
    return {
        (name, code): words
        for name, module in rules.modules("torch")
        for code, words in getattr(import_module(module), "REFUSALS", {}).items()
    }


def _left_whole(facts: Facts) -> frozenset[ast.AST]:
    """Loaders that are only evaluated and whose figures cannot be combined, or only peeked at."""
    looped = frozenset().union(*(loop.loaders for loop in facts.loops.values()))
    whole = {node for one in facts.escapes.values() for node in one.loaders - looped}
    for trouble in facts.troubles.values():
        if _is_mild(trouble, facts):
            whole |= trouble.loaders
    return frozenset(whole)


def _is_mild(trouble: Trouble, facts: Facts) -> bool:
    return (
        trouble.rule in ("metrics", "split")
        and bool(trouble.loaders)
        and not trouble.loaders & facts.training_loaders
    )


def _missing(facts: Facts) -> list[Finding]:
    """What a script must have for anything to be shared out."""
    first = facts.script.tree.body[0]
    if not facts.loaders and not facts.handmade:
        do = (
            "draw the batches from a torch.utils.data.DataLoader, or see: trainera explain handmade"
        )
        what, why = "no DataLoader found", "there is nothing whose batches could be shared out"
        return [refuse("split", facts.script, first, what, why, do)]
    if not facts.optimizers:
        do = "update the network's parameters by a torch.optim optimizer"
        what, why = "no optimizer found", "which network is trained cannot be told"
        return [refuse("wrap", facts.script, first, what, why, do)]
    return []
