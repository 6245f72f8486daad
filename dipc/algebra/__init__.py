"""Exponential polynomials, their quotients and closed forms, limits of work, and exact numbers as strings."""
