"""Where the network goes into its wrapper, and networks that cannot be split."""

import pytest

from tests.rules.tools import beyond, changed, converted, must_refuse, network, refused, script

WRAPPED = "model = DistributedDataParallel(model, broadcast_buffers=False)"


def wrapped(text: str) -> str:
    return f"model = DistributedDataParallel({text}, broadcast_buffers=False)"


@pytest.mark.parametrize(
    ("model", "line"),
    [
        ("model = nn.Linear(3, 1).to('cpu')", wrapped("nn.Linear(3, 1).to('cpu')")),
        ("model = nn.Linear(3, 1)\nmodel.to('cpu')", WRAPPED),
        ("model = nn.Linear(3, 1)\nmodel = model.to('cpu')", wrapped("model.to('cpu')")),
        ("model = nn.Linear(3, 1)\nif torch.cuda.is_available():\n    model.cuda()", WRAPPED),
        (
            "model = nn.Linear(3, 1)\nif torch.cuda.is_available():\n    model = model.cuda()",
            WRAPPED,
        ),
        ("model = nn.Linear(3, 1)\nmodel.bias.requires_grad = False", WRAPPED),
        (
            "model = nn.Linear(3, 1)\nfor p in model.parameters():\n    p.requires_grad_(True)",
            WRAPPED,
        ),
        ("model = torch.compile(nn.Linear(3, 1))", wrapped("torch.compile(nn.Linear(3, 1))")),
        ("def make():\n    return nn.Linear(3, 1)\nmodel = make()", wrapped("make()")),
        (network(), wrapped("Net()")),
    ],
)
def test_after_the_network_has_its_form(model: str, line: str) -> None:
    assert beyond(model=model) == [line]


FREEZE = "def freeze(net):\n    for p in net.parameters():\n        p.requires_grad = False\n"
EXPECTS_IT = (
    "model = crew.with_frozen(DistributedDataParallel, {}, "
    "broadcast_buffers=False, find_unused_parameters=True)"
)


@pytest.mark.parametrize(
    ("parts", "made"),
    [
        ({"step": "model.requires_grad_(epoch > 1)"}, "nn.Linear(3, 1)"),
        ({"setup": FREEZE, "end": "freeze(model)"}, "nn.Linear(3, 1)"),
        ({"setup": FREEZE, "before": "freeze(model)"}, "nn.Linear(3, 1)"),
        (
            {
                "model": "model = nn.Linear(3, 1)\nmodel.requires_grad_(False)",
                "end": "model.requires_grad_(True)",
            },
            "model",
        ),
    ],
)
def test_layers_that_are_frozen_or_freed_later_on(parts: dict[str, str], made: str) -> None:
    assert EXPECTS_IT.format(made) in beyond(**parts)


def test_only_the_network_that_is_frozen() -> None:
    setup = f"{FREEZE}other = nn.Linear(1, 1)"
    loss = "freeze(other)\nloss = criterion(other(model(x)), y)"
    source = script(setup=setup, loss=loss).replace(
        "model.parameters()", "[*model.parameters(), *other.parameters()]"
    )
    _, after = converted(source)
    assert "model = DistributedDataParallel(nn.Linear(3, 1), broadcast_buffers=False)" in after
    assert EXPECTS_IT.format("nn.Linear(1, 1)").replace("model", "other") in after


def test_a_network_or_a_list_of_networks() -> None:
    """A question that is the same for the network and its wrapper."""
    setup = (
        "def freeze(nets):\n    if not isinstance(nets, (list, tuple)):\n        nets = [nets]\n"
        "    for net in nets:\n        net.requires_grad_(False)"
    )
    assert beyond(setup=setup, end="freeze(model)") == [EXPECTS_IT.format("nn.Linear(3, 1)")]


def test_a_network_of_which_only_a_part_is_used() -> None:
    """The wrapper averages after calls of the network: never called, it would do nothing."""
    both = "[*model.parameters(), *table.parameters()]"

    def plan_of(loss: str) -> list[str]:
        source = script(setup="table = nn.Embedding(2, 1)", loss=loss)
        plan, _ = converted(source.replace("model.parameters()", both))
        assert not plan.refusals
        return [note.what.partition(": gradients are averaged")[0] for note in plan.notes]

    used = "model(x) @ table.weight.t()"
    wanted = "a network is trained that is never called: only a part of it is used"
    assert plan_of(f"loss = criterion({used}, y)") == [wanted]
    assert plan_of(f"loss = criterion({used} + table(y.long()).mean(), y)") == []


def test_wrapped_once_only() -> None:
    _, after = converted(script(model="model = nn.Linear(3, 1).double()\nmodel = model.float()"))
    assert after.count("DistributedDataParallel(") == 1


