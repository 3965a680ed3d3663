"""What a script trains, and one step of it."""

from dataclasses import dataclass, field

from tests.generated.grammar.data import Data, make_data
from tests.generated.grammar.extras import loggers, phase, transforms
from tests.generated.grammar.losses import Loss, make_loss
from tests.generated.grammar.networks import Network, make_network
from tests.generated.grammar.sinks import batch_figures
from tests.generated.grammar.words import Figures, Lines, Script, block

Places = dict[str, str]
"""Where things are found, by role: `model` is `model` in a function, `self.model` in a method."""


@dataclass
class World:
    """All that is decided before the first line of training is written."""

    script: Script
    data: Data
    network: Network
    loss: Loss
    epochs: int
    scheduler: str = ""
    """``, `step`, `lambda`, `plateau` or `batch`."""
    clip: bool = False
    accumulate: int = 0
    penalty: str = ""
    teacher: bool = False
    skip: bool = False
    """Whether the loss of a batch decides if it is learned from."""
    roles: list[str] = field(default_factory=list)
    """What the training needs, beside loaders."""
    loggers: str = ""
    transforms: str = ""
    phase: str = ""


def make_world(script: Script) -> World:
    draw = script.draw
    data = make_data(script)
    network = make_network(script, data)
    world = World(script, data, network, make_loss(script, data), draw.randint(2, 3))
    world.clip = draw.often(0.2)
    world.accumulate = draw.one(0, 0, 0, 0, 0, 0, 2, 3)
    world.penalty = draw.one(
        "", "", "", "", "l2", "out", "hidden" if network.gives != "plain" else "l1"
    )
    world.teacher = draw.often(0.1)
    world.skip = draw.often(0.08)
    world.scheduler = draw.one("", "", "", "step", "lambda", "plateau", "batch")
    world.loggers = loggers(script) if draw.often(0.15) else ""
    world.transforms = transforms(script) if draw.often(0.15) else ""
    world.phase = phase(script) if draw.often(0.1) else ""
    _set_up(world)
    return world


def _set_up(world: World) -> None:
    """Networks, optimizer and schedule, at the level of the module."""
    script, draw = world.script, world.script.draw
    script.setup.append(f"model = {world.network.build}")
    freeze = world.network.build.startswith("nn.Sequential") and draw.often(0.15)
    if freeze:
        script.features.add("freeze")
        script.setup += block(
            "for parameter in model[0].parameters():",
            [draw.one("parameter.requires_grad = False", "parameter.requires_grad_(False)")],
        )
    world.roles = ["model", "optimizer"]
    if world.teacher:
        script.features.add("teacher")
        teacher = make_network(script, world.data, "Teacher", plain=True)
        script.setup += [f"teacher = {teacher.build}"]
        if draw.often(0.5):
            script.setup += ["teacher.load_state_dict(teacher.state_dict())"]
        script.setup += draw.one(
            ["teacher.eval()"], block("for p in teacher.parameters():", ["p.requires_grad_(False)"])
        )
        world.roles.append("teacher")
    script.setup += world.loss.setup
    if world.loss.name:
        world.roles.append("criterion")
    parameters = "model.parameters()"
    if freeze:
        parameters = draw.one(
            "[p for p in model.parameters() if p.requires_grad]",
            "model[2].parameters()",
            "filter(lambda p: p.requires_grad, model.parameters())",
        )
    made = draw.one(
        f"torch.optim.SGD({parameters}, lr=0.05)",
        f"torch.optim.SGD({parameters}, lr=0.02, momentum=0.9)",
        f"torch.optim.Adam({parameters}, lr=0.01)",
        f"torch.optim.AdamW({parameters}, lr=0.01, weight_decay=0.1)",
        f"torch.optim.RMSprop({parameters}, lr=0.005)",
    )
    if draw.often(0.1):
        script.setup.append('options = {"lr": 0.02}')
        made = f"torch.optim.Adam({parameters}, **options)"
    script.setup.append(f"optimizer = {made}")
    schedule = {
        "": "",
        "step": "torch.optim.lr_scheduler.StepLR(optimizer, step_size=1, gamma=0.5)",
        "lambda": "torch.optim.lr_scheduler.LambdaLR(optimizer, lambda epoch: 1 / (1 + epoch))",
        "plateau": "torch.optim.lr_scheduler.ReduceLROnPlateau"
        "(optimizer, patience=0, factor=0.5, threshold=0.2)",
        "batch": "torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=20)",
    }[world.scheduler]
    if schedule:
        script.features.add(f"scheduler {world.scheduler}")
        script.setup.append(f"scheduler = {schedule}")
        world.roles.append("scheduler")


