"""The inequalities of a certificate as theorems for Coq."""
