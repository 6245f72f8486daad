"""From verdicts to answers: which beta is the tightest, and for which eps, alpha, gamma or beta a claim holds."""
