"""Names that people know from elsewhere, and why they are not engines here."""

ABSENT = {
    "parameter_server": (
        "ParameterServerStrategy is another training: its workers change the weights whenever each "
        "of them is done, by gradients of weights that are older by then, so that not even two "
        "runs from one seed learn the same network",
        "--engine horovod and --engine multiworker learn what the script learns",
    ),
    "central_storage": (
        "CentralStorageStrategy is another training: each device normalises and drops out by "
        "itself, on its share of a batch, so that with two devices another network is learned",
        "--engine horovod and --engine multiworker learn what the script learns",
    ),
}
"""By name: what it is, and what to take instead. TensorFlow can run both (docs/keras.md)."""


def reason(name: str) -> str | None:
    """Why there is no engine of that name; None if it is just not known."""
    found = ABSENT.get(name.replace("-", "_"))
    return found and f"no engine '{name}': {found[0]} — {found[1]}"
