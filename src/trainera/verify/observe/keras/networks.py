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
    """Knows every network that was compiled, called by a step or saved."""

    def __init__(self, recorder: Recorder) -> None:
        self.recorder = recorder
        self._known: list[weakref.ref[Any]] = []
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

    def _watch_saving(self, name: str) -> None:
        original = getattr(keras.Model, name)

        def save(network: Any, filepath: Any, *args: Any, **options: Any) -> Any:
            values = {variable.path: variable.numpy() for variable in network.variables}
            self.recorder.write(
                "save",
                path=Path(str(filepath)).name,
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
            found[f"buffer history.{name}"] = [float(value)] * 3
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
            if network is None:
                continue
            trained = {id(variable) for variable in network.trainable_variables}
            for place, variable in enumerate(network.variables):
                if variable._value is None:  # lent to a step that is under way
                    continue
                kind = "parameter" if id(variable) in trained else "buffer"
                key = f"{kind} {number}.{place} {variable.name}"
                self._last[key] = numpy.asarray(variable.numpy())
            optimizer = getattr(network, "optimizer", None)
            for place, variable in enumerate(optimizer.variables if optimizer else ()):
                key = f"optimizer {number}.{place} {variable.name}"
                self._last[key] = numpy.asarray(variable.numpy())
        return {name: value for name, value in self._last.items() if value.dtype.kind in "fiub"}
