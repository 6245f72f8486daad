"""Writes certificates: what the engine found, as data that `dipc.verifier` checks without it."""
