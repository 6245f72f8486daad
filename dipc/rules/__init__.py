"""Proof rules: from a class of inputs to obligations, with why they suffice."""
