"""Layouts with several classes or several networks: tasks, heads, adversaries, two loaders."""

from tests.generated.grammar.data import Data, make_data
from tests.generated.grammar.endings import ending
from tests.generated.grammar.losses import reduced
from tests.generated.grammar.networks import make_network
from tests.generated.grammar.sinks import make_sinks
from tests.generated.grammar.sources import make_source
from tests.generated.grammar.words import Figures, Lines, Packing, Script, block, method, shown


def _optimizer(script: Script, parameters: str) -> str:
    return script.draw.one(
        f"torch.optim.SGD({parameters}, lr=0.05)", f"torch.optim.Adam({parameters}, lr=0.01)"
    )


def _epochs(
    script: Script, data: Data, loader: str, figures: Figures, body: Lines, start: Lines, raw: bool
) -> Lines:
    """A loop over epochs and batches around a step, which collects its figures and prints them."""
    draw = script.draw
    sinks = make_sinks(script, data, figures, raw)
    source = make_source(script, data, loader)
    inner = body + [line for sink in sinks for line in sink.update]
    if draw.often(0.3):
        inner += shown(
            script, {"step": source.step} if source.step else {}, {"loss": figures["loss"]}
        )
    results = {key: value for sink in sinks for key, value in sink.results.items()}
    first = [line for sink in sinks for line in sink.start]
    lines = start + first + source.before + block(source.head, source.unpack, inner)
    lines += shown(script, {"epoch": "epoch"}, results)
    lines.append(f"history.append({next(iter(results.values()))})")
    return ["history = []", *block(f"for epoch in range({draw.randint(2, 3)}):", lines)]


def tasks(script: Script) -> Lines:
    """A factory gives one of two to four tasks, each with its own step."""
    draw = script.draw
    data = make_data(script)
    network = make_network(script, data, plain=True)
    count = draw.randint(2, 4)
    script.features.add(f"tasks {count}")
    fields = [one for one in data.fields if one in ("x", "y")]
    raw = draw.often(0.3)
    packing = Packing.drawn(script, ["loss", "n", *(["out"] if raw else [])], "TaskResult")
    base = ""
    if draw.often(0.5):
        base = script.name("Task")
        script.define(
            *block(
                f"class {base}:",
                block("def __init__(self, model):", ["self.model = model"]),
                method("def step(self, x, y):", ["raise NotImplementedError"]),
                method("def describe(self):", ["return type(self).__name__"]),
            )
        )
    names = []
    for _ in range(count):
        name = script.name("Task" + draw.one("Alpha", "Beta", "Gamma", "Delta"))
        loss = reduced(script, data)
        given = {"loss": "loss", "n": draw.one("len(x)", "y.shape[0]"), "out": "out.detach()"}
        body = ["out = self.model(x)", f"loss = {loss}", f"return {packing.pack(script, given)}"]
        first = (
            block("def __init__(self, model):", ["self.model = model"])
            if not base
            else ["note = 1"]
        )
        script.define(
            *block(
                f"class {name}{f'({base})' if base else ''}:",
                first,
                method("def step(self, x, y):", body),
            )
        )
        names.append(name)
    chosen = draw.randrange(count)
    script.setup.append(f"model = {network.build}")
    if draw.often(0.5):
        maker = script.name("make_task")
        lines: Lines = []
        for place, name in enumerate(names[:-1]):
            lines += block(f"if kind == {place}:", [f"return {name}(model)"])
        script.define(*block(f"def {maker}(kind, model):", lines, [f"return {names[-1]}(model)"]))
        script.setup.append(f"task = {maker}({chosen}, model)")
    else:
        rows = ", ".join(f"{place}: {name}" for place, name in enumerate(names))
        script.setup += [f"tasks = {{{rows}}}", f"task = tasks[{chosen}](model)"]
    script.setup.append(f"optimizer = {_optimizer(script, 'model.parameters()')}")
    parts = packing.parts("result")
    body = [f"result = task.step({', '.join(fields)})"]
    if raw:
        body.append(f"out = {parts['out']}")
    body += ["optimizer.zero_grad()", f"{parts['loss']}.backward()", "optimizer.step()"]
    figures = {"loss": f"{parts['loss']}.item()", "n": parts["n"]}
    lines = _epochs(script, data, data.train, figures, body, ["model.train()"], raw)
    if data.valid and draw.often(0.6):
        inner = [
            f"result = task.step({', '.join(fields)})",
            f"total += {parts['loss']}.item() * {parts['n']}",
        ]
        source = make_source(script, data, data.valid, wraps=0.1)
        loop = source.before + block(source.head, source.unpack, inner)
        lines += [
            "total = 0.0",
            *block("with torch.no_grad():", loop),
            *shown(script, {}, {"valid": "total"}),
        ]
    return lines + ending(script, "model", [], "history")


