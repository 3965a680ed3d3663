"""Imported ahead of scripts that compute in 64 bits: Keras's own layers then do so throughout.

Without it both runs have the rounding of 32 bits in some layers, and can be compared no better.
"""

from trainera.verify.observe.keras.precision import stay_wide

stay_wide()