def test_data_parallel_is_replaced() -> None:
    _, after = converted(script(model="model = nn.DataParallel(nn.Linear(3, 1))"))
    assert wrapped("nn.Linear(3, 1)") in after


def test_data_parallel_under_a_condition_goes() -> None:
    parallel = "if torch.cuda.device_count() > 1:\n    model = nn.DataParallel(model)\n"
    _, after = converted(script(model=f"model = nn.Linear(3, 1)\n{parallel}model.to('cpu')"))
    assert f"model = nn.Linear(3, 1)\nmodel.to('cpu')\n{WRAPPED}\n" in after


def test_two_networks_of_one_optimizer() -> None:
    source = script(
        model="model = nn.Linear(3, 3)\nhead = nn.Linear(3, 1)",
        loss="loss = criterion(head(model(x)), y)",
    ).replace("model.parameters()", "[*model.parameters(), *head.parameters()]")
    _, after = converted(source)
    assert after.count("broadcast_buffers=False") == 2


def test_a_layer_without_use() -> None:
    lines = beyond(model=network(layers="self.spare = nn.Linear(1, 1)"))
    assert lines == [
        "model = DistributedDataParallel("
        "Net(), broadcast_buffers=False, find_unused_parameters=True)"
    ]


@pytest.mark.parametrize(
    "parts",
    [
        {
            "before": "teacher = nn.Linear(3, 1)",
            "loss": "loss = criterion(model(x), teacher(x).detach())",
        },
        {"before": "model.train()\nprint(model.training)"},
        {"before": "spare = [nn.Linear(3, 1) for _ in range(2)]"},
        {"step": "with torch.no_grad():\n    model(x)"},
        {"loss": "loss = criterion(model.forward(x), y)"},
    ],
)
def test_what_needs_no_wrapper(parts: dict[str, str]) -> None:
    assert beyond(**parts) == []


@pytest.mark.parametrize(
    "forward",
    [
        "x = x / x.norm(dim=1, keepdim=True)",
        "x = x - x.mean(1, keepdim=True)",
        "x = F.softmax(x, dim=1)",
        "x = F.normalize(x)",
        "x = x.view(x.size(0), -1)",
        "x = x.sort(1)[0]",
        "x = x / x.max(dim=1, keepdim=True)[0]",
        "x = x.flip(1).cumsum(1)",
        "x = F.layer_norm(x, (3,))",
    ],
)
def test_networks_that_keep_samples_apart(forward: str) -> None:
    assert beyond(model=network(forward)) == [wrapped("Net()")]


@pytest.mark.parametrize(
    "forward",
    [
        "x = x - x.mean(0)",
        "x = x / x.sum()",
        "x = x / x.norm()",
        "x = x / x.max()",
        "x = (x - x.min()) / 2",
        "x = x / x.std()",
        "x = x / x.std(0)",
        "x = x / torch.var(x, 0)",
        "x = x.softmax(0)",
        "x = F.softmax(x, dim=0)",
        "x = F.normalize(x, dim=0)",
        "x = x.cumsum(0)",
        "x = x.sort(0)[0]",
        "x = x + x.flip(0)",
        "x = x + x.roll(1, 0)",
        "x = x + x.roll(1)",
        "x = x + x[torch.randperm(x.size(0))]",
        "x = (x @ x.t()) @ x",
        "x = (x @ x.T).softmax(1) @ x",
        "x = torch.matmul(x, x.transpose(0, 1)) @ x",
        "x = torch.einsum('bi,ci->bc', x, x) @ x",
        "x = x * x.size(0)",
        "x = x / len(x)",
        "x = F.batch_norm(x, None, None, training=True)",
    ],
)
def test_networks_that_combine_samples(forward: str) -> None:
    must_refuse(model=network(forward))


@pytest.mark.parametrize(
    "layer",
    [
        "nn.TransformerEncoderLayer(3, 1)",
        "nn.LSTM(3, 3)",
        "nn.GRU(3, 3)",
        "nn.MultiheadAttention(3, 1)",
    ],
)
def test_layers_that_run_along_the_first_dimension(layer: str) -> None:
    """Without batch_first=True the batch itself is taken for the sequence."""
    call = "x = self.mix(x, x, x)[0]" if "Multihead" in layer else "x = self.mix(x)"
    call += "[0]" if "LSTM" in layer or "GRU" in layer else ""
    must_refuse(model=network(call, layers=f"self.mix = {layer}"))


