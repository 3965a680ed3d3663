"""The networks of a run: what they hold after each epoch and at the end, and what is saved."""

import weakref
from pathlib import Path
from typing import Any

import keras
import numpy

from trainera.verify.observe.keras.digest import summary
from trainera.verify.observe.record import Recorder, put

LARGEST_SHARE_BYTES = 2**31


class Networks:
    """Knows every network that was trained, and every optimizer that did it."""

    def __init__(self, recorder: Recorder) -> None:
        self.recorder = recorder
        self._known: list[weakref.ref[Any]] = []
        self._made: list[weakref.ref[Any]] = []
        self._owned: set[int] = set()
        """Weights of which it is known whose they are."""
        self._optimizers: list[Any] = []
        self._last: dict[str, Any] = {}
        """What networks held that are no more."""

    def install(self) -> None:
        """Puts the hooks in."""
        for name in ("save", "save_weights"):
            self._watch_saving(name)

    def note(self, network: Any) -> None:
        """Remembers a network, in the order in which they are met."""
        if not any(known() is network for known in self._known):
            self._known.append(weakref.ref(network))
            normalised = any(
                isinstance(layer, keras.layers.BatchNormalization)
                for layer in network._flatten_layers()
            )
            self.recorder.write("network", batchnorm=normalised)

    def made(self, network: Any) -> None:
        """Remembers that there is a network, which may come to be trained."""
        self._made.append(weakref.ref(network))

    def note_owners(self, weights: "list[Any]") -> None:
        """Remembers the networks that have some of these weights."""
        new = {id(one) for one in weights} - self._owned
        self._owned |= new
        for made in self._made if new else ():
            network = made()
            if network is None or not network.built:
                continue
            if any(id(one) in new for one in network.trainable_variables):
                self.note(network)

    def number_of(self, optimizer: Any) -> int:
        """The number of an optimizer, in the order in which they are met."""
        if not any(known is optimizer for known in self._optimizers):
            self._optimizers.append(optimizer)
        return next(i for i, known in enumerate(self._optimizers) if known is optimizer)

    def _watch_saving(self, name: str) -> None:
        original = getattr(keras.Model, name)

        def save(network: Any, filepath: Any, *args: Any, **options: Any) -> Any:
            values = {
                f"{place} {_name(variable)}": variable.numpy()
                for place, variable in enumerate(network.variables)
            }
            self.recorder.write(
                "save",
                path=Path(str(filepath)).name,
                file=str(Path(str(filepath)).resolve()),
                step=self.recorder.step,
                names=list(values),
                shapes=[list(value.shape) for value in values.values()],
                tensors=[summary(value) for value in values.values()],
                numbers={},
            )
            return original(network, filepath, *args, **options)

        put(keras.Model, name, save)

    def end_of_epoch(self, logs: "dict[str, Any] | None") -> None:
        """Notes what the networks hold, and what the epoch is said to have come to."""
        found = {name: summary(value) for name, value in self._all().items()}
        for name, value in sorted((logs or {}).items()):
            found[f"metric history.{name}"] = [float(value)] * 3
        self.recorder.write(
            "epoch", step=self.recorder.step, names=list(found), tensors=list(found.values())
        )

    def end(self) -> None:
        """The same at the end of the run, with the values themselves."""
        found = self._all()
        self.recorder.write(
            "final",
            step=self.recorder.step,
            names=list(found),
            tensors=[summary(value) for value in found.values()],
        )
        size = sum(value.nbytes for value in found.values())
        if self.recorder.rank == 0 and size < LARGEST_SHARE_BYTES:
            numpy.savez(Path(self.recorder.settings.directory) / "final.npz", **found)

    def _all(self) -> dict[str, Any]:
        for number, known in enumerate(self._known):
            network = known()
            if network is None or not network.built:
                continue
            trained = {id(variable) for variable in network.trainable_variables}
            for place, variable in enumerate(network.variables):
                if (
                    getattr(variable, "_value", variable) is None
                ):  # lent to a step that is under way
                    continue
                kind = "parameter" if id(variable) in trained else "buffer"
                key = f"{kind} {number}.{place} {_name(variable)}"
                self._last[key] = numpy.asarray(variable.numpy())
            if getattr(network, "optimizer", None):
                self.number_of(network.optimizer)
        for number, optimizer in enumerate(self._optimizers):
            variables = optimizer.variables  # a method of old ones
            for place, variable in enumerate(variables() if callable(variables) else variables):
                key = f"optimizer {number}.{place} {_name(variable)}"
                self._last[key] = numpy.asarray(variable.numpy())
        return {name: value for name, value in self._last.items() if value.dtype.kind in "fiub"}


def _name(variable: Any) -> str:
    """Its own name, without that of its layer, which hangs on how many layers there were before."""
    return str(variable.name).rpartition("/")[2].partition(":")[0]
