"""Results that are made up, for everything that follows the measuring."""

from trainera.results import DeviceEnergy, Epoch, Power, Result


def made_runs(
    strategy: str,
    times_s: list[float],
    *,
    workload: str = "digits",
    workers: int = 1,
    metrics: list[float] | None = None,
    energy_j: float | None = None,
    setting: dict[str, str] | None = None,
    framework: str = "",
    task: str = "",
    another: str = "",
) -> list[Result]:
    """One run a time; with an energy run where a figure is given."""
    metrics = metrics or [0.9] * len(times_s)
    runs = [
        Result(
            workload=workload,
            strategy=strategy,
            workers=workers,
            framework=framework,
            task=task,
            another=another,
            block=block,
            setting=setting or {},
            data="real",
            wall_s=time_s + 3,
            total_s=time_s,
            train_s=time_s * 0.8,
            validation_s=time_s * 0.2,
            epochs=tuple(
                Epoch(train_s=time_s * 0.4, validation_s=time_s * 0.1, metric=metric * part)
                for part in (0.5, 1.0)
            ),
            phases_s={"data": 0.1, "forward": 0.3, "backward": 0.2, "optimizer": 0.1, "other": 0.1},
            meter_s=0.001,
            samples=1000,
            peak_memory_bytes=(2**28,) * workers,
            metric_name="accuracy",
            metric=metric,
        )
        for block, (time_s, metric) in enumerate(zip(times_s, metrics, strict=True))
    ]
    if energy_j is not None:
        cpu = DeviceEnergy(device="package-0", part="cpu", energy_j=energy_j, source="measured")
        idle = DeviceEnergy(
            device="gpu-0", part="gpu", energy_j=50.0, source="measured", used=False
        )
        power = Power(interval_s=0.5, devices={"package-0": (20.0, 30.0), "gpu-0": (8.0, 8.0)})
        runs.append(
            Result(
                workload=workload,
                strategy=strategy,
                workers=workers,
                kind="energy",
                setting=setting or {},
                wall_s=times_s[0] + 3,
                energy=(cpu, idle),
                power=power,
            )
        )
    return runs
