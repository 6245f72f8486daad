"""Mechanisms written as Python functions: read, never executed, and turned into programs of the language."""
