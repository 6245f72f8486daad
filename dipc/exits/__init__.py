"""Programs with the exact probabilities of their answers."""
