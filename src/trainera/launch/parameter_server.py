"""A coordinator, which runs the script, and TensorFlow's servers: its workers, and the weights."""

import json
import time
from collections.abc import Mapping, Sequence

from trainera.launch.multiworker import ADDRESS, free_ports
from trainera.launch.processes import Workers

_LOOK_EVERY_S = 0.05


def run_agent(
    workers: Workers, count: int, command: Sequence[str], environment: Mapping[str, str]
) -> bool:
    """Runs the command until the coordinator has come to its end; whether that was a good one.

    The servers end when they are told to.
    """
    workers.start(command, [{**environment, **place} for place in places(count)])
    while not workers.poll():
        if 0 in workers.finished():
            workers.dismiss()
            break
        time.sleep(_LOOK_EVERY_S)
    return 0 in workers.finished()


def places(count: int) -> list[dict[str, str]]:
    """What each process has to know: the coordinator, then the workers, then one with the weights.

    The coordinator listens to nobody.
    """
    *workers, weights = (f"{ADDRESS}:{port}" for port in free_ports(count + 1))
    cluster = {"worker": workers, "ps": [weights]}
    tasks = [("chief", 0), *(("worker", number) for number in range(count)), ("ps", 0)]
    return [
        {
            "TF_CONFIG": json.dumps({"cluster": cluster, "task": {"type": kind, "index": number}}),
            "RANK": str(rank),
            "WORLD_SIZE": str(len(tasks)),
        }
        for rank, (kind, number) in enumerate(tasks)
    ]
