"""Whatever a worker finds out for itself and acts upon must be the same for all."""

import pytest

from tests.rules.tools import added_unless_refused, beyond, refused, right_or_refused
from trainera.plan import Options

IMPORTS = (
    "import datetime, glob, os, random, secrets, time\nimport numpy as np\nfrom pathlib import Path"
)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("if os.path.exists('a'):\n    pass", "if crew.agree(os.path.exists('a')):"),
        ("if not os.path.isfile('a'):\n    pass", "if crew.agree(not os.path.isfile('a')):"),
        ("if Path('a').exists():\n    pass", "if crew.agree(Path('a').exists()):"),
        (
            "if Path('a').exists() and epochs:\n    pass",
            "if crew.agree(Path('a').exists() and epochs):",
        ),
        ("found = os.path.exists('a')\nif found:\n    pass", "if crew.agree(found):"),
        ("if glob.glob('*.pt'):\n    pass", "if crew.agree(glob.glob('*.pt')):"),
        ("while time.time() < 0:\n    pass", "while crew.agree(time.time() < 0):"),
        ("n = 1 if os.path.exists('a') else 2", "n = 1 if crew.agree(os.path.exists('a')) else 2"),
        (
            "for name in os.listdir('.'):\n    print(name)",
            "for name in crew.agree(os.listdir('.')):",
        ),
        (
            "if datetime.datetime.now().hour > 25:\n    pass",
            "if crew.agree(datetime.datetime.now().hour > 25):",
        ),
        ("if os.path.getsize('a') > 3:\n    pass", "if crew.agree(os.path.getsize('a') > 3):"),
    ],
)
def test_conditions(before: str, after: str) -> None:
    assert beyond(imports=IMPORTS, before=f"epochs = 3\n{before}") == [after]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            "names = [f for f in os.listdir('.') if os.path.isfile(os.path.join('.', f))]",
            "names = crew.agree([f for f in os.listdir('.') "
            "if os.path.isfile(os.path.join('.', f))])",
        ),
        (
            "names = sorted(f for f in os.listdir('.') if os.path.isfile(f))",
            "names = crew.agree(sorted(f for f in os.listdir('.') if os.path.isfile(f)))",
        ),
        (
            "paths = {p.stem: str(p) for p in Path('.').glob('*') if p.is_file()}",
            "paths = crew.agree({p.stem: str(p) for p in Path('.').glob('*') if p.is_file()})",
        ),
        (
            "paths = (p for p in ('a', 'b') if os.path.exists(p))",
            "paths = crew.agree((p for p in ('a', 'b') if os.path.exists(p)))",
        ),
        (
            "first = next(i for i in itertools.count() if not os.path.exists(f'run{i}'))",
            "first = crew.agree(next(i for i in itertools.count() "
            "if not os.path.exists(f'run{i}')))",
        ),
        (
            "names = [os.path.join(d, f) for d in os.listdir('.') if os.path.isdir(d) "
            "for f in os.listdir(d)]",
            "names = crew.agree([os.path.join(d, f) for d in os.listdir('.') "
            "if os.path.isdir(d) for f in os.listdir(d)])",
        ),
        (
            "names = list(filter(os.path.isfile, os.listdir('.')))",
            "names = crew.agree(list(filter(os.path.isfile, os.listdir('.'))))",
        ),
        (
            "for f in filter(lambda f: os.path.isfile(f), ('a', 'b')):\n    print(f)",
            "for f in crew.agree(filter(lambda f: os.path.isfile(f), ('a', 'b'))):",
        ),
        (
            "if any(os.path.exists(f) for f in ('a', 'b')):\n    print('there')",
            "if crew.agree(any(os.path.exists(f) for f in ('a', 'b'))):",
        ),
        (
            "large = max(os.path.getsize(f) for f in ('a', 'b'))\nif large > 3:\n    print(large)",
            "if crew.agree(large > 3):",
        ),
    ],
)
def test_files_are_picked_at_once(before: str, after: str) -> None:
    assert beyond(imports=f"{IMPORTS}\nimport itertools", before=before) == [after]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            "parts = [torch.load(f) for f in glob.glob('*.pt') if os.path.exists(f)]",
            "parts = [torch.load(f) for f in crew.agree(glob.glob('*.pt')) "
            "if crew.agree(os.path.exists(f))]",
        ),
        (
            "runs = [r for r in [data] if os.path.exists(r.root)]",
            "runs = [r for r in [data] if crew.agree(os.path.exists(r.root))]",
        ),
        (
            "runs = [m for m, path in [(data, 'a')] if os.path.exists(path)]",
            "runs = [m for m, path in [(data, 'a')] if crew.agree(os.path.exists(path))]",
        ),
        (
            "free = (i for i in itertools.count() if not os.path.exists(f'run{i}'))",
            "free = (i for i in itertools.count() if crew.agree(not os.path.exists(f'run{i}')))",
        ),
        (
            "entries = [e for e in os.scandir('.') if e.is_file()]",
            "entries = [e for e in os.scandir('.') if crew.agree(e.is_file())]",
        ),
    ],
)
def test_what_is_no_name_is_not_sent_around(before: str, after: str) -> None:
    assert beyond(imports=f"{IMPORTS}\nimport itertools", before=before) == [after]


