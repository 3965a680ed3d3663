"""What this process knows of its crew: who it is, and where in a network it stands."""

import threading
from typing import Any


class Standing(threading.local):
    """Where this thread stands; each has its own, for data may be made in others meanwhile."""

    def __init__(self) -> None:
        # The rows that this worker has of the batch that a network is computing; None outside.
        self.region: Any = None
        # Whether what is computed now is computed by all alike, down to the networks in it.
        self.replicated = False
        # The rows by which a network is being tried, which is no part of the run; None: none is.
        self.trying: Any = None
        # During a trial: what draws weights that layers make in their first call.
        self.building: Any = None
        # What the network gave that Keras's own step is made with, until its loss is computed.
        self.learning: Any = None
        # What this worker does while the others wait for it; empty if nothing.
        self.apart = ""


class Crew:
    """The state of this process. One object instead of globals, so that it can be bundled."""

    def __init__(self) -> None:
        self.joined = False
        self.rank = 0
        self.size = 1
        # Who carries tensors and figures between workers; None in a world of one.
        self.exchange: Any = None
        # Whatever has to live as long as the process.
        self.strategy: Any = None
        self.failed = False
        self.here = Standing()

    @property
    def may_split(self) -> bool:
        """Whether a network that is called now may be shared out.

        Pipelines of data call functions from threads of their own, at no time that all know.
        """
        return (
            self.size > 1
            and self.here.region is None
            and not (self.here.replicated or self.here.trying or self.here.apart)
            and threading.current_thread() is threading.main_thread()
        )

    def require_all(self, what: str) -> None:
        """Raises if the others wait elsewhere, for this worker: they would wait for ever."""
        if self.here.apart:
            raise RuntimeError(
                f"trainera: {what} needs all workers, and the others wait until this one is done "
                f"with {self.here.apart}: do that before, or after, and only hand the result over"
            )


CREW = Crew()
