"""Joining: the script is put under a strategy, from here to its end."""

import json
import os
import signal
import socket
import sys
import time
from collections.abc import Sequence
from typing import Any

import tensorflow as tf

from trainera.mirror_crew.joining import chosen_devices
from trainera.other_crew.feeding import connect_data
from trainera.other_crew.looking import connect_evaluation
from trainera.tf_crew.joining import require_keras_2, share_cores

PATIENCE_S = 120.0
"""How long the servers may take to import TensorFlow and to listen."""


def join_central_storage(strategy: Any) -> None:
    """Weights on the CPU, and a replica of the step on each device, with its part of a batch."""
    require_keras_2()
    devices = chosen_devices()
    tf.distribute.experimental_set_strategy(strategy(devices, "/CPU:0"))


def join_parameter_servers(strategy: Any) -> None:
    """Goes on with the script as the coordinator of a cluster; in its servers never returns."""
    require_keras_2()
    told = json.loads(os.environ.get("TF_CONFIG") or "{}")
    if "ps" not in told.get("cluster", {}):
        raise SystemExit(
            "trainera: TF_CONFIG tells of no cluster with parameter servers: "
            "trainera bench --strategies parameter-server:2 makes one"
        )
    cluster, kind, number = told["cluster"], told["task"]["type"], told["task"]["index"]
    share_cores(len(cluster["worker"]))
    show_gpu(number if kind == "worker" else None)
    if kind in cluster:
        serve(cluster, kind, number)
    wait_for([address for group in cluster.values() for address in group])
    resolver = tf.distribute.cluster_resolver.SimpleClusterResolver(
        tf.train.ClusterSpec(cluster), rpc_layer="grpc"
    )
    tf.distribute.experimental_set_strategy(strategy(resolver))
    connect_data()
    connect_evaluation()


def show_gpu(number: "int | None") -> None:
    """One GPU for each worker; none for those that compute nothing."""
    devices = tf.config.list_physical_devices("GPU")
    mine = [] if number is None or not devices else [devices[number % len(devices)]]
    for one in mine:
        tf.config.experimental.set_memory_growth(one, True)
    tf.config.set_visible_devices(mine, "GPU")


def serve(cluster: "dict[str, list[str]]", kind: str, number: int) -> None:
    """Does what the coordinator says, until this process is told to end."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    server = tf.distribute.Server(
        tf.train.ClusterSpec(cluster), job_name=kind, task_index=number, protocol="grpc"
    )
    while server:
        signal.pause()


def wait_for(addresses: Sequence[str]) -> None:
    """Until all of them listen; TensorFlow itself would wait without an end."""
    late_s = time.monotonic() + PATIENCE_S
    for address in addresses:
        host, _, port = address.rpartition(":")
        while True:
            try:
                socket.create_connection((host, int(port)), timeout=1.0).close()
                break
            except OSError:
                if time.monotonic() > late_s:
                    raise SystemExit(
                        f"trainera: nobody listens at {address}, {PATIENCE_S:g} s after the start"
                    ) from None
                time.sleep(0.05)
