"""The tables and how an older store becomes a newer one.

``PRAGMA user_version`` is the number of migrations that a file has been through. A migration is
never changed after a release; another is added.
"""

import sqlite3
from collections.abc import Sequence
from pathlib import Path

from trainera.errors import UserError

Migration = tuple[str, ...]
"""Statements that are carried out together or not at all."""

MIGRATIONS: tuple[Migration, ...] = (
    (
        """
        CREATE TABLE experiments (
            id INTEGER PRIMARY KEY,
            created TEXT NOT NULL,
            fingerprint TEXT NOT NULL,  -- what was asked for; asked again, it is resumed
            request TEXT NOT NULL,      -- JSON: every parameter
            machine TEXT NOT NULL       -- JSON: devices and versions
        )
        """,
        """
        CREATE TABLE runs (
            id INTEGER PRIMARY KEY,
            experiment INTEGER NOT NULL REFERENCES experiments(id),
            position INTEGER NOT NULL,  -- in the randomised order
            plan TEXT NOT NULL,         -- JSON
            state TEXT NOT NULL DEFAULT 'planned'
                CHECK (state IN ('planned', 'done', 'failed', 'refused')),
            finished TEXT,
            result TEXT,                -- JSON
            UNIQUE (experiment, position),
            CHECK ((state = 'planned') = (result IS NULL))
        )
        """,
        "CREATE INDEX runs_of_experiment ON runs (experiment, state, position)",
    ),
)


def migrate(
    connection: sqlite3.Connection, path: Path, migrations: Sequence[Migration] = MIGRATIONS
) -> None:
    """Brings the tables up to date, one transaction a migration."""
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if version > len(migrations):
        raise UserError(
            f"{path}: written by a newer trainera (store version {version}, this one knows "
            f"{len(migrations)}) — update trainera, or choose another --store"
        )
    for number, migration in enumerate(migrations[version:], start=version + 1):
        connection.execute("BEGIN IMMEDIATE")
        try:
            for statement in migration:
                connection.execute(statement)
            connection.execute(f"PRAGMA user_version = {number}")
        except BaseException:
            connection.execute("ROLLBACK")
            raise
        connection.execute("COMMIT")
