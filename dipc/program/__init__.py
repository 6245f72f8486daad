"""Programs with the exact probabilities of their answers, the ideal they approximate, and distances to disagreement."""
