"""``trainera convert``, from arguments to files."""

import ast
import json
import shutil
import subprocess
from pathlib import Path

import pytest
from small_project import ENTRY, MODULE, SCRIPT, UNCHANGED, Trainera, names


def test_the_default_is_a_file_beside_the_script(script: Path, trainera: Trainera) -> None:
    result = trainera("convert", script)
    assert (result.status, result.stdout) == (0, "")
    assert "wrote train_ddp.py" in result.stderr
    assert "torchrun --nproc-per-node 2 train_ddp.py" in result.stderr
    assert "crew.join()" in Path("train_ddp.py").read_text()
    assert script.read_text() == SCRIPT


def test_converting_again_replaces_what_trainera_wrote(script: Path, trainera: Trainera) -> None:
    assert trainera("convert", script).status == 0
    script.write_text(SCRIPT.replace("lr=0.1", "lr=0.2"))
    assert trainera("convert", script).status == 0
    assert "lr=0.2" in Path("train_ddp.py").read_text()


def test_a_file_of_the_users_is_not_overwritten(script: Path, trainera: Trainera) -> None:
    Path("train_ddp.py").write_text("mine\n")
    result = trainera("convert", script)
    assert result.status == 2
    assert "train_ddp.py: exists" in result.stderr
    assert "--force" in result.stderr
    assert Path("train_ddp.py").read_text() == "mine\n"
    assert trainera("convert", script, "--force").status == 0
    assert "crew.join()" in Path("train_ddp.py").read_text()


def test_output_to_a_file(script: Path, trainera: Trainera) -> None:
    result = trainera("convert", script, "-o", "sub/parallel.py")
    assert result.status == 0
    assert "torchrun --nproc-per-node 2 sub/parallel.py" in result.stderr
    assert "crew.join()" in Path("sub/parallel.py").read_text()
    assert not Path("train_ddp.py").exists()


def test_output_to_stdout_is_the_source_alone(script: Path, trainera: Trainera) -> None:
    result = trainera("convert", script, "-o", "-")
    assert result.status == 0
    ast.parse(result.stdout)
    assert "crew.join()" in result.stdout
    assert names() == ["train.py"]


def test_output_onto_the_script_is_refused(script: Path, trainera: Trainera) -> None:
    result = trainera("convert", script, "-o", script, "--force")
    assert result.status == 2
    assert "--in-place" in result.stderr
    assert script.read_text() == SCRIPT


def test_in_place(script: Path, trainera: Trainera) -> None:
    assert trainera("convert", script, "--in-place").status == 0
    assert "crew.join()" in script.read_text()
    assert names() == ["train.py"]


@pytest.mark.skipif(shutil.which("patch") is None, reason="needs patch")
def test_a_diff_applies_and_writes_nothing(script: Path, trainera: Trainera) -> None:
    result = trainera("convert", script, "--diff")
    assert result.status == 0
    assert "+crew.join()" in result.stdout
    assert names() == ["train.py"]
    wanted = trainera("convert", script, "-o", "-").stdout
    subprocess.run(["patch", "-s", script], input=result.stdout, text=True, check=True)
    assert script.read_text() == wanted


def test_the_explanation_names_line_rule_and_reason(script: Path, trainera: Trainera) -> None:
    result = trainera("convert", script, "--explain")
    line = SCRIPT.splitlines().index("        loss.backward()") + 1
    assert any(text.startswith(f"{line}: ") for text in result.stdout.splitlines())
    assert all(text.count(": ") >= 2 for text in result.stdout.splitlines())


def test_the_explanation_keeps_out_of_a_diff(script: Path, trainera: Trainera) -> None:
    plain = trainera("convert", script, "--diff")
    explained = trainera("convert", script, "--diff", "--explain")
    assert explained.stdout == plain.stdout
    assert trainera("convert", script, "--explain").stdout in explained.stderr


def test_standalone_needs_no_trainera(script: Path, trainera: Trainera) -> None:
    assert trainera("convert", script, "--standalone").status == 0
    assert "from trainera" not in Path("train_ddp.py").read_text()


def test_batch_statistics_can_be_local(script: Path, trainera: Trainera) -> None:
    script.write_text(
        SCRIPT.replace("nn.Linear(3, 1)", "nn.Sequential(nn.BatchNorm1d(3), nn.Linear(3, 1))")
    )
    assert "crew.batchnorm(" in trainera("convert", script, "-o", "-").stdout
    local = trainera("convert", script, "-o", "-", "--batchnorm", "local")
    assert "crew.batchnorm(" not in local.stdout


def test_a_refused_script_is_explained_and_nothing_written(
    refused: Path, trainera: Trainera
) -> None:
    result = trainera("convert", refused)
    assert (result.status, result.stdout) == (3, "")
    first, source, caret, *_ = result.stderr.splitlines()
    assert first.startswith("refused.py:")
    assert first.count(" — ") >= 2
    assert "|" in source
    assert "^" in caret
    assert "nothing was written" in result.stderr
    assert names() == ["refused.py"]


