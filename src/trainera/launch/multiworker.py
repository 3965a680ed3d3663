"""trainera's workers as a cluster of TensorFlow: each is told the addresses of all."""

import json
import socket
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack

from trainera.launch.processes import Workers

ADDRESS = "127.0.0.1"
_LOOK_EVERY_S = 0.05


def run_agent(
    workers: Workers, count: int, command: Sequence[str], environment: Mapping[str, str]
) -> bool:
    """Runs the command in `count` workers to the end; whether all came to a good one."""
    workers.start(command, [{**environment, **place} for place in places(count)])
    while not workers.poll():
        time.sleep(_LOOK_EVERY_S)
    return len(workers.finished()) == count


def places(count: int) -> list[dict[str, str]]:
    """What each worker has to know: its number, and ports of the loopback interface for all."""
    cluster = {"worker": [f"{ADDRESS}:{port}" for port in free_ports(count)]}
    return [
        {
            "TF_CONFIG": json.dumps(
                {"cluster": cluster, "task": {"type": "worker", "index": rank}}
            ),
            "RANK": str(rank),
            "WORLD_SIZE": str(count),
        }
        for rank in range(count)
    ]


def free_ports(count: int) -> list[int]:
    """Ports that nobody uses; all are held until the last is found, so that none comes twice."""
    with ExitStack() as held:
        probes = [held.enter_context(socket.socket()) for _ in range(count)]
        for probe in probes:
            probe.bind((ADDRESS, 0))
        return [int(probe.getsockname()[1]) for probe in probes]
