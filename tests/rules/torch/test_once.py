"""What changes files or talks to a service is done by one worker."""

import pytest

from tests.rules.tools import added_unless_refused, beyond, refused, right_or_refused


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("torch.save(1, 'a')", "crew.once(torch.save, 1, 'a')"),
        ("torch.save(obj=1, f='a')", "crew.once(torch.save, obj=1, f='a')"),
        ("os.makedirs('a', exist_ok=True)", "crew.once(os.makedirs, 'a', exist_ok=True)"),
        ("shutil.copyfile('a', 'b')", "crew.once(shutil.copyfile, 'a', 'b')"),
        ("np.save('a', 1)", "crew.once(np.save, 'a', 1)"),
        ("Path('a').mkdir(parents=True)", "crew.once(Path('a').mkdir, parents=True)"),
        ("Path('a').write_text('b')", "crew.once(Path('a').write_text, 'b')"),
        ("Path('a').unlink()", "crew.once(Path('a').unlink)"),
        ("with open('a', 'w') as f:\n    f.write('b')", "with crew.once(open, 'a', 'w') as f:"),
        (
            "with open('a', mode='a') as f:\n    f.write('b')",
            "with crew.once(open, 'a', mode='a') as f:",
        ),
        ("f = open('a', 'wb')", "f = crew.once(open, 'a', 'wb')"),
        ("f = open('a', 'r+')", "f = crew.once(open, 'a', 'r+')"),
        ("f = open('a', 'x')", "f = crew.once(open, 'a', 'x')"),
        ("logging.basicConfig(filename='a')", "crew.once(logging.basicConfig, filename='a')"),
        ("handler = logging.FileHandler('a')", "handler = crew.once(logging.FileHandler, 'a')"),
        ("json.dump({}, open('a', 'w'))", "json.dump({}, crew.once(open, 'a', 'w'))"),
    ],
)
def test_by_the_first_worker(before: str, after: str) -> None:
    imports = "import json, logging, os, shutil\nimport numpy as np\nfrom pathlib import Path"
    assert beyond(imports=imports, after=before) == [after]


@pytest.mark.parametrize(
    ("imports", "before", "after"),
    [
        (
            "from pathlib import Path",
            "with Path('a').open('a') as f:\n    f.write('b')",
            "with crew.once(Path('a').open, 'a') as f:",
        ),
        ("from pathlib import Path", "Path('a').rename('b')", "crew.once(Path('a').rename, 'b')"),
        ("import gzip", "f = gzip.open('a', 'wt')", "f = crew.once(gzip.open, 'a', 'wt')"),
        ("import io", "f = io.open('a', 'w')", "f = crew.once(io.open, 'a', 'w')"),
        ("import os", "os.symlink('a', 'b')", "crew.once(os.symlink, 'a', 'b')"),
        ("import os", "os.removedirs('a')", "crew.once(os.removedirs, 'a')"),
        (
            "import shutil",
            "shutil.make_archive('a', 'zip', 'b')",
            "crew.once(shutil.make_archive, 'a', 'zip', 'b')",
        ),
        ("import numpy as np", "np.array([1]).tofile('a')", "crew.once(np.array([1]).tofile, 'a')"),
        (
            "import torch.jit",
            "torch.jit.trace(model, torch.zeros(1, 3)).save('a')",
            "crew.once(torch.jit.trace(model.module, torch.zeros(1, 3)).save, 'a')",
        ),
    ],
)
def test_other_ways_to_write(imports: str, before: str, after: str) -> None:
    """Left alone, every worker would write, append or fail for itself."""
    right_or_refused(after, imports=imports, after=before)


def test_the_arguments_are_the_whole_batchs() -> None:
    added = beyond(step="torch.save({'loss': loss.item()}, 'a')")
    assert added == ["crew.once(torch.save, {'loss': loader.mean(loss.item())}, 'a')"]


