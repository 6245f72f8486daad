"""Betas of two distances that are both left open: as sums of functions of one each, or as functions of the lesser.

A claim with beta = f(alpha) + g(gamma) follows from two: that the finite outputs are right with f, and that the others
are near with g.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from fractions import Fraction

from dipc.algebra.exppoly import ExpPoly
from dipc.algebra.parametric import Parametric
from dipc.claim.expression import ClaimExpression
from dipc.claim.lesser import is_nonnegative, summands
from dipc.diagnostics.diagnostic import DiagnosticError
from dipc.lang.ast import Call, Eps, Expr, Name, Number
from dipc.lang.printer import print_expression
from dipc.lang.tree import GREEK, mentions, rewritten, walk

_ALPHA = ("alpha", "dd")
_GAMMA = ("gamma",)


@dataclass(frozen=True, slots=True)
class Halves:
    """The texts of expressions of alpha, and of gamma, whose sum is at most beta."""

    alpha: str
    gamma: str


def depends(beta: ClaimExpression, *, alpha: bool = False, gamma: bool = False) -> bool:
    """Whether beta mentions any of these."""
    names = (*(_ALPHA if alpha else ()), *(_GAMMA if gamma else ()))
    return any(mentions(beta.tree, name) for name in names)


def at_alpha(beta: ClaimExpression, value: Fraction) -> str:
    """The text of beta with a number for alpha."""
    return print_expression(_replaced(beta.tree, _ALPHA, Number(value, str(value))))


def of_lesser(beta: ClaimExpression, name: str) -> str | None:
    """The text of f of this distance where beta is f(min(alpha, gamma)); None where it is not written like that."""
    found = 0

    def lesser(part: Expr) -> Expr | None:
        nonlocal found
        if not (isinstance(part, Call) and part.function == "min"):
            return None
        names = {GREEK.get(a.name, a.name) if isinstance(a, Name) else "" for a in part.arguments}
        if not names <= {*_ALPHA, *_GAMMA} or names.isdisjoint(_ALPHA) or names.isdisjoint(_GAMMA):
            return None
        found += 1
        return Number(Fraction(0), "0")

    rest = rewritten(beta.tree, lesser)
    if not found or any(mentions(rest, name) for name in (*_ALPHA, *_GAMMA)):
        return None
    return print_expression(rewritten(beta.tree, lambda part: None if lesser(part) is None else Name(name)))


def halves(beta: ClaimExpression, names: Mapping[str, Parametric]) -> tuple[Halves, ...]:
    """Ways to write a function that is at most beta, for every eps > 0, alpha >= 0 and gamma >= 0, as a sum of one of
    alpha and one of gamma; none where none is seen. `names` has alpha, dd and gamma as unknowns.

    Summands of eps alone, and of both distances, are left out where they are seen not to be negative; where they may
    be, those of both have no place, and those of eps alone, like numbers, go with either of the two. Other ways leave
    out those of one distance, too, that do not scale with eps.
    """
    found = (_split(beta, names, scaling) for scaling in (False, True))
    return tuple(dict.fromkeys(way for ways in found for way in ways))


def _split(beta: ClaimExpression, names: Mapping[str, Parametric], scaling: bool) -> tuple[Halves, ...]:
    parts = _Parts(scaling)
    value = None
    # A divisor may have a distance in it: then summand by summand.
    with suppress(DiagnosticError):
        value = beta.value(names)
    if isinstance(value, Parametric) and value.denominator == ExpPoly.one():
        for term in value.terms():
            parts.add_term(*term)
    else:
        for tree in summands(beta.tree):
            parts.add_tree(beta, tree, names)
    if parts.together:
        return ()
    near, far, either = (" + ".join(found) or "0" for found in (parts.alpha, parts.gamma, parts.either))
    if not parts.either:
        return (Halves(near, far),)
    return Halves(f"{near} + {either}", far), Halves(near, f"{far} + {either}")


@dataclass(slots=True)
class _Parts:
    """The summands by what they depend on, where they are `scaling` only those of distance·eps, if the others are not
    negative; `together` says that one depends on both distances and may be."""

    scaling: bool
    alpha: list[str] = field(default_factory=list)
    gamma: list[str] = field(default_factory=list)
    either: list[str] = field(default_factory=list)
    together: bool = False

    def add_term(self, k: int, q: Fraction, factors: tuple[tuple[str, int, Fraction], ...], c: Fraction) -> None:
        """The summand c·eps^k·e^{q·eps}·Π U^j·e^{r·U·eps}."""
        written = [f"({c})", f"eps^{k}", f"exp(({q})*eps)"]
        for name, j, r in factors:
            written += [f"{name}^{j}", f"exp(({r})*{name}*eps)"]
        if self.scaling and c > 0 and factors and (q or k != sum(j for _, j, _ in factors)):
            return
        self._add("*".join(written), {name for name, _, _ in factors}, positive=c > 0, number=not k and not q)

    def add_tree(self, beta: ClaimExpression, tree: Expr, names: Mapping[str, Parametric]) -> None:
        """A summand as it is written."""
        distances = {name for name in (*_ALPHA, *_GAMMA) if mentions(tree, name)}
        number = not any(isinstance(part, Eps) for part in walk(tree))
        positive = is_nonnegative(beta, tree, names)
        self._add(f"({print_expression(tree)})", distances, positive=positive, number=number)

    def _add(self, text: str, distances: set[str], *, positive: bool, number: bool) -> None:
        if not distances:
            if number or not positive:
                self.either.append(text)
        elif distances <= set(_ALPHA):
            self.alpha.append(text)
        elif distances <= set(_GAMMA):
            self.gamma.append(text)
        elif not positive:
            self.together = True


def _replaced(tree: Expr, names: tuple[str, ...], by: Expr) -> Expr:
    return rewritten(
        tree, lambda part: by if isinstance(part, Name) and GREEK.get(part.name, part.name) in names else None
    )
