"""Simulation: programs run many times on random numbers, and the counts compared with the exact probabilities.

This is a second opinion: it walks the syntax tree and shares nothing with the chain or with the lowering to
instructions. Simulation needs NumPy, as no other room does: importing this package raises DiagnosticError if NumPy is
not installed.
"""

from importlib.util import find_spec

from dipc.text.diagnostic import bad_input

if find_spec("numpy") is None:
    raise bad_input(
        "E0815",
        "simulation, and the comparison with observed outputs, need NumPy, which is not installed",
        "install it: pip install numpy, or in a checkout pip install '.[simulate]'",
        "`dipc run` executes a program with exact noise without it; no verdict needs it",
    )
