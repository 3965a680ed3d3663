"""Finds what plays which role in a script, without importing or running any of it."""