def places(roles: list[str], prefix: str = "") -> Places:
    return {role: prefix + role for role in roles}


def forward_lines(world: World, at: Places) -> Lines:
    """Gives `out`, and `hidden` if the network has it."""
    model = at["model"]
    if world.network.gives == "pair":
        unused = "hidden" if world.penalty == "hidden" else world.script.draw.one("hidden", "_")
        return [f"out, {unused} = {model}(x)"]
    if world.network.gives == "dict":
        lines = [f"result = {model}(x)", 'out = result["out"]']
        return [*lines, 'hidden = result["hidden"]'] if world.penalty == "hidden" else lines
    return [f"out = {model}(x)"]


def loss_lines(world: World, at: Places) -> Lines:
    """Gives `loss`."""
    script, draw = world.script, world.script.draw
    lines = [f"loss = {world.loss.call(at.get('criterion', ''))}"]
    added = {
        "": "",
        "l2": f"1e-3 * sum(p.pow(2).sum() for p in {at['model']}.parameters())",
        "l1": f"1e-3 * sum(p.abs().sum() for p in {at['model']}.parameters())",
        "out": draw.one("0.05 * out.pow(2).mean()", "0.01 * (out ** 2).sum() / len(out)"),
        "hidden": draw.one("0.05 * hidden.pow(2).mean()", "0.05 * hidden.abs().sum(1).mean()"),
    }[world.penalty]
    if added:
        script.features.add(f"penalty {world.penalty}")
        lines += draw.one(
            [f"loss = loss + {added}"],
            [f"loss += {added}"],
            [f"penalty = {added}", "loss = loss + penalty"],
        )
    if world.teacher:
        script.needs("import torch.nn.functional as F")
        lines += block("with torch.no_grad():", [f"target = {at['teacher']}(x)"])
        lines.append("loss = loss + 0.5 * F.mse_loss(out, target)")
    return lines


def step_lines(world: World, at: Places, step: str) -> tuple[Lines, Figures]:
    """One step of training, given `x` and `y`; and what may be told of it afterwards."""
    script, draw = world.script, world.script.draw
    optimizer, model = at["optimizer"], at["model"]
    figures = batch_figures(script, world.data, "loss")
    lines = forward_lines(world, at) + loss_lines(world, at)
    zero = draw.one(
        f"{optimizer}.zero_grad()",
        f"{optimizer}.zero_grad()",
        f"{optimizer}.zero_grad(set_to_none=False)",
        f"{model}.zero_grad()",
    )
    clip: Lines = []
    if world.clip:
        script.features.add("clip")
        norm = f"torch.nn.utils.clip_grad_norm_({model}.parameters(), 0.5)"
        clip = draw.one(
            [norm],
            [f"norm = {norm}"],
            [f"torch.nn.utils.clip_grad_value_({model}.parameters(), 0.1)"],
        )
        if clip[0].startswith("norm ="):
            figures["norm"] = "norm.item()"
    after = [f"{at['scheduler']}.step()"] if world.scheduler == "batch" else []
    if world.accumulate and step:
        script.features.add("accumulate")
        k = world.accumulate
        lines.append(draw.one(f"(loss / {k}).backward()", "loss.backward()"))
        lines += block(
            f"if ({step} + 1) % {k} == 0:",
            clip,
            [f"{optimizer}.step()", f"{optimizer}.zero_grad()"],
            after,
        )
        if clip and "norm" in figures:
            del figures["norm"]
        return lines, figures
    learn = [zero, "loss.backward()", *clip, f"{optimizer}.step()", *after]
    if world.skip and "norm" not in figures:
        script.features.add("skip by loss")
        figure = draw.one(
            "loss.item() > 0.3",
            "loss.item() < 4.0",
            "out.mean().item() < 1.0",
            "not torch.isnan(loss)",
        )
        learn = block(f"if {figure}:", learn)
    elif draw.often(0.3):
        return [zero, *lines, *learn[1:]], figures
    return lines + learn, figures
