"""Questions: rows of a table, every gamma, classes of inputs, every real and int input, every number of queries."""
