"""Questions: rows of a table, every gamma, classes of inputs, every real input, every number of queries."""
