"""Rates that depend on the number of queries, such as eps/(2*m): the budget, split over the queries.

What a program does is found with marks in the place of its rates, the same mark for equal ones: the runs are those for
every number. For one number the terms of a union bound have the rates in the place of the marks. In a unit e in which
no rate falls as the number grows, those for the first number bound the error for all of them:

**Lemma.** Let N be a sum of independent Laplace noises, and s >= 0. Pr[N + s < 0] does not grow where a rate grows.
For a sum of the others, Y, with the symmetric and unimodal density f (Wintner), and a noise of scale x·Z, Z symmetric,
Pr[Y + x·Z + s < 0] = ∫_{z > 0} (F(-s - x·z) + F(-s + x·z))·dPr[Z], and its derivative by x is an integral of
z·(f(-s + x·z) - f(-s - x·z)) >= 0, as |s - x·z| <= |s + x·z|. An event of two such sides, |N + a| <= b with slacks that
are not negative, goes wrong on one side or on the other. Of noise on one side only, -E, a greater rate is less noise as
well; +E would be more help the smaller its rate, and has to have the same rate for every number.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from dipc.lang import ast
from dipc.lang.core_program import CoreProgram
from dipc.lang.tree import mentions, walk
from dipc.measure.event import Family
from dipc.sign import Interval
from dipc.sources.every_number.comparison_terms import Term
from dipc.sources.every_number.one_loop import changed
from dipc.sources.every_number.polynomial import InNumber, Summands, constant, rate_of
from dipc.sources.every_number.ratio import ONE, Ratio, sign_from
from dipc.sources.every_number.uniform import NotUniform, Number
from dipc.sources.every_number.union import Sum


@dataclass(frozen=True, slots=True)
class Rates:
    """The rates of a program by their marks, 1, 2, … in this order, as multiples of eps; what was divided by in them is
    among the `divisors`."""

    of_marks: tuple[Ratio, ...]
    divisors: tuple[Ratio, ...]


@dataclass(frozen=True, slots=True)
class Constants:
    """The constants of a program as functions of the parameter, but for those that are no quotients of polynomials in
    it; and what was divided by in them."""

    values: Mapping[str, Summands]
    divisors: tuple[Ratio, ...]

    @staticmethod
    def of(tree: ast.Program, core: CoreProgram, number: Number) -> Constants:
        varying = (number.parameter, *number.others)
        values = {name: constant(value) for name, value in core.constants.items() if name not in varying}
        divisors: list[Ratio] = []
        for declaration in tree.declarations:
            for name, value in declaration.bindings if isinstance(declaration, ast.ConstDecl) else ():
                if name in number.others:
                    evaluation = InNumber(f"the constant `{name}`", number.parameter, dict(values), ONE)
                    with suppress(NotUniform):
                        values[name] = evaluation.value(value)
                        divisors += evaluation.divisors
        return Constants(values, tuple(divisors))


def marked(tree: ast.Program, number: Number, constants: Constants) -> tuple[ast.Program, Rates] | None:
    """The program with marks for its rates, and what they stand for; None where none of them depends on the number.
    Raises NotUniform for a rate that is no multiple of eps by a quotient of polynomials in the number."""
    noises = [found for found in walk(tree.body) if isinstance(found, ast.Laplace | ast.OneSided)]
    varying = (number.parameter, *number.others)
    if not any(mentions(noise.rate, name) for noise in noises for name in varying):
        return None
    loops = [found.variable for found in walk(tree.body) if isinstance(found, ast.For)]
    evaluation = InNumber("a rate", number.parameter, constants.values, ONE, list(constants.divisors))
    found: list[Ratio] = []

    def mark(node: Any) -> Any:
        if not isinstance(node, ast.Laplace | ast.OneSided):
            return node
        if any(mentions(node.rate, variable) for variable in loops):
            raise NotUniform("a rate depends on the index", node.rate.span)
        rate = rate_of(evaluation, node.rate)
        if rate not in found:
            found.append(rate)
        known = found.index(rate) + 1
        factor = ast.Number(Fraction(known), str(known))
        return replace(node, rate=ast.Binary(ast.BinaryOp.MULTIPLY, factor, ast.Eps()))

    body = changed(tree.body, mark)
    return replace(tree, body=body), Rates(tuple(found), tuple(evaluation.divisors))


@dataclass(frozen=True, slots=True)
class Unit:
    """eps = `scale`(m)·e: what sums of terms with marks for rates come to in the unit e, for all numbers from some one
    on. Without `rates` the terms have their own, the same for every number. With `lesser`, beta is bounded from below:
    summands in another unit are left out."""

    scale: Ratio
    rates: Rates | None = None
    lesser: bool = False

    @property
    def is_eps(self) -> bool:
        """Whether e is eps itself, no rate depends on the number, and beta is as it was claimed."""
        return self.rates is None and self.scale == ONE and not self.lesser

    @property
    def is_other(self) -> bool:
        """Whether beta is looked at in another unit than eps, or not as a whole."""
        return self.lesser or self.scale != ONE

    def holds_from(self, sums: Iterable[Sum], start: int) -> bool:
        """Whether it is known that the rates for `start` bound the error for every greater number."""
        if self.is_eps:
            return True
        known = () if self.rates is None else self.rates.of_marks
        divisors = () if self.rates is None else self.rates.divisors
        if not all(ratio.is_positive_from(start) for ratio in (self.scale, *known)):
            return False
        if not all(sign_from(part, start) for ratio in divisors for part in (ratio.numerator, ratio.denominator)):
            return False
        return all(self._holds(term, start) for total in sums for term in (*total.fixed, *total.repeated))

    def _holds(self, term: Term, start: int) -> bool:
        noises, sides = term.event.noises, term.event.constraints
        only_laplace = all(noise.family is Family.LAPLACE for noise in noises)
        for place, noise in enumerate(noises):
            rate = self._rate(noise.rate)
            less = only_laplace or (
                noise.family is Family.ONE_SIDED
                and len(sides) == 1
                and all(c < 0 for other, c in sides[0].coefficients if other == place)
            )
            if rate.constant_value() is None and not (less and rate.never_falls_from(start)):
                return False
        return True

    def at(self, total: Sum, start: int) -> Sum:
        """The sum with the rates for `start`, as multiples of e."""
        if self.is_eps:
            return total
        return replace(total, fixed=self._terms(total.fixed, start), repeated=self._terms(total.repeated, start))

    def _terms(self, terms: Iterable[Term], start: int) -> tuple[Term, ...]:
        return tuple([self._term(term, start) for term in terms])

    def _term(self, term: Term, start: int) -> Term:
        noises = tuple([replace(noise, rate=self._rate(noise.rate).at(start)) for noise in term.event.noises])
        return replace(term, event=replace(term.event, noises=noises))

    def _rate(self, rate: Fraction) -> Ratio:
        own = Ratio.constant(rate) if self.rates is None else self.rates.of_marks[int(rate) - 1]
        return own * self.scale

    def intervals(self, of_eps: tuple[Interval, ...], start: int) -> tuple[Interval, ...]:
        """Values of e, among them all those for eps in these intervals and numbers from `start` on."""
        if self.scale == ONE:
            return of_eps
        last = of_eps[-1].upper
        if last is None or not self.scale.never_falls_from(start):
            return (Interval.positive(),)
        return (Interval(Fraction(0), last / self.scale.at(start), False, of_eps[-1].upper_closed),)


#: The unit eps, for rates that are the same for every number.
EPS = Unit(ONE)