def heads(script: Script) -> Lines:
    """A shared encoder and a list of one to four heads, each with a loss of its own."""
    draw = script.draw
    data = make_data(script)
    script.needs("from torch import nn")
    count = draw.randint(1, 4)
    script.features.add(f"heads {count}")
    names = []
    for _ in range(count):
        name = script.name(draw.one("LinearHead", "DeepHead", "ScaledHead"))
        squeeze = ".squeeze(1)" if data.task == "binary" else ""
        layers = draw.one(
            [f"self.layer = nn.Linear(5, {data.outputs})"],
            [f"self.layer = nn.Sequential(nn.Tanh(), nn.Linear(5, {data.outputs}))"],
        )
        loss = method("def loss(self, out, y):", [f"return {reduced(script, data)}"])
        script.define(
            *block(
                f"class {name}(nn.Module):",
                block("def __init__(self):", ["super().__init__()", *layers]),
                method("def forward(self, h):", [f"return self.layer(h){squeeze}"]),
                loss,
            )
        )
        names.append(name)
    many = draw.one("list", "modules")
    made = ", ".join(f"{one}()" for one in names)
    script.setup.append(f"encoder = nn.Sequential(nn.Linear({data.width}, 5), nn.Tanh())")
    script.setup.append(
        f"heads = nn.ModuleList([{made}])" if many == "modules" else f"heads = [{made}]"
    )
    if many == "modules":
        parameters = draw.one(
            "[*encoder.parameters(), *heads.parameters()]",
            "list(encoder.parameters()) + list(heads.parameters())",
        )
    else:
        parameters = "list(encoder.parameters()) + [p for head in heads for p in head.parameters()]"
    script.setup.append(f"optimizer = {_optimizer(script, parameters)}")
    style = draw.randrange(3)
    if style == 0:
        body = ["h = encoder(x)", "loss = 0.0"]
        body += block("for head in heads:", ["out = head(h)", "loss = loss + head.loss(out, y)"])
    elif style == 1:
        body = [
            "h = encoder(x)",
            "losses = [head.loss(head(h), y) for head in heads]",
            "loss = sum(losses)",
        ]
    else:
        body = ["h = encoder(x)", "outs = [head(h) for head in heads]"]
        body += ["loss = sum(head.loss(out, y) for head, out in zip(heads, outs)) / len(heads)"]
    body += ["optimizer.zero_grad()", "loss.backward()", "optimizer.step()"]
    lines = _epochs(
        script, data, data.train, {"loss": "loss.item()", "n": "len(y)"}, body, [], False
    )
    script.define(
        *block(
            "def weights(modules):",
            ["return sum(p.abs().sum().item() for module in modules for p in module.parameters())"],
        )
    )
    return [
        *lines,
        'print(f"heads {weights(heads):.10f}")',
        *ending(script, "encoder", [], "history"),
    ]


