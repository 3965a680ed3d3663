"""Functions and classes are what the code around their definitions makes of them."""

import pytest

from tests.rules.tools import beyond, right_or_refused

WATCH = """
import functools
def watch(function, name="loss"):
    def inner(*args):
        result = function(*args)
        print(name, float(result))
        return result
    return inner
class Watch:
    def __init__(self, function):
        self.function = function
    def __call__(self, *args):
        result = self.function(*args)
        print(float(result))
        return result
class Bound(Watch):
    def __get__(self, owner, cls):
        return functools.partial(self, owner)
def named(name):
    return Watch
"""
FUNCTION = "def compute(x, y):\n    return criterion(model(x), y)"
METHOD = "class Task:\n    {}\n    def compute(self, x, y):\n        return criterion(model(x), y)"
SHOWN = "print({}crew.current().mean(float(result)))"


@pytest.mark.parametrize(
    "decorator",
    [
        "@watch",
        "@Watch",
        "@named('loss')",
        "@functools.partial(watch, name='loss')",
        "@(watch if data else Watch)",
        "@functools.lru_cache\n@watch",
        "@watch\n@torch.enable_grad()",
    ],
)
def test_a_function_is_what_its_decorators_make_of_it(decorator: str) -> None:
    added = beyond(imports=WATCH, before=f"{decorator}\n{FUNCTION}", loss="loss = compute(x, y)")
    shown = {SHOWN.format("name, "), SHOWN.format("")}
    assert shown & set(added)


@pytest.mark.parametrize("decorator", ["@watch", "@Bound", "@torch.enable_grad()\n    @watch"])
def test_a_method_is_what_its_decorators_make_of_it(decorator: str) -> None:
    added = beyond(
        imports=WATCH,
        before=METHOD.replace("{}", decorator) + "\ntask = Task()",
        loss="loss = task.compute(x, y)",
    )
    assert {SHOWN.format("name, "), SHOWN.format("")} & set(added)


def test_a_class_is_what_its_decorator_makes_of_it() -> None:
    setup = (
        "def quiet(cls):\n    cls.show = lambda self, v: print(float(v))\n    return cls\n"
        "@quiet\nclass Task:\n    def show(self, v):\n        pass\ntask = Task()"
    )
    assert beyond(before=setup, step="task.show(loss)") == ["task.show(loader.mean(loss))"]


@pytest.mark.parametrize(
    "decorator", ["@torch.enable_grad()", "@functools.wraps(print)", "@torch.compile"]
)
def test_decorators_of_libraries_change_nothing(decorator: str) -> None:
    lines = f"{decorator}\n{FUNCTION}"
    assert beyond(imports=WATCH, before=lines, loss="loss = compute(x, y)") == []


def test_an_unknown_decorator_gets_wholes_or_is_refused() -> None:
    lines = f"@unknown.one_of(3)\n{FUNCTION}"
    right_or_refused(
        "loss = compute(loader.gather(x), loader.gather(y))",
        imports="unknown = vars(data)['one']",
        before=lines,
        loss="loss = compute(x, y)",
    )


@pytest.mark.parametrize(
    "cls",
    [
        "def show(self, v):\n    pass\ndef show(self, v):\n    print(float(v))",
        "show = lambda self, v: print(float(v))",
        "say = lambda self, v: print(float(v))\nshow = say",
        "if torch.cuda.is_available():\n    def show(self, v):\n        pass\n"
        "else:\n    def show(self, v):\n        print(float(v))",
    ],
)
def test_what_a_class_has_under_a_name_is_what_its_body_binds_last(cls: str) -> None:
    body = cls.replace("\n", "\n    ")
    added = beyond(before=f"class Task:\n    {body}\ntask = Task()", step="task.show(loss)")
    assert added == ["task.show(loader.mean(loss))"]


@pytest.mark.parametrize("replaced", ["Task.show = loud", "setattr(Task, 'show', loud)"])
def test_a_method_that_is_replaced(replaced: str) -> None:
    setup = (
        "class Task:\n    def show(self, v):\n        pass\n"
        f"def loud(self, v):\n    print(float(v))\ntask = Task()\n{replaced}"
    )
    assert beyond(before=setup, step="task.show(loss)") == ["task.show(loader.mean(loss))"]


def test_a_property_that_is_made_by_a_call() -> None:
    setup = (
        "class State:\n    def _get(self):\n        return 1\n    def _set(self, v):\n"
        "        print(float(v))\n    loss = property(_get, _set)\nstate = State()"
    )
    added = beyond(before=setup, step="state.loss = loss")
    assert added == ["print(crew.current().mean(float(v)))"]


def test_properties_share_their_name_with_what_sets_them() -> None:
    setup = (
        "class State:\n    @property\n    def loss(self):\n        return 1\n    @loss.setter\n"
        "    def loss(self, v):\n        print(float(v))\nstate = State()"
    )
    added = beyond(before=setup, step="state.loss = loss\nprint(state.loss)")
    assert added == ["print(crew.current().mean(float(v)))"]


@pytest.mark.parametrize(
    "cls",
    [
        "class Meta(type):\n    def __call__(cls, *a):\n        print(float(a[0]))\n"
        "class Rec(metaclass=Meta):\n    def __init__(self, v):\n        self.v = 1",
        "class Rec(float):\n    def __new__(cls, v):\n        print(float(v))\n"
        "        return super().__new__(cls, v)",
        "class Rec(float):\n    def show(self):\n        print(float(self))",
    ],
)
def test_what_other_code_than_init_is_given_is_whole(cls: str) -> None:
    added = beyond(before=cls, step="rec = Rec(loss.detach())")
    assert added == ["rec = Rec(loader.mean(loss.detach()))"]


@pytest.mark.parametrize("fields", ['["x", "y"]', '"x y"', '("x", "y")'])
@pytest.mark.parametrize("made", ["Batch(x, y)", "Batch(x=x, y=y)", "Batch(y=y, x=x)"])
def test_a_named_tuple_holds_what_it_is_made_of(fields: str, made: str) -> None:
    setup = f"from collections import namedtuple\nBatch = namedtuple('Batch', {fields})"
    used = "a, b = batch\nprint(criterion(model(batch.x), b).item())"
    added = beyond(setup=setup, step=f"batch = {made}\n{used}")
    assert added == ["print(loader.mean(criterion(model(batch.x), b).item()))"]


@pytest.mark.parametrize("owner", ["Task", "Task()", "Task.make()", "Child"])
def test_methods_of_a_class_are_given_the_class(owner: str) -> None:
    setup = """
class Task:
    @classmethod
    def compute(cls, net, x, y):
        return criterion(net(x), y)
    @staticmethod
    def show(value):
        print(value)
    @classmethod
    def make(cls):
        return cls()
class Child(Task):
    pass
"""
    added = beyond(setup=setup, step=f"{owner}.show({owner}.compute(model, x, y).item())")
    assert added == [f"{owner}.show(loader.mean({owner}.compute(model, x, y).item()))"]
