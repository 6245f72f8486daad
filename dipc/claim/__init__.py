"""Alpha, beta and gamma: what is claimed where, and the theorems of section 6 of the paper."""
