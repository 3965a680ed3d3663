"""Loaders of torch."""

import ast

from trainera.read.facts import LoaderFact
from trainera.read.interpret.state import Frame
from trainera.read.libraries.torch.part import TorchPart
from trainera.read.values import PLAIN, Const, Loader, Value


class Loaders(TorchPart):
    """Loaders of torch."""

    def make(self, node: ast.Call, frame: Frame) -> Value:
        _, keywords = self.machine.calls.arguments(node, frame)
        shuffle = keywords.get("shuffle")
        plain = shuffle is None or (isinstance(shuffle, Const) and not shuffle.value)
        sampled = any(name in keywords for name in ("sampler", "batch_sampler", "generator"))
        collate = keywords.get("collate_fn")
        if isinstance(collate, Const) and collate.value is None:
            collate = None
        self.notes.loaders.set(
            node,
            frame,
            LoaderFact(
                node=node,
                file=frame.file,
                collate=collate,
                ordered=plain
                and not sampled
                and len(node.args) < 3
                and node not in self.program.partials,
            ),
        )
        return PLAIN if node in self.program.decisions.whole else Loader(frozenset({node}))
