"""Claims about every number of queries."""
