"""From records and output to measures."""

from typing import Any

import pytest

from trainera.bench.records import data_in, figures_in, measures, metrics_in


def one_pass(dataset: int, start_s: float, end_s: float, steps: int, samples: int = 10) -> Any:
    phases = {"data": 0.1, "forward": 0.2, "backward": 0.3, "optimizer": 0.1}
    return {
        "dataset": dataset,
        "start_s": start_s,
        "end_s": end_s,
        "steps": steps,
        "samples": samples,
        "phases_s": phases,
        "figures": {},
    }


def record(
    passes: list[Any],
    memory: int = 100,
    gpus: dict[str, int] | None = None,
    whole: bool = False,
) -> Any:
    return {
        "passes": passes,
        "meter_s": 0.01,
        "peak_memory_bytes": memory,
        "whole": whole,
        "gpus": gpus or {},
        "errors": [],
    }


def test_training_validation_and_test_are_told_apart() -> None:
    passes = [
        one_pass(0, 0.0, 2.0, 5),
        one_pass(1, 2.0, 2.5, 0),
        one_pass(0, 3.0, 5.0, 5),
        one_pass(1, 5.0, 5.5, 0),
        one_pass(2, 5.5, 6.5, 0),
    ]
    found = measures([record(passes)], [0.5, 0.6, 0.7], "accuracy")
    assert found.total_s == 6.5
    assert (found.train_s, found.validation_s, found.test_s) == (4.0, 1.0, 1.0)
    assert [(one.train_s, one.validation_s, one.metric) for one in found.epochs] == [
        (2.0, 0.5, 0.5),
        (2.0, 0.5, 0.6),
    ]
    assert found.phases_s["forward"] == pytest.approx(0.4)
    assert found.phases_s["other"] == pytest.approx(4.0 - 2 * 0.7)
    assert sum(found.phases_s.values()) == pytest.approx(4.0)


def test_after_a_single_epoch_the_first_data_validate() -> None:
    passes = [one_pass(0, 0.0, 2.0, 5), one_pass(1, 2.0, 2.5, 0), one_pass(2, 2.5, 3.5, 0)]
    found = measures([record(passes)], [], "")
    assert (found.validation_s, found.test_s) == (0.5, 1.0)


def test_workers_add_up_and_the_clock_is_the_first_ones() -> None:
    first = record([one_pass(0, 0.0, 2.0, 5, samples=7)], memory=1, gpus={"0": 50})
    second = record([one_pass(0, 0.5, 2.1, 5, samples=6)], memory=2, gpus={"1": 60})
    found = measures([first, second], [], "")
    assert (found.train_s, found.samples) == (2.0, 13)
    assert found.peak_memory_bytes == (1, 2)
    assert (found.peak_gpu_memory_bytes, found.used_gpus) == ((50, 60), {0, 1})


def test_samples_that_every_worker_sees_are_counted_once() -> None:
    each = record([one_pass(0, 0.0, 2.0, 5, samples=7)], whole=True)
    assert measures([each, each], [], "").samples == 7


def test_without_passes_or_records() -> None:
    found = measures([record([])], [0.5], "")
    assert (found.total_s, found.epochs, found.peak_memory_bytes) == (None, (), (100,))
    assert measures([], [], "").errors == ("no worker left a record",)


def test_what_scripts_print() -> None:
    text = "data: real\nepoch 1: accuracy 0.5\nepoch 2: accuracy 0.75.\nfigure a, b/s: 1.5e3\n"
    assert metrics_in(r"accuracy ([0-9.]+)(?=\D|$)", "accuracy 0.5\naccuracy 1.2.3") == [0.5]
    assert metrics_in(r"accuracy ([0-9]\.[0-9]+)", text) == [0.5, 0.75]
    assert metrics_in("", text) == []
    assert figures_in(text) == {"a, b/s": 1500.0}
    assert (data_in(text), data_in("nothing")) == ("real", "")


def test_figures_that_are_none() -> None:
    assert metrics_in("accuracy ([0-9.]+)", "accuracy 0.5.\naccuracy ...\n") == [0.5]
    assert metrics_in("accuracy(?: ([0-9]+))?", "accuracy\naccuracy 7") == [7.0]
    assert figures_in("figure date: 2026-07-01\n") == {}


def test_figures_that_the_framework_keeps_stand_in_for_those_that_are_not_printed() -> None:
    passes = [one_pass(0, 0.0, 2.0, 5), one_pass(0, 2.0, 4.0, 5)]
    for number, one in enumerate(passes):
        kept = {"val_sparse_categorical_accuracy": 0.5 + number / 4, "accuracy": 0.1, "loss": 2.0}
        one["figures"] = kept
    found = measures([record(passes)], [], "accuracy")
    assert [one.metric for one in found.epochs] == [0.5, 0.75]
    assert found.last_metric == 0.75
    assert measures([record(passes)], [0.9], "accuracy").last_metric == 0.75
    assert measures([record(passes)], [0.8, 0.9], "accuracy").last_metric == 0.9
    assert measures([record(passes)], [], "recall").last_metric is None
    assert measures([record(passes)], [], "").last_metric is None


def test_progress_bars_of_keras_are_no_figures() -> None:
    text = (
        "Epoch 1/2\n"
        "\x1b[1m1/3\x1b[0m \x1b[32m━━\x1b[0m \x1b[1m0s\x1b[0m 90ms/step - accuracy: 0.25\r"
        "\x1b[1m3/3\x1b[0m ━━ \x1b[1m1s\x1b[0m 2ms/step - accuracy: 0.5 - val_accuracy: 0.6\n"
        "3/3 - 0s - 9us/step - accuracy: 0.7000 - loss: 0.3 - 2s/epoch\n"
        "      3/Unknown 1s 9ms/step - accuracy: 0.7\n"
        "test accuracy: 0.8\n"
    )
    assert metrics_in("accuracy[:= ]+([0-9.]+)", text) == [0.8]
