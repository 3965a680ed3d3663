"""Libraries as plug-ins of the machine: where it asks them, and in which order.

The machine knows Python's statements and expressions. What a function of a library gives, what a
network does, what must happen on one worker only, the libraries tell; `reader` chooses them.
"""

import ast
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Concatenate, ParamSpec, cast

from trainera.read.interpret.part import MachinePart
from trainera.read.interpret.state import Frame
from trainera.read.values import Class, Function, Value

P = ParamSpec("P")


class Library(MachinePart):
    """What one library knows. Each question is answered by nothing unless a library says more."""

    training_methods: frozenset[str] = frozenset()
    """Methods by which a script trains."""
    tensor_makers: frozenset[str] = frozenset()
    """Functions that make tensors to a size that they are given."""
    tensor_questions: frozenset[str] = frozenset()
    """Methods of tensors that neither change them nor give a view of them."""
    tensor_facts: frozenset[str] = frozenset()
    """Attributes of tensors through which they cannot be changed."""
    first_changed: frozenset[str] = frozenset()
    """Functions, by the last part of their name, that change what they are given first."""

    # Questions: the first library that has an answer gives the value.
    def named(self, name: str) -> Value | None:
        """What a dotted name stands for, if not for something that is called or looked into."""

    def call(self, name: str, node: ast.Call, frame: Frame) -> Value | None:
        """What calling a function or class of that dotted name gives."""

    def call_value(self, callee: Value, node: ast.Call, frame: Frame) -> Value | None:
        """What calling a value gives, such as a network."""

    def call_by_name(self, node: ast.Call, method: ast.Attribute, frame: Frame) -> Value | None:
        """A method that is known by its name alone, whatever it is called on."""

    def method(
        self, node: ast.Call, function: ast.Attribute, owner: Value, frame: Frame
    ) -> Value | None:
        """What calling a method of a value gives."""

    def plain_method(self, node: ast.Call, name: str, owner: Value, frame: Frame) -> Value | None:
        """The same of a value of which little is known."""

    def attribute(self, node: ast.Attribute, owner: Value, frame: Frame) -> Value | None:
        """What an attribute of a value is."""

    def item(self, node: ast.Subscript, owner: Value, frame: Frame) -> Value | None:
        """What an item of a value is."""

    def truth(self, node: ast.expr, frame: Frame) -> bool | None:
        """What a test gives, if that is known."""

    def instance(self, cls: Class, bases: list[str], node: ast.Call, frame: Frame) -> Value | None:
        """What calling a class of the script's gives that comes from a library's."""

    def unknown(
        self, name: str, node: ast.Call, arguments: list[Value], frame: Frame
    ) -> Value | None:
        """What a call may give of which nothing is known."""

    # Values on their way: every library may change them.
    def evaluated(self, node: ast.expr, value: Value, frame: Frame) -> Value:
        """An expression has been given its value."""
        return value

    def called(self, name: str, node: ast.Call, value: Value, frame: Frame) -> Value:
        """A function of a library has been called."""
        return value

    def function_called(
        self, function: Function, node: ast.Call, value: Value, frame: Frame
    ) -> Value:
        """A function of the script's has been called."""
        return value

    def method_of_gathered(
        self, name: str, made: Value, positional: Sequence[Value], keywords: dict[str, Value]
    ) -> Value:
        """A method of the whole batch's value has been called."""
        return made

    # Events: every library hears of them.
    def statement_done(self, node: ast.stmt, frame: Frame) -> None:
        """A statement has been followed."""

    def discarded(self, node: ast.Expr, value: Value, frame: Frame) -> None:
        """A statement has made a value and dropped it."""

    def assigned(
        self, node: ast.stmt, target: ast.expr, expression: ast.expr, value: Value, frame: Frame
    ) -> None:
        """A value is about to be stored."""

    def attribute_set(
        self, target: ast.Attribute, owner: Value, value: Value, frame: Frame
    ) -> None:
        """An attribute is about to be set."""

    def item_set(self, target: ast.Subscript, value: Value, frame: Frame) -> None:
        """An item of something that is no share is about to be set."""

    def looped_over(self, node: ast.expr, value: Value, frame: Frame) -> None:
        """A loop goes through a value."""

    def in_order(self, node: ast.expr, value: Value, frame: Frame) -> None:
        """Something is done with the items of a value one after the other."""

    def arguments_in_order(self, name: str, node: ast.Call, frame: Frame) -> None:
        """A function is called that may do so with what it is given."""

    def opaque(self, node: ast.expr, value: Value, frame: Frame) -> None:
        """A value is used in a way that is not understood."""

    def given_away(self, node: ast.expr, value: Value, frame: Frame) -> None:
        """A value is given to a call that is not understood."""

    def given_rows(
        self, callee: Value, node: ast.Call, arguments: list[Value], frame: Frame
    ) -> None:
        """Inside a network, something that is not understood is given a share of a batch."""

    def saved(self, node: ast.expr, value: Value, frame: Frame) -> None:
        """A value is written to a file."""

    def unaccounted(self, node: ast.Call, frame: Frame) -> tuple[Class, ...]:
        """Classes of the script's that a name at run time may stand for."""
        return ()


