"""``trainera convert``: writes the parallel version of a script."""

import os
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from trainera import engines
from trainera.cli import output, render
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
from trainera.cli.trouble import told_as_json
from trainera.errors import Status, UserError
from trainera.plan import Converted, Plan

STDOUT = "-"

EPILOG = """\
[bold]Examples[/bold]
  trainera convert train.py            write train_ddp.py beside it
  trainera convert train.py --diff     see the change, write nothing
  trainera convert train.py --in-place --explain
  trainera convert train.py -o out/    the script and its modules as a set
  trainera convert train.py -o - --standalone | ssh node "cat > train.py"
                                       where trainera is not installed

Source, diff, explanation and JSON go to stdout, all else to stderr.
Beside a source or a diff the explanation goes to stderr, too.
"""


def convert(
    script: Annotated[Path, typer.Argument(metavar="SCRIPT", help="The training script.")],
    engine: EngineOption = None,
    out: Annotated[
        str | None,
        typer.Option(
            "-o",
            "--output",
            metavar="OUT",
            help="File or directory to write; - is stdout. Without it: train_ddp.py beside "
            "train.py, or a directory beside its directory when modules change too.",
        ),
    ] = None,
    diff: Annotated[
        bool, typer.Option("--diff", help="Print a unified diff, write nothing.")
    ] = False,
    in_place: Annotated[
        bool, typer.Option("--in-place", help="Write the changes into the files themselves.")
    ] = False,
    force: Annotated[
        bool,
        typer.Option("--force", help="Overwrite files that trainera did not write."),
    ] = False,
    explain: Annotated[
        bool, typer.Option("--explain", help="Say why each line is changed.")
    ] = False,
    standalone: Annotated[
        bool,
        typer.Option(
            "--standalone",
            help="Write the small runtime into the file instead of importing it from trainera.",
        ),
    ] = False,
    batchnorm: BatchNormOption = BatchNorm.GLOBAL,
    random: RandomOption = Random.EXACT,
    batch: BatchOption = Batch.GLOBAL,
    rate: RateOption = Rate.KEEP,
    warmup: WarmupOption = 0.0,
    fp16: Fp16Option = False,
    adasum: AdasumOption = False,
    as_json: JsonOption = False,
) -> None:
    """Convert a training script, source to source.

    The script is read, never run. Nothing is written when it is refused.
    """
    with told_as_json(as_json):
        _check_options(out, diff=diff, in_place=in_place, force=force, as_json=as_json)
        require_engine(engine)

        from trainera.pipeline import convert_script

        plan, converted = convert_script(
            script,
            engine,
            as_options(batchnorm, batch, rate, warmup, random, fp16=fp16, adasum=adasum),
            standalone,
        )
        if out == STDOUT and _touches_modules(plan, converted):
            raise UserError(_too_much("stdout", converted))
        outputs: tuple[output.Output, ...] = ()
        if converted and not diff and out != STDOUT:
            outputs = _outputs(plan, converted, out, in_place=in_place)
            if not in_place:
                output.check_targets(outputs, force=force)
            output.write(outputs)
        status = Status.REFUSED if plan.refusals else Status.DONE
        if as_json:
            _print_json(plan, converted if diff else (), outputs, status)
        else:
            _print(plan, converted, outputs, explain=explain, diff=diff, to_stdout=out == STDOUT)
    raise typer.Exit(int(status))


def _check_options(
    out: str | None, *, diff: bool, in_place: bool, force: bool, as_json: bool
) -> None:
    ways = [name for name, given in (("-o", out is not None), ("--diff", diff)) if given]
    ways += ["--in-place"] if in_place else []
    if len(ways) > 1:
        raise UserError(f"{' and '.join(ways)} exclude each other — choose one")
    if as_json and out == STDOUT:
        raise UserError("--json and -o - both want stdout — write to a file with -o OUT")
    if force and (diff or in_place or out == STDOUT):
        raise UserError(
            "--force is for overwriting another file — it has no use here, leave it out"
        )


