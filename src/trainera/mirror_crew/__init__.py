"""The runtime of scripts that train Keras on TensorFlow, on several devices of one process.

It stays one program: a layer that is known to treat the rows of a batch one by one computes them in
parts, on each device its own. All else computes what it computed before.

It knows nothing of the rest of trainera; `--standalone` writes it into the converted file.
"""

from trainera.mirror_crew.joining import join_devices as join_devices
