"""The codes of the diagnostics about running a program; a code, once given, keeps its meaning."""

from __future__ import annotations

from enum import StrEnum


class Code(StrEnum):
    """E07xx: what goes wrong on some path."""

    UNASSIGNED = "E0701"
    DIVISION_BY_ZERO = "E0702"
    OUTSIDE_ARRAY = "E0703"
    OUTSIDE_DOMAIN = "E0704"
    NOT_AN_INTEGER = "E0705"
    ENDLESS_LOOP = "E0706"
