"""The algebra of shares: what operations on tensors give."""
