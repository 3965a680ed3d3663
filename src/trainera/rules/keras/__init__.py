"""The rules for Keras."""
