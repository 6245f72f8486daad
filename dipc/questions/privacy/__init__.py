"""Differential privacy, exactly: pairs of adjacent inputs, and their loss."""
