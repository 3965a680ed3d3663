"""Random numbers: a stream that all workers share, and one of its own for each worker.

The shared stream moves exactly as in the sequential run. It decides the order of samples, the
initial model and splits, and, in the body of a loop over batches, dropout and noise: what is drawn
there for the samples of a slice is drawn for the whole batch (see `drawing`). From the worker's own
stream comes what a dataset draws as it is read; and, by `--random own`, the body of a loop. There
are three sources: torch, Python's random and numpy.random.
"""

import ctypes
import hashlib
import random
import sys
from collections.abc import Sequence
from typing import Any

import torch

from trainera.crew.state import CREW
from trainera.crew.wire import broadcast_object, tensor_bytes

# The C struct of numpy's MT19937: 624 words of 32 bits and a position.
TWISTER_BYTES = 2500


def numpy_random() -> Any:
    """The module numpy.random, if this process uses numpy at all."""
    numpy = sys.modules.get("numpy")
    return getattr(numpy, "random", None)


def torch_generators() -> list[torch.Generator]:
    """torch's default generators: that of the CPU and that of the current GPU."""
    generators = [torch.default_generator]
    if torch.cuda.is_available() and torch.cuda.is_initialized():  # type: ignore[no-untyped-call]
        generators.append(torch.cuda.default_generators[torch.cuda.current_device()])
    return generators


class RandomNumbers:
    """Where all sources of random numbers stand."""

    def __init__(self) -> None:
        self.torch = [generator.get_state() for generator in torch_generators()]
        self.python = random.getstate()
        module = numpy_random()
        self.numpy: Any = module.get_state(legacy=False) if module is not None else None

    def moved(self) -> bool:
        now = RandomNumbers()
        pairs = zip(now.torch, self.torch, strict=True)
        return (
            any(not torch.equal(one, other) for one, other in pairs)
            or now.python != self.python
            or repr(now.numpy) != repr(self.numpy)
        )

    def put_back(self) -> None:
        for generator, state in zip(torch_generators(), self.torch, strict=True):
            generator.set_state(state)
        random.setstate(self.python)
        module = numpy_random()
        if module is not None and self.numpy is not None:
            module.set_state(self.numpy)


class NumpyOwn:
    """The worker's own stream behind numpy.random, put there for the time of a fetch.

    Swapping the bit generator takes 0.4 us, saving and loading its state 80. But the swap drops
    the second of a pair of normal numbers, which RandomState keeps. If there may be one, the state
    is saved in full. There is none if there was none the last time and the twister has not moved.
    """

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self.own: Any = None
        self.shared: Any = None
        self.saved: Any = None
        self.without_normal: tuple[Any, bytes] | None = None

    def enter(self) -> None:
        """Puts the own stream in place."""
        module = numpy_random()
        if module is None:
            return
        if not hasattr(module, "set_bit_generator"):  # numpy before 1.24: the slow way
            self.saved = module.get_state()
            module.seed(self.seed % 2**32)
            self.seed += 1
            return
        if self.own is None:
            self.own = module.MT19937(self.seed)
        self.shared = module.get_bit_generator()
        moved: tuple[Any, bytes] | None = None
        if type(self.shared) is module.MT19937:
            address = self.shared.ctypes.state_address
            moved = (self.shared, ctypes.string_at(address, TWISTER_BYTES))
        if moved is None or moved != self.without_normal:
            state = module.get_state(legacy=False)
            self.saved = state if state.get("has_gauss") else None
            self.without_normal = None if self.saved else moved
        module.set_bit_generator(self.own)

    def leave(self) -> None:
        """Puts the shared stream back, as it was."""
        module = numpy_random()
        if self.shared is not None:
            module.set_bit_generator(self.shared)
            self.shared = None
        if self.saved is not None:
            module.set_state(self.saved)
            self.saved = None


