"""What the script logs: the messages alone, for handlers put times in front of them."""

import functools
import logging
import sysconfig
from pathlib import Path
from typing import Any

from trainera.verify.observe.record import put

_LIBRARIES = tuple(sysconfig.get_paths()[name] for name in ("stdlib", "purelib", "platlib"))


class Logs:
    """Keeps the messages of one worker in a file."""

    def __init__(self, directory: Path, rank: int) -> None:
        self._path = directory / f"logged-{rank}"

    def install(self) -> None:
        """Hooks in where a record is on its way to the handlers."""
        original = logging.Logger.callHandlers

        @functools.wraps(original)
        def call_handlers(logger: Any, record: Any) -> Any:
            # Libraries log what they are about, which may well differ from run to run.
            if not record.pathname.startswith(_LIBRARIES) and _is_heard(logger, record):
                with self._path.open("a", encoding="utf-8", errors="replace") as file:
                    file.write(f"{record.levelname} {record.getMessage()}\n")
            return original(logger, record)

        put(logging.Logger, "callHandlers", call_handlers)


def _is_heard(logger: Any, record: Any) -> bool:
    """Whether anybody listens; without a handler there is one for warnings."""
    return bool(logger.hasHandlers()) or record.levelno >= logging.WARNING
