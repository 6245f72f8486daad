"""What is claimed: alpha, beta, gamma, eps, tables of inputs and answers, the theorems of section 6 of the paper."""
