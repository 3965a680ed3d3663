"""Processes that need nobody to meet: one for all devices, or a script that runs as it is."""

import time
from collections.abc import Mapping, Sequence

from trainera.launch.processes import Workers

_LOOK_EVERY_S = 0.05


def run_agent(
    workers: Workers, count: int, command: Sequence[str], environment: Mapping[str, str]
) -> bool:
    """Runs the command to the end; whether it came to a good one."""
    places = [{"RANK": str(rank), "WORLD_SIZE": str(count)} for rank in range(count)]
    workers.start(command, [{**environment, **place} for place in places])
    while not workers.poll():
        time.sleep(_LOOK_EVERY_S)
    return len(workers.finished()) == count
