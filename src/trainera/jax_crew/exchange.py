"""What processes tell each other, through the store of JAX's coordination service.

No device takes part: a word can be passed on whatever the devices are still computing.
"""

import pickle
from typing import Any

from jax._src import distributed

FOR_EVER_MS = 2**31 - 1
"""A process that is gone is noticed by JAX, which then ends the others."""


class Exchange:
    """Values by number: all processes ask in the same order."""

    def __init__(self, rank: int, size: int) -> None:
        self.rank, self.size = rank, size
        self.turn = 0

    def told_by_first(self, value: Any) -> Any:
        """The first process' value, on every process."""
        return self.told(value, (0,))[0]

    def of_all(self, value: Any) -> "list[Any]":
        """The values of all processes, in their order; so none goes on before all have come."""
        return self.told(value, range(self.size))

    def told(self, value: Any, speakers: Any) -> "list[Any]":
        """What the speakers say this time."""
        self.turn += 1
        store, place = distributed.global_state.client, f"trainera/{self.turn}"
        if self.rank in speakers:
            store.key_value_set_bytes(f"{place}/{self.rank}", pickle.dumps(value))
        return [
            value
            if one == self.rank
            else pickle.loads(store.blocking_key_value_get_bytes(f"{place}/{one}", FOR_EVER_MS))
            for one in speakers
        ]
