"""The published tables of the paper as theorems that Coq proves, and probabilities derived from programs."""
