"""Which loaders are split, how, and which are left whole."""

import pytest

from tests.rules.tools import (
    WITH_VALIDATION,
    beyond,
    changed,
    converted,
    refused,
    script,
    validation,
)

TALLY = validation("hits += (model(x) > y).sum().item()")


@pytest.mark.parametrize(
    "call",
    [
        "DataLoader(data, batch_size=4)",
        "DataLoader(data, 4, True)",
        "torch.utils.data.DataLoader(data, batch_size=4, drop_last=True)",
        "DataLoader(dataset=data, batch_size=4, num_workers=2)",
        "DataLoader(data, batch_size=4, collate_fn=None)",
        "DataLoader(data, sampler=torch.utils.data.RandomSampler(data), batch_size=4)",
    ],
)
def test_a_loader_is_put_into_split(call: str) -> None:
    assert f"loader = crew.split({call})" in changed(script(loader=f"loader = {call}"))


def test_names_by_which_the_loader_is_imported() -> None:
    source = script().replace(
        "from torch.utils.data import", "from torch.utils.data import DataLoader as L,"
    )
    source = source.replace("loader = DataLoader(", "loader = L(")
    assert "loader = crew.split(L(data, batch_size=8, shuffle=True))" in changed(source)


def test_a_loader_class_of_the_scripts_own() -> None:
    lines = "class Mine(DataLoader):\n    pass\nloader = Mine(data, batch_size=8)"
    assert beyond(loader=lines) == ["loader = crew.split(Mine(data, batch_size=8))"]


@pytest.mark.parametrize(
    ("end", "skips"),
    [
        (TALLY, True),
        # Still in training mode: batch statistics need every worker.
        (validation("hits += (model(x) > y).sum().item()", mode="pass"), False),
        # Something is exchanged at every step.
        (validation("print(criterion(model(x), y).item())"), False),
        (validation("hits += (model(x) > y).sum().item()", "print(hits)"), False),
    ],
)
def test_skip_empty(end: str, skips: bool) -> None:
    extra = ", skip_empty=True" if skips else ""
    added = beyond(loader=WITH_VALIDATION, start="hits = 0", end=end)
    assert f"val_loader = crew.split(DataLoader(data, batch_size=8){extra})" in added


def test_a_loader_that_is_trained_and_evaluated_does_not_skip() -> None:
    end = TALLY.replace("val_loader", "loader")
    lines = changed(script(start="hits = 0", end=end))
    assert "loader = crew.split(DataLoader(data, batch_size=8, shuffle=True))" in lines


@pytest.mark.parametrize(
    ("collate", "first"),
    [
        (
            "def collate(b):\n    x, y = zip(*b)\n    return torch.stack(x), torch.stack(y)",
            False,
        ),
        ("def collate(b):\n    return nn.utils.rnn.pad_sequence([s[0] for s in b]), b[0][1]", True),
        ("def collate(b):\n    b.sort()\n    return torch.stack([s[0] for s in b])", True),
        ("from elsewhere import collate", True),
        ("from torch.utils.data import default_collate as collate", False),
        ("def collate(b):\n    return torch.stack([s[0] for s in b if s[1] > 0])", True),
        ("def collate(b):\n    return torch.stack([s[0] for s in b]) / len(b)", True),
        ("def collate(b):\n    return torch.stack([s[0] for s in b[::2]])", True),
        ("def collate(b):\n    return torch.stack([b[0][0] - s[0] for s in b])", True),
    ],
)
def test_collate_first(collate: str, first: bool) -> None:
    """Only a function that handles samples one by one may be given a slice."""
    extra = ", collate_first=True" if first else ""
    call = "DataLoader(data, batch_size=8, collate_fn=collate)"
    lines = changed(script(loader=f"{collate}\nloader = {call}"))
    assert f"loader = crew.split({call}{extra})" in lines


@pytest.mark.parametrize(
    "line",
    [
        "print(len(loader), len(loader.dataset), loader.batch_size)",
        "class DataLoader2:\n    pass\nother = DataLoader2()",
        "note = 'DataLoader(data)'  # DataLoader(data)",
        "loaders = [1, 2]\nfor loader_number in loaders:\n    print(loader_number)",
        "unused = DataLoader(data, batch_size=8)",
        "print(loader.dataset[0])",
    ],
)
def test_lookalikes_are_left_alone(line: str) -> None:
    assert beyond(before=line) == []


