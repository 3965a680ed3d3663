"""What libraries do: Python itself, torch, and what reaches outside of a script."""
