"""Tries what the analysis of tensor operations claims against torch itself."""
