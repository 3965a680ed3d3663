"""Figures of one worker's rows end the run where they would be taken for the whole batch's."""

from pathlib import Path

import pytest

from tests.crew.test_stretching import run
from tests.rules.tools import script
from tests.tools.runs import Runner
from trainera.pipeline import convert_script

LOOP = """
for x, y in loader(X, Y):
    loss = ((model(x).squeeze(1) - y) ** 2).mean()
    {body}
"""
STOPPED = {
    "printed": LOOP.format(body="print(loss.item())  # here"),
    "formatted": LOOP.format(body="text = f'{2 * loss.item():.3f}'  # here"),
    "tensor printed": LOOP.format(body="print(loss)  # here"),
    "tensor formatted": LOOP.format(body="text = f'{loss:.3f}'  # here"),
    "decides": LOOP.format(body="stops = loss.item() > 3  # here"),
    "tensor decides": LOOP.format(body="stops = bool(loss > 3)  # here"),
    "smallest": LOOP.format(body="best = min(1.0, loss.item())  # here"),
    "truth": LOOP.format(body="if (y > 0).sum().item(): pass  # here"),
    "saved": LOOP.format(body="torch.save([loss.item()], 'loss.pt')  # here"),
    "learning rate": LOOP.format(
        body="optimizer.param_groups[0]['lr'] = 0.1 * loss.item(); optimizer.step()  # here"
    ),
    "by a buffer": "seen = torch.zeros(22)\n"
    + LOOP.format(body="seen[: len(y)] = y; print(seen.sum().item())  # here"),
    "total": """
total = 0.0
for x, y in loader(X, Y):
    total += y.sum().item() * 2
print(round(-total / 22, 3))  # here
""",
    "in a container": """
sums = {"y": 0}
for x, y in loader(X, Y):
    sums["y"] = sums["y"] + (y > 0).sum().item()
print("done", sums)  # here
""",
}


@pytest.mark.parametrize("case", STOPPED)
def test_the_run_is_stopped(case: str, runner: Runner, tmp_path: Path) -> None:
    result = run(runner, tmp_path, STOPPED[case])
    assert result.statuses == [3, 3], result.report()
    source = (tmp_path / "train.py").read_text().splitlines()
    (line,) = (number for number, text in enumerate(source, 1) if text.endswith("# here"))
    for rank, said in enumerate(result.errors):
        assert f"trainera: train.py:{line}: a figure of worker {rank}'s rows alone" in said


PASSED = """
import copy, math
total, count, table, distribution = 0.0, 0, torch.zeros(5), torch.distributions.Normal
for epoch in range(2):
    split = loader(X, Y)
    for x, y in split:
        out = model(x)
        loss = ((out.squeeze(1) - y) ** 2).mean()
        total += loss.item() * len(y)
        count += int((y > 0).sum().item())
        table += x.sum(0)
        likely = distribution(out, torch.ones_like(out)).log_prob(y[:, None])
        new = x.new_zeros(3).sum().item() + torch.zeros_like(y).sum().item() + len(x.shape)
        mean, most = split.mean(loss.item()), split.gather(y).max().item()
        pair = split.combine((loss.item(), (y > 0).sum().item()), ("mean", "sum"))
        words = [f"{value:.1f}" for value in y.tolist()]
        print(mean > most, mean, pair, new, len(split.gather(words)), copy.deepcopy(total) is total)
        scratch = y.clone()
        scratch.fill_(2.0)
        print(scratch[0].item())
    print(*crew.sum(total, {"n": count}, [math.floor(count)]), crew.sum(table)[0].item())
    total, count = 0.0, 0
    table.zero_()
print(table.sum().item(), clean())
"""


@pytest.mark.parametrize("workers", [2, 3])
def test_what_is_not_stopped(workers: int, runner: Runner, tmp_path: Path) -> None:
    result = run(runner, tmp_path, PASSED, workers)
    assert result.ok, result.report()
    assert result.output.splitlines()[-1] == "0.0 True"


@pytest.mark.parametrize("standalone", [False, True])
def test_in_a_converted_script(standalone: bool, runner: Runner, tmp_path: Path) -> None:
    """The line is the script's, also where the runtime is in the same file."""
    path = tmp_path / "train.py"
    path.write_text(script(loss="loss = ((model(x) - y) ** 2).mean()"))
    _, (file,) = convert_script(path, standalone=standalone)
    lines = file.after.decode().splitlines()
    (at,) = (number for number, text in enumerate(lines) if "loss = ((model(x)" in text)
    indent = lines[at][: -len(lines[at].lstrip())]
    path.write_text("\n".join([*lines[: at + 1], f"{indent}print(loss.item())", *lines[at + 1 :]]))
    hidden = ["trainera"] if standalone else []
    result = runner.run(path, tmp_path, workers=2, hidden=hidden)
    assert result.statuses == [3, 3], result.report()
    assert f"trainera: train.py:{at + 2}: a figure of worker 0's rows" in result.errors[0]
