"""Engines for PyTorch."""
