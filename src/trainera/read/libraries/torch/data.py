"""Loaders of torch."""

import ast

from trainera.read.facts import LoaderFact
from trainera.read.interpret.state import Frame
from trainera.read.libraries.torch.part import TorchPart
from trainera.read.values import PLAIN, Class, Const, LibraryObject, Loader, Many, Value

OF_TENSORS = {"torch.utils.data.TensorDataset", "torch.utils.data.dataset.TensorDataset"}
PARTS = {"Subset", "random_split"}
"""What takes some of the samples of a dataset, and leaves them as they are."""


class Loaders(TorchPart):
    """Loaders of torch."""

    def make(self, node: ast.Call, frame: Frame, own: Class | None = None) -> Value:
        """A loader, of torch's class or of one of the script's own that stands on it."""
        positional, keywords = self.machine.calls.arguments(node, frame)
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
                tensors=own is None and self._gives_tensors(node, positional, keywords),
            ),
        )
        return PLAIN if node in self.program.decisions.whole else Loader(frozenset({node}))

    def _gives_tensors(
        self, node: ast.Call, positional: list[Value], keywords: dict[str, Value]
    ) -> bool:
        """Whether samples are rows of tensors, which torch's own collating stacks again."""
        dataset = positional[0] if positional else keywords.get("dataset", PLAIN)
        as_usual = len(positional) < 7 and not {"collate_fn", "**"} & keywords.keys()
        return as_usual and node not in self.program.partials and _of_tensors(dataset)

    @staticmethod
    def parts_of_dataset(name: str, arguments: list[Value]) -> Value | None:
        """``random_split(data, [90, 10])``: as the dataset, if that is known."""
        module, _, last = name.rpartition(".")
        if module not in ("torch.utils.data", "torch.utils.data.dataset") or last not in PARTS:
            return None
        if not arguments or not _of_tensors(arguments[0]):
            return None
        return arguments[0] if last == "Subset" else Many(arguments[0])


def _of_tensors(dataset: Value) -> bool:
    return isinstance(dataset, LibraryObject) and dataset.name in OF_TENSORS
