"""A folder in the format of the thesis, small enough to write in a test."""

import json
from pathlib import Path

HEADER = ",Tiempo Entrenamiento (s),Tiempo Evaluacion (s),Precision (%),Error (%)"


def write_strategy(
    folder: Path,
    devices: list[str],
    general: list[tuple[float, float, float]],
    epochs: list[list[float]],
    *,
    watts: list[float] | None = None,
    rows: int = 4,
    decimal_comma: bool = False,
) -> None:
    """One strategy: its runs, its epochs (a list a run) and one power trace."""
    folder.mkdir(parents=True)
    parameters = {"Tam. entrenamiento": 7650, "Tam. batch": 128}
    if len(devices) == 1:
        parameters["Dispositivo"] = devices[0]
    else:
        parameters["Dispositivos"] = devices
    (folder / "Parametros.json").write_text(json.dumps(parameters))
    lines = [f"{i},{a},{b},{c},0.03" for i, (a, b, c) in enumerate(general)]
    (folder / "General.csv").write_text("\n".join([HEADER, *lines]) + "\n")
    for name, scale in (("Entrenamientos", 1.0), ("Validaciones", 0.1), ("Precisiones", 0.01)):
        text = "\n".join(
            ",".join(f"{value * scale:.6f}" for value in row) for row in zip(*epochs, strict=True)
        )
        if decimal_comma and name == "Precisiones":
            text = text.replace(",", ";").replace(".", ",")
        (folder / f"{name}.csv").write_text(text + "\n")
    if watts is not None:
        names = "core_0_pkg core_0_ram core_6_pkg core_6_ram nvd_0 nvd_1"
        row = " ".join(f"{value:.6f}" for value in watts)
        (folder / "energia0.dat").write_text("\n".join([names, *[row] * rows]) + "\n")
