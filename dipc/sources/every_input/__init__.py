"""Claims about every real input."""
