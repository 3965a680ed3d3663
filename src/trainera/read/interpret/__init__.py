"""The machine: follows a program path by path. It knows no library."""
