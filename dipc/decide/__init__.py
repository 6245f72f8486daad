"""Inequalities between a probability and what is required of it, decided."""
