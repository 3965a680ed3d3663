"""Real data where it is found; tests that need it are skipped where it is not."""

import os
from pathlib import Path


def shared_data(name: str) -> Path | None:
    """A folder of ``TRAINERA_DATA`` or of the data beside the clone."""
    clone = Path(__file__).parents[2]
    roots = [os.environ.get("TRAINERA_DATA"), clone.parent / "shared" / "data"]
    for root in filter(None, roots):
        if (folder := Path(root) / name).is_dir():
            return folder
    return None
