"""The paper's mechanisms as programs, generators for their tables, and the comparison with the published figures.

Lives in the checkout only; the wheel is without it. `python -m benchmarks --help` lists what it does.
"""
