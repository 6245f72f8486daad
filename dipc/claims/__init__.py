"""Claims: alpha, beta, gamma, eps, tables of inputs and answers, and the theorems of section 6 of the paper."""
