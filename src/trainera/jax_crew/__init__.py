"""The runtime of scripts that train Keras on JAX: every batch is spread over the devices.

These are devices of one process (`DataParallel`), or of several (`ProcessParallel`).

It knows nothing of the rest of trainera; `--standalone` writes it into the converted file.
"""

from trainera.jax_crew.processes import ProcessParallel as ProcessParallel
from trainera.jax_crew.spreading import DataParallel as DataParallel
from trainera.jax_crew.spreading import spread as spread
from trainera.jax_crew.turns import agree as agree
from trainera.jax_crew.turns import in_turn as in_turn
from trainera.jax_crew.turns import once as once