def test_a_time_limit() -> None:
    added = beyond(
        imports=IMPORTS,
        before="began = time.time()",
        step="if time.time() - began > 60:\n    break",
    )
    assert added == ["if crew.agree(time.time() - began > 60):"]


def test_random_numbers_inside_a_pass() -> None:
    """All draw the same, unless each is to draw its own."""
    parts = {"step": "if torch.rand(1).item() > 2:\n    break"}
    assert beyond(**parts) == []
    agreed = "if crew.agree(torch.rand(1)).item() > 2:"
    assert agreed in beyond(Options(random="own"), **parts)


@pytest.mark.parametrize(
    ("parts"),
    [
        {"before": "began = time.time()", "after": "print(time.time() - began)"},
        {"before": "if random.random() > 2:\n    pass"},
        {"step": "if random.random() > 2:\n    break"},
        {"step": "if np.random.rand() > 2:\n    break"},
        {"end": "if torch.rand(1).item() > 2:\n    break"},
        {"before": "if torch.cuda.is_available():\n    print('cuda')"},
        {"before": "if len(data) > 30:\n    print('many')"},
        {"before": "if os.path.join('a', 'b') == 'a/b':\n    pass"},
        {"before": "print('os.path.exists')  # if os.path.exists('a'):"},
        {
            "before": "class Path2:\n    def size(self):\n        return 1\n"
            "if Path2().size():\n    pass"
        },
    ],
    ids=str,
)
def test_what_is_the_same_anyway(parts: dict[str, str]) -> None:
    assert beyond(imports=IMPORTS, **parts) == []


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("torch.manual_seed(int(time.time()))", "torch.manual_seed(crew.agree(int(time.time())))"),
        ("random.seed(time.time())", "random.seed(crew.agree(time.time()))"),
        ("np.random.seed(os.getpid())", "np.random.seed(crew.agree(os.getpid()))"),
        (
            "seed = time.time_ns() % 1000\ntorch.manual_seed(seed)",
            "torch.manual_seed(crew.agree(seed))",
        ),
    ],
)
def test_seeds(before: str, after: str) -> None:
    """With seeds of their own, the workers would draw different splits and initial weights."""
    right_or_refused(after, imports=IMPORTS, setup=before)


@pytest.mark.parametrize(
    "setup",
    [
        "rng = np.random.default_rng()\nchosen = rng.permutation(20)[:10]",
        "rng = np.random.RandomState()\nchosen = rng.permutation(20)[:10]",
        "rng = random.Random()\nchosen = rng.sample(range(20), 10)",
        "torch.seed()\nchosen = torch.randperm(20)[:10]",
        "random.seed()\nchosen = random.sample(range(20), 10)",
        "chosen = np.random.default_rng().permutation(20)[:10]",
        "chosen = np.random.default_rng(seed=None).permutation(20)[:10]",
        "chosen = np.random.Generator(np.random.PCG64()).permutation(20)[:10]",
        "chosen = random.Random(int(time.time())).sample(range(20), 10)",
        "g = torch.Generator()\ng.seed()\nchosen = torch.randperm(20, generator=g)[:10]",
        "g = torch.Generator()\ng.manual_seed(int(time.time()))\n"
        "chosen = torch.randperm(20, generator=g)[:10]",
        "random.seed(None)\nchosen = random.sample(range(20), 10)",
        "chosen = random.SystemRandom().sample(range(20), 10)",
        "random.seed(int.from_bytes(os.urandom(4), 'big'))\nchosen = random.sample(range(20), 10)",
        "torch.manual_seed(secrets.randbits(16))\nchosen = torch.randperm(20)[:10]",
    ],
)
def test_data_that_differ_from_worker_to_worker(setup: str) -> None:
    """Which samples train and which validate, or what a label means, would differ."""
    loader = (
        "loader = DataLoader(torch.utils.data.Subset(data, chosen), batch_size=8, shuffle=True)"
    )
    lines = added_unless_refused(imports=IMPORTS, setup=setup, loader=loader)
    assert lines is None or any("crew.agree(" in line for line in lines), "every worker has its own"