class Streams:
    """Which stream is loaded, and the state of the other."""

    def __init__(self) -> None:
        self.seeded = False
        self.generators: list[torch.Generator] = []
        self.shared: list[torch.Tensor] = []
        self.own: list[torch.Tensor] = []
        self.holds_own = False
        self.bodies = 0
        self.python_seed = 0
        self.python_shared: Any = None
        self.numpy_own = NumpyOwn(0)
        self.fetching = False
        self.lent = False

    def to_own(self) -> None:
        """What torch draws is for this worker's rows from now on."""
        if not CREW.exact:
            self._load_own()
        self.holds_own = True

    def to_shared(self) -> bool:
        """What torch draws is for all workers from now on; true if it was for this one's rows."""
        if not self.holds_own:
            return False
        if not CREW.exact:
            self._load_shared()
        self.holds_own = False
        return True

    def _load_own(self) -> None:
        self.shared = [generator.get_state() for generator in self.generators]
        for generator, state in zip(self.generators, self.own, strict=True):
            generator.set_state(state)

    def _load_shared(self) -> None:
        self.own = [generator.get_state() for generator in self.generators]
        for generator, state in zip(self.generators, self.shared, strict=True):
            generator.set_state(state)

    def back(self, held_own: bool) -> None:
        """Undoes to_shared, unless the last pass ended in between."""
        if held_own and self.bodies and not self.holds_own:
            self.to_own()

    def open_body(self) -> None:
        """The body of a loop begins: what torch draws in it is for this worker's rows."""
        self.bodies += 1
        if not self.holds_own:
            self.to_own()

    def close_body(self) -> None:
        """A loop ends; after the last one, all draw alike again."""
        self.bodies -= 1
        if self.bodies == 0:
            self.to_shared()

    def enter_fetch(self) -> None:
        """The dataset is about to be read in this process: own streams of all three sources."""
        self.fetching = True
        if CREW.exact or not self.holds_own:
            self.lent = True
            self._load_own()
        self.python_shared = random.getstate()
        # A new seed for each fetch is cheaper than to save and load the state of the stream.
        self.python_seed += 1
        random.seed(self.python_seed)
        self.numpy_own.enter()

    def leave_fetch(self) -> None:
        """The sample is read, or reading failed; does nothing when no fetch was entered."""
        if not self.fetching:
            return
        self.fetching = False
        self.numpy_own.leave()
        random.setstate(self.python_shared)
        if self.lent:
            self.lent = False
            self._load_shared()

    def synchronise(self, others: Sequence[torch.Generator] = ()) -> None:
        """The first worker's shared streams, and its generators `others`, on every worker."""
        CREW.require_all("a loop over the batches that the workers share")
        held_own = self.to_shared()
        generators = [*torch_generators(), *others]
        module = numpy_random()
        packet = (
            CREW.order,
            [tensor_bytes(generator.get_state()) for generator in generators],
            random.getstate(),
            module.get_state() if module is not None else None,
        )
        room = 16_384 + 8_192 * len(others)
        order, torch_states, python_state, numpy_state = broadcast_object(packet, room)
        if order != CREW.order:
            raise RuntimeError(
                f"worker {CREW.rank} did not see the same samples as the first worker: a sampler "
                "draws from a random source of its own that has no seed, or the workers made a "
                "different number of steps"
            )
        if CREW.rank > 0:
            for generator, state in zip(generators, torch_states, strict=True):
                generator.set_state(torch.frombuffer(bytearray(state), dtype=torch.uint8))
            random.setstate(python_state)
            if module is not None and numpy_state is not None:
                module.set_state(numpy_state)
        if not self.seeded:
            self.seed_own(torch_states[0])
        self.back(held_own)

    def seed_own(self, shared_state: bytes) -> None:
        """Seeds the own streams, once: they depend on the script's seed and on the worker."""
        self.seeded = True
        self.generators = torch_generators()
        self.own = []
        for generator in self.generators:
            own = torch.Generator(generator.device)
            own.manual_seed(mixed_seed(shared_state, "torch"))
            self.own.append(own.get_state())
        self.python_seed = mixed_seed(shared_state, "python")
        self.numpy_own = NumpyOwn(mixed_seed(shared_state, "numpy"))


def own_random_numbers() -> None:
    """Every worker draws dropout and noise for its own samples, from a stream of its own.

    That is faster where drawing takes long. But numbers, and with them the order of the samples
    from the second epoch on, are no longer those of the sequential run.
    """
    CREW.exact = False


def mixed_seed(source: bytes, purpose: str) -> int:
    """A seed of 63 bits made of a shared state, a purpose and this worker's number."""
    digest = hashlib.sha256(source + f"{purpose} {CREW.rank}".encode()).digest()
    return int.from_bytes(digest[:8], "little") >> 1


STREAMS = Streams()
