"""Hooks for Keras, of either line and on any backend: epochs, steps, evaluations.

A step is a compiled function that the trainer gets from `make_train_function`, and epochs are told
by its list of callbacks: both are public, and the same in Keras 2 and 3. On JAX batches come from
Python, so they are counted, and the time they take is told from the time of the step, as is the
time for which JAX compiles. On TensorFlow they come from within the compiled step: there samples
are counted by what `fit` is given, and a step is all that it takes.
"""

import functools
import sys
import time

TYPE_CHECKING = False  # `typing` would be imported into every measured process for nothing
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from trainera.bench.hooks.meter import Meter, Pass

    Method = Callable[..., Any]

_clock = time.perf_counter
_TRACED = "/jax/core/compile/jaxpr_trace_duration"
_COMPILED = (
    "/jax/core/compile/jaxpr_to_mlir_module_duration",
    "/jax/core/compile/backend_compile_duration",
)
_BATCH_SIZE = 32
"""What Keras takes unless it is told."""


def hook(keras: "Any", meter: "Meter", after_import: "Callable[..., None]") -> None:
    """Puts the hooks in, once Keras has been imported."""
    hooks = _OnJax(meter) if keras.backend.backend() == "jax" else _Hooks(meter)
    meter.whole = True
    network, callbacks = keras.Model, keras.callbacks.CallbackList
    network.fit = hooks.fitting(network.fit)
    for name in ("evaluate", "predict"):
        setattr(network, name, hooks.evaluating(getattr(network, name)))
    network.make_train_function = hooks.making(network.make_train_function)
    callbacks.on_epoch_begin = hooks.beginning(callbacks.on_epoch_begin)
    callbacks.on_epoch_end = hooks.ending(callbacks.on_epoch_end)


class _Hooks:
    """What is known of the training that is under way."""

    def __init__(self, meter: "Meter") -> None:
        self.meter = meter
        self.epoch: Pass | None = None
        """None where steps are asked for one by one, by `train_on_batch`."""
        self.given = 0
        """Samples of an epoch, as far as what `fit` is given tells."""

    def fitting(self, fit: "Method") -> "Method":
        @functools.wraps(fit)
        def hooked(network: "Any", *arguments: "Any", **options: "Any") -> "Any":
            self.given = _samples(*arguments, **options)
            return self._quietly(fit, network, *arguments, **options)

        return hooked

    def evaluating(self, evaluate: "Method") -> "Method":
        """A pass of its own, also within `fit`."""

        @functools.wraps(evaluate)
        def hooked(network: "Any", *arguments: "Any", **options: "Any") -> "Any":
            self.finish()
            data = options.get("x", arguments[0] if arguments else None)
            own = self.meter.began(data, _clock())
            try:
                return self._quietly(evaluate, network, *arguments, **options)
            finally:
                own.end_s = _clock()
                own.over = True

        return hooked

    def _quietly(self, method: "Method", *arguments: "Any", **options: "Any") -> "Any":
        """Loaders of another framework, from which batches may come, are not measured meanwhile."""
        before, self.meter.suspended = self.meter.suspended, True
        try:
            return method(*arguments, **options)
        finally:
            self.meter.suspended = before

    def beginning(self, on_epoch_begin: "Method") -> "Method":
        @functools.wraps(on_epoch_begin)
        def hooked(callbacks: "Any", *arguments: "Any", **options: "Any") -> None:
            self.epoch = self.meter.began(None, _clock())
            on_epoch_begin(callbacks, *arguments, **options)

        return hooked

    def ending(self, on_epoch_end: "Method") -> "Method":
        @functools.wraps(on_epoch_end)
        def hooked(callbacks: "Any", epoch: "Any", logs: "Any" = None) -> None:
            if self.epoch is not None:
                self.finish()
                self.epoch.samples = self.epoch.samples or self.given
                self.epoch.figures = {name: float(value) for name, value in (logs or {}).items()}
                self.epoch = None
            on_epoch_end(callbacks, epoch, logs)

        return hooked

    def making(self, make: "Method") -> "Method":
        """Every function that takes steps is made by one method, and kept."""

        @functools.wraps(make)
        def hooked(network: "Any", *arguments: "Any", **options: "Any") -> "Any":
            before = network.train_function
            made = make(network, *arguments, **options)
            function = made or network.train_function
            if function is not before:
                network.train_function = self.stepping(function)
            return made and network.train_function

        return hooked

    def stepping(self, function: "Method") -> "Method":
        def hooked(*arguments: "Any") -> "Any":
            current = self.training()
            start_s = _clock()
            made = function(*arguments)
            current.steps += 1
            current.end_s = _clock()
            current.add("step", current.end_s - start_s)
            self.meter.events += 1
            return made

        return hooked

    def training(self) -> "Pass":
        """The pass that a step belongs to."""
        current = self.epoch or self.meter.current
        if current is None or current.over:
            current = self.meter.began(None, _clock())
        self.meter.current = current
        return current

    def finish(self) -> None:
        """The steps so far are done."""


