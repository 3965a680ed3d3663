"""Engines for Keras."""
