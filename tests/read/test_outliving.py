"""What is kept of a batch in names, lists and attributes, and whether it is of the latest one."""

import pytest

from tests.rules.tools import beyond, changed, network, refused, script

BOX = """\
class Box:
    def __init__(self):
        self.probe = None
        self.seen = 0
    def keep(self, x):
        self.probe = x
    def keep_first(self, x):
        if self.probe is not None:
            return
        self.probe = x
    def keep_some(self, x):
        for _ in range(2):
            if self.seen > 3:
                break
            self.probe = x
    def try_to_keep(self, x):
        try:
            self.probe = x.view(-1, 3)
        except RuntimeError:
            pass
box = Box()
"""
LOOK = "with torch.no_grad():\n    print(model(box.probe).mean().item())"
OLD = ["'box.probe' is left over from an earlier batch"]


@pytest.mark.parametrize(
    "step",
    [
        "if epoch == 0: box.keep(x)",
        "box.keep_first(x)",
        "box.keep_some(x)",
        "box.try_to_keep(x)",
        "if len(data) > 3: box.keep(x)\nelse: box.seen = 1",
    ],
)
@pytest.mark.parametrize("where", ["step", "end"])
def test_an_attribute_that_may_be_of_an_earlier_batch(step: str, where: str) -> None:
    parts = {"step": step, "end": LOOK} if where == "end" else {"step": f"{step}\n{LOOK}"}
    found = refused(setup=BOX, **parts)
    assert [why for *_, why in found] == OLD


def test_an_attribute_that_some_batches_pass_by() -> None:
    step = "if len(data) > 3: continue\nbox.keep(x)"
    assert [why for *_, why in refused(setup=BOX, step=step, end=LOOK)] == OLD
    added = beyond(setup=BOX, step=f"{step}\n{LOOK}")
    assert added == ["print(loader.mean(model(box.probe).mean().item()))"]


@pytest.mark.parametrize(
    "step",
    [
        "box.keep(x)",
        "if len(data) > 3: box.keep(x)\nelse: box.probe = x",
        "box.keep(x)\nif len(data) > 3: box.probe = box.probe.double()",
        "with torch.no_grad(): box.keep(x)",
    ],
)
@pytest.mark.parametrize("where", ["step", "end"])
def test_an_attribute_that_is_of_the_latest_batch(step: str, where: str) -> None:
    parts = {"step": step, "end": LOOK} if where == "end" else {"step": f"{step}\n{LOOK}"}
    assert beyond(setup=BOX, **parts) == ["print(loader.mean(model(box.probe).mean().item()))"]


@pytest.mark.parametrize("name", ["first", "box.probe"])
def test_what_is_set_once_is_set_whole(name: str) -> None:
    step = f"if {name} is None:\n    {name} = x"
    look = f"with torch.no_grad():\n    print(model({name}).mean().item())"
    added = beyond(setup=BOX + "first = None", step=step, end=look)
    assert added == [f"{name} = loader.gather(x)"]


@pytest.mark.parametrize(
    "step",
    [
        "if x is not None: x = x.double()",
        "mask = None\nif mask is None: mask = x > 0",
    ],
)
def test_what_is_asked_of_a_name_in_passing_keeps_nothing(step: str) -> None:
    assert "gather" not in "".join(beyond(step=step))


def test_batches_that_are_collected_in_the_loop_are_whole_after_it() -> None:
    source = script(
        before="kept = []",
        step="if len(kept) < 2: kept.append((x, y))",
        end="for a, b in kept:\n    print(criterion(model(a), b).item())",
    )
    lines = changed(source)
    assert "if len(kept) < 2: kept.append((loader.gather(x), loader.gather(y)))" in lines
    assert not any("criterion(model(a)" in line for line in lines)


@pytest.mark.parametrize(
    "move",
    [
        "batch = tuple(part.to('cpu') for part in batch)",
        "batch = [part.cuda() for part in batch]",
        "batch = list(map(lambda part: part.to('cpu').double(), batch))",
        "batch = [part.to('cpu', non_blocking=True).float() for part in batch]",
    ],
)
def test_a_batch_whose_parts_are_moved_stays_a_batch(move: str) -> None:
    source = script().replace("for x, y in loader:", f"for batch in loader:\n        {move}")
    source = source.replace("optimizer.zero_grad()", "x, y = batch; optimizer.zero_grad()")
    assert not any("gather" in line or "mine" in line for line in changed(source))


def test_a_method_is_not_called_ahead_of_its_time() -> None:
    """It might give batches, so it is looked into, before the loop has given it any."""
    learner = """
        class Learner:
            def give(self, x, y):
                self.x, self.y = x, y
            def learn(self):
                self.out = model(self.x)
                self.loss = criterion(self.out, self.y)
                optimizer.zero_grad()
                self.loss.backward()
        learner = Learner()
    """
    lines = changed(script(before=learner, loss="learner.give(x, y)", backward="learner.learn()"))
    assert "(self.loss * crew.current().share).backward()" in lines


STEP = "def note(out, x, y):\n    out['loss'] = criterion(model(x), y)\n    out['n'] = len(x)"


def test_a_dictionary_of_somebody_else_is_given_wholes() -> None:
    look = "with torch.no_grad(): note(out, x, y)\nprint(out['loss'].item(), out['n'])"
    added = beyond(before=STEP, step=f"out = {{}}\n{look}")
    assert added == [
        "out['loss'] = crew.current().mean(criterion(model(x), y))",
        "out['n'] = crew.current().sum(len(x))",
    ]
    assert beyond(before="log = {}\nalso = log", step="log['x'] = x", end="print(also['x'])") == [
        "log['x'] = loader.gather(x)"
    ]


