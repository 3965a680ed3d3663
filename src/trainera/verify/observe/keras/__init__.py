"""Hooks around Keras's own calls: what its trainer, optimizers and networks do."""