@pytest.mark.parametrize(
    "line",
    [
        "g = torch.Generator()\ng.seed()",
        "torch.Generator().seed()",
        "torch.seed()",
        "torch.random.seed()",
        "np.random.seed()",
        "random.SystemRandom()",
    ],
)
def test_chance_that_cannot_be_shared_is_refused(line: str) -> None:
    found = refused(imports=IMPORTS, setup=line)
    assert [(rule, place) for rule, place, _, _ in found] == [("agree", line.splitlines()[-1])]


@pytest.mark.parametrize(
    "line",
    [
        "g = torch.Generator()",
        "g = torch.Generator().manual_seed(3)",
        "rng = np.random.default_rng(3)",
        "rng = np.random.RandomState(seed=3)",
        "rng = random.Random(3)",
        "np.random.seed(3)",
    ],
)
def test_generators_with_a_seed_agree_anyway(line: str) -> None:
    assert beyond(imports=IMPORTS, setup=line) == []


@pytest.mark.parametrize(
    "name",
    [
        "f'run-{time.time()}.pt'",
        "time.strftime('%H%M%S') + '.pt'",
        "str(datetime.datetime.now())",
        "str(os.getpid())",
    ],
)
def test_names_of_files_that_are_read_again(name: str) -> None:
    """The others would look for a file that the first worker never wrote."""
    lines = added_unless_refused(
        imports=IMPORTS,
        setup=f"name = {name}",
        after="torch.save(model.state_dict(), name)\nmodel.load_state_dict(torch.load(name))",
    )
    assert lines is None or any("crew.agree(" in line for line in lines)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            "vocabulary = {w: k for k, w in enumerate(set(words))}",
            "vocabulary = {w: k for k, w in enumerate(crew.agree(list(set(words))))}",
        ),
        (
            "seen = set()\nfor w in words:\n    seen.add(w)\nfor w in seen:\n    print(w)",
            "for w in crew.agree(list(seen)):",
        ),
        (
            "seen = {w.lower() for w in words}\nclasses = list(seen)",
            "classes = list(crew.agree(list(seen)))",
        ),
        (
            "seen = set(words) | {'<pad>'}\nclasses = [w for w in seen]",
            "classes = [w for w in crew.agree(list(seen))]",
        ),
        (
            "def names(w):\n    return frozenset(w)\nclasses = [*names(words)]",
            "classes = [*crew.agree(list(names(words)))]",
        ),
        (
            "class Text:\n    def __init__(self, w):\n        self.seen = set(w)\n"
            "    def number(self):\n        return dict(zip(self.seen, range(9)))\n"
            "Text(words).number()",
            "return dict(zip(crew.agree(list(self.seen)), range(9)))",
        ),
        (
            "first, second = dict.fromkeys(words), {'a': 1}\n"
            "for w in first.keys() & second.keys():\n    print(w)",
            "for w in crew.agree(list(first.keys() & second.keys())):",
        ),
    ],
)
def test_the_order_of_a_set_is_the_first_workers(before: str, after: str) -> None:
    """Strings hash otherwise in every process: a word would have a number on each worker."""
    assert beyond(setup=f"words = 'the cat sat'.split()\n{before}") == [after]


@pytest.mark.parametrize(
    "before",
    [
        "letters = sorted(set(words))",
        "letters = sorted(list(set(words)))",
        "letters = sorted(w for w in set(words))",
        "count = len(set(words))",
        "known = 'cat' in {'cat', 'dog'}",
        "longest = max(len(w) for w in set(words))",
        "for number in {1, 2, 3}:\n    print(number)",
        "vocabulary = {w: k for k, w in enumerate(dict.fromkeys(words))}",
        "short = {w for w in set(words) if len(w) < 3}",
        "if set(words) == {'a'}:\n    print('one')",
    ],
)
def test_where_the_order_of_a_set_does_not_matter(before: str) -> None:
    assert beyond(setup=f"words = 'the cat sat'.split()\n{before}") == []


@pytest.mark.parametrize("line", ["word = set(words).pop()", "number = hash(words[0]) % 100"])
def test_what_hangs_on_a_hash_is_refused(line: str) -> None:
    found = refused(setup=f"words = 'the cat sat'.split()\n{line}")
    assert [(rule, place) for rule, place, _, _ in found] == [("agree", line)]
