"""Mechanisms of the literature beyond the paper's tables: programs, tables, claims and the verdicts they should get.

`python -m benchmarks literature` runs them all.
"""
