"""What is asked of the network goes past its wrapper, what is asked of the wrapper does not."""

import pytest

from tests.rules.tools import beyond, must_refuse, network, noted, refused, right_or_refused


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("print(model)", "print(model.module)"),
        ("print(model.weight)", "print(model.module.weight)"),
        ("print(type(model).__name__)", "print(type(model.module).__name__)"),
        ("print(model.__class__.__name__)", "print(model.module.__class__.__name__)"),
        ("print(hasattr(model, 'weight'))", "print(hasattr(model.module, 'weight'))"),
        ("print(getattr(model, 'weight'))", "print(getattr(model.module, 'weight'))"),
        ("print(isinstance(model, nn.Linear))", "print(isinstance(model.module, nn.Linear))"),
        (
            "print([n for n, _ in model.named_parameters()])",
            "print([n for n, _ in model.module.named_parameters()])",
        ),
        ("print(list(model.state_dict()))", "print(list(model.module.state_dict()))"),
        (
            "model.load_state_dict(torch.load('m.pt'))",
            "model.module.load_state_dict(torch.load('m.pt'))",
        ),
        (
            "torch.save(model.state_dict(), 'm.pt')",
            "crew.once(torch.save, model.module.state_dict(), 'm.pt')",
        ),
        ("torch.save(model, 'm.pt')", "crew.once(torch.save, model.module, 'm.pt')"),
        (
            "torch.save({'m': model.state_dict()}, 'm.pt')",
            "crew.once(torch.save, {'m': model.module.state_dict()}, 'm.pt')",
        ),
        ("torch.save({'m': model}, 'm.pt')", "crew.once(torch.save, {'m': model.module}, 'm.pt')"),
        ("torch.save((model, 1), 'm.pt')", "crew.once(torch.save, (model.module, 1), 'm.pt')"),
        ("torch.save([model], 'm.pt')", "crew.once(torch.save, [model.module], 'm.pt')"),
        ("torch.save(obj=model, f='m.pt')", "crew.once(torch.save, obj=model.module, f='m.pt')"),
        ("model.apply(print)", "model.module.apply(print)"),
    ],
)
def test_of_the_network(before: str, after: str) -> None:
    assert beyond(after=before) == after.split("|")


def test_copies_are_of_the_network() -> None:
    added = beyond(
        imports="import copy",
        end="twin = copy.deepcopy(model)\nbest = copy.deepcopy(model.state_dict())",
    )
    assert added == [
        "twin = copy.deepcopy(model.module)",
        "best = copy.deepcopy(model.module.state_dict())",
    ]


def test_averages_of_weights_are_of_the_network() -> None:
    """Around the wrapper, its keys would begin with module.module."""
    right_or_refused(
        "swa = AveragedModel(model.module)",
        "swa.update_parameters(model.module)",
        imports="from torch.optim.swa_utils import AveragedModel",
        before="swa = AveragedModel(model)",
        end="swa.update_parameters(model)",
    )


def test_a_scripted_network_is_not_the_wrapper() -> None:
    right_or_refused(
        "scripted = torch.jit.script(model.module)",
        after="scripted = torch.jit.script(model)",
    )


def test_functions_that_are_given_wrapped_and_bare_networks() -> None:
    added = beyond(
        before="def show(net):\n    print(net.weight)\nother = nn.Linear(3, 1)\nshow(other)",
        end="show(model)",
    )
    assert added == ["print(crew.bare(net).weight)"]


def test_data_parallel_keeps_its_keys() -> None:
    """The sequential script saves `module.…`; its wrapper's successor has the same keys."""
    added = beyond(
        model="model = nn.DataParallel(nn.Linear(3, 1))",
        after="torch.save(model.state_dict(), 'm.pt')",
    )
    assert added == ["crew.once(torch.save, model.state_dict(), 'm.pt')"]


def test_the_network_inside_data_parallel() -> None:
    added = beyond(
        model="model = nn.DataParallel(nn.Linear(3, 1))",
        after="torch.save(model.module.state_dict(), 'm.pt')",
    )
    assert added == ["crew.once(torch.save, model.module.state_dict(), 'm.pt')"]


@pytest.mark.parametrize(
    "line",
    [
        "model.train()",
        "model.eval()",
        "print(model.training)",
        "model.zero_grad()",
        "print(sum(p.numel() for p in model.parameters()))",
        "torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)",
        "for p in model.parameters():\n    p.grad = None",
        "print(next(model.parameters()).device)",
        "other = nn.Linear(3, 1)\nprint(other.weight, other.state_dict())",
        "with torch.no_grad():\n    print(model(torch.zeros(1, 3)))",
        "class Thing:\n    weight = 1\nthing = Thing()\nprint(thing.weight)",
        "print('model.weight')  # model.state_dict()",
        "print(model is None)",
    ],
)
def test_of_the_wrapper_or_of_something_else(line: str) -> None:
    assert beyond(after=line) == []


@pytest.mark.parametrize(
    "hook",
    [
        "model.register_forward_hook(lambda m, i, o: seen.append(o.mean().item()))",
        "model.register_forward_hook(lambda m, i, o: print(o.mean()))",
        "model.register_forward_pre_hook(lambda m, i: seen.append(i[0].sum().item()))",
    ],
)
def test_hooks_see_slices(hook: str) -> None:
    """What a hook keeps of a slice would be printed as if it were the batch's."""
    must_refuse(before=f"seen = []\n{hook}", after="print(seen)")


def test_a_training_step_that_is_a_method() -> None:
    model = network().replace(
        "    def forward", "    def score(self, x):\n        return self.fc(x)\n    def forward"
    )
    added = beyond(model=model, loss="loss = criterion(model.score(x), y)")
    assert "loss = criterion(crew.through(model).score(x), y)" in added


def test_a_step_through_a_layer_has_no_wrapper() -> None:
    parts = {"model": network(), "loss": "loss = criterion(model.fc(x), y)"}
    assert beyond(**parts, after="torch.save(model.state_dict(), 'm.pt')") == [
        "model = crew.average_after_backward(Net())",
        "optimizer = crew.average_after_backward(torch.optim.SGD(model.parameters(), lr=0.1))",
        "crew.once(torch.save, model.state_dict(), 'm.pt')",
    ]
    (note,) = noted(**parts)
    assert note.startswith("the loss is computed past the network's own call: gradients are")


def test_a_network_saved_inside_of_a_variable_is_refused() -> None:
    rows = refused(end="state = {'m': model}\ntorch.save(state, 'm.pt')")
    assert rows[0][0] == "access"
