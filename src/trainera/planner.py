"""Plans what is to change: reads the script, decides, asks every rule.

Some decisions have to be taken before the rules can speak, and each changes what the script's
values are: where the network is wrapped, which loaders stay whole because an evaluation cannot be
split, where a script without loaders makes its batches. So the script is read again after each.
"""

import ast
from dataclasses import replace
from importlib import import_module

from trainera import rules
from trainera.engines.base import Engine
from trainera.errors import Status, UserError
from trainera.plan import Edit, Note, Options, Plan, Refusal
from trainera.read.batches.generators import batch_streams
from trainera.read.batches.handmade import cuts_by_hand
from trainera.read.facts import Decisions, Facts, Trouble
from trainera.read.reader import read
from trainera.read.source.file import SourceFile
from trainera.rules.torch import already_distributed
from trainera.rules.torch._tools import Finding, refusal_of, refuse
from trainera.rules.torch.wrap import carriers

MAX_DECISIONS = 12


def make_plan(files: dict[str, SourceFile], engine: Engine, options: Options) -> Plan:
    """The plan for a script and its own modules."""
    script = files["__main__"]
    for extra in options.extras:
        if extra not in engine.extras:
            raise UserError(f"--{extra}: {engine.title} has no such option — leave it out")
    plan = Plan(script=script.path, engine=engine.name)
    found = already_distributed.refusal(files)
    if found is not None:
        return replace(plan, refusals=(found,))
    if not any(_goes_backward(file) for file in files.values()):
        message = f"{script.path}: no training loop found — give the script that calls backward()"
        raise UserError(message, Status.REFUSED)
    facts, decisions = _decide(files)
    notes = _notes(facts, decisions)
    findings = _ask(facts, engine, options)
    refusals = _refused(findings)
    if refusals and engine.fallback is not None:
        others = _ask(facts, engine.fallback, options)
        if not _refused(others):
            findings = others
            notes += tuple(map(_past_the_wrapper, refusals))
            refusals = ()
    if refusals:
        return replace(plan, refusals=refusals)
    edits = [finding for finding in findings if isinstance(finding, Edit)]
    notes += tuple(finding for finding in findings if isinstance(finding, Note))
    return replace(plan, edits=tuple(_in_order(edits)), notes=notes)


def _ask(facts: Facts, engine: Engine, options: Options) -> list[Finding]:
    """What every rule wants to change, what it refuses, and what a user should know."""
    findings: list[Finding] = [*_refusals(facts)]
    for _, module in rules.modules(engine.framework):
        findings += import_module(module).plan(facts, engine, options)
    return findings


def _refused(findings: list[Finding]) -> tuple[Refusal, ...]:
    return _distinct([finding for finding in findings if isinstance(finding, Refusal)])


def _past_the_wrapper(refusal: Refusal) -> Note:
    """Why a script is converted without a wrapper around the network."""
    return Note(
        rule=refusal.rule,
        place=refusal.place,
        what=f"{refusal.what}: gradients are averaged when backward() ends, not while it runs",
        why=refusal.why,
    )


def _distinct(refusals: list[Refusal]) -> tuple[Refusal, ...]:
    """Each reason once, where it matters most: a loss before the figures that follow from it."""
    kept: dict[str, Refusal] = {}
    for refusal in sorted(refusals, key=lambda r: (r.rule == "metrics", r.place)):
        kept.setdefault(refusal.why, refusal)
    return tuple(sorted(kept.values(), key=lambda r: r.place))


def _goes_backward(file: SourceFile) -> bool:
    return b".backward" in file.source


def _decide(files: dict[str, SourceFile]) -> tuple[Facts, Decisions]:
    decisions = Decisions()
    for _ in range(MAX_DECISIONS):
        facts, promoted = read(files, decisions)
        wraps = frozenset(
            (carrier.node, name)
            for carrier in carriers(facts).values()
            for name in (carrier.target, carrier.also)
            if name is not None
        )
        # What is amiss with a batch that was taken ahead may be mended by taking it whole.
        first_batches = decisions.first_batches | {node for _, node in facts.first_batches}
        settled = first_batches == decisions.first_batches
        whole = decisions.whole | (_left_whole(facts) if settled else frozenset())
        models = decisions.models | promoted
        handmade, streams = decisions.handmade, decisions.streams
        if not any(one.loop for one in facts.backwards.values()):
            # Batches that come one after another; failing that, those that the loop makes itself.
            streams = decisions.streams or batch_streams(files)
            if streams == decisions.streams:
                handmade = cuts_by_hand(files)
        new = Decisions(
            wraps=wraps,
            whole=whole,
            models=models,
            first_batches=first_batches,
            handmade=handmade,
            streams=streams,
        )
        if new == decisions:
            break
        decisions = new
    return facts, decisions


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


def _refusals(facts: Facts) -> list[Refusal]:
    found = [refusal_of(trouble) for trouble in facts.troubles.values()]
    if not facts.loaders and not facts.handmade:
        do = (
            "draw the batches from a torch.utils.data.DataLoader, or see: trainera explain handmade"
        )
        what, why = "no DataLoader found", "there is nothing whose batches could be shared out"
        first = facts.script.tree.body[0]
        found.append(refuse("split", facts.script, first, what, why, do))
    elif not facts.optimizers:
        do = "update the network's parameters by a torch.optim optimizer"
        what, why = "no optimizer found", "which network is trained cannot be told"
        first = facts.script.tree.body[0]
        found.append(refuse("wrap", facts.script, first, what, why, do))
    return found


def _notes(facts: Facts, decisions: Decisions) -> tuple[Note, ...]:
    return tuple(
        Note(
            rule="split",
            place=facts.loaders[node].file.place(node),
            what="this loader is left whole: every worker evaluates all of it",
            why="what is computed from it cannot be combined over the workers",
        )
        for node in decisions.whole
        if node in facts.loaders
    )


def _in_order(edits: list[Edit]) -> list[Edit]:
    """By place; at one place what has to be innermost comes first."""
    depth = {"unwrap": 0, "through": 1, "keyword": 1, "wrap": 2, "insert": 3}
    inner = {
        "access": 0,
        "metrics": 1,
        "batchnorm": 1,
        "once": 1,
        "scale": 2,
        "wrap": 2,
        "weight": 3,
    }

    def order(edit: Edit) -> tuple[object, ...]:
        return (edit.place, depth[edit.action.op], inner.get(edit.rule, 1))

    return sorted(edits, key=order)
