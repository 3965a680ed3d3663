"""Objects over the wire: the few control messages that workers exchange.

They go as bytes in CPU tensors. torch's own object collectives are not used, because they need
two collectives for each message and pick their device by themselves.
"""

import ctypes
import pickle
from typing import Any

import torch

from trainera.crew.state import CREW
from trainera.crew.transport import TRANSPORT

HEADER_BYTES = 8


def frame_bytes(payload: bytes, room: int) -> torch.Tensor:
    """A tensor of fixed size: the length of the payload and as much of it as there is room."""
    message = len(payload).to_bytes(HEADER_BYTES, "little") + payload
    tensor = torch.zeros(HEADER_BYTES + room, dtype=torch.uint8)
    head = message[: tensor.numel()]
    tensor[: len(head)] = torch.frombuffer(bytearray(head), dtype=torch.uint8)
    return tensor


def tensor_bytes(tensor: torch.Tensor) -> bytes:
    """The bytes of a CPU tensor of uint8."""
    return ctypes.string_at(tensor.data_ptr(), tensor.numel())


def broadcast_object(value: Any, room: int = 1024) -> Any:
    """The first worker's value on every worker: one broadcast if it fits, else two."""
    payload = b""
    failure: Exception | None = None
    if CREW.rank == 0:
        try:
            payload = pickle.dumps((True, value), protocol=pickle.HIGHEST_PROTOCOL)
        except Exception as error:  # the others wait for an answer: tell them
            failure = error
            payload = pickle.dumps((False, f"{type(error).__name__}: {error}"))
    tensor = frame_bytes(payload, room)
    TRANSPORT.broadcast(tensor)
    message = tensor_bytes(tensor)
    length = int.from_bytes(message[:HEADER_BYTES], "little")
    if length > room:
        rest = frame_bytes(payload[room:], length - room)
        TRANSPORT.broadcast(rest)
        message += tensor_bytes(rest)[HEADER_BYTES:]
    if failure is not None:
        raise failure
    if CREW.rank == 0:
        return value
    good, received = pickle.loads(message[HEADER_BYTES : HEADER_BYTES + length])
    if not good:
        raise RuntimeError(f"the first worker could not send its value: {received}")
    return received


def gather_objects(value: Any, room: int = 4096) -> list[Any]:
    """The values of all workers, in their order: one collective if all are small, else two."""
    payload = pickle.dumps(value, protocol=pickle.HIGHEST_PROTOCOL)
    messages = gather_tensors(frame_bytes(payload, room))
    lengths = [int.from_bytes(message[:HEADER_BYTES], "little") for message in messages]
    if max(lengths) > room:
        rests = gather_tensors(frame_bytes(payload[room:], max(lengths) - room))
        messages = [
            message + rest[HEADER_BYTES:] for message, rest in zip(messages, rests, strict=True)
        ]
    return [
        pickle.loads(message[HEADER_BYTES : HEADER_BYTES + length])
        for message, length in zip(messages, lengths, strict=True)
    ]


def gather_tensors(tensor: torch.Tensor) -> list[bytes]:
    """The bytes of the same-sized tensors of all workers."""
    return [tensor_bytes(each) for each in TRANSPORT.gather(tensor)]
