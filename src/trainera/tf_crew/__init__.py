"""The runtime of scripts that train tf.keras: every worker computes its rows of a network's batch.

All workers run the whole script, from the same random numbers, on the same batches. Only inside of
a network is the work shared out: there each worker has its rows, and what comes out is gathered. So
losses, metrics, gradients, callbacks and optimizers see what the sequential script sees.

It knows nothing of the rest of trainera; `--standalone` writes it into the converted file.
"""

from trainera.tf_crew.growing import grow_batches as grow_batches
from trainera.tf_crew.joining import join_horovod as join_horovod
from trainera.tf_crew.joining import join_strategy as join_strategy
from trainera.tf_crew.turns import agree as agree
from trainera.tf_crew.turns import in_turn as in_turn
from trainera.tf_crew.turns import once as once
