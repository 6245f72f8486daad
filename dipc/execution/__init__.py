"""Execution: programs run with exact noise, as their proofs say."""
