"""Measuring what was gained: experiment design, runner, meters, statistics."""
