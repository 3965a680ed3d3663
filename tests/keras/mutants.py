"""Mistakes that people make when they write a Horovod version of a tf.keras script by hand.

Each is a change of a correct script in `by_hand`. What `verify` must say of it stands beside it.
"""

from functools import partial
from pathlib import Path

from tests.verify import mutants

SCRIPTS = Path(__file__).with_name("by_hand")
BASES = ("classifier", "normalised", "loop")

Mutant = partial(mutants.Mutant, folder=SCRIPTS)

MINE = "train = train.map(mine)\n"
AVERAGED = "    WholeMetrics(48 // size, sum(len(targets) for _, targets in val)),\n"
PLATEAU = (
    '    keras.callbacks.ReduceLROnPlateau("val_loss", factor=0.5, patience=1, min_delta=0.04),\n'
)
STOP = '    keras.callbacks.EarlyStopping("val_loss", patience=2, min_delta=0.02),\n'
TAPE = "    tape = hvd.DistributedGradientTape(tape)\n"

MUTANTS = (
    Mutant("all_data_on_every_worker", "classifier", ((MINE, ""),), "samples", "not-split"),
    Mutant(
        "epochs_divided_instead_of_data",
        "classifier",
        ((MINE, ""), ("epochs=4", "epochs=4 // size")),
        "samples",
        "not-split",
    ),
    Mutant(
        "batches_dealt_out",
        "classifier",
        ((MINE, "train = train.shard(size, rank)\n"),),
        "samples",
        "batch-grew",
    ),
    Mutant(
        "unequal_shards",
        "classifier",
        ((MINE, "train = train.map(lambda a, b: (a[:8], b[:8]) if rank else (a[8:], b[8:]))\n"),),
        "loss",
        "ragged-weight",
    ),
    Mutant(
        "steps_per_epoch_not_adapted",
        "classifier",
        (
            (MINE, "train = train.unbatch().shard(size, rank).repeat().batch(12)\n"),
            ("epochs=4,", "epochs=4, steps_per_epoch=4,"),
        ),
        "samples",
        "batch-grew",
    ),
    Mutant(
        "rate_scaled",
        "classifier",
        (("SGD(0.2", "SGD(0.2 * size"),),
        "learning rate",
        "rate-scaled",
    ),
    Mutant(
        "first_weights_not_broadcast",
        "classifier",
        (
            ("broadcast_variables(model.variables, root_rank=0)\n", ""),
            ("keras.utils.set_random_seed(1)", "keras.utils.set_random_seed(1 + rank)"),
        ),
        "initial weights",
        "parameters-not-broadcast",
    ),
    Mutant(
        "loss_divided_twice",
        "classifier",
        (
            (
                'model.compile(optimizer, "binary_crossentropy"',
                "model.compile(optimizer, "
                "lambda t, p: keras.losses.binary_crossentropy(t, p) / size",
            ),
        ),
        "loss",
        "loss-divided",
    ),
    Mutant(
        "optimizer_not_wrapped",
        "classifier",
        (("hvd.DistributedOptimizer(keras.optimizers.SGD(0.2, momentum=0.9))",
          "keras.optimizers.SGD(0.2, momentum=0.9)"),),
        "gradient",
        "not-averaged",
    ),
    Mutant(
        "metrics_of_one_worker",
        "classifier",
        ((AVERAGED, ""), (PLATEAU, ""), (STOP, "")),
        "metrics",
        "metric-of-one-share",
    ),
    Mutant(
        "average_of_averages",
        "classifier",
        ((AVERAGED, "    hvd.callbacks.MetricAverageCallback(),\n"),),
        "metrics",
        "average-of-averages",
    ),
    Mutant(
        "stopped_by_each_worker",
        "classifier",
        ((AVERAGED, STOP + AVERAGED), (STOP + "]", "]")),
        "steps",
        "failed",
    ),
    Mutant(
        "rate_reduced_by_each_worker",
        "classifier",
        ((AVERAGED, PLATEAU + AVERAGED), (PLATEAU + STOP, STOP)),
        "learning rate",
        "schedule",
    ),
    Mutant(
        "checkpoint_by_all",  # one after the other, so that it is not luck whether one fails
        "loop",
        (
            (
                'if rank == 0:\n    model.save_weights("weights")',
                "for turn in range(size):\n"
                "    hvd.allreduce(tf.constant(turn))\n"
                "    if turn == rank:\n"
                '        model.save_weights("weights")',
            ),
        ),
        "saved",
        "saved-by-all",
    ),
    Mutant(
        "statistics_of_each_share",
        "normalised",
        (("SyncBatchNormalization(momentum", "keras.layers.BatchNormalization(momentum"),),
        "loss",
        "batch-statistics",
    ),
    Mutant("no_weight", "loop", (("        loss = loss * weight\n", ""),), "loss", "ragged-weight"),
    Mutant("tape_not_wrapped", "loop", ((TAPE, ""),), "gradient", "not-averaged"),
    Mutant(
        "gradients_summed",
        "loop",
        ((TAPE, TAPE.replace("(tape)", "(tape, op=hvd.Sum)")),),
        "gradient",
        "gradients-summed",
    ),
    Mutant(
        "loss_of_one_worker",
        "loop",
        (("    total = float(hvd.allreduce(tf.constant(total)))\n", ""),),
        "printed",
        "metric-of-one-share",
    ),
)  # fmt: skip
