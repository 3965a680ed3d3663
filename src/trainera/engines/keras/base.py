"""What an engine for Keras says at each seam."""

from dataclasses import dataclass

from trainera.engines.base import Engine, Phrase


@dataclass(frozen=True, kw_only=True)
class KerasEngine(Engine):
    """One way to have Keras train on several devices."""

    backend: str
    """The backend of Keras that it is for."""
    spread: Phrase
    """What goes around a batch of a training loop of the script's own."""

    @property
    def phrases(self) -> tuple[Phrase, ...]:
        return (self.join, self.spread)
