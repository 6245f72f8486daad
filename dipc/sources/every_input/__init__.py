"""Claims about every real and int input."""
