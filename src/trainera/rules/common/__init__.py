"""Rules of all frameworks, and what rules share."""