def test_a_writer() -> None:
    added = beyond(
        imports="from torch.utils.tensorboard import SummaryWriter",
        before="writer = SummaryWriter('runs')",
        step="writer.add_scalar('loss', loss.item(), epoch)",
        after="writer.close()",
    )
    assert added == [
        "writer = crew.once(SummaryWriter, 'runs')",
        "writer.add_scalar('loss', loader.mean(loss.item()), epoch)",
    ]


@pytest.mark.parametrize(
    "line",
    [
        "text = open('a').read()",
        "f = open('a', 'r')",
        "f = open('a', 'rb')",
        "f = open('a', mode='rt')",
        "state = torch.load('a')",
        "print(os.path.join('a', 'b'))",
        "print(Path('a').read_text())",
        "print('torch.save(1, 2)')  # torch.save(1, 2)",
        "class Shelf:\n    def save(self, a):\n        print(a)\nShelf().save(1)",
        "logging.basicConfig(level=10)",
        "print(json.dumps({}))",
        "def save(thing):\n    print(thing)\nsave(1)",
    ],
)
def test_what_writes_nothing(line: str) -> None:
    imports = "import json, logging, os\nfrom pathlib import Path"
    assert beyond(imports=imports, after=line) == []


@pytest.mark.parametrize(
    ("imports", "before"),
    [
        ("import os", "if os.system('make') == 0:\n    print('made')"),
        ("import subprocess", "if subprocess.run(['make']).returncode:\n    raise SystemExit(1)"),
    ],
)
def test_results_that_are_used(imports: str, before: str) -> None:
    """The other workers have no result: what hangs on it must be agreed upon, or refused."""
    added = added_unless_refused(imports=imports, before=before)
    assert added is None or any("crew.agree(" in line for line in added), added


def test_how_a_file_is_opened_is_not_known() -> None:
    """Read by one worker only, the others would go on with nothing."""
    right_or_refused(imports="import sys", setup="names = open('a', sys.argv[1]).read()")


@pytest.mark.parametrize(
    ("imports", "before", "after"),
    [
        (
            "import subprocess",
            "out = subprocess.run(['git'], capture_output=True).stdout",
            "out = crew.agree(crew.once(subprocess.run, ['git'], capture_output=True)).stdout",
        ),
        (
            "import subprocess",
            "revision = subprocess.check_output(['git']).decode()",
            "revision = crew.agree(crew.once(subprocess.check_output, ['git'])).decode()",
        ),
        (
            "import shutil",
            "place = shutil.copy('a', 'b')",
            "place = crew.agree(crew.once(shutil.copy, 'a', 'b'))",
        ),
        ("import shutil", "shutil.copy('a', 'b')", "crew.once(shutil.copy, 'a', 'b')"),
        (
            "import os",
            "_, width = os.popen('stty size', 'r').read().split()",
            "_, width = crew.agree(crew.once(os.popen, 'stty size', 'r').read()).split()",
        ),
    ],
)
def test_answers_are_told_to_all(imports: str, before: str, after: str) -> None:
    assert beyond(imports=imports, before=before) == [after]


@pytest.mark.parametrize(
    ("imports", "setup", "line"),
    [
        ("import wandb", "wandb.init(config={'w': 9})", "layer = nn.Linear(3, wandb.config.w)"),
        ("import wandb", "run = wandb.init()\nlr = run.config['lr']", "half = lr / 2"),
        ("import wandb", "c = wandb.init().config", "for _ in range(c.epochs):\n    pass"),
        ("", "f = open('a', 'w+')\nf.write('3')", "number = int(f.read())"),
        ("import json", "f = open('a', 'r+')\nc = json.load(f)", "size = c['size'] * 2"),
        ("", "f = open('a', 'a+')", "for row in f:\n    print(row)"),
        ("", "f = open('a', 'a+')", "rows = [row for row in f]"),
        ("import os, wandb", "wandb.init()", "path = os.path.join(wandb.run.dir, 'a')"),
        ("import numpy as np", "m = np.memmap('a', mode='w+')", "x = torch.from_numpy(m)"),
        ("import zipfile", "z = zipfile.ZipFile('a', 'a')", "count = len(z.namelist())"),
    ],
)
def test_what_only_one_worker_has_is_no_value_for_all(imports: str, setup: str, line: str) -> None:
    """The others would go on with nothing: a number that is no number, a loop without rounds."""
    found = refused(imports=imports, setup=f"{setup}\n{line}")
    assert [(rule, place) for rule, place, _, _ in found] == [("once", line.splitlines()[0])]


