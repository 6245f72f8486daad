"""The table of laws: to add a law, add its line here and its words to the grammar."""

from __future__ import annotations

from dipc.noise.discrete_laplace import DISCRETE_LAPLACE
from dipc.noise.gaussian import DISCRETE_GAUSSIAN, GAUSSIAN
from dipc.noise.laplace import LAPLACE
from dipc.noise.law import Law
from dipc.noise.one_sided import ONE_SIDED
from dipc.noise.truncated_laplace import TRUNCATED_LAPLACE
from dipc.noise.uniform import UNIFORM

LAWS: tuple[Law, ...] = (LAPLACE, DISCRETE_LAPLACE, ONE_SIDED, GAUSSIAN, DISCRETE_GAUSSIAN, UNIFORM, TRUNCATED_LAPLACE)


def law_of(keyword: str) -> Law:
    """Return the law whose noise is drawn by the word `keyword` of the language, such as Lap.

    Raises KeyError for other words.
    """
    return {law.keyword: law for law in LAWS}[keyword]