def adversaries(script: Script) -> Lines:
    """Two networks with an optimizer each, of which one judges what the other makes."""
    draw = script.draw
    data = make_data(script)
    script.features.add("adversaries")
    script.needs("from torch import nn", "import torch.nn.functional as F")
    hidden = draw.randint(4, 6)
    first = f"nn.Linear({data.width}, {hidden})"
    script.setup += [
        f"maker = nn.Sequential({first}, nn.Tanh(), nn.Linear({hidden}, {data.width}))",
        f"critic = nn.Sequential({first}, nn.LeakyReLU(0.2), nn.Linear({hidden}, 1))",
        f"maker_optimizer = {_optimizer(script, 'maker.parameters()')}",
        f"critic_optimizer = {_optimizer(script, 'critic.parameters()')}",
    ]
    style = draw.randrange(3)
    real, made, win = {
        0: (
            "F.binary_cross_entropy_with_logits(critic(x), torch.ones(len(x), 1))",
            "F.binary_cross_entropy_with_logits(critic(fake.detach()), torch.zeros(len(x), 1))",
            "F.binary_cross_entropy_with_logits(critic(fake), torch.ones(len(x), 1))",
        ),
        1: ("-critic(x).mean()", "critic(fake.detach()).mean()", "-critic(fake).mean()"),
        2: (
            "((critic(x) - 1) ** 2).mean()",
            "(critic(fake.detach()) ** 2).mean()",
            "((critic(fake) - 1) ** 2).mean()",
        ),
    }[style]
    body = [
        "fake = maker(x)",
        f"critic_loss = {real} + {made}",
        "critic_optimizer.zero_grad()",
        "critic_loss.backward()",
        "critic_optimizer.step()",
        f"loss = {win}",
        *draw.one(
            [],
            ["loss = loss + 0.1 * F.mse_loss(fake, x)"],
            ["loss = loss + 0.1 * (fake - x).abs().mean()"],
        ),
        "maker_optimizer.zero_grad()",
        "loss.backward()",
        "maker_optimizer.step()",
    ]
    figures = {
        "loss": "loss.item()",
        "n": "len(x)",
        "critic": "critic_loss.item()",
        "fake": "fake.mean().item()",
    }
    lines = _epochs(script, data, data.train, figures, body, [], False)
    return lines + ending(script, "maker", ["critic"], "history")


def two_loaders(script: Script) -> Lines:
    """A second loader goes along with the first."""
    draw = script.draw
    data = make_data(script)
    network = make_network(script, data, plain=True)
    script.features.add("two loaders")
    script.setup += [
        f"model = {network.build}",
        f"optimizer = {_optimizer(script, 'model.parameters()')}",
    ]
    script.needs("from torch.utils.data import TensorDataset")
    rows = f"TensorDataset(torch.randn({draw.randint(20, 40)}, {data.width}))"
    batch = draw.one(5, 7)
    script.setup.append(f"extra = DataLoader({rows}, batch_size={batch}, shuffle=True)")
    second = draw.one(
        "0.1 * model(u).pow(2).mean()",
        "0.01 * (model(u) ** 2).sum()",
        "(model(u).mean() - out.mean()) ** 2",
    )
    body = [
        "out = model(x)",
        f"loss = {reduced(script, data)} + {second}",
        "optimizer.zero_grad()",
        "loss.backward()",
        "optimizer.step()",
    ]
    packing = data.packing
    parts = packing.parts("batch")
    unpack = [f"{one} = {parts[one]}" for one in data.fields]
    head = draw.one(
        "for batch, (u,) in zip(train_loader, extra):",
        "for batch, [u] in zip(train_loader, extra):",
    )
    sinks = make_sinks(
        script, data, {"loss": "loss.item()", "n": draw.one("len(x)", "len(u)")}, True
    )
    inner = body + [line for sink in sinks for line in sink.update]
    first = [line for sink in sinks for line in sink.start]
    results = {key: value for sink in sinks for key, value in sink.results.items()}
    loop = first + block(head, unpack, inner) + shown(script, {"epoch": "epoch"}, results)
    loop.append(f"history.append({next(iter(results.values()))})")
    lines = ["history = []", *block("for epoch in range(2):", loop)]
    return lines + ending(script, "model", [], "history")
