"""How large a source text may be. Every limit is met by one diagnostic, before anything slow or recursive runs."""

from __future__ import annotations

#: Characters in one source text.
MAX_CHARACTERS = 10_000_000

#: Tokens in one source text, blank space and comments apart: some seconds of parsing.
MAX_TOKENS = 400_000

#: Statements in one source text, before any `for` is unrolled.
MAX_STATEMENTS = 50_000

#: Levels of statements, brackets and operators around any one token, taken together: one bound for both, because
#: whoever walks the tree recursively passes through the statements on the way to the expressions.
MAX_NESTING = 200

#: Digits of a number, and the magnitude of its exponent of ten. Twice this stays below Python's 4300-digit limit
#: for conversions between int and str.
MAX_DIGITS = 1000

#: The exponent of `^`.
MAX_POWER = 1000
