"""``trainera report``: every form, and every way to ask for what is not there."""

import csv
import io
import json
from pathlib import Path

import pytest
from made import made_runs
from thesis import write_strategy

from trainera.cli.main import main
from trainera.report.document import as_csv, as_json, as_markdown, document
from trainera.results import from_data
from trainera.store import Store

RUNS = [
    *made_runs("sequential", [10.0, 10.1, 9.9, 10.2, 9.8], energy_j=200.0),
    *made_runs("ddp 2", [5.0, 5.1, 4.9, 5.05, 4.95], workers=2, energy_j=180.0),
]


@pytest.fixture
def store(folder: Path) -> Path:
    path = folder / "trainera-bench.db"
    with Store(path) as made:
        number = made.add_experiment("a", {"size": "tiny"}, {"cores": 2}, [{}] * len(RUNS))
        planned = made.planned(number)
        made.finish({one.id: run for one, run in zip(planned, RUNS, strict=True)})
    return path


def test_markdown() -> None:
    text = as_markdown(document("A|B <i>", RUNS))
    assert text.startswith("# A\\|B \\<i\\>\n")
    assert "**Use ddp 2: 2.00 times as fast as sequential" in text
    lines = text.splitlines()
    header = next(line for line in lines if line.startswith("| strategy"))
    row = next(line for line in lines if line.startswith("| ddp 2"))
    cells = dict(zip(header.split(" | "), row.split(" | "), strict=True))
    assert (cells["runs"], cells["efficiency"], cells["energy (kJ)"]) == ("5", "1.000", "0.18")


def test_csv_has_a_row_a_run() -> None:
    rows = list(csv.DictReader(io.StringIO(as_csv(document("t", RUNS)))))
    assert len(rows) == len(RUNS)
    assert rows[0]["strategy"] == "sequential"
    assert float(rows[0]["total_s"]) == 10.0
    assert float(rows[0]["forward_s"]) == 0.3
    (first, _) = [row for row in rows if row["kind"] == "energy"]
    assert (first["energy_j"], first["energy_with_idle_j"]) == ("200.0", "250.0")
    assert first["energy_source"] == "measured"


def test_json_holds_everything() -> None:
    data = json.loads(as_json(document("t", RUNS, machine={"cores": 2})))
    assert [from_data(one) for one in data["results"]] == RUNS
    assert data["verdicts"][0]["best"] == "ddp 2"
    assert data["machine"] == {"cores": 2}


def test_a_page_of_the_store_here(store: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["report"]) == 0
    assert "the report is in report.html" in capfd.readouterr().err
    assert "Use ddp 2" in Path("report.html").read_text()


@pytest.mark.parametrize("form", ["md", "csv", "json"])
def test_text_goes_to_stdout(form: str, store: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["report", "--format", form]) == 0
    out, err = capfd.readouterr()
    assert "ddp 2" in out
    assert err == ""


def test_published_measurements(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    one = [(22.0 + number / 10, 2.0, 0.8) for number in range(5)]
    two = [(11.0 + number / 10, 2.0, 0.8) for number in range(5)]
    write_strategy(folder / "all" / "Resultados_1GPU", ["cuda:0"], one, [[10.0, 10.0]] * 5)
    write_strategy(
        folder / "all" / "Resultados_Distribuido_2GPU", ["cuda:0", "cuda:1"], two, [[5.0, 5.0]] * 5
    )
    assert main(["report", "all", "--format", "md", "--reference", "1 GPU"]) == 0
    assert "Use 2 GPUs: 1.83 times as fast as 1 GPU" in capfd.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["none.db"], "none.db: no such store"),
        (["empty.db"], "empty.db: no experiment in it yet"),
        (["planned.db"], "planned.db: no run is finished yet"),
        (["--experiment", "9"], "--experiment 9: there is 1, latest or all"),
        (["--reference", "horovod 2"], "'horovod 2': not measured — there is ddp 2, sequential"),
        (["."], "a folder, not a store"),
    ],
)
def test_wrong_usage(
    arguments: list[str], message: str, store: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    Store(Path("empty.db")).close()
    with Store(Path("planned.db")) as planned:
        planned.add_experiment("a", {}, {}, [{}])
    assert main(["report", *arguments]) == 2
    assert message in " ".join(capfd.readouterr().err.split())


def test_what_is_missing_is_named(
    store: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name, package=None: None)
    assert main(["report"]) == 1
    assert "pip install 'trainera[report]'" in capfd.readouterr().err
