"""Training scripts made at random, to find conversions that are silently wrong."""
