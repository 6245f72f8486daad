"""Checks certificates on its own: the standard library only, and nothing of the engine that wrote them."""
