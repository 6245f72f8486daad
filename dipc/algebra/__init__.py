"""Exponential polynomials, their quotients, closed forms, and exact numbers as texts."""