def test_a_loader_that_is_only_handed_on_is_read_whole_in_one_order() -> None:
    assert beyond(before="other = DataLoader(data, shuffle=True)") == [
        "other = crew.whole(DataLoader(data, shuffle=True))"
    ]


def test_figures_that_cannot_be_combined_leave_the_loader_whole() -> None:
    source = script(loader=WITH_VALIDATION, end=validation("z = x.t(); print(z @ x)"))
    plan, after = converted(source)
    assert "val_loader = DataLoader(data, batch_size=8)\n" in after
    assert "z = x.t(); print(z @ x)\n" in after
    assert [note.what for note in plan.notes] == [
        "this loader is left whole: every worker evaluates all of it"
    ]


def test_in_training_the_same_is_refused() -> None:
    rows = refused(step="z = x.t(); print(z @ x)")
    assert [(row[0], row[1]) for row in rows] == [("metrics", "z = x.t(); print(z @ x)")]


def test_no_loader() -> None:
    rows = refused(loader="loader = [(torch.randn(8, 3), torch.randn(8, 1))]")
    assert (
        "split",
        "import torch",
        "no DataLoader found",
        "there is nothing whose batches could be shared out",
    ) in rows


def test_a_first_batch_that_is_taken_ahead_is_taken_whole() -> None:
    later = "print(criterion(model(seen), wanted).item())"
    lines = changed(script(before="seen, wanted = next(iter(loader))", end=later))
    assert "seen, wanted = next(iter(crew.whole(loader)))" in lines
    assert not any("criterion(model(seen)" in line for line in lines)


def test_a_loader_of_which_only_a_first_batch_is_taken_is_whole_once() -> None:
    setup = "other = DataLoader(data, batch_size=5, shuffle=True)\nseen, wanted = next(iter(other))"
    lines = changed(script(setup=setup, end="print(criterion(model(seen), wanted).item())"))
    assert "other = crew.whole(DataLoader(data, batch_size=5, shuffle=True))" in lines
    assert "".join(lines).count("crew.whole") == 1


def test_a_reader_that_persists_has_one_seed() -> None:
    """So no second one may read beside it; what it gives stays a share while that is known."""
    loader = "loader = DataLoader(data, batch_size=4, num_workers=2, persistent_workers=True)"
    look = "seen, wanted = next(iter(loader))\nprint(seen.mean().item())"
    lines = changed(script(loader=loader, before=look))
    assert "crew.whole" not in "".join(lines)


def test_a_share_is_stale_after_a_pass_in_another_function() -> None:
    steps = "optimizer.zero_grad(); criterion(model(x), y).backward(); optimizer.step()"
    found = refused(
        setup="other = DataLoader(data, batch_size=7)\nbatches = iter(other)",
        before=f"seen, _ = next(batches)\ndef train():\n    for x, y in other:\n        {steps}",
        end="train()\nprint(model(seen).sum().item())",
    )
    assert [why for _, _, _, why in found] == ["'seen' is left over from an earlier pass"]


@pytest.mark.parametrize(
    "way", ["list(loader)", "sorted(loader, key=len)", "list(enumerate(loader))"]
)
def test_batches_that_are_collected(way: str) -> None:
    why = "each worker would collect its slices of them, which are no batches"
    assert why in [reason for _, _, _, reason in refused(before=f"batches = {way}")]


def test_a_worker_takes_part_in_a_batch_that_is_looked_at_after_the_loop() -> None:
    loop = "model.eval()\nfor x, y in test:\n    out = model(x)\n    hits = hits + len(x)"
    setup = "test = DataLoader(data, batch_size=3)\nhits = 0"
    after = f"{loop}\nprint(hits, out.abs().max().item())"
    assert "skip_empty" not in "".join(changed(script(setup=setup, after=after)))
    without = f"{loop}\nprint(hits)"
    assert "skip_empty" in "".join(changed(script(setup=setup, after=without)))
