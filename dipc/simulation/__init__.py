"""Simulation: programs run many times on random numbers, and the counts compared with the exact probabilities.

This is a second opinion. Programs are read twice in dipc: by the engine (`dipc.text`, `dipc.chain`) and by the checker
of certificates (`dipc.verifier`), which share no code. Simulation runs the checker's reading, so that a count that
contradicts an exact probability shows a mistake in one of the two. For the language and its meaning, this room imports
the checker alone. Simulation needs NumPy, as no other room does: importing this package raises DiagnosticError if NumPy
is not installed.
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