class Libraries:
    """All libraries, asked as one."""

    def __init__(self, libraries: Sequence[Library]) -> None:
        self.tensor_makers = _all_of(library.tensor_makers for library in libraries)
        self.training_methods = _all_of(library.training_methods for library in libraries)
        self.tensor_questions = _all_of(library.tensor_questions for library in libraries)
        self.tensor_facts = _all_of(library.tensor_facts for library in libraries)
        self.first_changed = _all_of(library.first_changed for library in libraries)
        self.named = first(libraries, Library.named)
        self.call = first(libraries, Library.call)
        self.call_value = first(libraries, Library.call_value)
        self.call_by_name = first(libraries, Library.call_by_name)
        self.method = first(libraries, Library.method)
        self.plain_method = first(libraries, Library.plain_method)
        self.attribute = first(libraries, Library.attribute)
        self.item = first(libraries, Library.item)
        self.truth = first_answer(libraries)
        self.instance = first(libraries, Library.instance)
        self.unknown = first(libraries, Library.unknown)
        self.statement_done = every(libraries, Library.statement_done)
        self.discarded = every(libraries, Library.discarded)
        self.assigned = every(libraries, Library.assigned)
        self.attribute_set = every(libraries, Library.attribute_set)
        self.item_set = every(libraries, Library.item_set)
        self.looped_over = every(libraries, Library.looped_over)
        self.in_order = every(libraries, Library.in_order)
        self.arguments_in_order = every(libraries, Library.arguments_in_order)
        self.opaque = every(libraries, Library.opaque)
        self.given_away = every(libraries, Library.given_away)
        self.given_rows = every(libraries, Library.given_rows)
        self.saved = every(libraries, Library.saved)
        self.watchers: list[Callable[[ast.expr, Value, Frame], Value]]
        self.watchers = overriding(libraries, Library.evaluated)
        """Those who change what expressions give."""
        self._called = overriding(libraries, Library.called)
        self._function_called = overriding(libraries, Library.function_called)
        self._method_of_gathered = overriding(libraries, Library.method_of_gathered)
        self._unaccounted = overriding(libraries, Library.unaccounted)

    def called(self, name: str, node: ast.Call, value: Value, frame: Frame) -> Value:
        for hook in self._called:
            value = hook(name, node, value, frame)
        return value

    def function_called(
        self, function: Function, node: ast.Call, value: Value, frame: Frame
    ) -> Value:
        for hook in self._function_called:
            value = hook(function, node, value, frame)
        return value

    def method_of_gathered(
        self, name: str, made: Value, positional: Sequence[Value], keywords: dict[str, Value]
    ) -> Value:
        for hook in self._method_of_gathered:
            made = hook(name, made, positional, keywords)
        return made

    def unaccounted(self, node: ast.Call, frame: Frame) -> tuple[Class, ...]:
        return tuple(cls for hook in self._unaccounted for cls in hook(node, frame))


def overriding(
    libraries: Sequence[Library], hook: Callable[Concatenate[Any, P], Any]
) -> list[Callable[P, Any]]:
    """The answers of those libraries that have one of their own."""
    name = hook.__name__
    return [
        getattr(library, name) for library in libraries if getattr(type(library), name) is not hook
    ]


def first(
    libraries: Sequence[Library], hook: Callable[Concatenate[Any, P], Value | None]
) -> Callable[P, Value | None]:
    """Asks one library after the other."""
    hooks: list[Callable[..., Any]] = [*overriding(libraries, hook)]
    if len(hooks) == 1:
        return hooks[0]

    def ask(*arguments: Any) -> Value | None:
        for one in hooks:
            value: Value | None = one(*arguments)
            if value is not None:
                return value
        return None

    return cast(Callable[P, Value | None], ask)


def first_answer(
    libraries: Sequence[Library],
) -> Callable[[ast.expr, Frame], bool | None]:
    """What a test gives, by the first library that knows."""
    hooks = overriding(libraries, Library.truth)

    def ask(node: ast.expr, frame: Frame) -> bool | None:
        answers = (hook(node, frame) for hook in hooks)
        return next((answer for answer in answers if answer is not None), None)

    return ask


def every(
    libraries: Sequence[Library], hook: Callable[Concatenate[Any, P], None]
) -> Callable[P, None]:
    """Tells all libraries."""
    hooks: list[Callable[..., Any]] = [*overriding(libraries, hook)]
    if len(hooks) == 1:
        return hooks[0]

    def tell(*arguments: Any) -> None:
        for one in hooks:
            one(*arguments)

    return cast(Callable[P, None], tell)


def _all_of(names: Iterable[frozenset[str]]) -> frozenset[str]:
    return frozenset().union(*names)
