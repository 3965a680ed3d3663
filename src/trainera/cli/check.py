"""``trainera check``: what would change, what would be refused; changes nothing."""

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from trainera.cli import render
from trainera.cli.options import (
    AdasumOption,
    Batch,
    BatchNorm,
    BatchNormOption,
    BatchOption,
    EngineOption,
    Fp16Option,
    JsonOption,
    Random,
    RandomOption,
    Rate,
    RateOption,
    WarmupOption,
    as_options,
    require_engine,
)
from trainera.cli.trouble import as_user_error, told_as_json
from trainera.errors import Status, UserError
from trainera.plan import Options, Plan

SKIPPED = frozenset({"__pycache__", "node_modules", "site-packages", "build", "dist"})
"""Directories that hold nobody's training scripts, besides hidden ones and environments."""

EPILOG = """\
[bold]Examples[/bold]
  trainera check train.py        every change with its reason
  trainera check experiments/    a line for each script in it

The exit status is 0 if every training script can be converted, 3 if one is refused.
"""

CONVERTIBLE, REFUSED, NO_TRAINING, ERROR = "convertible", "refused", "no training", "error"


@dataclass(frozen=True, kw_only=True)
class Finding:
    """What came of one file: a plan, or the error that stands in its way."""

    path: Path
    plan: Plan | None = None
    error: UserError | None = None

    @property
    def verdict(self) -> str:
        if self.error is not None:
            # Among many files those that train nothing are expected, and no fault of theirs.
            return NO_TRAINING if self.error.status is Status.REFUSED else ERROR
        assert self.plan is not None
        if self.plan.refusals:
            return REFUSED
        return CONVERTIBLE if self.plan.edits else NO_TRAINING

    @property
    def status(self) -> Status:
        if self.verdict == ERROR and self.error is not None:
            return self.error.status
        return Status.REFUSED if self.verdict == REFUSED else Status.DONE

    def as_data(self) -> dict[str, Any]:
        head: dict[str, Any] = {"script": str(self.path), "verdict": self.verdict}
        if self.plan is None:
            return head | {"error": str(self.error)}
        return self.plan.as_data() | head


def check(
    scripts: Annotated[
        list[Path],
        typer.Argument(metavar="SCRIPT...", help="Scripts, or directories to search for them."),
    ],
    engine: EngineOption = None,
    batchnorm: BatchNormOption = BatchNorm.GLOBAL,
    random: RandomOption = Random.EXACT,
    batch: BatchOption = Batch.GLOBAL,
    rate: RateOption = Rate.KEEP,
    warmup: WarmupOption = 0.0,
    fp16: Fp16Option = False,
    adasum: AdasumOption = False,
    as_json: JsonOption = False,
) -> None:
    """Show what converting would change, refuse or leave open to question.

    Scripts are read, never run, and nothing is written.
    """
    with told_as_json(as_json):
        require_engine(engine)
        many = len(scripts) > 1 or scripts[0].is_dir()
        found = [path for script in scripts for path in _python_files(script)]
        paths = list({path.resolve(): path for path in reversed(found)}.values())[::-1]
        if not paths:
            places = ", ".join(map(render.shown, scripts))
            raise UserError(f"{places}: no Python file in there — give a script to check")
        options = as_options(batchnorm, batch, rate, warmup, random, fp16=fp16, adasum=adasum)
        if not many:
            findings = [_examine(paths[0], engine, options)]
            error = findings[0].error
            if error is not None:
                raise error
        else:
            findings = _without_parts(_examine_all(paths, engine, options, quiet=as_json))
        status = _status(findings)
        if as_json:
            data = {"scripts": [finding.as_data() for finding in findings], "status": int(status)}
            render.print_data(data)
        elif many:
            _print_summary(findings)
        else:
            _print_finding(findings[0])
    raise typer.Exit(int(status))


