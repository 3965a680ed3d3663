"""Runs a script and its parallel version side by side and tells whether they train the same."""
