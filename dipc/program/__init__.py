"""Programs with the exact probabilities of their answers, their ideals, and distances to disagreement."""
