"""The runtime of scripts that train Keras on JAX: every batch is spread over the devices.

It knows nothing of the rest of trainera; `--standalone` writes it into the converted file.
"""

from trainera.jax_crew.spreading import DataParallel as DataParallel
from trainera.jax_crew.spreading import spread as spread
