"""Watches code on trial for what its outcome may not show: that it draws, or hides weights."""

from collections.abc import Callable
from types import TracebackType
from typing import Any


class Suspicion:
    """The time in which something may be found.

    Random numbers may change a row once in a hundred times only. And gradients that a function
    defines by itself for the weights that it reads would go past the crew.
    """

    def __init__(self) -> None:
        self.found = False
        self.undo: list[Callable[[], None]] = []

    def watch(self, owner: Any, name: str, make: Callable[[Any], Any]) -> None:
        plain = getattr(owner, name, None)
        if plain is not None:
            setattr(owner, name, make(plain))
            self.undo.append(lambda: setattr(owner, name, plain))

    def __enter__(self) -> "Suspicion":
        from tensorflow.python.framework import random_seed
        from tensorflow.python.ops import custom_gradient, stateful_random_ops, stateless_random_ops

        self.watch(random_seed, "get_seed", self.drawing)
        self.watch(stateless_random_ops, "_get_key_counter_alg", self.drawing)
        for name in ("make_seeds", "_make_int64_keys", "_prepare_key_counter", "skip"):
            self.watch(stateful_random_ops.Generator, name, self.drawing)
        self.watch(custom_gradient, "_eager_mode_decorator", self.differentiating)
        return self

    def __exit__(
        self,
        kind: "type[BaseException] | None",
        error: "BaseException | None",
        trace: "TracebackType | None",
    ) -> None:
        for step in reversed(self.undo):
            step()

    def drawing(self, plain: Any) -> Any:
        def draw(*args: Any, **kwargs: Any) -> Any:
            self.found = True
            return plain(*args, **kwargs)

        return draw

    def differentiating(self, plain: Any) -> Any:
        from tensorflow.python.eager import record

        def differentiate(*args: Any, **kwargs: Any) -> Any:
            with record.VariableWatcher() as watcher:
                outcome = plain(*args, **kwargs)
            if watcher.watched_variables():
                self.found = True
            return outcome

        return differentiate
