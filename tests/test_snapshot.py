"""The net for changes of the analyser: what it keeps, and that it sees what has changed."""

import json
from pathlib import Path

import pytest

from tests.rules.tools import script
from tests.tools.snapshot import cases, recording, saving
from tests.tools.snapshot.__main__ import main
from tests.tools.snapshot.comparing import ADDED, BYTES, CRASH, MISSING, PLAN, VERDICT, compare
from trainera.plan import Options

SCRIPT = script(imports="from data import number", after="print(number)")
REFUSED = script(loader="loader = [data]")


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A snapshot of a script with a module, a refused one and one that is no Python."""
    folder = tmp_path_factory.mktemp("snapshot")
    project = folder / "project"
    project.mkdir()
    (project / "train.py").write_bytes(SCRIPT.replace("\n", "\r\n").encode())
    (project / "data.py").write_text("number = 1\n")
    (project / "twice.py").write_bytes(SCRIPT.replace("\n", "\r\n").encode())
    (project / "refused.py").write_text(REFUSED)
    (project / "broken.py").write_text("loss.backward(\n")
    assert main(["save", str(folder / "old"), str(project)]) == 0
    return folder / "old"


@pytest.fixture
def again(saved: Path, tmp_path: Path) -> Path:
    """The same saved once more, to be changed."""
    assert main(["save", str(tmp_path / "new"), "--like", str(saved), "--processes", "1"]) == 0
    return tmp_path / "new"


def test_what_is_kept(saved: Path) -> None:
    found = {path.stem: json.loads(path.read_text()) for path in saved.rglob("results/**/*.json")}
    assert {name: one["ddp"]["verdict"] for name, one in found.items()} == {
        "train": "converted",
        "twice": "converted",
        "refused": "refused",
        "broken": "told",
    }
    assert list(found["train"]) == ["ddp", "horovod"]
    assert list(found["train"]["ddp"]["files"]) == ["train.py"]
    assert "crew.split" in found["train"]["ddp"]["files"]["train.py"]
    assert "\r\n" in found["train"]["ddp"]["files"]["train.py"]
    assert found["refused"]["ddp"]["plan"]["refusals"][0]["place"]["path"] == "refused.py"
    assert (saved / "scripts/project/train/data.py").read_text() == "number = 1\n"
    assert str(saved.parent) not in "".join(
        path.read_text() for path in saved.rglob("*.json") if path.is_file()
    )


def test_the_same_is_the_same(saved: Path, again: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", str(saved), str(again)]) == 0
    assert capsys.readouterr().out.endswith("8 outcomes are the same\n")


def change(snapshot: Path, old: str, new: str, name: str = "train") -> None:
    path = snapshot / f"results/project/{name}.json"
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


@pytest.mark.parametrize(
    ("old", "new", "name", "expected"),
    [
        ('"reason": "', '"reason": "so: ', "train", {PLAN}),
        ("\\r\\n", "\\n", "train", {BYTES}),
        ('"verdict": "converted"', '"verdict": "refused"', "train", {VERDICT, PLAN}),
        (
            '"verdict": "refused"',
            '"error": "KeyError: 1", "verdict": "crashed"',
            "refused",
            {CRASH},
        ),
        ('"what": "', '"what": "not ', "refused", {PLAN}),
    ],
)
def test_what_has_changed_is_seen(
    saved: Path, again: Path, old: str, new: str, name: str, expected: set[str]
) -> None:
    change(again, old, new, name)
    differences, counts = compare(saved, again)
    assert {one.what for one in differences} == expected
    assert counts["same"] == 6
    assert main(["compare", str(saved), str(again)]) == 1


def test_a_crash_is_kept_without_its_place(
    saved: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def crash(*_: object) -> None:
        raise KeyError(object())

    monkeypatch.setattr(saving, "convert_script", crash)
    monkeypatch.chdir(tmp_path)
    found, told = saving.outcome(cases.load(saved)[0], "ddp")
    assert found["verdict"] == "crashed"
    assert found["error"] == "KeyError: <object object at 0x…>"
    assert "raise KeyError" in told


def test_a_sample_is_compared_by_what_it_has(saved: Path, tmp_path: Path) -> None:
    rows = json.loads((saved / "times.json").read_text())
    names = list(rows)
    times = dict.fromkeys(names, 1.0) | {names[0]: 9.0}
    sample = cases.within(cases.load(saved), times, 40.0)
    assert sorted(case.name for case in sample) == sorted(names[1:])
    cases.copy(sample, tmp_path)
    saving.save(cases.load(tmp_path), tmp_path, processes=1)
    assert [one.what for one in compare(saved, tmp_path)[0]] == [MISSING]
    assert [one.what for one in compare(tmp_path, saved)[0]] == [ADDED]
    assert compare(saved, tmp_path, common=True)[0] == []


def test_a_snapshot_is_not_overwritten(saved: Path) -> None:
    with pytest.raises(SystemExit):
        main(["save", str(saved)])


def test_a_script_of_a_test_is_kept_once_for_each_choice_of_options(tmp_path: Path) -> None:
    path, kept = tmp_path / "train.py", tmp_path / "kept"
    path.write_text(SCRIPT)
    (tmp_path / "data.py").write_text("number = 1\n")
    kept.mkdir()
    for options in (None, Options(), Options(batch="per-worker", extras=("fp16",))):
        recording.record(path, options, kept, "tests/test_this.py::test_that")
    recording.record(tmp_path / "missing.py", None, kept, "tests/test_this.py::test_that")
    found = [recording.as_case(about) for about in kept.glob("*/about.json")]
    assert sorted(case.options.extras for case in found) == [(), ("fp16",)]
    assert {case.name.rpartition("/")[0] for case in found} == {"strings/test_this"}
    assert all((case.folder / "data.py").is_file() for case in found)


def test_all_that_a_test_plans_is_recorded(tmp_path: Path) -> None:
    test = "tests/rules/torch/test_refusing_rules.py"
    found = recording.recorded_cases(tmp_path, [test])
    assert found
    assert all(case.origin.startswith(test) for case in found)
