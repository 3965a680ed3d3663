"""What follows an epoch, and what follows the training."""

from tests.generated.grammar.callbacks import Hooks, logs_of
from tests.generated.grammar.extras import logged
from tests.generated.grammar.words import Figures, Lines, Script, block, shown
from tests.generated.grammar.world import Places, World


def after_epoch(
    world: World, at: Places, results: Figures, hooks: Hooks | None, trainer: str
) -> Lines:
    """Schedules, prints, history, checkpoints, callbacks; `results` are those of the epoch."""
    script, draw = world.script, world.script.draw
    names = list(results)
    watched = draw.choice([one for one in names if one.startswith("valid_")] or names)
    lines: Lines = []
    if world.scheduler in ("step", "lambda"):
        lines.append(f"{at['scheduler']}.step()")
    elif world.scheduler == "plateau":
        lines.append(f"{at['scheduler']}.step({results[watched]})")
    told = draw.some(names, 1, 3)
    if hooks is None or draw.often(0.6):
        lines += shown(script, {"epoch": "epoch"}, {one: results[one] for one in told})
    if draw.often(0.2):
        lines += shown(script, {}, {"lr": f'{at["optimizer"]}.param_groups[0]["lr"]'})
    kept = draw.one(
        results[watched],
        "{" + ", ".join(f'"{one}": {results[one]}' for one in told) + "}",
        "(" + ", ".join(results[one] for one in told) + ",)",
    )
    lines.append(f"{at['history']}.append({kept})")
    if "best" in at:
        lines += _checkpoint(world, at, results[watched])
    if world.loggers:
        lines += logged(script, world.loggers, "epoch", results)
    if hooks is not None:
        lines += hooks.call(
            at["callbacks"], "on_epoch_end", trainer, "epoch", logs_of(script, results)
        )
        lines += block(f"if {trainer}.stop:", draw.one(['print("stopped")', "break"], ["break"]))
    elif draw.often(0.2):
        script.features.add("early stop")
        lines += block(
            f"if epoch > 0 and {results[watched]} > {draw.one('0.4', '1.0')}:",
            draw.one(['print("early")', "break"], ["break"]),
        )
    return lines


def _checkpoint(world: World, at: Places, figure: str) -> Lines:
    draw = world.script.draw
    model = at["model"]
    world.script.features.add("checkpoint")
    optimizer = f'"optimizer": {at["optimizer"]}.state_dict()'
    whole = f'{{"model": {model}.state_dict(), {optimizer}, "epoch": epoch}}'
    save = draw.one(
        f'torch.save({model}.state_dict(), "checkpoint.pt")', f'torch.save({whole}, "full.pt")'
    )
    if draw.often(0.3):
        world.script.needs("import copy")
        save = f"{at['state']} = copy.deepcopy({model}.state_dict())"
    return block(f"if {figure} < {at['best']}:", [f"{at['best']} = {figure}", save])


def best_again(world: World, at: Places, lines: Lines) -> Lines:
    """The best checkpoint is loaded again, if there is one of the usual kind."""
    draw = world.script.draw
    text = "\n".join(lines)
    if not draw.often(0.5):
        return []
    world.script.features.add("load best")
    if '"checkpoint.pt"' in text:
        return [f'{at["model"]}.load_state_dict(torch.load("checkpoint.pt"))']
    if '"full.pt"' in text:
        return ['saved = torch.load("full.pt")', f'{at["model"]}.load_state_dict(saved["model"])']
    if "deepcopy" in text:
        state = at["state"]
        return block(f"if {state} is not None:", [f"{at['model']}.load_state_dict({state})"])
    return []


def ending(script: Script, model: str, others: list[str], history: str) -> Lines:
    """Checksums of all that was learned and collected."""
    draw = script.draw
    lines: Lines = []
    for one in [model, *others]:
        style = draw.randrange(3)
        if style == 0:
            total = script.name("checksum")
            lines += [f"{total} = 0.0"]
            places = "torch.arange(1, p.numel() + 1).reshape(p.shape)"
            body = [f"{total} += (p.detach() * {places}).sum().item()"]
            lines += block(f"for p in {one}.parameters():", body)
            lines.append(f'print(f"weights {{{total}:.10f}}")')
        elif style == 1:
            total = f"sum(p.abs().sum().item() for p in {one}.parameters())"
            lines.append(f'print("weights {{:.10f}}".format({total}))')
        else:
            body = ['print(name, f"{value.sum().item():.10f}", f"{value.norm().item():.10f}")']
            lines += block(f"for name, value in {one}.state_dict().items():", body)
    return [*lines, f'print("history", {history})']
