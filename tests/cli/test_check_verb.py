"""``trainera check``: one script in full, many in a line each; nothing changes."""

import json
from pathlib import Path

from small_project import SCRIPT, Trainera, names


def test_one_script_is_told_edit_by_edit(script: Path, trainera: Trainera) -> None:
    result = trainera("check", script)
    assert result.status == 0
    *edits, summary = result.stdout.splitlines()
    line = SCRIPT.splitlines().index("        loss.backward()") + 1
    assert any(edit.startswith(f"train.py:{line}:") for edit in edits)
    assert summary.startswith("train.py: convertible for ddp: ")
    assert names() == ["train.py"]


def test_a_refused_script_is_status_3(refused: Path, trainera: Trainera) -> None:
    result = trainera("check", refused)
    assert result.status == 3
    assert result.stdout.splitlines()[-1].startswith("refused.py: refused: line ")
    assert "^" in result.stdout


def test_several_scripts_get_a_line_each(script: Path, refused: Path, trainera: Trainera) -> None:
    result = trainera("check", script, refused)
    first, second = result.stdout.splitlines()
    assert result.status == 3
    assert first.startswith("train.py: convertible")
    assert second.startswith("refused.py: refused: line ")
    assert result.stderr == "2 files: 1 convertible, 1 refused\n"


def test_a_directory_is_searched_but_not_its_environments(
    script: Path, project: Path, trainera: Trainera
) -> None:
    for foreign in (".hidden/a.py", "__pycache__/a.py", "venv/lib/a.py"):
        Path(foreign).parent.mkdir(parents=True)
        Path(foreign).write_text(SCRIPT)
    Path("venv/pyvenv.cfg").write_text("")
    result = trainera("check", ".")
    names = [line.split(":")[0] for line in result.stdout.splitlines()]
    assert names == ["project/loaders.py", "project/models.py", "project/train.py", "train.py"]


def test_files_that_train_nothing_are_no_error_among_others(
    script: Path, trainera: Trainera
) -> None:
    Path("package").mkdir()
    Path("package/__init__.py").write_text("")
    Path("package/shapes.py").write_text("def area(a, b):\n    return a * b\n")
    result = trainera("check", script, "package")
    assert result.status == 0
    assert "1 convertible" in result.stderr
    assert "2 no training" in result.stderr


def test_a_file_that_cannot_be_parsed_does_not_hide_the_others(
    script: Path, trainera: Trainera
) -> None:
    Path("broken.py").write_text("x = (\n")
    result = trainera("check", "broken.py", script)
    first, second = result.stdout.splitlines()
    assert result.status == 2
    assert first.startswith("broken.py:1:5: syntax: ")
    assert second.startswith("train.py: convertible")


def test_a_directory_without_python_files(trainera: Trainera) -> None:
    Path("empty").mkdir()
    result = trainera("check", "empty")
    assert result.status == 2
    assert "empty: no Python file in there" in result.stderr


def test_a_missing_file(trainera: Trainera) -> None:
    result = trainera("check", "none.py")
    assert (result.status, result.stdout) == (2, "")
    assert "none.py: no such file" in result.stderr


def test_the_engine_is_checked_first(script: Path, trainera: Trainera) -> None:
    result = trainera("check", script, "--engine", "horovodd")
    assert result.status == 2
    assert "no engine is called 'horovodd'" in result.stderr


def test_as_data(script: Path, refused: Path, trainera: Trainera) -> None:
    Path("broken.py").write_text("x = (\n")
    result = trainera("check", script, refused, "broken.py", "--json")
    data = json.loads(result.stdout)
    assert (result.status, result.stderr) == (3, "")
    assert data["status"] == 3
    verdicts = {one["script"]: one["verdict"] for one in data["scripts"]}
    assert verdicts == {"train.py": "convertible", "refused.py": "refused", "broken.py": "error"}


def test_one_script_as_data_has_the_same_shape(script: Path, trainera: Trainera) -> None:
    data = json.loads(trainera("check", script, "--json").stdout)
    assert [one["verdict"] for one in data["scripts"]] == ["convertible"]
    assert data["scripts"][0]["edits"]


def test_a_script_that_is_named_twice_counts_once(script: Path, trainera: Trainera) -> None:
    result = trainera("check", script, ".", script.resolve())
    assert [line.split(":")[0] for line in result.stdout.splitlines()] == ["train.py"]
    assert result.stderr == "1 file: 1 convertible\n"


def test_every_line_names_its_file_in_the_same_way(script: Path, trainera: Trainera) -> None:
    Path("shapes.py").write_text("def area(a, b):\n    return a * b\n")
    Path("broken.py").write_text("def area(a, b:\n")
    result = trainera("check", Path.cwd())
    names = [line.split(":")[0] for line in result.stdout.splitlines()]
    assert names == ["broken.py", "shapes.py", "train.py"]
