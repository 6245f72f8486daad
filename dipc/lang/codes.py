"""The codes of the diagnostics about names, types and program rules; a code, once given, keeps its meaning."""

from __future__ import annotations

from enum import StrEnum


class Code(StrEnum):
    """E02xx: names and types. E03xx: the rules a program must keep."""

    UNKNOWN_NAME = "E0201"
    DUPLICATE = "E0202"
    RESERVED = "E0203"
    MISUSED_NAME = "E0204"
    MISMATCH = "E0205"
    INT_MEETS_REAL = "E0206"
    NOT_LINEAR = "E0207"
    NOT_CONSTANT = "E0208"
    DIVISION_BY_ZERO = "E0209"
    NOT_AN_INTEGER = "E0210"
    BAD_DOMAIN = "E0211"
    EPS_MISPLACED = "E0212"
    BAD_RATE = "E0213"
    BAD_WEIGHT = "E0214"
    UNKNOWN_CONSTANT = "E0215"
    TOO_LARGE = "E0216"
    USED_TOO_EARLY = "E0217"
    WRONG_DISTRIBUTION = "E0218"
    OTHER_EPS = "E0219"
    MORE_ERRORS = "E0299"

    INPUT_ASSIGNED = "E0301"
    ASSIGNED_IN_WHILE = "E0302"
    UNASSIGNED = "E0303"
    OUTSIDE_DOMAIN = "E0304"
    OUTSIDE_ARRAY = "E0305"
    TOO_MANY_STATEMENTS = "E0306"
    NO_OUTPUT = "E0307"
    BAD_CLAIM = "E0308"
    BAD_IDEAL = "E0309"
    INPUT_INITIALIZED = "E0310"
    BAD_METRIC = "E0311"
