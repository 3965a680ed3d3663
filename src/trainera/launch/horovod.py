"""trainera's workers on Horovod: the part that needs Horovod's launcher.

Horovod's own pieces give out the ranks and let the workers find each other; the processes are
`Workers`, so that output, failures and signals are handled as for every engine. What horovodrun
does differently is why it is not simply called: it puts a rank before every line, listens on every
interface, and mixes the tracebacks of all workers.
"""

import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

from trainera.launch.processes import Workers
from trainera.launch.system import loopback_interface

_ADDRESS = "127.0.0.1"
_LOOK_EVERY_S = 0.05


def run_agent(
    workers: Workers, count: int, command: Sequence[str], environment: Mapping[str, str]
) -> bool:
    """Runs the command in `count` workers to the end; whether all came to a good one."""
    with meeting(count) as places:
        workers.start(command, [{**environment, **place} for place in places])
        while not workers.poll():
            time.sleep(_LOOK_EVERY_S)
    return len(workers.finished()) == count


@contextmanager
def meeting(count: int) -> Iterator[list[dict[str, str]]]:
    """What each worker has to know, and a place on the loopback interface where all meet."""
    from horovod.runner.common.util.hosts import get_host_assignments, parse_hosts
    from horovod.runner.gloo_run import create_run_env_vars, create_slot_env_vars
    from horovod.runner.http.http_server import RendezvousHandler, RendezvousHTTPServer

    slots = get_host_assignments(parse_hosts(f"localhost:{count}"), count)
    # The server of Horovod's launcher, but for the interface: that would be every one.
    server = RendezvousHTTPServer((_ADDRESS, 0), RendezvousHandler, 0)
    server.init(slots)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    interface = loopback_interface() or "lo"
    common = create_run_env_vars(_ADDRESS, [interface], server.server_address[1])
    try:
        yield [
            {
                **{name: str(value) for name, value in common.items()},
                **create_slot_env_vars(slot),
                # In torchrun's words, too: what a script logs by rank goes on working.
                "RANK": str(slot.rank),
            }
            for slot in slots
        ]
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
