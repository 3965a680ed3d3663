"""trainera's workers under torchrun's own agent: the part that needs torch.

The elastic agent does the rendezvous, gives out the ranks and drives the run; the four methods that
it asks a subclass for are the seam to `Workers`. What torchrun's stock subclass does differently is
why there is another: it ends the other workers the moment one fails, waits for 30 seconds for one
that does not listen, forgets what they had started, and writes its own log on standard error.
"""

import logging
import socket
import uuid
from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any

from torch.distributed import PrefixStore, TCPStore  # type: ignore[attr-defined]
from torch.distributed.elastic.agent.server.api import (
    RunResult,
    SimpleElasticAgent,
    WorkerGroup,
    WorkerSpec,
    WorkerState,
)
from torch.distributed.elastic.rendezvous import (
    RendezvousHandler,
    RendezvousInfo,
    RendezvousStoreInfo,
)

from trainera.launch.processes import Workers

_LOOK_EVERY_S = 0.05
_ADDRESS = "127.0.0.1"
_STORE_TIMEOUT = timedelta(minutes=15)


def run_agent(
    workers: Workers, count: int, command: Sequence[str], environment: Mapping[str, str]
) -> bool:
    """Runs the command in `count` workers to the end; whether all came to a good one."""
    _hush()
    rendezvous = Loopback()
    specification = WorkerSpec(
        role="default",
        local_world_size=count,
        rdzv_handler=rendezvous,
        entrypoint=command[0],
        max_restarts=0,
        monitor_interval=_LOOK_EVERY_S,
    )
    try:
        result = LocalAgent(specification, workers, command, environment).run()
        return not result.is_failed()
    finally:
        rendezvous.shutdown()


class Loopback(RendezvousHandler):
    """One machine meets itself: a store on a port of the loopback interface and nowhere else.

    The system chooses the port and the socket stays bound from then on, so nobody can take it in
    between. torchrun's own store would listen on every interface, to whoever asks.
    """

    def __init__(self) -> None:
        self._run_id = uuid.uuid4().hex
        self._store: TCPStore | None = None

    def get_backend(self) -> str:
        return "loopback"

    @property
    def use_agent_store(self) -> bool:
        return True

    def next_rendezvous(self) -> RendezvousInfo:
        listener = socket.create_server((_ADDRESS, 0), backlog=1024)
        port = listener.getsockname()[1]
        self._store = TCPStore(
            _ADDRESS,
            port,
            is_master=True,
            timeout=_STORE_TIMEOUT,
            wait_for_workers=False,
            master_listen_fd=listener.detach(),
        )
        return RendezvousInfo(
            PrefixStore(self._run_id, self._store), 0, 1, RendezvousStoreInfo(_ADDRESS, port)
        )

    def is_closed(self) -> bool:
        return False

    def set_closed(self) -> None:
        pass

    def num_nodes_waiting(self) -> int:
        return 0

    def get_run_id(self) -> str:
        return self._run_id

    def shutdown(self) -> bool:
        self._store = None
        return True


class LocalAgent(SimpleElasticAgent):
    """Starts and watches the workers of this machine."""

    def __init__(
        self,
        specification: WorkerSpec,
        workers: Workers,
        command: Sequence[str],
        environment: Mapping[str, str],
    ) -> None:
        super().__init__(specification)
        self._workers = workers
        self._command = command
        self._environment = environment

    def _start_workers(self, worker_group: WorkerGroup) -> dict[int, Any]:
        handler = worker_group.spec.rdzv_handler
        common = {
            **self._environment,
            "MASTER_ADDR": str(worker_group.master_addr),
            "MASTER_PORT": str(worker_group.master_port),
            "LOCAL_WORLD_SIZE": str(worker_group.spec.local_world_size),
            "GROUP_RANK": str(worker_group.group_rank),
            "GROUP_WORLD_SIZE": str(worker_group.group_world_size),
            "TORCHELASTIC_RUN_ID": handler.get_run_id(),
            "TORCHELASTIC_RESTART_COUNT": "0",
            "TORCHELASTIC_MAX_RESTARTS": "0",
            "TORCHELASTIC_USE_AGENT_STORE": str(handler.use_agent_store),
        }
        environments = [
            {
                **common,
                "RANK": str(worker.global_rank),
                "LOCAL_RANK": str(worker.local_rank),
                "WORLD_SIZE": str(worker.world_size),
                "ROLE_RANK": str(worker.role_rank),
                "ROLE_WORLD_SIZE": str(worker.role_world_size),
                "ROLE_NAME": worker_group.spec.role,
            }
            for worker in worker_group.workers
        ]
        self._workers.start(self._command, environments)
        return dict(self._workers.pids)

    def _monitor_workers(self, worker_group: WorkerGroup) -> RunResult:
        if not self._workers.poll():
            return RunResult(state=WorkerState.HEALTHY)
        good = len(self._workers.finished()) == len(worker_group.workers)
        if not good:
            return RunResult(state=WorkerState.FAILED)
        return RunResult(
            state=WorkerState.SUCCEEDED,
            return_values={worker.global_rank: None for worker in worker_group.workers},
        )

    # What is left is ended by the launcher, which has yet to ask for the failures.
    def _stop_workers(self, worker_group: WorkerGroup, *_: Any, **__: Any) -> None:
        pass

    def _shutdown(self, *_: Any, **__: Any) -> None:
        pass


def _hush() -> None:
    """The agent's log is of no use to who did not ask for an agent, whatever LOGLEVEL says."""
    for name in list(logging.root.manager.loggerDict):
        if name.startswith("torch.distributed.elastic"):
            logging.getLogger(name).setLevel(logging.CRITICAL)