@pytest.mark.parametrize(
    "layer",
    ["nn.TransformerEncoderLayer(3, 1, batch_first=True)", "nn.LSTM(3, 3, batch_first=True)"],
)
def test_layers_that_are_told_where_the_batch_is(layer: str) -> None:
    call = "x = self.mix(x.unsqueeze(1))" + ("[0]" if "LSTM" in layer else "")
    model = network("x = x.view(x.size(0), -1)", call, layers=f"self.mix = {layer}")
    assert beyond(model=model) == [wrapped("Net()")]


@pytest.mark.parametrize(
    ("layer", "call"),
    [
        ("nn.TransformerEncoderLayer(3, 1, batch_first=True)", "x = self.mix(x)"),
        ("nn.LSTM(3, 3, batch_first=True)", "x = self.mix(x)[0]"),
        ("nn.Linear(3, 3)", "x = torch.cdist(x, x) @ self.mix(x)"),
        ("nn.Linear(3, 3)", "x = self.mix(x).softmax(-2)"),
    ],
)
def test_what_combines_samples_by_the_rank_of_a_tensor_is_tried(layer: str, call: str) -> None:
    """Of two dimensions, the first is the sequence that a recurrent layer goes along."""
    added = beyond(model=network(call, layers=f"self.mix = {layer}"))
    assert added[0].startswith("crew.try_networks(")
    assert added[1:] == [wrapped("Net()")]


@pytest.mark.parametrize(
    ("parts", "row"),
    [
        (
            {"model": network("x = x - x.mean(0)")},
            (
                "network",
                "x = x - x.mean(0)",
                "the network combines samples of a batch with each other",
                "a worker sees its slice only, so the result would differ",
            ),
        ),
        (
            {"model": network("x = x.view(8, 3)")},
            (
                "network",
                "x = x.view(8, 3)",
                "the batch size is fixed in the network",
                "a worker's slice has fewer rows",
            ),
        ),
        (
            {"before": "optimizer = torch.optim.LBFGS(model.parameters())"},
            (
                "optimizer",
                "optimizer = torch.optim.LBFGS(model.parameters())",
                "LBFGS evaluates the loss several times a step",
                "its closure decides from one worker's share how far to go",
            ),
        ),
    ],
)
def test_refusals(parts: dict[str, str], row: tuple[str, str, str, str]) -> None:
    assert row in refused(**parts)


def test_no_optimizer() -> None:
    source = script().replace("torch.optim.SGD(model.parameters(), lr=0.1)", "make(model)")
    rows = refused(source)
    assert rows[0][2:] == ("no optimizer found", "which network is trained cannot be told")


LOOSE = """\
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 1)
        self.scale = nn.Parameter(torch.zeros(1))
    def forward(self, x):
        return {result}
model = Net()
"""


@pytest.mark.parametrize(
    ("result", "output"), [("self.fc(x)", "model(x)"), ("{'y': self.fc(x)}", "model(x)['y']")]
)
def test_a_parameter_that_only_the_loss_uses(result: str, output: str) -> None:
    """It counts as idle where idle layers are looked for, and fails when its gradient comes."""
    loss = f"loss = criterion({output}, y) * torch.exp(model.scale) - model.scale"
    source = script(model=LOOSE.replace("{result}", result), loss=loss)
    assert "model = DistributedDataParallel(Net(), broadcast_buffers=False)" in changed(source)


def test_such_a_parameter_beside_idle_layers_needs_no_wrapper() -> None:
    model = LOOSE.replace("{result}", "self.fc(x) if x.dim() > 5 else self.fc(x)")
    model = model.replace("self.scale =", "self.spare = nn.Linear(3, 1)\n        self.scale =")
    loss = "loss = criterion(model(x), y) * torch.exp(model.scale)"
    assert beyond(model=model, loss=loss)[0] == "model = crew.average_after_backward(Net())"


def test_networks_that_are_wrapped_together_stay_in_the_order_of_the_script() -> None:
    names = ["third", "first", "fifth", "model", "last"]
    made = "\n".join(f"{name} = nn.Linear({1 if name == 'third' else 3}, 1)" for name in names)
    made = made.replace("nn.Linear(3, 1)", "nn.Linear(3, 3)")
    moved = "\nif torch.cuda.is_available():\n" + "".join(f"    {name}.cuda()\n" for name in names)
    source = script(
        model=made + moved, loss="loss = third(last(model(fifth(first(x)))))[:, 0].sum()"
    )
    every = "[p for net in (third, first, fifth, model, last) for p in net.parameters()]"
    plan, text = converted(source.replace("model.parameters()", every))
    assert not plan.refusals
    inserted = [
        line.split()[0] for line in text.splitlines() if "= DistributedDataParallel(" in line
    ]
    assert inserted == names


