"""Where the parts of a script stand: at module level, in functions, in a trainer class."""

from tests.generated.grammar.callbacks import Hooks, make_hooks
from tests.generated.grammar.endings import after_epoch, best_again, ending
from tests.generated.grammar.epochs import Epoch, Step, epoch_lines, step_alike, step_apart
from tests.generated.grammar.evaluation import evaluation_lines
from tests.generated.grammar.extras import closed_over, decorator
from tests.generated.grammar.words import Figures, Lines, Packing, Script, block, method, shown
from tests.generated.grammar.world import Places, World, places

BATCH_LOGS = {"loss": "", "n": ""}


def evaluator(world: World) -> tuple[str, Packing] | None:
    """Defines a function that evaluates; how it is called, and what it gives."""
    script, draw = world.script, world.script.draw
    if not world.data.valid:
        return None
    roles = ["model", *(role for role in world.roles if role == "criterion")]
    name = script.name(draw.one("evaluate", "validate", "test"))
    lines, results, decorated = evaluation_lines(world, places(roles), "loader")
    packing = Packing.drawn(script, list(results), "Scores")
    body = [*lines, f"return {packing.pack(script, results)}"]
    parameters = ["model", "loader", *roles[1:]]
    head = f"def {name}({', '.join(parameters)}):"
    script.define(*(["@torch.no_grad()"] if decorated else []), *block(head, body))
    return f"{name}({{model}}, {{loader}}{', {criterion}' if len(roles) > 1 else ''})", packing


def _evaluated(
    world: World, at: Places, evaluate: tuple[str, Packing] | None
) -> tuple[Lines, Figures]:
    """Calls the evaluation after an epoch."""
    if evaluate is None:
        return [], {}
    call, packing = evaluate
    filled = call.format(model=at["model"], loader=at["valid"], criterion=at.get("criterion", ""))
    if packing.unpacks and world.script.draw.often(0.6):
        comma = "," if len(packing.fields) == 1 else ""
        return [f"{', '.join(packing.fields)}{comma} = {filled}"], {
            one: one for one in packing.fields
        }
    return [f"scores = {filled}"], packing.parts("scores")


def _state(world: World, hooks: Hooks) -> Lines:
    """Whom callbacks are told about where there is no trainer."""
    script, draw = world.script, world.script.draw
    if draw.often(0.5):
        script.needs("from types import SimpleNamespace")
        return ["state = SimpleNamespace(model=model, optimizer=optimizer, stop=False)"]
    name = script.name("State")
    body = ["self.model = model", "self.optimizer = optimizer", "self.stop = False"]
    script.define(*block(f"class {name}:", block("def __init__(self, model, optimizer):", body)))
    return [f"state = {name}(model, optimizer)"]


def _named(results: Figures) -> Figures:
    return {key: key for key in results}


def loop_over_epochs(world: World, body: Lines) -> Lines:
    numbers = world.script.draw.one(str(world.epochs), f"1, {world.epochs + 1}")
    return block(
        f"for epoch in range({numbers}):",
        body,
    )


def step_function(world: World) -> tuple[Step | None, str, Lines]:
    """Perhaps a function that makes a step; how it is called, and what is needed before."""
    script, draw = world.script, world.script.draw
    if world.accumulate or not draw.often(0.45):
        return None, "", []
    step = step_apart(world, places(world.roles))
    if draw.often(0.25):
        return step, "step_fn({})", closed_over(script, world.roles, step.parameters, step.lines)
    name = script.name("train_step")
    applied = decorator(script) if draw.often(0.2) else []
    head = f"def {name}({', '.join([*world.roles, *step.parameters])}):"
    if draw.often(0.15):
        head = f"def {name}({', '.join(world.roles)}, *fields):"
        step.lines = [f"{', '.join(step.parameters)} = fields", *step.lines]
    elif draw.often(0.15):
        script.features.add("keyword dictionary")
        head = f"def {name}({', '.join(step.parameters)}, **parts):"
        step.lines = [*[f'{role} = parts["{role}"]' for role in world.roles], *step.lines]
        script.define(*applied, *block(head, step.lines))
        return step, f"{name}({{}}, {', '.join(f'{role}={role}' for role in world.roles)})", []
    script.define(*applied, *block(head, step.lines))
    return step, f"{name}({', '.join(world.roles)}, {{}})", []


