"""Inverse questions: the tightest beta, and the eps, alpha, gamma or beta for which a claim holds."""
