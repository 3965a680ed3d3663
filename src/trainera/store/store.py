"""Experiments and their runs. A run is planned once and finished once, each in one transaction."""

import json
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path
from types import TracebackType
from typing import Any

from trainera.errors import UserError
from trainera.results import Result, State, from_data
from trainera.store.schema import MIGRATIONS, Migration, migrate

_PATIENCE_S = 10.0


@dataclass(frozen=True, kw_only=True)
class Experiment:
    """What was asked for, and where."""

    id: int
    created: str
    request: Mapping[str, Any]
    machine: Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class Planned:
    """A run that is still to be made."""

    id: int
    position: int
    plan: Mapping[str, Any]


class Store:
    """One SQLite file.

    Write-ahead logging with a full sync at every commit: after kill -9 or a power cut a run is
    there in full or still planned, nothing between.
    """

    def __init__(
        self, path: Path, *, create: bool = True, migrations: Sequence[Migration] = MIGRATIONS
    ) -> None:
        self.path = path
        if path.is_dir():
            raise UserError(f"{path}: a folder, not a store — give the file in it")
        if not create and not path.is_file():
            raise UserError(f"{path}: no such store — `trainera bench` makes one")
        try:
            # Transactions are begun and ended by hand below.
            self._connection = sqlite3.connect(path, timeout=_PATIENCE_S, isolation_level=None)
            self._refuse_another_programs(create=create)
            self._connection.execute("PRAGMA journal_mode = WAL")
            self._connection.execute("PRAGMA synchronous = FULL")
            self._connection.execute("PRAGMA foreign_keys = ON")
            migrate(self._connection, path, migrations)
        except sqlite3.DatabaseError as error:
            raise UserError(
                f"{path}: cannot be used as a store ({error}) — give the file that `trainera "
                "bench` wrote, in a folder that can be written"
            ) from error

    def _refuse_another_programs(self, *, create: bool) -> None:
        """Before anything is written: many programs keep their things in such files."""
        rows = self._connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
        tables = {name for (name,) in rows}
        if tables and not {"experiments", "runs"} <= tables:
            self.close()
            raise UserError(
                f"{self.path}: a database of another program — give the file that `trainera bench` "
                "wrote, or choose another --store"
            )
        if not tables and not create:
            self.close()
            raise UserError(f"{self.path}: no experiment in it yet — run `trainera bench` first")

    def __enter__(self) -> "Store":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        self._connection.close()

    def add_experiment(
        self,
        fingerprint: str,
        request: Mapping[str, Any],
        machine: Mapping[str, Any],
        plans: Sequence[Mapping[str, Any]],
    ) -> int:
        """The experiment with all its runs, planned in this order."""
        with self._transaction():
            number = self._connection.execute(
                "INSERT INTO experiments (created, fingerprint, request, machine)"
                " VALUES (?, ?, ?, ?)",
                (_now(), fingerprint, json.dumps(request), json.dumps(machine)),
            ).lastrowid
            assert number is not None
            self._connection.executemany(
                "INSERT INTO runs (experiment, position, plan) VALUES (?, ?, ?)",
                [(number, position, json.dumps(plan)) for position, plan in enumerate(plans)],
            )
        return number

    def find(self, fingerprint: str) -> int | None:
        """The latest experiment that was asked for in the same words."""
        row = self._connection.execute(
            "SELECT id FROM experiments WHERE fingerprint = ? ORDER BY id DESC LIMIT 1",
            (fingerprint,),
        ).fetchone()
        return None if row is None else int(row[0])

    def experiments(self) -> tuple[Experiment, ...]:
        """All of them, the oldest first."""
        rows = self._connection.execute(
            "SELECT id, created, request, machine FROM experiments ORDER BY id"
        )
        return tuple(
            Experiment(
                id=number, created=created, request=json.loads(request), machine=json.loads(machine)
            )
            for number, created, request, machine in rows
        )

    def planned(self, experiment: int) -> tuple[Planned, ...]:
        """What is still to be done, in order."""
        rows = self._connection.execute(
            "SELECT id, position, plan FROM runs WHERE experiment = ? AND state = 'planned'"
            " ORDER BY position",
            (experiment,),
        )
        return tuple(
            Planned(id=number, position=position, plan=json.loads(plan))
            for number, position, plan in rows
        )

    def finish(self, results: Mapping[int, Result]) -> None:
        """Writes runs by their id, all or none. One that is finished already is an error."""
        with self._transaction():
            for run, result in results.items():
                changed = self._connection.execute(
                    "UPDATE runs SET state = ?, finished = ?, result = ?"
                    " WHERE id = ? AND state = 'planned'",
                    (result.state, _now(), json.dumps(result.as_data()), run),
                ).rowcount
                assert changed == 1, f"run {run} was finished before"

    def replan(self, experiment: int, state: State) -> int:
        """Plans the runs of a state once more; how many there are."""
        with self._transaction():
            return self._connection.execute(
                "UPDATE runs SET state = 'planned', finished = NULL, result = NULL"
                " WHERE experiment = ? AND state = ?",
                (experiment, state),
            ).rowcount

    def counts(self, experiment: int) -> dict[str, int]:
        """How many runs are in which state."""
        rows = self._connection.execute(
            "SELECT state, COUNT(*) FROM runs WHERE experiment = ? GROUP BY state", (experiment,)
        )
        return dict(rows.fetchall())

    def results(self, experiment: int | None = None) -> tuple[Result, ...]:
        """The finished runs of one experiment or of all, in the order of their plan."""
        rows = self._connection.execute(
            "SELECT result FROM runs"
            " WHERE result IS NOT NULL AND experiment = ifnull(?, experiment)"
            " ORDER BY experiment, position",
            (experiment,),
        )
        return tuple(from_data(json.loads(result)) for (result,) in rows)

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        self._connection.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            self._connection.execute("ROLLBACK")
            raise
        self._connection.execute("COMMIT")


def _now() -> str:
    return datetime.now(timezone.utc).isoformat(timespec="seconds")