def flat(world: World) -> Lines:
    """Everything at module level; or in main()."""
    script, draw = world.script, world.script.draw
    at = places(world.roles) | {"history": "history", "valid": world.data.valid}
    evaluate = evaluator(world)
    inline = evaluate is not None and draw.often(0.4)
    start = ["history = []"]
    if draw.often(0.35):
        at |= {"best": "best", "state": "best_state"}
        start += ["best = float('inf')", "best_state = None"]
    if inline:
        lines, valid, _ = evaluation_lines(world, at, world.data.valid)
        if not any("no_grad" in line or "inference_mode" in line for line in lines):
            lines = block("with torch.no_grad():", lines)
    else:
        lines, valid = _evaluated(world, at, evaluate)
    hooks = None
    if draw.often(0.3):
        hooks = make_hooks(script, BATCH_LOGS, {"loss": "", **valid}, saves=False)
        at["callbacks"] = "callbacks"
        start += [f"callbacks = {hooks.make}", *_state(world, hooks)]
    step, call, made = step_function(world)
    start += made
    epoch = epoch_lines(world, at, world.data.train, step, call, hooks, "state")
    results, named = _result(world, epoch, hooks)
    body = epoch.lines + named + lines
    body += after_epoch(world, at, results | valid, hooks, "state")
    if hooks is not None and hooks.closing:
        finish = hooks.call("callbacks", "on_train_end", "state")
    else:
        finish = []
    training = start + loop_over_epochs(world, body) + finish + best_again(world, at, body)
    training += _tested(world, at, evaluate)
    training += ending(script, "model", [], "history")
    if draw.often(0.25):
        script.features.add("main")
        whole = script.setup + training
        script.setup = []
        script.define(*block("def main():", whole))
        return block('if __name__ == "__main__":', ["main()"])
    return training


def _result(world: World, epoch: Epoch, hooks: Hooks | None) -> tuple[Figures, Lines]:
    """The figures of an epoch; callbacks want one that is called `loss`."""
    results = dict(epoch.results)
    lines: Lines = []
    if hooks is not None and "loss" not in results:
        results["loss"] = next(iter(results.values()))
    if world.script.draw.often(0.4):
        lines = [f"epoch_{key} = {value}" for key, value in results.items()]
        results = {key: f"epoch_{key}" for key in results}
    return results, lines


def _tested(world: World, at: Places, evaluate: tuple[str, Packing] | None) -> Lines:
    if not world.data.test or evaluate is None:
        return []
    lines, results = _evaluated(world, {**at, "valid": world.data.test}, evaluate)
    return lines + shown(world.script, {}, results)


def functions(world: World) -> Lines:
    """A function for an epoch of training, one for evaluation, perhaps one for a step."""
    script, draw = world.script, world.script.draw
    evaluate = evaluator(world)
    at = places(world.roles) | {"history": "history", "valid": world.data.valid}
    lines, valid = _evaluated(world, at, evaluate)
    hooks = None
    start = ["history = []"]
    extra: list[str] = []
    if draw.often(0.3):
        hooks = make_hooks(script, BATCH_LOGS, {"loss": "", **valid}, saves=False)
        at["callbacks"] = "callbacks"
        start += [f"callbacks = {hooks.make}", *_state(world, hooks)]
        extra = ["callbacks", "state"]
    if draw.often(0.35):
        at |= {"best": "best", "state": "best_state"}
        start += ["best = float('inf')", "best_state = None"]
    step, call, made = step_function(world)
    if made:
        start += made
        extra.append("step_fn")
    inner = places([*world.roles, *extra])
    epoch = epoch_lines(world, inner, "loader", step, call, hooks, "state")
    results, named = _result(world, epoch, hooks)
    packing = Packing.drawn(script, list(results), "EpochResult")
    name = script.name(draw.one("train_epoch", "train", "train_one_epoch"))
    parameters = [*world.roles, *extra]
    script.define(
        *block(
            f"def {name}({', '.join(parameters)}, loader, epoch):",
            epoch.lines,
            named,
            [f"return {packing.pack(script, results)}"],
        )
    )
    values = ", ".join([*parameters, world.data.train])
    call = draw.one(f"{name}({values}, epoch)", f"{name}({values}, epoch=epoch)")
    body = [f"trained = {call}"]
    body += lines + after_epoch(world, at, packing.parts("trained") | valid, hooks, "state")
    training = start + loop_over_epochs(world, body)
    if hooks is not None and hooks.closing:
        training += hooks.call("callbacks", "on_train_end", "state")
    training += best_again(world, at, body)
    training += _tested(world, at, evaluate) + ending(script, "model", [], "history")
    if draw.often(0.4):
        script.features.add("main")
        whole = script.setup + training
        script.setup = []
        script.define(*block("def main():", whole))
        return block('if __name__ == "__main__":', ["main()"])
    return training


