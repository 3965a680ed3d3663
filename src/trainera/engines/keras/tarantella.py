"""Tarantella for tf.keras 2: a process for each device, which is given its part of every batch."""

from trainera.engines.base import Phrase
from trainera.engines.keras.base import KerasEngine

TARANTELLA = "import tarantella as tnt"

ENGINE = KerasEngine(
    name="tarantella",
    title="Tarantella",
    framework="keras",
    needs=("tarantella",),
    get="no package registry has it; build it, with GPI-2 and GaspiCxx, from "
    "https://github.com/cc-hpc-itwm/tarantella. Its launcher is `tarantella -n N -- SCRIPT`; what "
    "trainera converts for it was never run",
    backend="tensorflow",
    line=2,
    join=Phrase(
        text='sys.stdout = sys.stdout if tnt.is_master_rank() else open(os.devnull, "w")',
        imports=("import os", "import sys", TARANTELLA),
    ),
    joins="what the script prints is printed once; the import has started Tarantella by then",
    network=Phrase(text="tnt.Model({})", imports=(TARANTELLA,)),
    only_first=Phrase(text="{} if tnt.is_master_rank() else None", imports=(TARANTELLA,)),
    shares_apart=True,
    fit_only="Tarantella shares out what fit() takes, and no loops of the script's own",
    refuses={
        "train_step": "Tarantella has no place for a step of the script's own",
        "Ftrl": "Tarantella does not support this optimizer",
        "BaseLogger": "Tarantella does not support this callback",
        "reduction=sum": "Tarantella averages the ranks' gradients: the sum would be divided",
        "save_model": "Tarantella writes what its network's own save() is asked for",
        "load_model": "what is loaded is compiled already, and would train past Tarantella",
    },
    caveats={
        "this output was never run": "Tarantella is in no package registry, so trainera knows it "
        "by its documentation and source alone, for TensorFlow 2.4 to 2.10: try it before you rely "
        "on it",
        "losses and metrics are means of the ranks' means, which is not the mean of a batch that "
        "the ranks do not divide": "choose a batch size and a number of samples that they divide; "
        "with fewer samples in a batch than ranks Tarantella ends",
        "shuffle() without a seed of its own is given one by Tarantella": "all ranks need the same "
        "order; it is not the order of the sequential run",
        "every rank draws random numbers for itself": "only first weights are the same for all: "
        "data that are shuffled, split or made by chance need a seed",
    },
    launcher="tarantella -n {workers} -- {script}",
    agent="",
    measured=False,
)
