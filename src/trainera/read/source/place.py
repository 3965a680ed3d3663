"""Places in source."""

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, kw_only=True, order=True)
class Place:
    """A span of source. Lines count from 1, columns from 0 in characters, the end is exclusive."""

    path: Path
    line: int
    column: int
    end_line: int
    end_column: int

    def __str__(self) -> str:
        return f"{self.path}:{self.line}:{self.column + 1}"
