"""What networks are made of."""

import ast
from dataclasses import replace

from trainera.read.core import Frame
from trainera.read.functions import Functions
from trainera.read.inside import models_held
from trainera.read.kinds import Bunch, Class, Kind, Listing, Model, Params
from trainera.read.tables import PAIR_LAYERS


class Layers(Functions):
    """The part of the analyser that tells networks from losses, and what is inside of them."""

    def learns(self, model: Model) -> bool:
        """Whether it is a network with layers, and not a loss, a softmax or the like."""
        if model.layer:
            return model.layer.startswith(("Sequential", "Linear", "Conv", *PAIR_LAYERS))
        return any(cls is None or self.has_layers(cls) for cls in model.classes)

    def grown(self, node: ast.Call, function: ast.Attribute, owner: Model, frame: Frame) -> Kind:
        """A container of layers is given some more."""
        positional, keywords = self.arguments(node, frame)
        more = models_held(Bunch((*positional, *keywords.values())))
        grown = replace(owner, inside=tuple(dict.fromkeys(owner.inside + more)))
        if grown != owner and isinstance(function.value, ast.Name | ast.Attribute):
            self.assign(function.value, grown, frame)
        return grown

    def has_layers(self, cls: Class) -> bool:
        """Whether a class of the script's is a network; if not, it is a loss or a transform."""
        return any(
            isinstance(kind, Model | Listing | Bunch | Params) and not self._is_loss(kind, cls)
            for owner in self.lineage(cls)
            for (node, _), kind in list(self.attributes.items())
            if node is owner.node
        ) or any("Parameter(" in ast.unparse(owner.node) for owner in self.lineage(cls))

    def _is_loss(self, kind: Kind, within: Class) -> bool:
        """Whether a part of a class is a loss of the script's own, which has no layers either."""
        cls = kind.cls if isinstance(kind, Model) else None
        return cls is not None and cls.node is not within.node and not self.has_layers(cls)