def _outputs(
    plan: Plan, converted: Sequence[Converted], out: str | None, *, in_place: bool
) -> tuple[output.Output, ...]:
    if in_place:
        return output.in_place(converted)
    script = plan.script
    several = _touches_modules(plan, converted)
    if out is None and not several:
        return output.as_file(converted[0], script.with_name(f"{script.stem}_{plan.engine}.py"))
    if out is None:
        home = script.resolve().parent
        directory = home.with_name(f"{home.name}_{plan.engine}")
    else:
        directory = Path(out)
        if not (directory.is_dir() or out.endswith(("/", os.sep))):
            if not several:
                return output.as_file(converted[0], directory)
            if directory.suffix == ".py" or directory.is_file():
                raise UserError(_too_much(out, converted))
    from trainera.pipeline import import_roots, own_modules

    roots = [root.resolve() for root in import_roots(script)[1]]
    return output.as_directory(script, own_modules(script), converted, directory, roots)


def _touches_modules(plan: Plan, converted: Sequence[Converted]) -> bool:
    return any(one.path.resolve() != plan.script.resolve() for one in converted)


def _too_much(out: str, converted: Sequence[Converted]) -> str:
    changed = ", ".join(render.shown(one.path) for one in converted)
    return (
        f"{out}: one file cannot hold the change — it touches {changed} — "
        "give a directory with -o DIR, or use --in-place"
    )


def _print_json(
    plan: Plan,
    converted: Sequence[Converted],
    outputs: Sequence[output.Output],
    status: Status,
) -> None:
    data = plan.as_data()
    data["outputs"] = [str(one.path) for one in outputs]
    if converted:
        from trainera.rewrite.diff import unified_diff

        data["diff"] = "".join(unified_diff(one) for one in converted)
    data["status"] = int(status)
    render.print_data(data)


def _print(
    plan: Plan,
    converted: Sequence[Converted],
    outputs: Sequence[output.Output],
    *,
    explain: bool,
    diff: bool,
    to_stdout: bool,
) -> None:
    if plan.refusals:
        render.print_refusals(plan, stderr=True)
        reasons = render.counted(len(plan.refusals), "reason")
        render.say(f"{render.shown(plan.script)}: refused for {reasons}; nothing was written")
        return
    render.print_notes(plan, stderr=True)
    if explain:
        render.print_explanation(plan, stderr=diff or to_stdout)
    if diff:
        from trainera.rewrite.diff import unified_diff

        render.print_diff(unified_diff(one) for one in converted)
    elif to_stdout:
        sys.stdout.flush()
        sys.stdout.buffer.write(converted[0].after if converted else plan.script.read_bytes())
    elif outputs:
        _say_what_next(plan, converted, outputs, explain=explain)
    if not converted:
        render.say(f"{render.shown(plan.script)}: nothing to change")


def _say_what_next(
    plan: Plan, converted: Sequence[Converted], outputs: Sequence[output.Output], *, explain: bool
) -> None:
    if len(outputs) > len(converted):
        directory = os.path.commonpath([one.path.parent for one in outputs])
        files = render.counted(len(outputs), "file")
        render.say(
            f"wrote {render.shown(Path(directory))}{os.sep}: {files}, {len(converted)} changed"
        )
    else:
        for one in outputs:
            render.say(f"wrote {render.shown(one.path)}")
    changes = render.counted(len(plan.edits), "change")
    if len(converted) > 1:
        changes += f" in {render.counted(len(converted), 'file')}"
    render.say(f"{changes} for {plan.engine}" + ("" if explain else "; --explain says why"))
    script = plan.script.resolve()
    start = next((one.path for one in outputs if one.source.resolve() == script), plan.script)
    if len(outputs) == 1 and start.resolve().parent != script.parent:
        from trainera.pipeline import own_modules

        left = ", ".join(render.shown(path) for path in own_modules(plan.script))
        if left:
            render.say(f"it needs {left} beside it; -o DIR/ takes them along")
    from trainera.pipeline import import_roots

    launcher = engines.get(plan.engine, plan.framework).launcher
    package, roots = import_roots(plan.script)
    name = shlex.quote(render.shown(start))
    command = launcher.format(workers=2, script=f"-m {package}.{start.stem}" if package else name)
    if roots:
        moved = {one.source.resolve().parent: one.path.resolve().parent for one in outputs}
        places = [_moved(root.resolve(), moved) for root in roots]
        path = os.pathsep.join(shlex.quote(render.shown(place)) for place in places)
        command = f"PYTHONPATH={path} {command}"
    render.say(f"run it with: {command}")


def _moved(root: Path, moved: dict[Path, Path]) -> Path:
    """Where a folder is that modules are imported from, when its files were written elsewhere."""
    for before, after in moved.items():
        if root == before or root in before.parents:
            depth = len(before.relative_to(root).parts)
            return after.parents[depth - 1] if depth else after
    return root
