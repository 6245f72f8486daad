"""Decisions of inequalities between a probability and its required value."""