@pytest.mark.parametrize(
    ("test", "after"),
    [
        ("if writer:", "if crew.agree(bool(writer)):"),
        ("if writer and epoch:", "if crew.agree(bool(writer and epoch)):"),
        ("if not writer:", "if crew.agree(bool(not writer)):"),
        ("if writer is not None:", None),
    ],
)
def test_whether_there_is_a_writer_is_agreed_upon(test: str, after: str | None) -> None:
    added = beyond(
        imports="from torch.utils.tensorboard import SummaryWriter",
        before="writer = SummaryWriter('runs')",
        end=f"{test}\n    print(epoch)",
    )
    assert added == ["writer = crew.once(SummaryWriter, 'runs')", *([after] if after else [])]


def test_a_question_to_a_file_of_one_worker_is_answered_for_all() -> None:
    added = beyond(before="f = open('a', 'a')", end="if f.tell() == 0:\n    print('new')")
    assert added == ["f = crew.once(open, 'a', 'a')", "if crew.agree(bool(f.tell() == 0)):"]


@pytest.mark.parametrize(
    ("imports", "before", "after"),
    [
        (
            "import zipfile",
            "with zipfile.ZipFile('a', 'w') as z:\n    z.write('b')",
            "with crew.once(zipfile.ZipFile, 'a', 'w') as z:",
        ),
        (
            "import tarfile",
            "with tarfile.open('a', 'w:gz') as t:\n    t.add('b')",
            "with crew.once(tarfile.open, 'a', 'w:gz') as t:",
        ),
        (
            "import h5py",
            "with h5py.File('a', mode='w') as f:\n    f.create_dataset('x', data=[1])",
            "with crew.once(h5py.File, 'a', mode='w') as f:",
        ),
        (
            "import sqlite3",
            "db = sqlite3.connect('a')\ndb.execute('INSERT INTO runs VALUES (1)')\ndb.commit()",
            "db = crew.once(sqlite3.connect, 'a')",
        ),
        (
            "import csv",
            "rows = csv.writer(open('a', 'w'))\nrows.writerow([1])",
            "rows = csv.writer(crew.once(open, 'a', 'w'))",
        ),
        (
            "import shelve",
            "with shelve.open('a') as s:\n    s['x'] = 1",
            "with crew.once(shelve.open, 'a') as s:",
        ),
        (
            "import pandas as pd",
            "with pd.ExcelWriter('a.xlsx') as w:\n    print(w)",
            "with crew.once(pd.ExcelWriter, 'a.xlsx') as w:",
        ),
        (
            "import zipfile",
            "zipfile.ZipFile('a').extractall('b')",
            "crew.in_turn(zipfile.ZipFile('a').extractall, 'b')",
        ),
    ],
)
def test_files_that_are_more_than_text(imports: str, before: str, after: str) -> None:
    assert beyond(imports=imports, before=before) == [after]


@pytest.mark.parametrize(
    ("imports", "line"),
    [
        ("import zipfile", "names = zipfile.ZipFile('a').namelist()"),
        ("import tarfile", "names = tarfile.open('a', 'r:gz').getnames()"),
        ("import h5py", "x = torch.tensor(h5py.File('a', 'r')['x'][:])"),
        ("import numpy as np", "x = torch.from_numpy(np.memmap('a', mode='r'))"),
        ("import sqlite3", "rows = sqlite3.connect('a').execute('SELECT * FROM t').fetchall()"),
        ("import shelve", "x = shelve.open('a', 'r')['x']"),
    ],
)
def test_files_that_are_only_read(imports: str, line: str) -> None:
    assert beyond(imports=imports, setup=line) == []


def test_what_one_worker_has_is_not_taken_apart() -> None:
    refused(imports="import os", before="a, b = os.popen('date')")
