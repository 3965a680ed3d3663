"""Metrics that would add up what every worker has counted in full."""

import pytest

from tests.rules.tools import beyond, network, refused

OFF = "sync_on_compute=False"


@pytest.mark.parametrize(
    ("imports", "made", "after"),
    [
        ("import torchmetrics", "torchmetrics.MeanMetric()", f"torchmetrics.MeanMetric({OFF})"),
        (
            "from torchmetrics.classification import Accuracy",
            "Accuracy(task='binary')",
            f"Accuracy(task='binary', {OFF})",
        ),
        (
            "import torchmetrics as tm",
            "tm.SumMetric(sync_on_compute=True).to('cpu')",
            f"tm.SumMetric({OFF}).to('cpu')",
        ),
        (
            "from torchmetrics import MetricCollection, SumMetric",
            "MetricCollection([SumMetric()])",
            f"MetricCollection([SumMetric({OFF})])",
        ),
    ],
)
def test_they_are_told_not_to(imports: str, made: str, after: str) -> None:
    added = beyond(
        imports=imports,
        before=f"meter = {made}",
        step="meter.update(y)",
        end="print(meter.compute())",
    )
    assert added == [f"meter = {after}", "meter.update(loader.gather(y))"]


def test_functions_keep_nothing() -> None:
    added = beyond(
        imports="import torchmetrics.functional as tmf",
        end="print(tmf.mean_squared_error(torch.zeros(3), torch.zeros(3)))",
    )
    assert added == []


def test_a_metric_inside_of_the_network_is_refused() -> None:
    model = network("self.seen(x)", layers="self.seen = torchmetrics.SumMetric()")
    found = refused(imports="import torchmetrics", model=model)
    assert [(rule, line) for rule, line, _, _ in found] == [("network", "self.seen(x)")]


def test_a_metric_of_the_scripts_own_is_refused() -> None:
    cls = (
        "class Own(torchmetrics.Metric):\n    def update(self, x):\n        self.x = x\n"
        "meter = Own()"
    )
    found = refused(imports="import torchmetrics", before=cls, step="meter.update(y)")
    assert [(rule, line) for rule, line, _, _ in found] == [("torchmetrics", "meter = Own()")]


def test_a_metric_of_ignite_is_refused() -> None:
    found = refused(imports="from ignite.metrics import Accuracy", before="meter = Accuracy()")
    assert [(rule, line) for rule, line, _, _ in found] == [("torchmetrics", "meter = Accuracy()")]
