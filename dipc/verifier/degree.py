"""What the texts of claim expressions show: the degree in one of their names, and arguments that do not matter."""

from __future__ import annotations

from dipc.verifier.expression import MOST_DIGITS, NotOneForm, tokens


def degree_in(text: str, name: str) -> int:
    """A bound on the degree of a well-formed expression in a name, whatever all other names and eps are.

    The expression is a polynomial in the name, with coefficients in which it does not occur: it is found in sums,
    products, powers and dividends only. NotOneForm for others.
    """
    reader = _Reader(tokens(text), name)
    found = reader.sum()
    if reader.at != len(reader.tokens):
        raise NotOneForm
    return found


def without_ones(text: str) -> str:
    """A well-formed expression without numbers that are at least 1 where it is the least of some, if one other is left;
    else itself."""
    found = tokens(text)
    if found[:2] != ["min", "("]:
        return text
    depth, arguments = 0, [[""]]
    for at, sign in enumerate(found[1:], start=1):
        depth += (sign == "(") - (sign == ")")
        if not depth and at + 1 < len(found):
            return text  # The least of some is a part of it only.
        if sign == "," and depth == 1:
            arguments.append([])
        elif at > 1 and depth:
            arguments[-1].append(sign)
    left = [words for words in (" ".join(argument).strip() for argument in arguments) if not _is_one(words)]
    return left[0] if len(left) == 1 else text


def _is_one(text: str) -> bool:
    return text.isascii() and text.isdecimal() and len(text) < MOST_DIGITS and int(text) >= 1


class _Reader:
    def __init__(self, found: list[str], name: str) -> None:
        self.tokens = found
        self.at = 0
        self._name = name

    def _next(self) -> str:
        return self.tokens[self.at] if self.at < len(self.tokens) else ""

    def _take(self, *wanted: str) -> str:
        token = self._next()
        if token and token in wanted:
            self.at += 1
            return token
        return ""

    def sum(self) -> int:
        found = self._product()
        while self._take("+", "-"):
            found = max(found, self._product())
        return found

    def _product(self) -> int:
        found = self._power()
        while token := self._take("*", "/"):
            other = self._power()
            if token == "/" and other:  # noqa: S105 - no password
                raise NotOneForm
            found += other
        return found

    def _power(self) -> int:
        while self._take("-"):
            pass
        found = self._atom()
        if self._take("^"):
            exponent = self._next()
            if not exponent.isdecimal():
                raise NotOneForm
            self.at += 1
            found *= int(exponent)
        return found

    def _atom(self) -> int:
        if self._take("("):
            found = self.sum()
            if not self._take(")"):
                raise NotOneForm
            return found
        token = self._next()
        self.at += 1
        if self._take("("):
            inner = [self.sum()]
            while self._take(","):
                inner.append(self.sum())
            if not self._take(")") or any(inner):
                raise NotOneForm
            return 0
        return int(token == self._name)
