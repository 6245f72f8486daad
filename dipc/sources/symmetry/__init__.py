"""Finite sets of inputs, decided from classes of inputs with the same obligation (Corollary 13 of the paper)."""