def _python_files(path: Path) -> Iterator[Path]:
    if not path.is_dir():
        yield path
        return
    for inner in sorted(path.iterdir()):
        if inner.is_dir():
            foreign = inner.name.startswith(".") or inner.name in SKIPPED
            if not foreign and not inner.is_symlink() and not (inner / "pyvenv.cfg").exists():
                yield from _python_files(inner)
        elif inner.suffix == ".py" and not inner.name.startswith("."):
            yield inner


def _examine(path: Path, engine: str | None, options: Options) -> Finding:
    from trainera.pipeline import plan_script

    try:
        return Finding(path=path, plan=plan_script(path, engine, options))
    except UserError as error:
        return Finding(path=path, error=error)


def _examine_all(
    paths: Sequence[Path], engine: str | None, options: Options, *, quiet: bool
) -> list[Finding]:
    """One file after the other; one that trips trainera itself must not hide the others."""
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    findings = []
    columns = (BarColumn(), MofNCompleteColumn(), TextColumn("{task.description}", markup=False))
    out = render.console(stderr=True)
    shy = quiet or not out.is_terminal
    with Progress(*columns, console=out, transient=True, disable=shy) as progress:
        task = progress.add_task("", total=len(paths))
        for path in paths:
            progress.update(task, description=render.shown(path))
            try:
                findings.append(_examine(path, engine, options))
            except Exception as error:
                findings.append(Finding(path=path, error=as_user_error(error)))
            progress.advance(task)
    return findings


def _without_parts(findings: list[Finding]) -> list[Finding]:
    """A module that is converted along with the script that imports it is no script by itself."""
    from trainera.pipeline import own_modules

    whole = [one.path for one in findings if one.verdict == CONVERTIBLE]
    parts = {module.resolve(): path for path in whole for module in own_modules(path)}
    return [
        Finding(path=one.path, error=UserError(f"part of {parts[path]}", Status.REFUSED))
        if one.verdict == REFUSED and (path := one.path.resolve()) in parts
        else one
        for one in findings
    ]


def _status(findings: Sequence[Finding]) -> Status:
    """A refusal weighs most, as the answer to the question; then whatever could not be read."""
    worst = {finding.status for finding in findings}
    order = (Status.REFUSED, Status.FAILED, Status.USAGE)
    return next((status for status in order if status in worst), Status.DONE)


def _print_finding(finding: Finding) -> None:
    plan = finding.plan
    assert plan is not None
    render.print_refusals(plan, stderr=False)
    render.print_notes(plan, stderr=False)
    if not plan.refusals:
        render.print_edits(plan)
    sys.stdout.flush()
    print(_summary(finding))


def _print_summary(findings: Sequence[Finding]) -> None:
    for finding in findings:
        print(_summary(finding))
    counts = {finding.verdict: 0 for finding in findings}
    for finding in findings:
        counts[finding.verdict] += 1
    total = ", ".join(f"{number} {verdict}" for verdict, number in sorted(counts.items()))
    render.say(f"{render.counted(len(findings), 'file')}: {total}")


def _summary(finding: Finding) -> str:
    """One line on one file; its errors begin with its name by themselves."""
    plan, path = finding.plan, render.shown(finding.path)
    if plan is None:
        message = str(finding.error).split("\n")[0]
        own = message.startswith(str(finding.path))
        return path + (message.removeprefix(str(finding.path)) if own else f": {message}")
    if plan.refusals:
        first = plan.refusals[0]
        more = f" (and {len(plan.refusals) - 1} more)" if len(plan.refusals) > 1 else ""
        return f"{path}: refused: line {first.place.line}: {first.rule}: {first.what}{more}"
    if not plan.edits:
        return f"{path}: no training to convert"
    changes = render.counted(len(plan.edits), "change")
    files = f" in {len(plan.files)} files" if len(plan.files) > 1 else ""
    notes = f", {render.counted(len(plan.notes), 'note')}" if plan.notes else ""
    return f"{path}: convertible for {plan.engine}: {changes}{files}{notes}"
