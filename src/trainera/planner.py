"""Plans what is to change: asks the framework what it finds in the script, and sorts that."""

from trainera import frameworks
from trainera.engines.base import Engine
from trainera.errors import Status, UserError
from trainera.frameworks.base import Framework
from trainera.plan import Edit, Note, Options, Plan, Refusal
from trainera.read.source.file import SourceFile

DEPTH = {
    "replace": 0,
    "unwrap": 0,
    "through": 1,
    "keyword": 1,
    "wrap": 2,
    "enclose": 3,
    "insert": 4,
}
"""What has to be innermost where several edits change one place."""


def make_plan(files: dict[str, SourceFile], engine: Engine, options: Options) -> Plan:
    """The plan for a script and its own modules."""
    script, framework = files["__main__"], frameworks.get(engine.framework)
    for extra in options.extras:
        if extra not in engine.extras:
            raise UserError(f"--{extra}: {engine.title} has no such option — leave it out")
    plan = Plan(script=script.path, engine=engine.name, framework=engine.framework)
    found = framework.refused(files)
    if found is not None:
        return plan.refused(found)
    if not any(map(framework.trains, files.values())):
        message = f"{script.path}: no training loop found — {framework.wanted}"
        raise UserError(message, Status.REFUSED)
    findings = framework.findings(files, engine, options)
    refusals = [finding for finding in findings if isinstance(finding, Refusal)]
    if refusals:
        return plan.refused(*_distinct(refusals))
    edits = [finding for finding in findings if isinstance(finding, Edit)]
    notes = [finding for finding in findings if isinstance(finding, Note)]
    return plan.changed(_in_order(edits, framework), notes)


def _distinct(refusals: list[Refusal]) -> tuple[Refusal, ...]:
    """Each reason once, where it matters most: a loss before the figures that follow from it."""
    kept: dict[str, Refusal] = {}
    for refusal in sorted(refusals, key=lambda r: (r.rule == "metrics", r.place)):
        kept.setdefault(refusal.why, refusal)
    return tuple(sorted(kept.values(), key=lambda r: r.place))


def _in_order(edits: list[Edit], framework: Framework) -> list[Edit]:
    """By place; at one place what has to be innermost comes first."""
    return sorted(
        edits, key=lambda edit: (edit.place, DEPTH[edit.action.op], framework.depth(edit))
    )
