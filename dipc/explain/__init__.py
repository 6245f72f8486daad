"""What the codes of diagnostics mean, by examples that provoke them."""
