"""One run, from its process to its result."""

from pathlib import Path

import pytest

from trainera.bench.design import Run, Subject
from trainera.bench.energy import find_meters
from trainera.bench.runner import Settings, run_once
from trainera.bench.strategies import SEQUENTIAL
from trainera.results import Kind

NO_METERS = Path("/nowhere")

BURN = """\
import sys
from pathlib import Path
counter = Path(sys.argv[1])
new = counter.with_name("new")
new.write_text(str(int(counter.read_text()) + 7_000_000))
new.replace(counter)
print("accuracy 0.5")
"""


def planned(script: Path, *arguments: str, kind: Kind = "timed") -> Run:
    subject = Subject(
        name=script.stem,
        script=str(script),
        arguments=arguments,
        metric="accuracy ([0-9.]+)",
        metric_name="accuracy",
    )
    return Run(subject=subject, strategy=SEQUENTIAL, kind=kind, block=0, setting={})


@pytest.fixture
def counter(tmp_path: Path) -> Path:
    zone = tmp_path / "sys" / "class" / "powercap" / "intel-rapl:0"
    zone.mkdir(parents=True)
    (zone / "name").write_text("package-0\n")
    (zone / "max_energy_range_uj").write_text("262143328850\n")
    (zone / "energy_uj").write_text("1000000\n")
    return zone / "energy_uj"


def test_energy_is_read_in_energy_runs_only(tmp_path: Path, counter: Path) -> None:
    script = tmp_path / "burn.py"
    script.write_text(BURN)
    meters = find_meters(tmp_path / "sys")
    timed = run_once(planned(script, str(counter)), Settings(watts_per_core=5.0), meters)
    assert (timed.state, timed.metric, timed.energy) == ("done", 0.5, ())
    measured = run_once(planned(script, str(counter), kind="energy"), Settings(), meters)
    (energy,) = measured.energy
    assert (energy.device, energy.source) == ("package-0", "measured")
    assert energy.energy_j == pytest.approx(7.0)


def test_an_estimate_where_there_is_no_meter(tmp_path: Path) -> None:
    script = tmp_path / "busy.py"
    script.write_text("sum(range(3_000_000))\nprint('accuracy 0.5')\n")
    meters = find_meters(NO_METERS)
    assert "RAPL" in meters.why_not
    found = run_once(planned(script), Settings(watts_per_core=10.0), meters)
    (energy,) = found.energy
    assert energy.source == "estimated"
    assert energy.energy_j > 0
    assert run_once(planned(script), Settings(), meters).energy == ()


def test_a_script_that_ends_with_status_3_has_failed(tmp_path: Path) -> None:
    script = tmp_path / "three.py"
    script.write_text("raise SystemExit(3)\n")
    found = run_once(planned(script), Settings(), find_meters(NO_METERS))
    assert (found.state, found.message) == ("failed", "status 3")


def test_a_script_of_workloads_leaves_nothing_where_the_user_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = tmp_path / "here"
    here.mkdir()
    monkeypatch.chdir(here)
    script = tmp_path / "saves.py"
    script.write_text("open('best.pt', 'w').write('x')\nprint('accuracy 0.5')\n")
    assert run_once(planned(script), Settings(), find_meters(NO_METERS)).state == "done"
    assert list(here.iterdir()) == []


def test_the_script_sees_its_own_search_path_and_customisation(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = tmp_path / "own"
    own.mkdir()
    (own / "sitecustomize.py").write_text("import builtins\nbuiltins.customised = True\n")
    monkeypatch.setenv("PYTHONPATH", str(own))
    script = tmp_path / "looks.py"
    script.write_text(
        "import sys\n"
        "assert customised\n"
        "assert not any('hooks' in entry for entry in sys.path), sys.path\n"
        "print('accuracy 1')\n"
    )
    found = run_once(planned(script), Settings(), find_meters(NO_METERS))
    assert found.state == "done", found.message


NO_LOADER = """\
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
x, y = torch.randn(40, 4), torch.randint(2, (40,))
loader = DataLoader(TensorDataset(x, y), batch_size=8)
model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for epoch in range(3):
    for inputs, targets in loader:
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(inputs), targets).backward()
        optimizer.step()
    with torch.no_grad():
        model(x)
    print("accuracy 0.5")
"""


@pytest.mark.parametrize("phases", [True, False])
def test_an_evaluation_without_a_loader_is_no_training(tmp_path: Path, phases: bool) -> None:
    script = tmp_path / "whole.py"
    script.write_text(NO_LOADER)
    found = run_once(planned(script), Settings(phases=phases, threads=1), find_meters(NO_METERS))
    assert found.state == "done", found.message
    assert (len(found.epochs), found.samples) == (3, 120)
    assert found.train_s is not None
    if phases:
        assert all(epoch.validation_s for epoch in found.epochs)
        assert sum(found.phases_s.values()) == pytest.approx(found.train_s)
        assert found.phases_s["optimizer"] > 0 < found.phases_s["backward"]
    else:
        assert (found.phases_s, found.meter_s) == ({}, None)
