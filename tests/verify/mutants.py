"""Mistakes that people make when they write a parallel script by hand, one at a time.

Each is a change of a correct script in `scripts`. What `verify` must say of it stands beside it.
"""

from dataclasses import dataclass
from pathlib import Path

SCRIPTS = Path(__file__).with_name("scripts")
BASES = ("classifier", "accumulate", "normalised", "weighted", "in_order")


@dataclass(frozen=True)
class Mutant:
    """One mistake."""

    name: str
    base: str
    changes: tuple[tuple[str, str], ...]
    first: str
    """The quantity that differs first."""
    diagnosis: str
    folder: Path = SCRIPTS

    def source(self) -> str:
        """The script with the mistake in it."""
        text = (self.folder / f"{self.base}_by_hand.py").read_text()
        for old, new in self.changes:
            assert text.count(old) == 1, (self.name, old, text.count(old))
            text = text.replace(old, new)
        return text


LOSS = "        loss = loss * len(y) * size / train_parts.whole\n"
AVERAGE = "        dist.all_reduce(gradient)\n        gradient /= size\n"

MUTANTS = (
    Mutant(
        "not_wrapped",
        "classifier",
        (("model = DistributedDataParallel(bare)", "model = bare"),),
        "gradient",
        "not-averaged",
    ),
    Mutant(
        "forward_through_module",
        "classifier",
        (("cross_entropy(model(x), y)", "cross_entropy(model.module(x), y)"),),
        "gradient",
        "not-averaged",
    ),
    Mutant("no_weight", "classifier", ((LOSS, ""),), "loss", "ragged-weight"),
    Mutant(
        "loss_times_workers",
        "classifier",
        ((LOSS, LOSS + "        loss = loss * size\n"),),
        "loss",
        "loss-summed",
    ),
    Mutant(
        "loss_divided_by_workers",
        "classifier",
        ((LOSS, LOSS + "        loss = loss / size\n"),),
        "loss",
        "loss-divided",
    ),
    Mutant(
        "rate_scaled", "classifier", (("lr=0.2", "lr=0.2 * size"),), "learning rate", "rate-scaled"
    ),
    Mutant(
        "schedule_stepped_by_all",
        "classifier",
        (("    scheduler.step()\n", "    for _ in range(size):\n        scheduler.step()\n"),),
        "learning rate",
        "schedule-too-fast",
    ),
    Mutant(
        "split_by_worker",
        "classifier",
        (
            (
                "[95, 23])\n",
                "[95, 23])\n"
                "if rank == 1:\n"
                "    training.indices, validation.indices = (\n"
                "        training.indices[23:] + validation.indices, training.indices[:23])\n",
            ),
        ),
        "samples",
        "other-samples",
    ),
    Mutant(
        "order_by_worker",
        "classifier",
        (
            (
                "train_loader = DataLoader(training, batch_size=16, shuffle=True)",
                "train_loader = DataLoader(training, batch_size=16, shuffle=True,"
                " generator=torch.Generator().manual_seed(rank))",
            ),
        ),
        "samples",
        "duplicates",
    ),
    Mutant(
        "other_seed_for_the_order",
        "classifier",
        (
            (
                "train_loader = DataLoader(training, batch_size=16, shuffle=True)",
                "train_loader = DataLoader(training, batch_size=16, shuffle=True,"
                " generator=torch.Generator().manual_seed(99))",
            ),
        ),
        "samples",
        "other-order",
    ),
    Mutant(
        "not_reshuffled",
        "classifier",
        (
            (
                "        for batch in self.sampler:\n",
                "        if not hasattr(self, 'first'):\n"
                "            self.first = list(self.sampler)\n"
                "        for batch in self.first:\n",
            ),
        ),
        "samples",
        "not-reshuffled",
    ),
    Mutant(
        "not_split",
        "classifier",
        (("yield batch[rank::size]", "yield batch"), (LOSS, "")),
        "samples",
        "not-split",
    ),
    Mutant(
        "ragged_batch_dropped",
        "classifier",
        (
            (
                "train_loader = DataLoader(training, batch_size=16, shuffle=True)",
                "train_loader = DataLoader(training, batch_size=16, shuffle=True, drop_last=True)",
            ),
        ),
        "samples",
        "missing-samples",
    ),
    Mutant(
        "accuracy_of_one_worker",
        "classifier",
        (("    correct = over_all(correct)\n", ""),),
        "printed",
        "metric-of-one-share",
    ),
    Mutant(
        "evaluated_with_overlap",
        "classifier",
        (
            (
                "val_loader = DataLoader(validation, batch_sampler=Parts(val_loader))",
                "val_loader = DataLoader(validation, batch_size=10, sampler=torch.utils.data."
                "DistributedSampler(validation, shuffle=False))",
            ),
        ),
        "printed",
        "evaluated-twice",
    ),
    Mutant(
        "wrapper_saved",
        "classifier",
        (("torch.save(bare.state_dict()", "torch.save(model.state_dict()"),),
        "saved",
        "module-prefix",
    ),
    Mutant(
        "no_momentum",
        "classifier",
        ((", momentum=0.9)", ")"),),
        "weights",
        "optimizer-differs",
    ),
    Mutant(
        "stopped_by_a_metric_of_one_share",
        "classifier",
        (
            ("    total = over_all(total)\n", "    part = total\n    total = over_all(total)\n"),
            ("    if total < best:\n        best, waited = total, 0\n",
             "    if part < best:\n        best, waited = part, 0\n"),
            ("            break\n", "            stop = True\n"),
            ("best, waited = float(\"inf\"), 0\nfor epoch",
             "stop = False\nbest, waited = float(\"inf\"), 0\nfor epoch"),
            ("    model.train()\n",
             "    if over_all(float(stop and rank == 1)):\n        break\n    model.train()\n"),
        ),
        "printed",
        "number-of-steps",
    ),
    Mutant(
        "gradients_not_averaged",
        "accumulate",
        (("            average()\n", ""),),
        "gradient",
        "not-averaged",
    ),
    Mutant(
        "averaged_into_a_copy",
        "accumulate",
        (("gradient = parameter.grad\n", "gradient = parameter.grad.clone()\n"),),
        "gradient",
        "not-averaged",
    ),
    Mutant(
        "gradients_summed",
        "accumulate",
        ((AVERAGE, "        dist.all_reduce(gradient)\n"),),
        "gradient",
        "gradients-summed",
    ),
    Mutant(
        "averaged_twice",
        "accumulate",
        ((AVERAGE, "        dist.all_reduce(gradient)\n        gradient /= size * size\n"),),
        "gradient",
        "gradients-divided",
    ),
    Mutant(
        "clipped_before_averaging",
        "accumulate",
        (
            (
                "            average()\n"
                "            nn.utils.clip_grad_norm_(model.parameters(), 8.0)\n",
                "            nn.utils.clip_grad_norm_(model.parameters(), 8.0)\n"
                "            average()\n",
            ),
        ),
        "gradient",
        "clipped-before-averaging",
    ),
    Mutant(
        "one_batch_too_many_accumulated",
        "accumulate",
        (("(number + 1) % 2 == 0", "(number + 1) % 3 == 0"),),
        "samples",
        "accumulation",
    ),
    Mutant(
        "step_after_every_batch",
        "accumulate",
        (("(number + 1) % 2 == 0", "True"),),
        "samples",
        "accumulation",
    ),
    Mutant(
        "weights_not_broadcast",
        "accumulate",
        (
            ("    dist.broadcast(parameter.data, 0)\n", "    pass\n"),
            ("model = nn.Sequential(", "torch.manual_seed(rank)\nmodel = nn.Sequential("),
        ),
        "initial weights",
        "parameters-not-broadcast",
    ),
    Mutant(
        "built_with_another_seed",
        "accumulate",
        (("model = nn.Sequential(", "torch.manual_seed(77)\nmodel = nn.Sequential("),),
        "initial weights",
        "initialised-differently",
    ),
    Mutant(
        "gradients_not_cleared",
        "accumulate",
        (("            optimizer.zero_grad()\n", ""),),
        "gradient",
        "gradient-weight",
    ),
    Mutant(
        "loss_of_one_worker",
        "accumulate",
        (("        dist.all_reduce(value)\n", ""),),
        "printed",
        "metric-of-one-share",
    ),
    Mutant(
        "batchnorm_by_worker",
        "normalised",
        (("self.norm = Whole(4)", "self.norm = nn.BatchNorm2d(4)"),),
        "loss",
        "batch-statistics",
    ),
    Mutant(
        "running_statistics_by_worker",
        "normalised",
        (("self.running_mean.lerp_(mean, self.momentum)",
          "self.running_mean.lerp_(x.mean((0, 2, 3)), self.momentum)"),),
        "buffers",
        "running-statistics",
    ),
    Mutant(
        "weighted_sampler_lost",
        "weighted",
        (("batch_sampler=Parts(sampler, 12, False)",
          "batch_sampler=Parts(torch.utils.data.RandomSampler(x), 12, False)"),),
        "samples",
        "other-samples",
    ),
    Mutant(
        "sum_not_multiplied",
        "weighted",
        (("(loss * size).backward()", "loss.backward()"),),
        "loss",
        "loss-divided",
    ),
    Mutant(
        "plateau_of_one_share",
        "weighted",
        (("    scheduler.step(total)\n", "    scheduler.step(part)\n"),
         ("    dist.all_reduce(total)\n",
          "    part = total.item() * (-1) ** epoch\n    dist.all_reduce(total)\n")),
        "learning rate",
        "schedule-by-share",
    ),
    Mutant(
        "weight_decay_forgotten",
        "weighted",
        ((", weight_decay=0.01)", ")"),),
        "weights",
        "optimizer-differs",
    ),
    Mutant(
        "batch_of_each_worker_kept",
        "in_order",
        (("DataLoader(data, batch_size=12 // size,", "DataLoader(data, batch_size=12,"),),
        "samples",
        "batch-grew",
    ),
    Mutant(
        "shuffled",
        "in_order",
        (("DistributedSampler(data, shuffle=False)", "DistributedSampler(data)"),),
        "samples",
        "other-order",
    ),
    Mutant(
        "evaluation_counted_twice",
        "in_order",
        (("test_loader = DataLoader(test, batch_size=12 // size, sampler=test_sampler)",
          "test_loader = DataLoader(torch.utils.data.ConcatDataset("
          "[test, torch.utils.data.Subset(test, range(3))]), batch_size=12)"),),
        "printed",
        "evaluated-twice",
    ),
)  # fmt: skip
