"""The exact mathematics: exponential polynomials, measures of constraint sets, signs on intervals.

Knows nothing of programs. Rates are multiples of eps, lengths are on the program's scale.
"""
