"""Plans what is to change: reads the script, decides, asks every rule.

Some decisions have to be taken before the rules can speak, and each changes what the script's
values are: where the network is wrapped, which loaders stay whole because an evaluation cannot be
split, where a script without loaders makes its batches. So the script is read again after each.
"""

from dataclasses import replace

from trainera import frameworks
from trainera.engines.base import Engine
from trainera.errors import Status, UserError
from trainera.frameworks.base import Framework
from trainera.plan import Edit, Note, Options, Plan, Refusal
from trainera.read.facts import Decisions, Facts
from trainera.read.source.file import SourceFile

MAX_DECISIONS = 12


def make_plan(files: dict[str, SourceFile], engine: Engine, options: Options) -> Plan:
    """The plan for a script and its own modules."""
    script, framework = files["__main__"], frameworks.get(engine.framework)
    for extra in options.extras:
        if extra not in engine.extras:
            raise UserError(f"--{extra}: {engine.title} has no such option — leave it out")
    plan = Plan(script=script.path, engine=engine.name)
    found = framework.refused(files)
    if found is not None:
        return replace(plan, refusals=(found,))
    if not any(map(framework.trains, files.values())):
        message = f"{script.path}: no training loop found — give the script that calls backward()"
        raise UserError(message, Status.REFUSED)
    facts, decisions = _decide(files, framework)
    notes = _notes(facts, decisions)
    findings = framework.ask(facts, engine, options)
    refusals = _refused(findings)
    if refusals and engine.fallback is not None:
        others = framework.ask(facts, engine.fallback, options)
        if not _refused(others):
            findings = others
            notes += tuple(map(_past_the_wrapper, refusals))
            refusals = ()
    if refusals:
        return replace(plan, refusals=refusals)
    edits = [finding for finding in findings if isinstance(finding, Edit)]
    notes += tuple(finding for finding in findings if isinstance(finding, Note))
    return replace(plan, edits=tuple(_in_order(edits, framework)), notes=notes)


def _refused(findings: list[Edit | Refusal | Note]) -> tuple[Refusal, ...]:
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


def _decide(files: dict[str, SourceFile], framework: Framework) -> tuple[Facts, Decisions]:
    decisions = Decisions()
    for _ in range(MAX_DECISIONS):
        facts, promoted = framework.read(files, decisions)
        new = framework.decide(files, facts, promoted, decisions)
        if new == decisions:
            break
        decisions = new
    return facts, decisions


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


def _in_order(edits: list[Edit], framework: Framework) -> list[Edit]:
    """By place; at one place what has to be innermost comes first."""
    depth = {
        "replace": 0,
        "unwrap": 0,
        "through": 1,
        "keyword": 1,
        "wrap": 2,
        "enclose": 3,
        "insert": 4,
    }

    def order(edit: Edit) -> tuple[object, ...]:
        return (edit.place, depth[edit.action.op], framework.depth(edit))

    return sorted(edits, key=order)
