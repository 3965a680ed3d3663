"""Frameworks side by side in a report."""

import json

from tests.bench.made import made_runs
from trainera.report.document import as_json, as_markdown, document
from trainera.report.page import as_html
from trainera.results import Result

SLOW, FAST = [4.0, 4.1, 4.2, 4.1, 4.0], [2.0, 2.1, 2.0, 2.1, 2.0]


def runs(*, task: str = "digits tiny", metrics: list[float] | None = None) -> list[Result]:
    torch, keras = {"framework": "PyTorch"}, {"framework": "Keras on JAX"}
    return [
        *made_runs("sequential", SLOW, workload="digits", task=task, **torch),
        *made_runs("ddp 2", FAST, workload="digits", task=task, workers=2, **torch),
        *made_runs("sequential", [9.0] * 5, workload="digits_keras", task=task, **keras),
        *made_runs(
            "jax 2", SLOW, workload="digits_keras", task=task, workers=2, metrics=metrics, **keras
        ),
    ]


def test_the_best_of_each_framework_are_compared_block_by_block() -> None:
    (group,) = document("t", runs()).frameworks
    assert group.title == "digits tiny"
    assert group.text == (
        "PyTorch with ddp 2 (2 s, accuracy 0.9) is the fastest; Keras on JAX with jax 2 (4.1 s, "
        "accuracy 0.9) takes 2.00 times as long (95 % interval 1.95 to 2.1)."
    )


def test_what_learns_worse_is_not_the_best() -> None:
    (group,) = document("t", runs(metrics=[0.5, 0.51, 0.5, 0.52, 0.5])).frameworks
    assert "Keras on JAX with sequential (9 s, accuracy 0.9) takes" in group.text


def test_scripts_of_users_go_by_their_names() -> None:
    (group,) = document("t", runs(task="")).frameworks
    assert group.title == "Your scripts"
    assert "digits_keras in Keras on JAX with jax 2 (4.1 s" in group.text


def test_a_framework_alone_or_other_tasks_are_not_set_side_by_side() -> None:
    alone = [one for one in runs() if one.framework == "PyTorch"]
    assert document("t", alone).frameworks == ()
    other = [one for one in runs(task="other") if one.framework != "PyTorch"]
    assert document("t", [*alone, *other]).frameworks == ()


def test_every_form_of_a_report_has_them() -> None:
    report = document("t", runs())
    text = as_markdown(report)
    assert "## digits tiny, frameworks side by side" in text
    assert [line.split(" | ")[1] for line in text.splitlines() if line.startswith("| Keras")] == [
        "sequential",
        "jax 2",
    ]
    (group,) = json.loads(as_json(report))["frameworks"]
    assert group["text"].startswith("PyTorch with ddp 2")
    page = as_html(report)
    assert "<h2>digits tiny: frameworks side by side</h2>" in page
    assert page.count('data-chart="frameworks" data-marks="4"') == 1
    assert page.count('class="next"') == 1
    assert "frameworks" not in as_html(document("t", runs()[:10])).split("<main>")[1]
