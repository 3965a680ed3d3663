"""Batches that a script's own code makes."""
