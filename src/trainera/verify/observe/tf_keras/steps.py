"""What is learned from: samples, losses, gradients, learning rates and what a step makes of them.

Most of it happens in compiled functions, which tell it by operations of their own (`telling.py`).
"""

import functools
import os
import sys
from typing import Any

import keras
import tensorflow as tf
from keras.src.callbacks import CallbackList
from keras.src.engine import training
from keras.src.optimizers import optimizer as optimizers
from keras.src.optimizers.legacy import optimizer_v2
from keras.src.utils import generic_utils
from tensorflow.python.autograph.impl.api import autograph_artifact
from tensorflow.python.data.ops import iterator_ops
from tensorflow.python.eager.polymorphic_function import polymorphic_function

from trainera.verify.observe.keras.digest import row_digests
from trainera.verify.observe.keras.networks import Networks
from trainera.verify.observe.record import Recorder, Seen, put
from trainera.verify.observe.tf_keras.telling import figures, hook, tell

TRAINER = 0
"""The number of Keras's own trainer among those that give batches."""
TRAINS = ("fit", "evaluate", "predict", "train_on_batch", "test_on_batch", "predict_on_batch")


class Steps:
    """Notes every batch, every loss and every step of an optimizer."""

    def __init__(self, recorder: Recorder, networks: Networks) -> None:
        self.recorder = recorder
        self.networks = networks
        self._in_step = False
        self._in_trainer = 0
        self._pipelines = Seen()
        self._pipeline_count = 0

    def install(self) -> None:
        """Puts the hooks in."""
        self._watch_trainer()
        self._watch_tapes()
        self._watch_optimizers()
        self._watch_pipelines()
        self._watch_epochs()
        self._watch_calls()
        put(generic_utils, "time", _Clock())

    def _watch_trainer(self) -> None:
        """Every way in which Keras trains calls `train_step`, a script's own or Keras's."""

        def make(plain: Any) -> Any:
            def make_train_function(network: Any, *args: Any, **options: Any) -> Any:
                self._watch_step_of(type(network))
                return plain(network, *args, **options)

            return make_train_function

        def compile_plainly(plain: Any) -> Any:
            def compile(network: Any, *args: Any, **options: Any) -> Any:
                options.pop("jit_compile", None)  # XLA computes the same, and tells nothing
                return plain(network, *args, **options)

            return compile

        def within(plain: Any) -> Any:
            def train(network: Any, *args: Any, **options: Any) -> Any:
                self._in_trainer += 1
                try:
                    return plain(network, *args, **options)
                finally:
                    self._in_trainer -= 1

            return train

        hook(training.Model, "make_train_function", make)
        hook(training.Model, "compile", compile_plainly)
        for name in TRAINS:
            hook(training.Model, name, within)

    def _watch_step_of(self, kind: type) -> None:
        owner = next(one for one in kind.__mro__ if "train_step" in vars(one))
        plain = vars(owner)["train_step"]
        if getattr(plain, "observed", False):
            return

        @functools.wraps(plain)
        def train_step(network: Any, *args: Any, **options: Any) -> Any:
            convert = tf.__internal__.autograph
            step = convert.tf_convert(plain, convert.control_status_ctx())
            if self._in_step:  # a script's own calls that of Keras
                return step(network, *args, **options)
            self._in_step = True
            try:
                self.networks.note(network)
                self._tell_batch(TRAINER, (args, options))
                return step(network, *args, **options)
            finally:
                self._in_step = False

        train_step.observed = True  # type: ignore[attr-defined]
        put(owner, "train_step", autograph_artifact(train_step))

    def _tell_batch(self, loader: int, batch: Any) -> None:
        leaves = tf.nest.flatten(batch, expand_composites=True)
        tell(
            lambda *arrays: self._note_batch(loader, arrays),
            [leaf for leaf in leaves if tf.is_tensor(leaf)],
        )

    def _note_batch(self, loader: int, arrays: Any) -> None:
        shared = {"all": True} if _is_converted() else {}
        self.recorder.write("batch", l=loader, d=row_digests(arrays), **shared)

    def _watch_tapes(self) -> None:
        """A loss is what the gradient of a network's weights is taken of."""

        def make(plain: Any) -> Any:
            def gradient(tape: Any, target: Any, sources: Any, *args: Any, **options: Any) -> Any:
                weights = [one for one in tf.nest.flatten(sources) if isinstance(one, tf.Variable)]
                if weights:
                    self._stop_if_enough()
                    self.networks.note_owners(weights)
                    parts = [tf.reduce_sum(one) for one in tf.nest.flatten(target)]
                    tell(self._lost, [tf.cast(one, tf.float64) for one in parts])
                return plain(tape, target, sources, *args, **options)

            return gradient

        def remember(plain: Any) -> Any:
            def begin(network: Any, *args: Any, **options: Any) -> None:
                self.networks.made(network)
                plain(network, *args, **options)

            return begin

        hook(tf.GradientTape, "gradient", make)
        hook(training.Model, "__init__", remember)

    def _lost(self, *parts: Any) -> None:
        self.recorder.write("back", v=float(sum(parts)))

    def _watch_optimizers(self) -> None:
        """The last that has the gradients of all workers before the weights are changed."""

        def new(plain: Any) -> Any:
            def apply_gradients(optimizer: Any, pairs: Any, *args: Any, **options: Any) -> Any:
                pairs = list(pairs)
                return self._stepping(
                    optimizer, pairs, lambda: plain(optimizer, pairs, *args, **options)
                )

            return apply_gradients

        def old(plain: Any) -> Any:
            def _distributed_apply(
                optimizer: Any, strategy: Any, pairs: Any, *args: Any, **options: Any
            ) -> Any:
                pairs = list(pairs)
                return self._stepping(
                    optimizer, pairs, lambda: plain(optimizer, strategy, pairs, *args, **options)
                )

            return _distributed_apply

        hook(optimizers._BaseOptimizer, "apply_gradients", new)
        hook(optimizer_v2.OptimizerV2, "_distributed_apply", old)

    def _stepping(self, optimizer: Any, pairs: list[Any], step: Any) -> Any:
        given = [(gradient, weight) for gradient, weight in pairs if gradient is not None]
        if not given:
            return step()
        weights = [weight for _, weight in given]
        old_rate = optimizer._decayed_lr(tf.float64) if hasattr(optimizer, "_decayed_lr") else None
        before = (*figures([gradient for gradient, _ in given]), *figures(weights))
        result = step()
        rate = optimizer.learning_rate if old_rate is None else old_rate
        number = self.networks.number_of(optimizer)
        tell(
            lambda *values: self._stepped(number, len(given), [float(one) for one in values]),
            [*before, *figures(weights), tf.cast(rate, tf.float64)],
        )
        return result

    def _stepped(self, number: int, count: int, values: list[float]) -> None:
        sys.stdout.flush()
        self.recorder.step += 1
        self.recorder.write(
            "step",
            out=os.lseek(1, 0, os.SEEK_CUR),
            o=number,
            n=count,
            g=values[:2],
            before=values[2:4],
            w=values[4:6],
            lr=values[6:],
        )

    def _watch_pipelines(self) -> None:
        """A loop of the script's own takes its batches from a pipeline."""

        def make(plain: Any) -> Any:
            def following(iterator: Any) -> Any:
                if self._in_trainer or not tf.executing_eagerly():
                    return plain(iterator)
                self._stop_if_enough()
                loader, began = self._pass_of(iterator)
                try:
                    batch = plain(iterator)
                except StopIteration:
                    self._end_pass(loader, began)
                    raise
                self._tell_batch(loader, batch)
                return batch

            return following

        hook(iterator_ops.OwnedIterator, "__next__", make)

    def _pass_of(self, iterator: Any) -> tuple[int, int]:
        """The number of a pass, and how many steps there were when it began."""
        known = self._pipelines.get(iterator)
        if known is None:
            self._pipeline_count += 1
            known = (self._pipeline_count, self.recorder.step)
            self._pipelines.put(iterator, known)
        return known[0], known[1]

    def _end_pass(self, loader: int, began: int) -> None:
        self.recorder.write("end", l=loader)
        if self.recorder.step > began:
            self.recorder.epochs += 1
            self.networks.end_of_epoch(None)

    def _watch_epochs(self) -> None:
        """The History is told last, when callbacks have made of the figures what they do."""

        def begin(plain: Any) -> Any:
            def on_epoch_begin(callbacks: Any, epoch: Any, logs: Any = None) -> None:
                self._stop_if_enough()
                plain(callbacks, epoch, logs)

            return on_epoch_begin

        def end(plain: Any) -> Any:
            def on_epoch_end(history: Any, epoch: Any, logs: Any = None) -> None:
                self.recorder.write("end", l=TRAINER)
                self.recorder.epochs += 1
                self.networks.end_of_epoch(logs)
                plain(history, epoch, logs)

            return on_epoch_end

        hook(CallbackList, "on_epoch_begin", begin)
        hook(keras.callbacks.History, "on_epoch_end", end)

    def _watch_calls(self) -> None:
        """Before a compiled function runs is the time to end."""

        def make(plain: Any) -> Any:
            def call(function: Any, *args: Any, **options: Any) -> Any:
                self._stop_if_enough()
                return plain(function, *args, **options)

            return call

        hook(polymorphic_function.Function, "__call__", make)

        def uncompiled(plain: Any) -> Any:
            def begin(function: Any, *args: Any, **options: Any) -> None:
                options["jit_compile"] = None
                plain(function, *args, **options)

            return begin

        hook(polymorphic_function.Function, "__init__", uncompiled)

    def _stop_if_enough(self) -> None:
        settings = self.recorder.settings
        if not tf.executing_eagerly():
            return
        if settings.steps is not None and self.recorder.step >= settings.steps:
            self._end()
        if settings.epochs is not None and self.recorder.epochs >= settings.epochs:
            self._end()

    def _end(self) -> None:
        self.recorder.write("enough")
        raise SystemExit(0)


def _is_converted() -> bool:
    """Whether trainera's crew is at work, which gives every worker the whole batch."""
    state = sys.modules.get("trainera.tf_crew.state")
    return state is not None and state.CREW.size > 1


class _Clock:
    """For the progress bar: how long it takes is another matter in each run."""

    def time(self) -> float:
        return 0.0
