"""Scripts that make workers of their own: by a flag that is off, on every path, or not at all."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.rules.tools import converted, refused, script

IMPORTS = "import sys\nimport torch.distributed as dist"
FLAG = 'distributed = "--distributed" in sys.argv'


def test_an_import_that_is_not_used() -> None:
    plan, after = converted(script(imports="import torch.distributed as dist\nimport accelerate"))
    assert not plan.refusals
    assert "no_own_workers" not in after


def test_what_is_called_under_a_flag_is_guarded() -> None:
    start = 'if distributed:\n    dist.init_process_group("gloo")\n    dist.barrier()'
    _, after = converted(script(imports=IMPORTS, setup=f"{FLAG}\n{start}"))
    assert '    crew.no_own_workers(dist.init_process_group, "gloo")\n    dist.barrier()\n' in after


def test_a_choice_within_an_expression() -> None:
    lines = "wrapped = nn.parallel.DistributedDataParallel(model) if distributed else model"
    _, after = converted(
        script(imports=IMPORTS, setup=FLAG, before=lines, loss="loss = criterion(wrapped(x), y)")
    )
    assert "crew.no_own_workers(nn.parallel.DistributedDataParallel, model) if" in after


def test_there_is_no_process_group_of_the_scripts() -> None:
    lines = "if dist.is_initialized() and dist.get_rank() > 0:\n    print(dist.get_rank())"
    _, after = converted(script(imports=IMPORTS, after=lines))
    assert "if False and dist.get_rank() > 0:\n    print(dist.get_rank())" in after


def test_the_launcher_is_forgotten() -> None:
    lines = 'import os\nrank = int(os.environ.get("RANK", -1))\nif rank >= 0:\n    dist.barrier()'
    _, after = converted(script(imports=f"{IMPORTS}\n{lines}"))
    assert "crew.join()\ncrew.forget_launcher()\nrank = int(" in after
    assert "crew.no_own_workers(dist.barrier)" in after


@pytest.mark.parametrize(
    "lines",
    [
        'dist.init_process_group("gloo")',
        'if distributed:\n    dist.init_process_group("gloo")\nelse:\n    raise SystemExit("no")',
        'def begin():\n    dist.init_process_group("gloo")\n\n\nbegin()',
        'class Group:\n  def __init__(self):\n    dist.init_process_group("gloo")\n\n\nGroup()',
    ],
)
def test_on_every_path_it_is_no_sequential_script(lines: str) -> None:
    ((rule, code, what, _),) = refused(script(imports=IMPORTS, setup=f"{FLAG}\n{lines}"))
    assert (rule, code) == ("already-distributed", 'dist.init_process_group("gloo")')
    assert what.endswith("by torch.distributed.init_process_group")


def test_what_is_handed_on_cannot_be_followed() -> None:
    refusals = refused(script(imports=IMPORTS, after="print(dist.get_rank)"))
    assert [rule for rule, *_ in refusals] == ["own-workers"]


def test_with_the_flag_the_run_ends(tmp_path: Path) -> None:
    path = tmp_path / "train.py"
    start = 'if distributed:\n    dist.init_process_group("gloo")'
    path.write_text(script(imports=IMPORTS, setup=f"{FLAG}\n{start}", after="print('trained')"))
    command = [sys.executable, "-m", "trainera", "run", path.name, "-n", "2"]
    ended = subprocess.run(
        [*command, "--", "--distributed"], cwd=tmp_path, capture_output=True, text=True, timeout=120
    )
    assert ended.returncode == 3
    assert "trained" not in ended.stdout
    assert "train.py:10: init_process_group() would make this script" in ended.stderr
