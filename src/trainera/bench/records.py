"""From what the workers recorded and the script printed to the measures of a run."""

import json
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from trainera.results import Epoch

DATA_LINE = re.compile(r"^data: (real|generated)\b", re.MULTILINE)
FIGURE_LINE = re.compile(r"^figure (?P<name>.+?): (?P<value>[-+0-9.eE]+)$", re.MULTILINE)
PROGRESS = re.compile(r"^.*\d/(?:\d+|Unknown)\b.*/(?:step|epoch)\b.*$", re.MULTILINE)
"""Lines of Keras's progress bar: ``63/63 - 1s - 9ms/step - accuracy: 0.91 - loss: 0.3``."""


@dataclass(frozen=True, kw_only=True)
class Measures:
    """What one run gave, apart from how it ended and what it used."""

    total_s: float | None = None
    train_s: float | None = None
    validation_s: float | None = None
    test_s: float | None = None
    epochs: tuple[Epoch, ...] = ()
    phases_s: Mapping[str, float]
    meter_s: float | None = None
    samples: int | None = None
    peak_memory_bytes: tuple[int, ...] = ()
    peak_gpu_memory_bytes: tuple[int, ...] = ()
    used_gpus: frozenset[int] = frozenset()
    errors: tuple[str, ...] = ()

    @property
    def last_metric(self) -> float | None:
        """After the last epoch, where the framework has kept it."""
        return next((one.metric for one in reversed(self.epochs) if one.metric is not None), None)


def read_records(folder: Path) -> list[dict[str, Any]]:
    """The record of every worker, the first worker's first."""
    files = sorted(folder.glob("*.json"), key=lambda file: int(file.stem))
    return [json.loads(file.read_text()) for file in files]


def measures(
    records: Sequence[Mapping[str, Any]], metrics: Sequence[float], metric_name: str
) -> Measures:
    """Times are the first worker's: all workers take every step together.

    `metrics` are the figures that the script printed. Where it did not print one an epoch, those
    that the framework has kept under that name are taken.
    """
    if not records:
        return Measures(phases_s={}, errors=("no worker left a record",))
    passes = [one for one in records[0]["passes"] if one["end_s"] > one["start_s"]]
    training = [number for number, one in enumerate(passes) if one["steps"]]
    common: dict[str, Any] = {
        "meter_s": max(record["meter_s"] for record in records),
        "peak_memory_bytes": tuple(record["peak_memory_bytes"] for record in records),
        "peak_gpu_memory_bytes": tuple(
            max(record["gpus"].values()) for record in records if record["gpus"]
        ),
        "used_gpus": frozenset(int(gpu) for record in records for gpu in record["gpus"]),
        "errors": tuple(error for record in records for error in record["errors"]),
    }
    if not training:
        return Measures(phases_s={}, **common)
    validations, tests = _evaluations(passes, training)
    epochs = _epochs(passes, training, validations, metrics, metric_name)
    return Measures(
        total_s=passes[-1]["end_s"] - passes[0]["start_s"],
        train_s=sum(epoch.train_s for epoch in epochs),
        validation_s=sum(map(_length_s, (passes[number] for number in validations))),
        test_s=sum(map(_length_s, (passes[number] for number in tests))),
        epochs=epochs,
        phases_s=_phases([passes[number] for number in training]),
        samples=sum(
            one["samples"]
            for record in (records[:1] if records[0]["whole"] else records)
            for one in record["passes"]
            if one["steps"]
        ),
        **common,
    )


def _evaluations(
    passes: Sequence[Mapping[str, Any]], training: Sequence[int]
) -> tuple[list[int], list[int]]:
    """Which passes without a step validate and which test.

    What is evaluated again and again as training goes on validates it. What is looked at only
    after the last epoch is the test; after a single epoch, the first data so looked at validate.
    """
    idle = [number for number, one in enumerate(passes) if not one["steps"]]
    between = {passes[number]["dataset"] for number in idle if number < training[-1]}
    if len(training) == 1:
        after = [number for number in idle if number > training[-1]]
        between |= {passes[number]["dataset"] for number in after[:1]}
    validations = [number for number in idle if passes[number]["dataset"] in between]
    return validations, [number for number in idle if number not in validations]


def _epochs(
    passes: Sequence[Mapping[str, Any]],
    training: Sequence[int],
    validations: Sequence[int],
    metrics: Sequence[float],
    metric_name: str,
) -> tuple[Epoch, ...]:
    each = len(metrics) >= len(training)
    epochs = []
    for index, number in enumerate(training):
        after = training[index + 1] if index + 1 < len(training) else len(passes)
        own = [passes[one] for one in validations if number < one < after]
        epochs.append(
            Epoch(
                train_s=_length_s(passes[number]),
                validation_s=sum(map(_length_s, own)) if own else None,
                metric=metrics[index] if each else _kept(passes[number], metric_name),
            )
        )
    return tuple(epochs)


def _phases(passes: Sequence[Mapping[str, Any]]) -> dict[str, float]:
    names = dict.fromkeys(name for one in passes for name in one["phases_s"])
    found = {name: sum(one["phases_s"].get(name, 0.0) for one in passes) for name in names}
    if found:  # else they were not asked for
        found["other"] = max(0.0, sum(map(_length_s, passes)) - sum(found.values()))
    return found


def _kept(one: Mapping[str, Any], name: str) -> float | None:
    """What the framework found in an epoch: in validation, if there was one, else in training."""
    figures: dict[str, float] = one["figures"]
    near = [key for key in figures if name and name in key]  # sparse_categorical_accuracy
    best = sorted(near, key=lambda key: (not key.startswith("val_"), len(key)))
    return figures[best[0]] if best else None


def _length_s(one: Mapping[str, Any]) -> float:
    length_s: float = one["end_s"] - one["start_s"]
    return length_s


def metrics_in(pattern: str, text: str) -> list[float]:
    """Every figure that the script printed and the pattern finds, in order.

    A progress bar says the same again and again, for parts of an epoch too.
    """
    if not pattern:
        return []
    found = []
    for match in re.finditer(pattern, PROGRESS.sub("", text)):
        with suppress(ValueError):  # "0.93." ends a sentence
            found.append(float((match.group(1) or "").rstrip(".")))
    return found


def figures_in(text: str) -> dict[str, float]:
    """Lines of the form ``figure NAME: VALUE``, as micro-benchmarks print them."""
    found = {}
    for one in FIGURE_LINE.finditer(text):
        with suppress(ValueError):
            found[one["name"]] = float(one["value"])
    return found


def data_in(text: str) -> str:
    """Whether the script says that its data are real or generated."""
    found = DATA_LINE.search(text)
    return found[1] if found else ""
