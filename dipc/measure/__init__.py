"""Exact measures (probabilities) of events over independent noises. The room does not know the language."""
