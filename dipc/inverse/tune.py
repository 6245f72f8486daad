"""The constants of a program that make it best: the split of a privacy budget, at equal privacy.

The objective at a value s of the constants is K(s)·t(s): t is the least t = alpha·eps (gamma·eps, or eps) for which the
claim holds, K the least constant for which the program is K·eps-private. As all rates are multiples of eps, a
program with the same privacy as another is K/K' times as noisy, and needs that much more. Values are proposed by a
search that knows nothing, and evaluated exactly; the answer is the best of those that were evaluated.

**Lemma (cells).** *Let the one constant s occur in rates of noise alone, each of which is an affine function of it;
for a cell [l, r] let a_i be the larger of the rates of noise i at l and r, and c the least of Π rate_i(s)/a_i at s =
l, r. Then t(s) is for no s of the cell less than t for the rates a_i with beta/c in the place of beta.* A Laplace
density, one-sided or discrete noise of rate a <= b is at least a/b times that of rate b at every point:
(a/b)·e^{-(a-b)·|x|} >= a/b, and tanh(a·eps/2)/tanh(b·eps/2) >= a/b, as tanh(x)/x falls. A noise is drawn at most
once on a path. So for each s of the cell every event is at least Π rate_i(s)/a_i times as likely as with the rates
a_i; the logarithm of that product is concave in s, and least at an end. Where with these rates an answer is wrong
with more than beta/c at some input of a distance, it is with more than beta at s. ∎

Cells, one after the other, prove how much better than the best value that was found any other may be.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import field, replace
from fractions import Fraction
from itertools import product
from math import prod
from typing import Any, Unpack

from dipc.algebra.limits import LimitReached, Undecided
from dipc.algebra.numbers import NotExact, exact_text, parse_rational
from dipc.claims.claim import claim_expression
from dipc.claims.table import TableGiven
from dipc.frozen import frozen
from dipc.inverse.question import asked
from dipc.inverse.solution import AlphaSolution, EpsSolution, GammaSolution, Status, Wanted
from dipc.inverse.solve import solved
from dipc.options import GivenTune, Options, takes
from dipc.program.program import Program, Progress
from dipc.questions.privacy.check import PrivacyQuestion
from dipc.text.ast import Binary, BinaryOp, Expr, Name, Noise, Unary, mentions, walk
from dipc.text.core import SampleNoise
from dipc.text.declarations import computed_from
from dipc.text.diagnostic import Diagnostic, DiagnosticError
from dipc.text.parser import parse
from dipc.text.printer import print_expression

_ZERO, _ONE = Fraction(0), Fraction(1)

Values = tuple[Fraction, ...]

#: Values that are tried at first, and at most; cells that are looked at, at most; digits of what is solved for, unless
#: more are asked for.
_FIRST, _MOST, _CELLS, _DIGITS = 8, 120, 600, 7

#: Ends of cells: so many, and one more.
_GRID = 4800

#: What is left out at the open ends of a range by those who bound the objective: there some rate vanishes.
_MARGIN = Fraction(1, 50)


@frozen
class Varied:
    """A constant that may be any number between `low` and `high`; an end that is `open` is none."""

    name: str
    low: Fraction
    high: Fraction
    low_open: bool
    high_open: bool

    @staticmethod
    def parse(text: str) -> Varied:
        """`s in (0, 1)`, `s in [1/10, 1/2]`. Raises DiagnosticError for anything else."""
        found = re.fullmatch(r"\s*([^\W\d]\w*)\s+in\s*([\[(])\s*([^,]+?)\s*,\s*([^,]+?)\s*([\])])\s*", text)
        if found is not None:
            name, left, low, high, right = found.groups()
            try:
                ends = parse_rational(low), parse_rational(high)
            except NotExact:
                pass
            else:
                if ends[0] < ends[1]:
                    return Varied(name, *ends, left == "(", right == ")")
        notes = ('write a constant and its range, such as --vary "s in (0, 1)"',)
        raise DiagnosticError(Diagnostic("E1026", f"`{text}` is no range of a constant", notes=notes))

    def contains(self, value: Fraction) -> bool:
        """Whether it may be that."""
        above = value > self.low if self.low_open else value >= self.low
        return above and (value < self.high if self.high_open else value <= self.high)

    @property
    def inner(self) -> tuple[Fraction, Fraction]:
        """A closed range without what is left out at open ends."""
        margin = (self.high - self.low) * _MARGIN
        return self.low + margin * self.low_open, self.high - margin * self.high_open


@frozen
class Tried:
    """What was found for some values: the enclosures of the `threshold` t and of the objective; the constant of
    privacy, None where only nominal privacy is asked about. `exact` says whether that constant is known exactly; the
    `reason` why nothing is known else."""

    values: Mapping[str, Fraction]
    threshold: tuple[Fraction, Fraction] | None
    constant: Fraction | None = None
    objective: tuple[Fraction, Fraction] | None = None
    exact: bool = True
    reason: str | None = None

    def as_json(self) -> dict[str, Any]:
        """The JSON object."""

        def ends(pair: tuple[Fraction, Fraction] | None) -> list[str] | None:
            return None if pair is None else [exact_text(pair[0]), exact_text(pair[1])]

        return {
            "values": {name: str(value) for name, value in self.values.items()},
            "threshold": ends(self.threshold),
            "constant": None if self.constant is None else str(self.constant),
            "objective": ends(self.objective),
            "exact": self.exact,
            "reason": self.reason,
        }


@frozen
class Tuned:
    """The best of the values that were tried, and the program's own. Every value of the constant in `proved_for` has an
    objective of at least `lower`, which is proved, so that the best one is within `proved_within` of any; None where no
    such bound is known, with the reason `unproved`."""

    program: str
    wanted: Wanted
    varied: tuple[Varied, ...]
    adjacent: str | None
    claim: Mapping[str, str]
    best: Tried | None
    own: Tried | None
    tried: tuple[Tried, ...]
    tolerance: Fraction
    lower: Fraction | None = None
    proved_for: tuple[Fraction, Fraction] | None = None
    cells: int = 0
    unproved: str | None = None
    interrupted: bool = False
    constants: Mapping[str, str] = field(default_factory=dict)

    @property
    def within(self) -> Fraction | None:
        """How much larger the objective of the best is than any may be, at most, as a part of that; None: not known."""
        if self.lower is None or self.best is None or self.best.objective is None or self.lower <= 0:
            return None
        return max(_ZERO, self.best.objective[1] / self.lower - 1)

    @property
    def proved_within(self) -> Fraction | None:
        """The tolerance, where the best is within it, proved."""
        within = self.within
        return self.tolerance if within is not None and within <= self.tolerance else None

    def as_json(self) -> dict[str, Any]:
        """The JSON object."""
        best = self.best
        found = None if best is None else best.as_json()
        return {
            "schema": "dipc.tune/1",
            "program": self.program,
            "constants": dict(self.constants),
            "for": str(self.wanted),
            "adjacent": self.adjacent,
            "claim": dict(self.claim),
            "best": None if found is None else found["values"],
            "objective": None if found is None else found["objective"],
            "constant": None if found is None else found["constant"] or "1",
            "exact": best is not None and best.exact,
            "threshold": None if found is None else found["threshold"],
            "proved_within": None if self.proved_within is None else str(self.proved_within),
            "lower": None if self.lower is None else exact_text(self.lower),
            "proved_for": None if self.proved_for is None else [str(end) for end in self.proved_for],
            "cells": self.cells,
            "reason": self.unproved,
            "own": None if self.own is None else self.own.as_json(),
            "tried": [one.as_json() for one in self.tried],
        }

    def __getitem__(self, key: str) -> Any:
        return self.as_json()[key]


@takes(GivenTune, {"digits": _DIGITS})
def tune(program: Program, table: TableGiven | None = None, **given: Unpack[GivenTune]) -> Tuned:
    """The constants `vary`, such as "s in (0, 1)" or several, that make the least t = alpha·eps for which the claim
    holds the least, at equal privacy under `adjacent`, or at nominal privacy without; gamma·eps where `wanted` is
    "gamma", eps where it is "eps"; to so many `digits`. Values have denominators up to `denominator`. With one constant
    and nominal privacy it is proved that no other is better by more than `tolerance`, if possible.

    The other parameters are those of `dipc.solve`. Raises DiagnosticError for constants that are none, and bad claims.
    """
    options = Options(**given)
    return tuned(program, table, options)


def tuned(program: Program, table: TableGiven | None, options: Options) -> Tuned:
    """`tune` of options in one object; on Ctrl-C what was known then, `interrupted`."""
    ranges = [options.vary] if isinstance(options.vary, str) else list(options.vary)
    varied = tuple(map(Varied.parse, ranges))
    if not varied:
        notes = ('give --vary "s in (0, 1)"',)
        raise DiagnosticError(Diagnostic("E1026", "it is not said which constants vary", notes=notes))
    for each in varied:
        if each.name not in program.constants:
            notes = (f"its constants are {', '.join(program.constants) or 'none'}",)
            raise DiagnosticError(Diagnostic("E1027", f"`{each.name}` is no constant of {program.name}", notes=notes))
    search = _Search(program, table, options, varied)
    interrupted = False
    try:
        search.run()
    except KeyboardInterrupt:
        interrupted = True
    lower, unproved = None, None
    bounds = _Cells(search)
    if not interrupted and search.best is not None:
        unproved = bounds.refusal
        try:
            lower = bounds.lower() if unproved is None else None
        except KeyboardInterrupt:
            interrupted = True
        except Undecided as undecided:
            unproved = undecided.reason
    return Tuned(
        program.name,
        search.wanted,
        varied,
        options.adjacent,
        search.claim(),
        search.best,
        search.known.get(search.own),
        tuple(search.known.values()),
        search.tolerance,
        lower,
        varied[0].inner if lower is not None else None,
        bounds.looked_at,
        unproved,
        interrupted,
        {name: str(value) for name, value in program.constants.items() if name not in {each.name for each in varied}},
    )


class _Search:
    """Values that are proposed, and what was found for them."""

    def __init__(
        self, program: Program, table: TableGiven | None, options: Options, varied: tuple[Varied, ...]
    ) -> None:
        self.program = program
        self.table = table
        self.options = replace(options, progress=None)
        self.varied = varied
        self.progress: Progress | None = options.progress
        self.tolerance = options.tolerance_value
        self.denominator = options.denominator
        self.wanted = self._wanted()
        self.known: dict[Values, Tried] = {}
        self.own: Values = tuple([program.constants[each.name] for each in varied])

    def _wanted(self) -> Wanted:
        if self.options.wanted is not None:
            return Wanted(self.options.wanted)
        alpha = self.options.alpha
        return Wanted.ALPHA if alpha is None or str(alpha).strip() == "dd" else Wanted.EPS

    def claim(self) -> dict[str, str]:
        """The parts of the claim as they are asked about."""
        said = {}
        for name in ("alpha", "beta", "gamma"):
            found = claim_expression(self.program.core, name, getattr(self.options, name))
            if found is not None and name != self.wanted.value:
                said[name] = print_expression(found.tree)
        return said

    @property
    def best(self) -> Tried | None:
        """The one with the least objective, of equal ones that with the simplest values."""
        known = [one for one in self.known.values() if one.objective is not None]
        if not known:
            return None
        return min(known, key=lambda one: (one.objective or (_ZERO,))[0])

    def objective(self, values: Values) -> float:
        """What is to be the least, to a few digits; infinite where nothing is known."""
        found = self.tried(values).objective
        return float("inf") if found is None else float(found[0])

    def tried(self, values: Values) -> Tried:
        """The exact evaluation at these values."""
        known = self.known.get(values)
        if known is None:
            known = self.known[values] = self._evaluated(values)
            if self.progress is not None:
                self.progress(len(self.known), None)
        return known

    def at(self, values: Values) -> Program:
        """The program with these values. Raises DiagnosticError."""
        return self.program.given({each.name: value for each, value in zip(self.varied, values, strict=True)})

    def _evaluated(self, values: Values) -> Tried:
        named = {each.name: value for each, value in zip(self.varied, values, strict=True)}
        try:
            program = self.at(values)
        except DiagnosticError as error:
            return Tried(named, None, reason=error.diagnostics[0].message)
        threshold, reason = self.threshold(program, self.options)
        if threshold is None:
            return Tried(named, None, reason=reason)
        if self.options.adjacent is None:
            return Tried(named, threshold, None, threshold)
        with ExitStack() as stack:
            engine = self.options.engine(stack, program)
            try:
                found = PrivacyQuestion(program, self.options.adjacent, self._private_inputs, engine).constant(None)
            except Undecided as undecided:
                return Tried(named, threshold, reason=undecided.reason)
        if found.proved is None:
            return Tried(named, threshold, reason=found.reason or "no constant of privacy is known")
        low = found.refuted_below if found.refuted_below is not None else _ZERO
        objective = low * threshold[0], found.proved * threshold[1]
        return Tried(named, threshold, found.proved, objective, found.exact)

    @property
    def _private_inputs(self) -> str | None:
        return "all" if self.options.asks_for_all or self.options.inputs is None else None

    def threshold(self, program: Program, options: Options) -> tuple[tuple[Fraction, Fraction] | None, str | None]:
        """The enclosure of t, or why there is none."""
        try:
            found = solved(asked(program, self.table, options), self.wanted, self.options.digits or _DIGITS)
        except Undecided as undecided:
            return None, undecided.reason
        if found.interrupted:
            raise KeyboardInterrupt
        if found.status is not Status.SOLVED:
            return None, found.remark or f"the least {self.wanted} is not known"
        match found:
            case AlphaSolution(product=(low, high)) if high is not None:
                return (low, high), None
            case AlphaSolution(value=value) if value is not None:
                return (value, value), None
            case GammaSolution(product=(low, high)):
                return (low, high), None
            case GammaSolution(value=(low, high)):
                return (low, high), None
            case EpsSolution() if found.at is not None:
                return found.at, None
        return None, "the claim holds for all of them: there is nothing to make less"

    def run(self) -> None:
        """Looks for the best values."""
        if all(each.contains(value) for each, value in zip(self.varied, self.own, strict=True)):
            self.tried(self.own)
        if len(self.varied) == 1:
            self._on_a_line(self.varied[0])
        else:
            self._in_a_box()
        self._neighbours()

    def _on_a_line(self, varied: Varied) -> None:
        step = (varied.high - varied.low) / (_FIRST + 1)
        for n in range(1, _FIRST + 1):
            self.objective((self._rounded(varied.low + n * step),))
        while len(self.known) < _MOST:
            (best,) = self._best_values()
            others = sorted({values[0] for values in self.known} | {varied.low, varied.high})
            at = others.index(best)
            gaps = [(other, abs(other - best)) for other in (*others[at - 1 : at], *others[at + 1 : at + 2])]
            wide = [(other, gap) for other, gap in gaps if gap * self.denominator > Fraction(3, 2)]
            # Of a value between, evaluated before, nothing new is learned.
            proposed = [
                value
                for other, _ in sorted(wide, key=lambda pair: -pair[1])
                if (value := self._rounded((best + other) / 2)) not in others and varied.contains(value)
            ]
            if not proposed:
                return
            self.objective((proposed[0],))

    def _in_a_box(self) -> None:
        """Steps along the constants, and from one to another, which get smaller."""
        sizes = [each.high - each.low for each in self.varied]
        start = tuple(
            [self._rounded(each.low + size / (len(sizes) + 1)) for each, size in zip(self.varied, sizes, strict=True)]
        )
        self.objective(start)
        step = Fraction(1, 8)
        while step * self.denominator >= 1 and len(self.known) < _MOST:
            before = self._best_values()
            for move in _moves(len(sizes)):
                to = tuple(
                    [self._rounded(value + step * m * size) for value, m, size in zip(before, move, sizes, strict=True)]
                )
                if all(each.contains(value) for each, value in zip(self.varied, to, strict=True)):
                    self.objective(to)
            if self._best_values() == before:
                step /= 2

    def _neighbours(self) -> None:
        """The values one step of the last denominator from the best, in each constant."""
        best = self._best_values()
        for n, each in enumerate(self.varied):
            for step in (-1, 1):
                value = self._rounded(best[n] + Fraction(step, self.denominator))
                if each.contains(value):
                    self.objective((*best[:n], value, *best[n + 1 :]))

    def _best_values(self) -> Values:
        return min(self.known, key=self.objective)

    def _rounded(self, value: Fraction) -> Fraction:
        return value.limit_denominator(self.denominator)


def _moves(dimension: int) -> Iterator[tuple[int, ...]]:
    """Steps along one axis, or up one and down another."""
    for move in product((-1, 0, 1), repeat=dimension):
        if sum(map(abs, move)) == 1 or (sum(map(abs, move)) == 2 and sum(move) == 0):
            yield move


class _Cells:
    """Bounds of the objective over ranges of the one constant that varies."""

    def __init__(self, search: _Search) -> None:
        self._search = search
        self.looked_at = 0
        self.refusal = self._refusal()

    def _refusal(self) -> str | None:
        """Why the lemma does not apply; None where it does."""
        search = self._search
        if len(search.varied) != 1:
            return "a bound is known for one constant that varies"
        if search.options.adjacent is not None:
            return "the constant of privacy has no bound on a range of splits"
        core, name = search.program.core, search.varied[0].name
        tree = parse(core.source)
        if computed_from(tree.declarations, core.given, name):
            return f"other constants are computed from `{name}`"
        rates = [part.rate for part in walk((tree.declarations, tree.body)) if isinstance(part, Noise)]
        inside = sum(_occurrences(rate, name) for rate in rates)
        if inside != _occurrences((tree.declarations, tree.body), name):
            return f"`{name}` stands in other places than rates"
        if not all(_degree(rate, name) in (0, 1) for rate in rates):
            return f"a rate is no affine function of `{name}`"
        noises = [each for each in core.instructions if isinstance(each, SampleNoise)]
        if any(each.law.is_normal for each in noises):
            return "a bound is known for noise whose density has exponential tails"
        return None

    def lower(self) -> Fraction:
        """A number that the objective is at least, everywhere inside, and that is enough for the tolerance. Cell after
        cell is made as wide as its bound may be expected to suffice. Raises Undecided where it takes too many."""
        search = self._search
        best = search.best
        assert best is not None
        assert best.objective is not None
        enough = best.objective[1] / (1 + search.tolerance)
        at, high = search.varied[0].inner
        # Ends of cells are multiples of one number, so that rates have a common denominator.
        unit = (high - at) / _GRID
        steps = _GRID // 32
        worst: Fraction | None = None
        ends: dict[Fraction, Program] = {}
        while at < high:
            if self.looked_at >= _CELLS:
                raise LimitReached(None, f"{self.looked_at} cells were not enough to bound it")
            self.looked_at += 1
            if search.progress is not None:
                search.progress(self.looked_at, None)
            to = min(high, at + steps * unit)
            bound = self._bound(at, to, ends)
            lost = max((self._guessed((at + to) / 2) - bound) / (to - at), Fraction(1, 1000))
            if bound >= enough:
                worst = bound if worst is None else min(worst, bound)
                at = to
            elif steps == 1:
                raise LimitReached(None, f"the cell from {at} to {to} is not bounded by what is known of its ends")
            hoped = int((self._guessed(at) - enough) * Fraction(9, 10) / lost / unit)
            steps = max(1, min(max(hoped, steps // 8), steps * 2 if bound >= enough else steps // 2))
        assert worst is not None
        return worst

    def _guessed(self, value: Fraction) -> Fraction:
        """The objective at a value, read off those that were tried: a guess."""
        known = sorted(
            [(key[0], one.objective[0]) for key, one in self._search.known.items() if one.objective is not None]
        )
        right = next((n for n, (at, _) in enumerate(known) if at >= value), len(known) - 1)
        (low, first), (high, second) = known[max(right - 1, 0)], known[max(right, 1)]
        share = min(max((value - low) / (high - low), _ZERO), _ONE)
        return first + share * (second - first)

    def _bound(self, left: Fraction, right: Fraction, ends: dict[Fraction, Program]) -> Fraction:
        """What t is at least in a cell."""
        search = self._search
        for end in (left, right):
            if end not in ends:
                ends[end] = search.at((end,))
        rates = [_rates(ends[end]) for end in (left, right)]
        largest = [max(pair) for pair in zip(*rates, strict=True)]
        share = min(prod((a / most for a, most in zip(own, largest, strict=True)), start=_ONE) for own in rates)
        beta = claim_expression(search.program.core, "beta", search.options.beta)
        assert beta is not None
        if share < Fraction(1, 10**4):
            return _ZERO
        # A little less than beta/c is as good, and shorter.
        factor = (1 / share).limit_denominator(10**6) * Fraction(10**6 + 2, 10**6)
        options = replace(search.options, beta=f"({factor})*({print_expression(beta.tree)})")
        found, _ = search.threshold(_with_rates(ends[left], largest), options)
        return _ZERO if found is None else found[0]


def _occurrences(tree: object, name: str) -> int:
    return sum(1 for part in walk(tree) if isinstance(part, Name) and part.name == name)


def _degree(tree: Expr, name: str) -> int | None:
    """The degree of an expression in a name, 0 or 1; None where it is no such polynomial, or that is not seen."""
    if not mentions(tree, name):
        return 0
    match tree:
        case Name():
            return 1
        case Unary(operand=operand):
            return _degree(operand, name)
        case Binary(op=BinaryOp.ADD | BinaryOp.SUBTRACT, left=left, right=right):
            parts = _degree(left, name), _degree(right, name)
            return None if None in parts else 1
        case Binary(op=BinaryOp.MULTIPLY, left=left, right=right):
            parts = _degree(left, name), _degree(right, name)
            return 1 if sorted(part if part is not None else 9 for part in parts) == [0, 1] else None
        case Binary(op=BinaryOp.DIVIDE, left=left, right=right):
            return _degree(left, name) if _degree(right, name) == 0 else None
    return None


def _rates(program: Program) -> list[Fraction]:
    return [each.rate for each in program.core.instructions if isinstance(each, SampleNoise)]


def _with_rates(program: Program, rates: Sequence[Fraction]) -> Program:
    """The program with these rates of its noises, in order."""
    left = iter(rates)
    instructions = tuple(
        [
            replace(each, rate=next(left)) if isinstance(each, SampleNoise) else each
            for each in program.core.instructions
        ]
    )
    return Program(replace(program.core, instructions=instructions), program.limits)
