"""What an engine for Keras says at each seam."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from trainera.engines.base import Engine, Phrase


@dataclass(frozen=True, kw_only=True)
class KerasEngine(Engine):
    """One way to have Keras train on several devices."""

    backend: str
    """The backend of Keras that it is for."""
    line: int | None = None
    """The one line of Keras that it is for; None: any that has this backend."""
    spread: Phrase | None = None
    """What goes around a batch of a training loop of the script's own; None: nothing has to."""
    once: Phrase | None = None
    """The function through which only one worker acts; None: there is only one process."""
    in_turn: Phrase | None = None
    """The function through which workers act one after the other."""
    agree: Phrase | None = None
    """What goes around a value that each process has for itself."""

    joins: str = "every batch is shared out from here on; weights are on each device"
    """What happens where a worker joins."""
    network: Phrase | None = None
    """What goes around a network before it is compiled; it then takes pipelines of batches only."""
    only_first: Phrase | None = None
    """What goes around a statement that one process acts by, for engines that know no waiting."""
    shares_apart: bool = False
    """Whether each process computes with its rows of a batch as if they were a batch."""
    fit_only: str = ""
    """Why training loops of the script's own are not for it, if they are not."""
    refuses: Mapping[str, str] = field(default_factory=dict)
    """Names that stand for what it cannot do, and why it cannot."""
    caveats: Mapping[str, str] = field(default_factory=dict)
    """What everybody has to know who takes it, with the reason."""
    grow: Phrase | None = None
    """The statement by which a step takes a batch for every worker; None: it cannot."""

    @property
    def phrases(self) -> tuple[Phrase, ...]:
        said = (
            *(self.join, self.spread, self.once, self.in_turn, self.agree, self.grow),
            *(self.network, self.only_first),
        )
        return tuple(phrase for phrase in said if phrase is not None)
