"""What this process knows of its crew, where JAX computes on several processes."""

import os
from typing import Any

COUNTS = ("JAX_NUM_PROCESSES", "SLURM_STEP_NUM_TASKS", "OMPI_COMM_WORLD_SIZE")
"""Where a launcher says how many processes it has begun: JAX's own name, Slurm, Open MPI."""


class Crew:
    """The state of this process. One object instead of globals, so that it can be bundled."""

    def __init__(self) -> None:
        self.joined = False
        self.rank = 0
        self.size = 1
        # Who carries words between processes; None in a world of one.
        self.exchange: Any = None
        # What this process does while the others wait for it; empty if nothing.
        self.apart = ""
        # A running sum of all that was put on the devices: every process has to have the same.
        self.seen = 0
        self.failed = False

    def require_all(self, what: str) -> None:
        """Raises if the others wait elsewhere, for this process: they would wait for ever."""
        if self.apart:
            raise RuntimeError(
                f"trainera: {what} needs all processes, and the others wait until this one is done "
                f"with {self.apart}: do that before, or after, and only hand the result over"
            )


CREW = Crew()
"""The crew of this process."""


def processes_begun() -> int:
    """How many processes the launcher has begun."""
    return max(int(os.environ.get(name) or 1) for name in COUNTS)