SCALED = "loss = criterion(model(x) * t, y)"
BOTH = "torch.optim.SGD([*model.parameters(), t], lr=0.1)"


@pytest.mark.parametrize(
    "made",
    [
        "t = nn.Parameter(torch.ones(()))",
        "t = nn.parameter.Parameter(torch.ones(()))",
        "t = torch.tensor(1.0, requires_grad=True)",
        "t = torch.zeros(1, requires_grad=True)",
        "t = torch.zeros_like(data[0][1], requires_grad=True)",
        "t = torch.randn(1, requires_grad=len(data) > 3)",
        "t = torch.zeros(1).requires_grad_()",
        "t = torch.zeros(1).requires_grad_(True)",
        "t = torch.zeros(1)\nt.requires_grad_()",
        "t = torch.zeros(1)\nt.requires_grad = True",
        "t = torch.autograd.Variable(torch.zeros(1), requires_grad=True)",
        "t = torch.ones(1).clone().detach().requires_grad_(True)",
        "t = nn.ParameterList([nn.Parameter(torch.ones(1))])[0]",
    ],
)
def test_parameters_of_no_network(made: str) -> None:
    source = script(setup=made, loss=SCALED)
    source = source.replace("torch.optim.SGD(model.parameters(), lr=0.1)", BOTH)
    _, after = converted(source)
    assert f"optimizer = crew.average_after_backward({BOTH})" in after
    assert "DistributedDataParallel" not in after


@pytest.mark.parametrize(
    "given",
    [
        "params = list(model.parameters())\nparams.extend(list(head.parameters()))",
        "params = list(model.parameters())\nparams += list(head.parameters())",
        "params = []\nparams.extend(model.parameters())\nparams.extend(head.parameters())",
        "params = [*model.parameters()] + [*head.parameters()]",
    ],
)
def test_parameters_that_are_put_together(given: str) -> None:
    source = script(setup="head = nn.Linear(1, 1)", loss="loss = criterion(head(model(x)), y)")
    source = source.replace(
        "optimizer = torch.optim.SGD(model.parameters(), lr=0.1)",
        f"{given}\noptimizer = torch.optim.SGD(params, lr=0.1)",
    )
    _, after = converted(source)
    assert "head = DistributedDataParallel(nn.Linear(1, 1), broadcast_buffers=False)" in after
    assert "model = DistributedDataParallel(nn.Linear(3, 1), broadcast_buffers=False)" in after


@pytest.mark.parametrize(
    "given",
    [
        "names, more = zip(*[('t', t)])\nparams = [*model.parameters(), *more]",
        "params = list(model.parameters())\nparams.append(registry.get('t'))",
    ],
)
def test_what_an_optimizer_is_given_besides_cannot_be_seen(given: str) -> None:
    source = script(
        imports="from elsewhere import registry",
        setup="t = torch.zeros(1).requires_grad_()",
        loss=SCALED,
    )
    source = source.replace(
        "optimizer = torch.optim.SGD(model.parameters(), lr=0.1)",
        f"{given}\noptimizer = torch.optim.SGD(params, lr=0.1)",
    )
    _, after = converted(source)
    assert "optimizer = crew.average_after_backward(torch.optim.SGD(params, lr=0.1))" in after


def test_gradients_that_are_used_by_hand() -> None:
    """They are averaged for what an optimizer trains, and of nothing else."""
    by_hand = "with torch.no_grad():\n    for p in head.parameters():\n        p -= 0.1 * p.grad"
    parts = {"setup": "head = nn.Linear(1, 1)", "loss": "loss = criterion(head(model(x)), y)"}
    (row,) = refused(**parts, step=by_hand)
    assert row[0] == "wrap" and row[1] == "p -= 0.1 * p.grad"
    assert beyond(step="print(max(p.grad.norm().item() for p in model.parameters()))") == []


@pytest.mark.parametrize("hook", ["register_hook", "register_post_accumulate_grad_hook"])
def test_hooks_that_are_given_gradients(hook: str) -> None:
    rows = refused(before=f"for p in model.parameters():\n    p.{hook}(lambda g: g.clamp(-1, 1))")
    assert [row[3] for row in rows] == [
        "on each worker they are of its own slice: they are averaged after that"
    ]


def test_a_network_of_two_names_keeps_both() -> None:
    model = "model = nn.Linear(3, 1)\nm = model.to('cpu')"
    wrapped = "m = DistributedDataParallel(model.to('cpu'), broadcast_buffers=False)"
    assert beyond(model=model) == [wrapped, "model = m"]


def test_a_name_that_nobody_asks_for_again_is_left() -> None:
    assert "net = model" not in beyond(model="net = nn.Linear(3, 1)\nmodel = net.to('cpu')")
