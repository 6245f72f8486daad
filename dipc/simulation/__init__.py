"""Simulation: programs run many times on random numbers, and the counts compared with the exact probabilities.

A second opinion: it walks the syntax tree and shares nothing with the chain or with the lowering to instructions.
"""