def _heir(script: Script, base: str, heirs: list[tuple[str, Lines]]) -> str:
    """Defines classes that inherit all but the step; how the one that trains is named."""
    names = []
    for head, lines in heirs:
        names.append(script.name(f"Own{base}"))
        script.define(*block(f"class {names[-1]}({base}):", block(head, lines)))
    if len(names) == 1 or script.draw.often(0.3):
        return names[0]
    table = script.name("TRAINERS")
    script.define(f"{table} = [{', '.join(names)}]")
    return f"{table}[{script.draw.randrange(len(names))}]"


def trainer(world: World) -> Lines:
    """A class that trains: fit, an epoch, a step, an evaluation."""
    script, draw = world.script, world.script.draw
    at = places(world.roles, "self.") | {"history": "self.history", "valid": "self.valid_loader"}
    attributes = [*world.roles, "train_loader", *(["valid_loader"] if world.data.valid else [])]
    start = ["self.history = []", "self.stop = False"]
    if draw.often(0.35):
        at |= {"best": "self.best", "state": "self.best_state"}
        start += ["self.best = float('inf')", "self.best_state = None"]
    methods: Lines = []
    lines, valid = [], {}
    if world.data.valid:
        inner, results, decorated = evaluation_lines(world, at, "loader")
        packing = Packing.drawn(script, list(results), "Scores")
        body = [*inner, f"return {packing.pack(script, results)}"]
        made = method("def evaluate(self, loader):", body)
        methods += ["", "@torch.no_grad()", *made[1:]] if decorated else made
        lines = ["scores = self.evaluate(self.valid_loader)"]
        valid = packing.parts("scores")
    hooks = None
    saves = draw.often(0.6)
    if draw.often(0.5):
        hooks = make_hooks(script, BATCH_LOGS, {"loss": "", **valid}, saves)
        at["callbacks"] = "self.callbacks"
        attributes.append("callbacks")
    if saves:
        methods += method("def save(self, path):", ["torch.save(self.model.state_dict(), path)"])
    step, call = None, ""
    heirs: list[tuple[str, Lines]] = []
    if draw.often(0.6) and not world.accumulate:
        step = step_apart(world, at)
        name = draw.one("step", "train_step", "training_step")
        head = f"def {name}(self, {', '.join(step.parameters)}):"
        call = f"self.{name}({{}})"
        if draw.often(0.4):
            script.features.add("inheritance")
            heirs = [(head, step.lines)]
            for _ in range(draw.randint(0, 2)):
                heirs.append((head, step_alike(world, at, step)))
            methods += method(head, ["raise NotImplementedError"])
        else:
            methods += method(head, step.lines)
    prefix = "self." if draw.often(0.2) else ""
    epoch = epoch_lines(world, at, "self.train_loader", step, call, hooks, "self", prefix)
    results, named = _result(world, epoch, hooks)
    if draw.often(0.6):
        packing = Packing.drawn(script, list(results), "EpochResult")
        body = [*epoch.lines, *named, f"return {packing.pack(script, results)}"]
        methods += method("def train_epoch(self, epoch):", body)
        body = ["trained = self.train_epoch(epoch)"]
        results = packing.parts("trained")
    else:
        body = epoch.lines + named
    body += lines + after_epoch(world, at, results | valid, hooks, "self")
    closing = (
        hooks.call("self.callbacks", "on_train_end", "self") if hooks and hooks.closing else []
    )
    loop = block("for epoch in range(epochs):", body)
    closing += best_again(world, at, body)
    methods += method(
        "def fit(self, epochs):", loop, closing, draw.one([], ["return self.history"])
    )
    name = script.name(draw.one("Trainer", "Learner", "Experiment"))
    values = ", ".join(attributes)
    keep = [f"self.{one} = {one}" for one in attributes]
    script.define(
        *block(f"class {name}:", block(f"def __init__(self, {values}):", keep, start), methods)
    )
    training = [f"callbacks = {hooks.make}"] if hooks else []
    if heirs:
        name = _heir(script, name, heirs)
    made = draw.one(values, ", ".join(f"{one}={one}" for one in attributes))
    training += [
        f"trainer = {name}({made})",
        f"trainer.fit({draw.one('', 'epochs=')}{world.epochs})",
    ]
    return training + ending(script, draw.one("model", "trainer.model"), [], "trainer.history")
