"""What has no certificate."""

from __future__ import annotations


class Uncertified(ValueError):
    """The answer has no certificate, for the reason given."""


#: Of a decision without one: it was found by Taylor polynomials in ball arithmetic, which a checker cannot redo.
NOT_EXPANDED = "the closed form of its probability is too long to be written out"

#: Of a union bound whose terms or whose beta are about another multiple of eps for each number of queries.
IN_ANOTHER_UNIT = "rates or exponents depend on the number of queries, which the checker does not follow"

#: Of one whose beta is another for each number by a constant that is computed from it.
BY_A_CONSTANT = (
    "beta depends on a constant that is computed from the number of queries, which the checker does not follow"
)
