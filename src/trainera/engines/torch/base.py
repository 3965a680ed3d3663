"""What an engine for PyTorch says at each seam."""

from dataclasses import dataclass

from trainera.engines.base import Engine, Phrase


@dataclass(frozen=True, kw_only=True)
class TorchEngine(Engine):
    """One way to average what workers learn from their slices of a batch."""

    unequal: bool = True

    wrap: Phrase
    """What goes around the network in its final form."""
    wrap_with_idle_layers: str
    """The same for a network that has layers which get no gradients."""
    wrap_with_frozen_layers: str
    """The same for a network of which layers are frozen or freed once it is wrapped."""
    bare: str
    """The network inside its wrapper; ``{}`` if what goes around it gives it back as it is."""
    optimizer: Phrase | None = None
    """What goes around each optimizer, if anything; ``{options}`` are further arguments."""
    optimizer_names: str = ""
    """An option: the names of the parameters, which ``{}`` stands for."""
    mean_weight: str
    """Attribute of a split loader: the weight of a mean-reduced loss before the engine averages."""
    sum_weight: str
    """The same for a sum-reduced loss."""
    fallback: "TorchEngine | None" = None
    """The same without a wrapper around the network, for scripts that a wrapper cannot serve."""

    @property
    def wraps(self) -> bool:
        """Whether the network gets a wrapper through which scripts have to reach for it."""
        return self.bare != "{}"

    @property
    def phrases(self) -> tuple[Phrase, ...]:
        return tuple(phrase for phrase in (self.join, self.wrap, self.optimizer) if phrase)
