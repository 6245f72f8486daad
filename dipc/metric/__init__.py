"""Distances of answers: formulas over inputs, and which answers are near enough."""