class TestModules:
    def test_the_default_is_a_directory_with_the_whole_set(
        self, project: Path, trainera: Trainera
    ) -> None:
        result = trainera("convert", project / "train.py")
        assert result.status == 0
        assert "torchrun --nproc-per-node 2 project_ddp/train.py" in result.stderr
        written = {path.name for path in Path("project_ddp").iterdir()}
        assert written == {"train.py", "loaders.py", "models.py"}
        assert "crew.join()" in Path("project_ddp/train.py").read_text()
        assert "crew.split(" in Path("project_ddp/loaders.py").read_text()
        assert Path("project_ddp/models.py").read_text() == UNCHANGED
        assert (project / "train.py").read_text() == ENTRY

    def test_a_directory_of_choice(self, project: Path, trainera: Trainera) -> None:
        assert trainera("convert", project / "train.py", "-o", "out").status == 0
        assert "crew.split(" in Path("out/loaders.py").read_text()

    @pytest.mark.parametrize("out", ["out.py", "-"])
    def test_one_file_does_not_hold_it(self, out: str, project: Path, trainera: Trainera) -> None:
        result = trainera("convert", project / "train.py", "-o", out)
        assert result.status == 2
        assert "-o DIR" in result.stderr
        assert "--in-place" in result.stderr
        assert not Path("out.py").exists()

    def test_in_place_writes_them_all(self, project: Path, trainera: Trainera) -> None:
        assert trainera("convert", project / "train.py", "--in-place").status == 0
        assert "crew.join()" in (project / "train.py").read_text()
        assert "crew.split(" in (project / "loaders.py").read_text()
        assert (project / "models.py").read_text() == UNCHANGED

    def test_nothing_is_written_if_one_file_may_not_be(
        self, project: Path, trainera: Trainera
    ) -> None:
        Path("project_ddp").mkdir()
        Path("project_ddp/models.py").write_text("mine\n")
        result = trainera("convert", project / "train.py")
        assert result.status == 2
        assert "project_ddp/models.py: exists" in result.stderr
        assert names("project_ddp") == ["models.py"]

    def test_a_file_elsewhere_is_said_to_need_its_modules(
        self, project: Path, trainera: Trainera
    ) -> None:
        (project / "loaders.py").write_text(MODULE.replace("DataLoader(T", "list(T"))
        (project / "train.py").write_text(
            SCRIPT.replace("import torch\n", "import torch\nimport models\n", 1)
        )
        result = trainera("convert", project / "train.py", "-o", "out/train.py")
        assert result.status == 0
        assert "it needs project/models.py beside it; -o DIR/ takes them along" in result.stderr


class TestJson:
    def test_a_plan_with_its_outputs(self, script: Path, trainera: Trainera) -> None:
        result = trainera("convert", script, "--json")
        data = json.loads(result.stdout)
        assert (result.status, result.stderr) == (0, "")
        assert (data["status"], data["engine"], data["refusals"]) == (0, "ddp", [])
        assert data["outputs"] == ["train_ddp.py"]
        assert {"rule", "place", "action", "reason"} <= set(data["edits"][0])

    def test_a_diff(self, script: Path, trainera: Trainera) -> None:
        data = json.loads(trainera("convert", script, "--json", "--diff").stdout)
        assert data["outputs"] == []
        assert data["diff"] == trainera("convert", script, "--diff").stdout

    def test_a_refusal(self, refused: Path, trainera: Trainera) -> None:
        result = trainera("convert", refused, "--json")
        data = json.loads(result.stdout)
        assert (result.status, result.stderr) == (3, "")
        assert (data["status"], data["outputs"]) == (3, [])
        assert {"rule", "place", "what", "why", "do"} <= set(data["refusals"][0])

    def test_stdout_is_not_for_two(self, script: Path, trainera: Trainera) -> None:
        result = trainera("convert", script, "--json", "-o", "-")
        assert result.status == 2
        assert "--json and -o - both want stdout" in json.loads(result.stdout)["error"]

    def test_an_error(self, trainera: Trainera) -> None:
        result = trainera("convert", "none.py", "--json")
        data = json.loads(result.stdout)
        assert (result.status, result.stderr) == (2, "")
        assert data["status"] == 2
        assert "none.py: no such file" in data["error"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--diff", "--in-place"], "--diff and --in-place exclude each other"),
        (["-o", "a.py", "--diff"], "-o and --diff exclude each other"),
        (["--diff", "--force"], "--force"),
        (["--engine", "dpp"], "no engine is called 'dpp' — did you mean ddp?"),
    ],
)
def test_options_that_make_no_sense(
    options: list[str], message: str, script: Path, trainera: Trainera
) -> None:
    result = trainera("convert", script, *options)
    assert (result.status, result.stdout) == (2, "")
    assert message in result.stderr
    assert names() == ["train.py"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "bad.py: no such file"),
        (b"x = (\n", "bad.py:1:5: syntax: "),
        (b"\x7fELF\0\0", "bad.py: is not Python source"),
        (b"", "bad.py: is empty"),
        (b"\xff\xfe", "bad.py: is not readable text"),
    ],
)
def test_bad_input(content: bytes | None, message: str, trainera: Trainera) -> None:
    if content is not None:
        Path("bad.py").write_bytes(content)
    result = trainera("convert", "bad.py")
    assert result.status in (2, 3)
    assert message in result.stderr
    assert "Traceback" not in result.stderr


def test_a_syntax_error_shows_the_line(trainera: Trainera) -> None:
    Path("bad.py").write_text("import torch\nfor x in loader\n    pass\n")
    result = trainera("convert", "bad.py")
    assert result.status == 2
    first, source, caret = result.stderr.splitlines()
    assert first.startswith("bad.py:2:16: syntax: ")
    assert source.index("loader") + len("loader") == caret.index("^")


def test_a_directory_is_no_script(project: Path, trainera: Trainera) -> None:
    result = trainera("convert", project)
    assert result.status == 2
    assert "project: is a directory" in result.stderr


def test_an_output_that_cannot_be_written(script: Path, trainera: Trainera) -> None:
    Path("file").write_text("")
    result = trainera("convert", script, "-o", "file/train.py")
    assert result.status in (1, 2)
    assert "file" in result.stderr
    assert "internal error" not in result.stderr


def test_from_outside(script: Path, program: Trainera) -> None:
    result = program("convert", script)
    assert (result.status, result.stdout) == (0, "")
    assert "wrote train_ddp.py" in result.stderr
