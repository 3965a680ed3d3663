"""trainera's workers as processes of JAX: each is told where all meet, and which one it is."""

import time
from collections.abc import Mapping, Sequence

from trainera.launch import devices
from trainera.launch.multiworker import free_ports
from trainera.launch.processes import Workers

_ADDRESS = "127.0.0.1"
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
    """What each worker has to know, in JAX's own words; a GPU for each if there are as many."""
    meeting = f"{_ADDRESS}:{free_ports(1)[0]}"
    own_gpu = devices.gpus("keras") >= count
    return [
        {
            "JAX_COORDINATOR_ADDRESS": meeting,
            "JAX_COORDINATOR_BIND_ADDRESS": meeting,
            "JAX_NUM_PROCESSES": str(count),
            "JAX_PROCESS_ID": str(rank),
            "RANK": str(rank),
            "WORLD_SIZE": str(count),
            **({"JAX_LOCAL_DEVICE_IDS": str(rank)} if own_gpu else {}),
        }
        for rank in range(count)
    ]
