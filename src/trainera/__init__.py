"""trainera: makes a sequential training script run in parallel and learn the same network."""

__version__ = "0.1.0"