class _OnJax(_Hooks):
    """What can be told besides where batches come from Python, and compiling is announced."""

    def __init__(self, meter: "Meter") -> None:
        super().__init__(meter)
        from jax import block_until_ready, monitoring

        self.wait = block_until_ready
        self.last: Any = None
        """What the last step gave; it may still be computed."""
        self.traced_s: list[float] = []
        self.compiled_s = 0.0
        monitoring.register_event_duration_secs_listener(self._announced)
        meter.gpu_memory.append(_gpu_memory)

    def _announced(self, event: str, seconds: float, **_: "Any") -> None:
        if event == _TRACED:
            self.traced_s.append(seconds)
        elif event in _COMPILED:
            self.compiled_s += seconds

    def stepping(self, function: "Method") -> "Method":
        def hooked(state: "Any", batches: "Iterator[Any]") -> "Any":
            current = self.training()
            counted = _Counted(batches, current, self.meter.rows)
            self.traced_s, self.compiled_s = [], 0.0
            start_s = _clock()
            try:
                made = function(state, counted)
                self.last = made[0]
                if self.meter.timed:
                    self.wait(self.last)
            finally:
                current.end_s = _clock()
                length_s = current.end_s - start_s
                # Within a function that is traced there are others: the longest holds them all.
                compiling_s = min(self.compiled_s + max(self.traced_s, default=0.0), length_s)
                current.add("data", counted.data_s)
                current.add("compile", compiling_s)
                current.add("step", max(0.0, length_s - counted.data_s - compiling_s))
                self.meter.events += 1
            return made

        return hooked

    def finish(self) -> None:
        current, last = self.meter.current, self.last
        if current is not None and last is not None:
            self.wait(last)
            current.end_s = _clock()
        self.last = None


class _Counted:
    """Batches on their way into a step."""

    def __init__(
        self, batches: "Iterator[Any]", current: "Pass", rows: "Callable[[Any], int]"
    ) -> None:
        self._batches = batches
        self._pass = current
        self._rows = rows
        self.data_s = 0.0

    def __iter__(self) -> "_Counted":
        return self

    def __next__(self) -> "Any":
        start_s = _clock()
        try:
            batch = next(self._batches)
        finally:
            self.data_s += _clock() - start_s
        self._pass.steps += 1
        self._pass.samples += self._rows(batch)
        return batch


def _samples(
    x: "Any" = None,
    y: "Any" = None,
    batch_size: "int | None" = None,
    *_: "Any",
    validation_split: float = 0.0,
    steps_per_epoch: "int | None" = None,
    **options: "Any",
) -> int:
    """Samples of an epoch over arrays; 0 where they cannot be told before they come."""
    while isinstance(x, dict | list | tuple) and x:
        x = next(iter(x.values())) if isinstance(x, dict) else x[0]
    shape = getattr(x, "shape", None)
    if not shape:
        return 0
    rows = int(shape[0] * (1.0 - validation_split))
    return min(rows, steps_per_epoch * (batch_size or _BATCH_SIZE)) if steps_per_epoch else rows


def _gpu_memory() -> "dict[int, int]":
    """The most that each GPU held."""
    devices = [one for one in sys.modules["jax"].local_devices() if one.platform == "gpu"]
    return {one.local_hardware_id: one.memory_stats()["peak_bytes_in_use"] for one in devices}
