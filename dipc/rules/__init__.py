"""Proof rules: from a class of inputs to obligations, with the proof that these suffice."""
