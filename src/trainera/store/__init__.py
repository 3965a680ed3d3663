"""Results on disk: one SQLite file that survives whatever happens to the process that writes it."""

from trainera.store.store import Experiment, Planned, Store

__all__ = ["Experiment", "Planned", "Store"]
