"""Hooks around tf.keras 2 on TensorFlow: its trainer, tapes, optimizers and pipelines."""
