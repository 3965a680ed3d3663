"""Networks of which the class is chosen when the script runs: each is looked into."""

from tests.rules.tools import beyond, converted, refused, script

TWO = """
class Plain(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 1)

    def forward(self, x, y=None):
        out = self.fc(x)
        loss = F.mse_loss(out, y) if y is not None else None
        return out, loss

class Deep(nn.Module):
    def __init__(self):
        super().__init__()
        self.one, self.two = nn.Linear(3, 4), nn.Linear(4, 1)

    def forward(self, x, y=None):
        out = self.two(torch.tanh(self.one(x)))
        loss = None
        if y is not None:
            loss = F.mse_loss(out, y)
        return out, loss

class Centred(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 1)

    def forward(self, x):
        return self.fc(x - x.mean(0))
"""


def test_losses_that_all_of_them_give() -> None:
    model = "if len(data) > 7:\n    model = Plain()\nelse:\n    model = Deep()"
    plan, text = converted(script(setup=TWO, model=model, loss="out, loss = model(x, y)"))
    assert not plan.refusals
    assert "(loss * loader.share).backward()" in text


def test_one_of_them_mixes_samples() -> None:
    refused(setup=TWO, model="model = Centred() if len(data) > 7 else nn.Linear(3, 1)")
    refused(setup=TWO, model="model = nn.Linear(3, 1) if len(data) > 7 else Centred()")


def test_classes_in_a_dictionary() -> None:
    model = "kinds = {'a': Centred, 'b': Centred}\nmodel = kinds['a']()"
    refused(setup=TWO, model=model)


def test_none_of_them_does() -> None:
    model = "model = nn.Sequential(nn.Linear(3, 1)) if len(data) > 7 else nn.Linear(3, 1)"
    (added,) = beyond(model=model)
    assert added.startswith("model = DistributedDataParallel(nn.Sequential(nn.Linear(3, 1)) if")
