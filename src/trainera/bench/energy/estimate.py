"""An estimate where there is no meter: CPU time times a power per core that the user states."""

from trainera.results import DeviceEnergy


def estimate(cpu_s: float, watts_per_core: float) -> tuple[DeviceEnergy, ...]:
    """The processor's energy, flagged as what it is.

    CPU time is summed over all processes of a run, so that workers that share a core share it here,
    too. What cores use while they wait is not in it.
    """
    return (
        DeviceEnergy(
            device="cpu (estimated)",
            part="cpu",
            energy_j=cpu_s * watts_per_core,
            source="estimated",
        ),
    )
