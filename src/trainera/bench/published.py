"""Measurements that were published elsewhere, read into the same results as our own.

A folder holds one folder a strategy, as a thesis on distributed training laid them out: a run is a
row of ``General.csv`` and a column of the files with one row an epoch; the runs for energy are
power traces besides. Where the trace is missing its totals stand in ``consumos.dat``.
"""

import csv
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from trainera.bench.traces import Trace, part_of, read_trace
from trainera.errors import UserError
from trainera.results import DeviceEnergy, Epoch, Result

PREFIX = "Resultados_"

_LABELS = {
    "CPU": "CPU",
    "1GPU": "1 GPU",
    "Distribuido_1GPU": "1 GPU under DDP",
    "Distribuido_2GPU": "2 GPUs",
    "distribuido_2GPU_64": "2 GPUs, batch 64",
}


@dataclass(frozen=True, kw_only=True)
class _Folder:
    path: Path
    label: str
    gpus: tuple[int, ...]
    samples: int
    batch: str


def is_published(folder: Path) -> bool:
    """Whether a folder looks like published measurements."""
    return folder.is_dir() and any(folder.glob(f"{PREFIX}*/General.csv"))


def read_published(folder: Path) -> tuple[Result, ...]:
    """All runs below a folder; one that is listed in two places is taken once."""
    results: list[Result] = []
    for path in sorted(folder.glob(f"{PREFIX}*"), key=lambda path: (len(path.name), path.name)):
        if (path / "General.csv").is_file():
            for result in _read_folder(path):
                _add(results, result)
    if not results:
        raise UserError(f"{folder}: no {PREFIX}*/General.csv there — not published measurements")
    return tuple(results)


def _add(results: list[Result], result: Result) -> None:
    """Adds a run, unless it is there; the copy that knows its epochs is kept."""
    for index, known in enumerate(results):
        same = known.kind == result.kind == "timed" and known.total_s == result.total_s
        if same:
            if not known.epochs and result.epochs:
                results[index] = replace(
                    known,
                    epochs=result.epochs,
                    train_s=result.train_s,
                    validation_s=result.validation_s,
                )
            return
    results.append(result)


def _read_folder(path: Path) -> list[Result]:
    parameters = json.loads((path / "Parametros.json").read_text())
    devices = parameters.get("Dispositivos") or [parameters["Dispositivo"]]
    name = path.name.removeprefix(PREFIX)
    described = _Folder(
        path=path,
        label=_LABELS.get(name, name.replace("_", " ")),
        gpus=tuple(int(one.partition(":")[2] or 0) for one in devices if one.startswith("cuda")),
        samples=parameters["Tam. entrenamiento"],
        batch="per-worker" if len(devices) > 1 and parameters["Tam. batch"] >= 128 else "global",
    )
    return [*_timed(described), *_energy(described)]


def _timed(folder: _Folder) -> list[Result]:
    epochs = _epochs(folder.path)
    results = []
    for number, row in enumerate(_rows(folder.path / "General.csv")[1:]):
        both_s, test_s, accuracy = (_figure(value) for value in row[1:4])
        own = epochs[number] if number < len(epochs) else ()
        results.append(
            Result(
                workload="ResNet-34 on fish",
                strategy=folder.label,
                workers=max(1, len(folder.gpus)),
                batch=folder.batch,
                data="real",
                total_s=both_s + test_s,
                train_s=sum(one.train_s for one in own) if own else None,
                validation_s=sum(one.validation_s or 0.0 for one in own) if own else None,
                test_s=test_s,
                epochs=own,
                samples=folder.samples * len(own) if own else None,
                metric_name="accuracy",
                metric=accuracy,
            )
        )
    return results


def _epochs(path: Path) -> list[tuple[Epoch, ...]]:
    """The epochs of each run: its column in three files."""
    files = ("Entrenamientos.csv", "Validaciones.csv", "Precisiones.csv")
    columns = [list(zip(*_table(path / name), strict=True)) for name in files]
    return [
        tuple(
            Epoch(train_s=train_s, validation_s=validation_s, metric=metric)
            for train_s, validation_s, metric in zip(*run, strict=True)
        )
        for run in zip(*columns, strict=True)
    ]


def _energy(folder: _Folder) -> list[Result]:
    traces = [read_trace(path) for path in sorted(folder.path.glob("energia*.dat"))]
    if traces:
        return [_of_trace(folder, trace) for trace in traces]
    totals = folder.path / "consumos.dat"
    if not totals.is_file():
        return []
    header, values = _rows(totals)[:2]
    figures = dict(zip(header, map(_figure, values), strict=True))
    duration_s = figures.pop("TIEMPO")
    return [_energy_run(folder, duration_s, _of_totals(figures, folder.gpus))]


def _of_trace(folder: _Folder, trace: Trace) -> Result:
    energy = trace.energies(folder.gpus)
    return replace(_energy_run(folder, trace.duration_s, energy), power=trace.thinned())


def _of_totals(figures: Mapping[str, float], gpus: Sequence[int]) -> tuple[DeviceEnergy, ...]:
    return tuple(
        DeviceEnergy(
            device=name,
            part=part_of(name),
            energy_j=energy_j,
            source="measured",
            used=part_of(name) != "gpu" or int(re.sub(r"\D", "", name)) in gpus,
        )
        for name, energy_j in figures.items()
    )


def _energy_run(folder: _Folder, duration_s: float, energy: tuple[DeviceEnergy, ...]) -> Result:
    return Result(
        workload="ResNet-34 on fish",
        strategy=folder.label,
        workers=max(1, len(folder.gpus)),
        kind="energy",
        batch=folder.batch,
        data="real",
        wall_s=duration_s,
        energy=energy,
    )


def _rows(path: Path) -> list[list[str]]:
    """The rows of a table, separated by commas or, with decimal commas, by semicolons."""
    text = path.read_text()
    delimiter = ";" if ";" in text else ","
    return [row for row in csv.reader(text.splitlines(), delimiter=delimiter) if row]


def _table(path: Path) -> list[list[float]]:
    """A table of figures only. One column with decimal commas looks like two columns; it is not."""
    text = path.read_text()
    if ";" not in text and re.fullmatch(r"(\s*\d+,\d+\s*)+", text):
        text = text.replace(",", ".")
    delimiter = ";" if ";" in text else ","
    return [[_figure(value) for value in line.split(delimiter)] for line in text.split()]


def _figure(text: str) -> float:
    try:
        return float(text.replace(",", "."))
    except ValueError:
        raise UserError(f"'{text}' is not a number — published tables hold numbers only") from None
