"""Differential privacy, exactly: pairs of adjacent inputs, and what they come to."""
