"""What is learned from: samples, losses, gradients, learning rates and what a step makes of them.

A step is compiled, so what happens within it is told by callbacks of JAX, when it runs. These come
in no certain order: they are collected, and written down when the step is over.
"""

import os
import sys
from collections.abc import Callable
from typing import Any

import jax
import keras
import numpy
from jax import numpy as jnp
from jax.sharding import NamedSharding, PartitionSpec
from keras.src.backend.jax import trainer
from keras.src.callbacks.callback_list import CallbackList
from keras.src.optimizers.base_optimizer import BaseOptimizer
from keras.src.utils import progbar

from trainera.verify.observe.keras.digest import row_digests
from trainera.verify.observe.keras.networks import Networks
from trainera.verify.observe.record import Recorder, put


class Steps:
    """Notes every batch, every loss and every step of an optimizer."""

    def __init__(self, recorder: Recorder, networks: Networks) -> None:
        self.recorder = recorder
        self.networks = networks
        self._losses: list[float] = []
        self._steps: list[dict[str, Any]] = []

    def install(self) -> None:
        """Puts the hooks in."""
        self._watch_batches()
        self._watch_losses()
        self._watch_optimizers()
        self._watch_epochs()
        put(progbar, "time", _Clock())

    def _watch_batches(self) -> None:
        for kind in ("train", "test", "predict"):
            self._watch_function(kind)

    def _watch_function(self, kind: str) -> None:
        """Every compiled function of the trainer is made by one method, and given its batches."""
        name, attribute = f"make_{kind}_function", f"{kind}_function"
        original = getattr(trainer.JAXTrainer, name)

        def make(network: Any, *args: Any, **options: Any) -> Any:
            before = getattr(network, attribute)
            made = original(network, *args, **options)
            function = getattr(network, attribute)
            if function is not before:
                setattr(network, attribute, self._observed(kind, network, function))
            return made

        put(trainer.JAXTrainer, name, make)

    def _observed(self, kind: str, network: Any, function: Any) -> Any:
        def observed(state: Any, iterator: Any) -> Any:
            if kind != "train":
                return function(state, iterator)
            self._stop_if_enough()
            self.networks.note(network)
            return function(state, self._batches(iterator))

        return observed

    def _batches(self, iterator: Any) -> Any:
        """The batches of a step; several where it is told to make several at once."""
        for batch in iterator:
            self.flush()
            leaves = [numpy.asarray(leaf) for leaf in jax.tree.leaves(batch)]
            shared = {"all": True} if _has_all_of_each() else {}
            self.recorder.write("batch", l=0, d=row_digests(leaves), **shared)
            yield batch

    def _watch_losses(self) -> None:
        original = trainer.JAXTrainer.stateless_compute_loss

        def compute(network: Any, *args: Any, **options: Any) -> Any:
            loss, variables = original(network, *args, **options)
            if options.get("training"):
                _tell(self._lost, loss)
            return loss, variables

        put(trainer.JAXTrainer, "stateless_compute_loss", compute)

    def _lost(self, loss: Any) -> None:
        self._losses.append(float(loss))

    def _watch_optimizers(self) -> None:
        original = BaseOptimizer.stateless_apply

        def apply(optimizer: Any, state: Any, gradients: Any, weights: Any) -> Any:
            new, new_state = original(optimizer, state, gradients, weights)
            given = [one for one in gradients if one is not None]
            figures = jnp.stack([*_figures(given), *_figures(weights), *_figures(new)])
            number, count = self.networks.number_of(optimizer), len(given)
            with keras.StatelessScope(
                state_mapping=list(zip(optimizer.variables, state, strict=True))
            ):
                rate = jnp.asarray(optimizer.learning_rate, dtype=figures.dtype)

            def note(figures: Any, rate: Any) -> None:
                self._stepped(number, count, figures, float(rate))

            _tell(note, figures, rate)
            return new, new_state

        put(BaseOptimizer, "stateless_apply", apply)

    def _stepped(self, number: int, count: int, figures: Any, rate: float) -> None:
        values = [float(value) for value in figures]
        self._steps.append(
            {
                "o": number,
                "n": count,
                "g": values[:2],
                "before": values[2:4],
                "w": values[4:],
                "lr": [rate],
            }
        )

    def flush(self) -> None:
        """Writes down what the steps so far have told."""
        jax.effects_barrier()
        losses, self._losses = self._losses, []
        steps, self._steps = self._steps, []
        for loss in losses:
            self.recorder.write("back", v=loss)
        sys.stdout.flush()
        for step in steps:
            self.recorder.step += 1
            self.recorder.write("step", out=os.lseek(1, 0, os.SEEK_CUR), **step)

    def _watch_epochs(self) -> None:
        original_begin, original_end = CallbackList.on_epoch_begin, CallbackList.on_epoch_end

        def begin(callbacks: Any, epoch: Any, logs: Any = None) -> None:
            limit = self.recorder.settings.epochs
            if limit is not None and self.recorder.epochs >= limit:
                self._end()
            original_begin(callbacks, epoch, logs)

        def end(callbacks: Any, epoch: Any, logs: Any = None) -> None:
            self.flush()
            self.recorder.write("end", l=0)
            self.recorder.epochs += 1
            self.networks.end_of_epoch(logs)
            original_end(callbacks, epoch, logs)

        put(CallbackList, "on_epoch_begin", begin)
        put(CallbackList, "on_epoch_end", end)

    def _stop_if_enough(self) -> None:
        self.flush()
        limit = self.recorder.settings.steps
        if limit is not None and self.recorder.step >= limit:
            self._end()

    def _end(self) -> None:
        self.recorder.write("enough")
        raise SystemExit(0)


def _figures(arrays: Any) -> tuple[Any, Any]:
    """Norm and sum of all entries together."""
    wide = [jnp.asarray(one, dtype=float) for one in arrays if jnp.size(one)]
    squares = sum((jnp.sum(one * one) for one in wide), start=jnp.zeros((), dtype=float))
    return jnp.sqrt(squares), sum((jnp.sum(one) for one in wide), start=jnp.zeros((), dtype=float))


def _tell(function: Callable[..., None], *values: Any) -> None:
    """Calls a function with what is computed; on every process, if there are several."""
    distribution = keras.distribution.distribution()
    several = jax.process_count() > 1 and distribution is not None
    if several:
        everywhere = NamedSharding(distribution.device_mesh.backend_mesh, PartitionSpec())
        values = tuple(jax.lax.with_sharding_constraint(one, everywhere) for one in values)
    jax.debug.callback(function, *values, partitioned=several)


def _has_all_of_each() -> bool:
    """Whether processes have whole batches, and share out the work on them."""
    return jax.process_count() > 1 and "trainera.jax_crew" in sys.modules


class _Clock:
    """For the progress bar: how long it takes is another matter in each run."""

    def time(self) -> float:
        return 0.0
