"""Text to syntax tree to typed program, and back; diagnostics."""