def test_a_dictionary_of_ones_own_holds_shares() -> None:
    """Until another batch comes: then what it holds is left over, and the rest is as it was."""
    before = "state = {'n': 0}"
    every = "state['x'] = x\nstate['n'] += len(x)"
    assert beyond(before=before, step=every, end="print(state['n'], state['x'].sum().item())") == [
        "state['n'] += loader.sum(len(x))",
        "print(state['n'], loader.sum(state['x'].sum().item()))",
    ]
    found = refused(before=before, step="if epoch == 0: state['x'] = x", end="print(state['x'])")
    assert [why for *_, why in found] == ["'state['x']' is left over from an earlier batch"]


def test_a_pair_of_an_earlier_batch() -> None:
    found = refused(
        before="pair = None",
        loss="if pair: print(model(pair[0]).sum().item())\nloss = criterion(model(x), y)",
        step="if epoch == 0: pair = (x, y)",
    )
    assert [why for *_, why in found] == ["'pair' is left over from an earlier batch"]


HOLDER = """\
class Holder:
    def __init__(self, x=None):
        self.x = x
    def put(self, x):
        self.x = x
    def report(self):
        print(self.x.mean().item())
    def __str__(self):
        return str(self.x.mean().item())
class Child(Holder):
    def report(self):
        super().report()
def closed_over(x):
    def check():
        return x.mean().item()
    return check
"""


@pytest.mark.parametrize(
    ("before", "step", "end"),
    [
        ("a, b = Holder(), Holder()", "a.put(x)\nif epoch == 0: b.put(x)", "b.report()"),
        ("boxes = {n: Holder() for n in 'ab'}", "boxes['a'].put(x)", "boxes['a'].report()"),
        ("kept = None", "if kept is None: kept = Holder(x)", "kept.report()"),
        ("kept = []", "kept.append(Holder(x))", "kept[0].report()"),
        ("h = Holder()", "h.put(x)\nkept = copy.deepcopy(h)", "kept.report()"),
        ("h = Holder()", "h.put(x)\nprint(h)", "pass"),
        ("h = Holder()", "h.put(x)\nprint(vars(h))", "pass"),
        ("h = Holder()", "h.put(x)\nprint(h.__dict__['x'].mean())", "pass"),
        ("check = None", "if check is None: check = closed_over(x)", "print(check())"),
        ("check = None", "if check is None: check = partial(torch.mean, x)", "print(check())"),
        ("h = Holder()", "epoch == 0 and h.put(x)", "h.report()"),
        ("h = Holder()", "h.put(x) if epoch == 0 else None", "h.report()"),
        ("h = Holder()", "for _ in range(epoch): h.put(x)", "h.report()"),
        ("h = Holder()", "with suppress(ValueError): h.put(x)", "h.report()"),
        ("h = Holder()", "if epoch == 0: h.put(x)", "print(getattr(h, 'x').mean().item())"),
    ],
)
def test_what_holds_something_of_a_batch_cannot_be_kept(before: str, step: str, end: str) -> None:
    imports = "import copy\nfrom contextlib import suppress\nfrom functools import partial"
    refused(imports=imports, setup=HOLDER, before=before, step=step, end=end)


def test_the_bases_of_a_class_are_followed() -> None:
    added = beyond(setup=HOLDER, before="child = Child()", step="child.put(x)\nchild.report()")
    assert added == ["print(crew.current().mean(self.x.mean().item()))"]


def test_losses_by_their_names() -> None:
    losses = """\
class Losses:
    loss_names = ["a", "b"]
    def put(self, a):
        self.loss_a = a.mean()
        self.loss_b = a.pow(2).mean()
    def current(self):
        return {name: getattr(self, "loss_" + name).item() for name in self.loss_names}
losses = Losses()
"""
    added = beyond(setup=losses, step="losses.put(model(x))\nprint(losses.current())")
    assert len(added) == 1 and ".mean(getattr(self, 'loss_' + name)" in added[0].replace('"', "'")


def test_what_an_inner_function_stores_in_an_outer_name_is_whole() -> None:
    lines = """\
def run():
    kept = None
    def keep(x):
        nonlocal kept
        kept = x
    for x, y in loader:
        keep(x)
    print(kept.sum().item())
run()
"""
    assert "kept = crew.current().gather(x)" in changed(script(after=lines))


def test_a_network_that_keeps_a_queue_of_what_it_has_seen() -> None:
    keeps = "self.queue[: len(x)] = x.detach()"
    net = network(keeps, layers="self.register_buffer('queue', torch.zeros(20, 3))")
    (found,) = refused(model=net)
    assert found[2] == "the network keeps a figure of the batch it has just seen"


def test_a_network_that_fills_a_queue_row_by_row() -> None:
    net = network("for row in x: self.queue[0] = row.detach()", layers="self.queue = [None]")
    (found,) = refused(model=net)
    assert found[2] == "the network keeps a figure of the batch it has just seen"


def test_a_function_that_names_nothing_of_the_batch_may_be_handed_over() -> None:
    imports = "import threading"
    beyond(imports=imports, step="threading.Timer(1, lambda: print('a')).start()")
    (found,) = refused(imports=imports, step="threading.Timer(1, lambda: print(x)).start()")
    assert found[2] == "an object that holds something of a batch is kept or handed over here"
