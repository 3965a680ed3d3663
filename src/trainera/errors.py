"""The one exception that reaches the user as a message instead of a traceback."""

from enum import IntEnum


class Status(IntEnum):
    """Exit statuses, as documented in ``trainera --help``."""

    DONE = 0
    FAILED = 1
    USAGE = 2
    REFUSED = 3


class UserError(Exception):
    """Something the user can mend. The message says what, where and what to do."""

    def __init__(self, message: str, status: Status = Status.USAGE) -> None:
        super().__init__(message)
        self.status = status
