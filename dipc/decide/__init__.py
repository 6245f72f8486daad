"""Deciding inequalities between a probability and its required value."""
