"""The command line: one file a verb; see `trainera.cli.main` for how they are put together.

Importing a verb must stay cheap (``--help`` imports them all): what a verb works with, above all
libcst, is imported inside its function.
"""
