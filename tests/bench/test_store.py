"""The store: whole after any end, nothing lost, nothing twice."""

import sqlite3
from pathlib import Path

import pytest

from trainera.errors import UserError
from trainera.results import DeviceEnergy, Epoch, Power, Result
from trainera.store import Store
from trainera.store.schema import MIGRATIONS

RESULT = Result(
    workload="digits",
    strategy="ddp 2",
    workers=2,
    total_s=1.5,
    epochs=(Epoch(train_s=1.0, validation_s=0.5, metric=0.9),),
    phases_s={"forward": 0.25},
    peak_memory_bytes=(100, 200),
    energy=(DeviceEnergy(device="package-0", part="cpu", energy_j=2.0, source="measured"),),
    power=Power(interval_s=0.5, devices={"package-0": (1.0, 3.0)}),
    setting={"--lr": "0.1"},
)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "bench.db"


def test_a_result_comes_back_as_it_was(path: Path) -> None:
    with Store(path) as store:
        number = store.add_experiment("a", {"size": "tiny"}, {"cores": 2}, [{"n": 0}, {"n": 1}])
        first, second = store.planned(number)
        store.finish({first.id: RESULT})
    with Store(path, create=False) as store:
        assert store.results() == (RESULT,)
        assert store.planned(number) == (second,)
        assert store.counts(number) == {"done": 1, "planned": 1}
        (experiment,) = store.experiments()
        assert (experiment.request, experiment.machine) == ({"size": "tiny"}, {"cores": 2})
        assert (store.find("a"), store.find("b")) == (number, None)


def test_a_run_is_finished_once_and_several_together_or_not_at_all(path: Path) -> None:
    with Store(path) as store:
        number = store.add_experiment("a", {}, {}, [{}, {}])
        first, second = store.planned(number)
        store.finish({first.id: RESULT})
        with pytest.raises(AssertionError, match="finished before"):
            store.finish({second.id: RESULT, first.id: RESULT})
        assert store.counts(number) == {"done": 1, "planned": 1}


def test_an_older_store_is_brought_up_to_date(path: Path) -> None:
    with Store(path) as store:
        store.finish({store.planned(store.add_experiment("a", {}, {}, [{}]))[0].id: RESULT})
    newer = (*MIGRATIONS, ("ALTER TABLE experiments ADD COLUMN note TEXT",))
    with Store(path, migrations=newer) as store:
        assert store.results() == (RESULT,)
    found = sqlite3.connect(path).execute("SELECT note FROM experiments").fetchall()
    assert found == [(None,)]


def test_a_migration_that_fails_changes_nothing(path: Path) -> None:
    Store(path).close()
    broken = (*MIGRATIONS, ("ALTER TABLE experiments ADD COLUMN note TEXT", "NO SQL"))
    with pytest.raises(UserError, match="cannot be used as a store"):
        Store(path, migrations=broken)
    columns = sqlite3.connect(path).execute("PRAGMA table_info(experiments)").fetchall()
    assert "note" not in [name for _, name, *_ in columns]


def test_a_store_of_a_newer_trainera_is_left_alone(path: Path) -> None:
    Store(path, migrations=(*MIGRATIONS, ("CREATE TABLE future (id)",))).close()
    with pytest.raises(UserError, match="written by a newer trainera"):
        Store(path)


def test_what_is_no_store(path: Path, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no such store"):
        Store(path, create=False)
    with pytest.raises(UserError, match="a folder, not a store"):
        Store(tmp_path)
    path.write_text("print('hello')\n" * 100)
    with pytest.raises(UserError, match="cannot be used as a store"):
        Store(path)


def test_the_database_of_another_program_is_left_as_it_is(path: Path) -> None:
    with sqlite3.connect(path) as other:
        other.execute("CREATE TABLE studies (id INTEGER)")
    other.close()
    before = path.read_bytes()
    for create in (True, False):
        with pytest.raises(UserError, match="a database of another program"):
            Store(path, create=create)
    assert path.read_bytes() == before


def test_an_empty_file_is_no_store_to_report_of(path: Path) -> None:
    path.touch()
    with pytest.raises(UserError, match="no experiment in it yet"):
        Store(path, create=False)
    assert path.read_bytes() == b""
