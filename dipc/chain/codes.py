"""The codes of the diagnostics about running a program; a code, once given, keeps its meaning."""

from __future__ import annotations

from enum import StrEnum


class Code(StrEnum):
    """E04xx: not executed yet. E07xx: what goes wrong on some path."""

    INT_VARIABLE = "E0401"
    DISCRETE_LAPLACE = "E0402"
    ONE_SIDED_NOISE = "E0403"
    EXPONENTIAL_MECHANISM = "E0404"
    CHOICE = "E0405"
    WHILE = "E0406"
    RANDOM_MEAN = "E0407"
    MANY_NOISES_COMPARED = "E0408"
    MANY_NOISES_IN_OUTPUT = "E0409"

    UNASSIGNED = "E0701"
    DIVISION_BY_ZERO = "E0702"
    OUTSIDE_ARRAY = "E0703"
    OUTSIDE_DOMAIN = "E0704"
