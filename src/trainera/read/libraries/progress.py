"""What hands on the items that it is given: progress bars and iterators."""

import ast

from trainera.read.interpret.library import Library
from trainera.read.interpret.state import Frame
from trainera.read.values import PLAIN, BatchIterable, Items, Loader, Value
from trainera.read.values.join import element, loaders_of

PROGRESS = ("tqdm", "track", "trange", "progress_bar", "master_bar")


class Progress(Library):
    """What hands on the items that it is given: progress bars and iterators."""

    # torch.nn, torch.optim, loaders.

    # Things that each worker must not do for itself.

    def call(self, name: str, node: ast.Call, frame: Frame) -> Value | None:
        if name.rsplit(".", 1)[-1] in PROGRESS or name in ("itertools.cycle", "itertools.islice"):
            return self._passed_through(name, node, frame)
        return None

    def _passed_through(self, name: str, node: ast.Call, frame: Frame) -> Value:
        positional, keywords = self.machine.calls.arguments(node, frame)
        for value in (*positional, *keywords.values()):
            value = self.machine.special.iterated(node, value, frame)
            if isinstance(value, Loader | BatchIterable):
                if name == "itertools.cycle":
                    self.machine.batches.repeats(node, loaders_of(value), frame)
                return BatchIterable(loaders_of(value), element(value))
        self.machine.calls.gathered_arguments(node, frame)
        return positional[0] if positional and isinstance(positional[0], Items) else PLAIN
