"""Claims with transcendental numbers such as `log(3)` and `exp(-2)`: exact in exponents, enclosed elsewhere."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from dipc.algebra.exppoly import ClosedForm, Quotient, simplest
from dipc.algebra.limits import Undecided
from dipc.algebra.numbers import decimal, outward
from dipc.algebra.parametric import RESULT_BIT_LIMIT, Parametric
from dipc.algebra.reals import NotReal, Real
from dipc.claims.claim import (
    ClaimOptions,
    GivenEps,
    claim_expression,
    claimed_intervals,
    constant_values,
    intervals_text,
    resolve_intervals,
    the_one_eps,
)
from dipc.claims.expression import (
    AN_INTERVAL,
    DISTANCES,
    ClaimExpression,
    is_constant,
    is_transcendental,
    split_exponent,
)
from dipc.frozen import LazyModule, frozen
from dipc.sign.interval import Interval
from dipc.text.ast import (
    GREEK,
    Binary,
    BinaryOp,
    Call,
    Eps,
    Expr,
    IntervalExpr,
    Name,
    Number,
    Ranged,
    Unary,
    UnaryOp,
    mentions,
    number,
    rewritten,
    walk,
)
from dipc.text.diagnostic import DiagnosticError, SourceText, bad_input
from dipc.text.numbers import FormError, is_irrational, monomial, power_of
from dipc.text.parser import parse_interval
from dipc.text.printer import print_expression, print_interval
from dipc.text.program import CoreProgram

if TYPE_CHECKING:
    from dipc.claims import conditions
else:
    conditions = LazyModule("dipc.claims.conditions")

#: The significant digits of the rationals that enclose a transcendental number.
DIGITS = 40

#: Beta comes last, so that mistakes in alpha and gamma, which beta can mention, are reported for alpha and gamma.
_PARTS = ("alpha", "gamma", "beta")

#: A claim without any of these words has no transcendental number.
_WORDS = re.compile(r"log|exp|sqrt|\^|\*\*")

Ends = tuple[Fraction, Fraction]

#: An irrational end of an interval: rationals around it, and its text.
TypedEnd = tuple[Fraction, Fraction, str]


@frozen
class EnclosedClaim:
    """A stronger and a weaker claim without transcendental numbers, which enclose a claim that has them.

    `stronger` and `weaker` are equal if the claim can be written exactly. `texts` has alpha, beta and gamma in the
    user's words. `ranges` is None if the ends of the claim's intervals of eps are rational. Otherwise it has rational
    ends around the irrational ones: the stronger claim is about the larger intervals, and the weaker one about the
    smaller ones.

    `touching` is another stronger claim about the larger intervals, or None. Its beta is raised outside of the claim's
    own intervals, so that `touching` can be proved even if the claim is tight at an irrational end. If the claim is
    about a single irrational eps, the weaker claim is about an interval around this eps: the claim is refuted only if
    the weaker one fails throughout the interval.
    """

    stronger: ClaimOptions
    weaker: ClaimOptions
    texts: Mapping[str, str]
    touching: ClaimOptions | None = None
    ranges: EnclosedIntervals | None = None


@frozen
class EnclosedIntervals:
    """Intervals of eps with rational ends around and within those of a claim, whose text is `written`.

    `larger` and `smaller` are strings that list intervals; `smaller` is None for a claim about a single irrational eps.
    `outside` is a function of eps that is 0 on the claim's intervals and positive on the rest of `larger`; None if none
    is known. `ends` maps each of the two rationals around an irrational end to this end. `greatest` is the greatest
    upper end of the intervals, or None if it is infinite or unknown.
    """

    larger: str
    smaller: str | None
    written: str
    outside: Expr | None
    #: The irrational ends, by the rationals around them.
    ends: Mapping[Fraction, TypedEnd]
    #: The greatest end of all, if it is a number of a known form; None for infinity.
    greatest: Real | None

    @property
    def is_point(self) -> bool:
        """Whether the claim is about a single irrational eps."""
        return self.smaller is None


def enclosed_claim(
    program: CoreProgram,
    options: ClaimOptions,
    columns: Collection[str] = (),
    left_open: Sequence[str] = (),
    digits: int = DIGITS,
) -> EnclosedClaim | None:
    """Return a stronger and a weaker claim around the claim of `options` and the claim block of `program`.

    The result is None if the claim has no transcendental numbers. For every eps, alpha, gamma and beta of `stronger`
    are at most those of the claim, and those of `weaker` are at least as great. Rationals of this many `digits` enclose
    the numbers.

    Parts of the claim that are `columns` of a table are left out. The constants `left_open` have no value; the first of
    them is known to be at least 0. Raises DiagnosticError for a logarithm of anything but a positive rational, and for
    a number whose direction of rounding cannot be determined.
    """
    ranges = enclosed_intervals(program, options.eps, digits)
    if ranges is not None:
        same = EnclosedClaim(options, options, {})
        rest = enclosed_claim(program, replace(options, eps=ranges.larger), columns, left_open, digits) or same
        on_larger = replace(rest.stronger, eps=ranges.larger)
        touching = None
        beta = None if "beta" in columns else claim_expression(program, "beta", on_larger.beta)
        if beta is not None and ranges.outside is not None:
            touching = replace(on_larger, beta=raised(beta, ranges.outside))
        return replace(
            rest,
            stronger=on_larger,
            weaker=replace(rest.weaker, eps=ranges.smaller or ranges.larger),
            touching=touching,
            ranges=ranges,
        )
    if not (any(_WORDS.search(str(getattr(options, name))) for name in _PARTS) or is_transcendental(program.claim)):
        return None  # This is known without parsing.
    given = {name: claim_expression(program, name, getattr(options, name)) for name in _PARTS if name not in columns}
    known = {name: claimed for name, claimed in given.items() if claimed is not None}
    if not any(is_transcendental(claimed.tree) for claimed in known.values()):
        return None
    one_eps = the_one_eps(claimed_intervals(program, options.eps))
    names = {name: value for name, value in constant_values(program).items() if name not in left_open}
    stronger: dict[str, ClaimExpression] = {}
    weaker: dict[str, ClaimExpression] = {}
    for name, expression in known.items():
        distances = {other: known[other].tree for other in known if other not in (name, "beta")}
        claimed = replace(expression, tree=_with_distances(expression.tree, distances))
        if name == "beta" and one_eps is not None:
            claimed = with_powers_of_eps(claimed, names, one_eps)
            stronger[name] = weaker[name] = claimed
        if is_transcendental(claimed.tree):
            open_number = next(iter(left_open), None)
            stronger[name], weaker[name] = enclosed_expression(claimed, names, one_eps, open_number, digits)
    texts = {name: print_expression(claimed.tree) for name, claimed in known.items()}
    more: dict[str, Any] = {**stronger}
    less: dict[str, Any] = {**weaker}
    return EnclosedClaim(replace(options, **more), replace(options, **less), texts)


def enclosed_intervals(program: CoreProgram, given: GivenEps, digits: int = DIGITS) -> EnclosedIntervals | None:
    """Return intervals of eps with rational ends around and within those of a claim about `program`.

    The claim's own intervals are the `given` ones, or those of the claim block. Rationals of this many `digits` replace
    logarithms and roots. The result is None if all ends are rational. Raises DiagnosticError for mistakes in the
    intervals, and for a single irrational eps together with other intervals.
    """
    intervals: tuple[IntervalExpr, ...]
    if given is None and program.claim is not None and program.only_at is None:
        source = program.source
        fields = (field.value for field in program.claim.fields if field.name == "eps")
        intervals = next((value for value in fields if isinstance(value, tuple)), ())
    elif isinstance(given, str) and _WORDS.search(given):
        source = SourceText("<eps>", given)
        intervals = parse_interval(source)
    else:
        return None
    if not any(map(is_transcendental, intervals)):
        return None
    constants = constant_values(program)
    larger: list[Interval] = []
    smaller: list[IntervalExpr] = []
    irrational: set[Fraction] = set()
    ends: dict[Fraction, TypedEnd] = {}
    for each in intervals:
        (below, above), (until, beyond) = (
            (None, None) if end is None else _enclosure_of_end(source, end, program, digits).ends(end)
            for end in (each.low, each.high)
        )
        assert below is not None
        assert above is not None
        larger += resolve_intervals(source, (replace(each, low=below, high=beyond),), constants)
        smaller.append(replace(each, low=above, high=until))
        irrational |= {larger[-1].lower} if below != above else set()
        irrational |= {end for end in (larger[-1].upper,) if end is not None and until != beyond}
        for place, before, after in ((each.low, below, above), (each.high, until, beyond)):
            if place is not None and before != after:
                ends |= _typed_end(source, place, program, digits)
    if not irrational:
        return None
    larger.sort(key=lambda each: (each.lower, not each.lower_closed))
    joined: list[Interval] = []
    for one in larger:
        last = joined[-1] if joined else None
        # Two intervals may share an irrational end: those around them overlap, and are replaced by one.
        if last is not None and last.upper in irrational and one.lower in irrational and one.lower < last.upper:
            joined[-1] = Interval(last.lower, one.upper, last.lower_closed, one.upper_closed)
        else:
            joined.append(one)
    outside = _outside(source, intervals[0], program) if len(intervals) == 1 else None
    greatest = _greatest_end(source, intervals, program, joined[-1].upper)
    around, written = intervals_text(tuple(joined)), print_interval(intervals)
    if len(intervals) == 1 and _is_one_number(source, intervals[0], program):
        number_text = print_expression(intervals[0].low)
        return EnclosedIntervals(around, None, f"[{number_text}, {number_text}]", outside, ends, greatest)
    for each, inner in zip(intervals, smaller, strict=True):
        try:
            resolve_intervals(source, (inner,), constants)
        except DiagnosticError:
            text = "the ends of the interval are irrational and agree in all digits that dipc compares"
            notes = ("give a single irrational eps alone, or an interval that contains a rational number",)
            raise bad_input("E0621", text, *notes, place=source.excerpt(each.span)) from None
    within = intervals_text(resolve_intervals(source, tuple(smaller), constants))
    return EnclosedIntervals(around, within, written, outside, ends, greatest)


def _enclosure_of_end(source: SourceText, end: Expr, program: CoreProgram, digits: int = DIGITS) -> _Enclosure:
    return _Enclosure(ClaimExpression(AN_INTERVAL, source, end), constant_values(program), None, None, digits)


def _greatest_end(
    source: SourceText, intervals: Sequence[IntervalExpr], program: CoreProgram, above: Fraction | None
) -> Real | None:
    """Return the greatest upper end of `intervals` as an exact number; None if it is infinite or cannot be found.

    `above` is this end rounded up to a rational, and None for infinity. `source` is the text of the intervals, which
    may name constants of `program`.
    """
    for each in intervals:
        if each.high is None or above is None:
            return None
        enclosure = _enclosure_of_end(source, each.high, program)
        if above in map(enclosure.rational, enclosure.ends(each.high)):
            return enclosure.real(each.high)
    return None


def _typed_end(source: SourceText, end: Expr, program: CoreProgram, digits: int) -> dict[Fraction, TypedEnd]:
    enclosure = _enclosure_of_end(source, end, program, digits)
    low, high = (enclosure.rational(each) for each in enclosure.ends(end))
    typed = low, high, print_expression(end)
    return {low: typed, high: typed}


def _is_one_number(source: SourceText, interval: IntervalExpr, program: CoreProgram) -> bool:
    if interval.high is None or not (interval.low_closed and interval.high_closed):
        return False
    low, high = (_enclosure_of_end(source, end, program).real(end) for end in (interval.low, interval.high))
    return interval.low == interval.high or (low is not None and low == high)


#: The slope of `touching` betas outside of the claim's intervals, greater than that of ordinary probabilities.
_STEEP = 10**9

#: The greatest n for which e^(n·eps) or eps^n is compared with a rational to tell on which side of an end eps is.
_MOST_POWER = 12


def _outside(source: SourceText, interval: IntervalExpr, program: CoreProgram) -> Expr | None:
    """Return a function of eps that is 0 on the `interval` and positive beyond its irrational ends; None if unknown.

    If only one end is irrational, the function is also 0 beyond the other end. It is built from differences that are 0
    at an end. For the end log(r)/n this is e^(n·eps) - r, and for r^(1/n) it is eps^n - r. `source` is the text of the
    interval, which may name constants of `program`.
    """
    terms: list[Expr] = []
    for end, sign in ((interval.low, 1), (interval.high, -1)):
        if end is None or not is_transcendental(end):
            continue
        real = _enclosure_of_end(source, end, program).real(end)
        rise = None if real is None or real.sign <= 0 else _rise_through(real, end)
        if rise is None:
            return None
        below = rise if sign == -1 else Unary(UnaryOp.NEGATE, rise, end.span)
        terms.append(Call("max", (number(0, end.span), below), end.span))
    total = terms[0]
    for term in terms[1:]:
        total = Binary(BinaryOp.ADD, total, term, total.span)
    return total


def _rise_through(end: Real, place: Expr) -> Expr | None:
    """Return an increasing function of eps that is 0 at the number `end`; None if no such function is known.

    The function is e^(n·eps) - r if `end` is log(r)/n, and eps^n - r if it is the n-th root of r, for a rational r.
    `place` is `end` as the text writes it.
    """
    span = place.span
    for n in range(1, _MOST_POWER + 1):
        count = number(n, span)
        with suppress(NotReal):
            base = (end * Real.from_rational(n)).exp().rational
            if base is not None:
                exponent: Expr = Eps(span) if n == 1 else Binary(BinaryOp.MULTIPLY, count, Eps(span), span)
                power: Expr = Call("exp", (exponent,), span)
                return Binary(BinaryOp.SUBTRACT, power, number(base, span), span)
        base = end.power(n).rational
        if base is not None:
            power = Binary(BinaryOp.POWER, Eps(span), count, span)
            return Binary(BinaryOp.SUBTRACT, power, number(base, span), span)
    return None


def raised(beta: ClaimExpression, outside: Expr) -> ClaimExpression:
    """Return `beta` plus a large multiple of `outside`, a function of eps that is 0 on the claim's intervals."""
    tree = beta.tree
    steep = Binary(BinaryOp.MULTIPLY, number(_STEEP, tree.span), outside, tree.span)
    return replace(beta, tree=Binary(BinaryOp.ADD, tree, steep, tree.span))


def as_written(program: CoreProgram, enclosing: ClaimOptions, original: ClaimOptions) -> ClaimOptions:
    """Return `enclosing`, a claim that encloses the `original` one, with the texts of the original, for display.

    Both claims are about `program`.
    """
    parts: dict[str, Any] = {}
    for name in _PARTS:
        given = getattr(enclosing, name)
        written = claim_expression(program, name, getattr(original, name))
        if isinstance(given, ClaimExpression) and written is not None:
            parts[name] = replace(given, written=written.tree)
    return replace(enclosing, **parts)


def with_powers_of_eps(expression: ClaimExpression, names: Mapping[str, Parametric], eps: Fraction) -> ClaimExpression:
    """Return `expression` with exp(q*eps) in place of each exp(r) with a rational r = q·`eps`.

    At this single `eps` both have the same value, but only exp(q*eps) can be evaluated exactly. At eps = 1/2, for
    example, exp(-4) becomes exp(-8*eps). Arguments that are already multiples of eps are not changed. `names` has the
    values of the constants.
    """

    def power_of_eps(node: Expr) -> Expr | None:
        match node:
            case Call(function="exp", arguments=(inner,)):
                with suppress(DiagnosticError, Undecided):
                    value, twice = (replace(expression, tree=inner).rational_at(k * eps, names) for k in (1, 2))
                    if value and twice != 2 * value:
                        multiple = Binary(BinaryOp.MULTIPLY, _literal(value / eps, inner), Eps(inner.span), inner.span)
                        return replace(node, arguments=(multiple,))
        return None

    return replace(expression, tree=rewritten(expression.tree, power_of_eps))


def _with_distances(tree: Expr, distances: Mapping[str, Expr]) -> Expr:
    """Return `tree` with the expressions of alpha and gamma, in `distances`, in place of their names.

    A name is replaced only if its expression contains a transcendental number.
    """
    result = {name: node for name, node in distances.items() if is_transcendental(node)}

    def put(node: Expr) -> Expr | None:
        return result.get(GREEK.get(node.name, node.name)) if isinstance(node, Name) else None

    for _ in result:  # The expression for alpha may mention gamma, or that for gamma alpha.
        if any(mentions(tree, name) for name in result):
            tree = rewritten(tree, put)
    return tree


def enclosed_expression(
    expression: ClaimExpression,
    names: Mapping[str, Parametric],
    one_eps: Fraction | None,
    open_number: str | None = None,
    digits: int = DIGITS,
) -> tuple[ClaimExpression, ClaimExpression]:
    """Return (low, high), expressions without transcendental numbers, with low <= `expression` <= high.

    The bounds are valid for every eps, or only for `one_eps` if it is given. `names` has the values of the constants in
    the expression; the constant `open_number` has none, but is at least 0. Rationals of this many `digits` enclose the
    numbers. Raises DiagnosticError for a logarithm of anything but a positive rational, and for a number whose
    direction of rounding cannot be determined.
    """
    low, high = _Enclosure(expression, names, one_eps, open_number, digits).ends(expression.tree)
    return replace(expression, tree=low), replace(expression, tree=high)


@frozen
class _Enclosure:
    """A search for rationals below and above the transcendental numbers in `expression`.

    `names` has the values of its constants. If `eps` is given, `expression` is read for this eps alone, so that powers
    of eps are numbers. `open` is the name of a constant whose value is unknown but at least 0; None if there is none.
    `digits` is the number of significant digits of the rationals.
    """

    expression: ClaimExpression
    names: Mapping[str, Parametric]
    eps: Fraction | None
    open: str | None = None
    digits: int = DIGITS

    def ends(self, tree: Expr) -> tuple[Expr, Expr]:
        """Return (low, high), trees without transcendental numbers, with low <= `tree` <= high.

        Each transcendental number is replaced by a rational below it in one of the two trees, and by one above it in
        the other. The rational below goes into low if the expression is proved to grow with the number, and into high
        if it is proved to fall.
        """
        numbers: dict[str, Ends] = {}
        opened = self.opened(tree, numbers)
        low: dict[str, Fraction] = {}
        high: dict[str, Fraction] = {}
        for name, (below, above) in numbers.items():
            low[name], high[name] = (below, above) if self._rises(opened, name, numbers) else (above, below)
        return _with_numbers(opened, low), _with_numbers(opened, high)

    def _rises(self, opened: Expr, name: str, numbers: Mapping[str, Ends]) -> bool:
        """Return True if the expression `opened` is proved to grow with `name`, and False if it is proved to fall.

        In `opened`, a name replaces each transcendental number. `name` is one of these names, and `numbers` has
        rationals below and above each number. Raises DiagnosticError if neither is proved.
        """
        names = {each: Parametric.unknown(each) for each in (*DISTANCES, "inf", *filter(None, [self.open]))}
        names |= self.names
        names |= {each: Parametric.number(low) + Parametric.unknown(each) for each, (low, _) in numbers.items()}
        intervals = [Interval.POSITIVE if self.eps is None else Interval(self.eps, self.eps, True, True)]

        def at_eps(node: Expr) -> Expr | None:
            match node:
                case Eps() if self.eps is not None:
                    return number(self.eps, node.span)
                case Call(function="exp" | "erfc"):
                    return node  # Its value at one eps is irrational.
            return None

        def behavior(node: Expr) -> conditions.Trend:
            tree = rewritten(node, at_eps)
            return conditions.trend(replace(self.expression, tree=tree), name, names, intervals)

        found = behavior(opened)
        if found.rises or found.falls:
            return found.rises
        unproved = (node for node in walk(opened) if mentions(node, name))
        *_, place = (node for node in unproved if not ((found := behavior(node)).rises or found.falls))
        raise self._error(
            place,
            "this expression is not proved to grow, or to fall, with the transcendental number in it",
            "its sign is not proved either",
            "round that number to a rational in the direction that makes the claim stronger",
        )

    def opened(self, tree: Expr, numbers: dict[str, Ends]) -> Expr:
        """Return `tree` with a name in place of each transcendental number.

        For each name, rationals below and above its number are added to `numbers`.
        """

        def named(ends: Ends, place: Expr) -> Expr:
            if ends[0] == ends[1]:
                return _literal(ends[0], place)
            if ends[1] <= 0:
                return Unary(UnaryOp.NEGATE, named((-ends[1], -ends[0]), place), place.span)
            name = f"#{len(numbers)}"
            numbers[name] = ends
            return Name(name, place.span)

        def change(node: Expr) -> Expr | None:
            if not is_transcendental(node):
                return node
            known = self._of_powers(node) or self._number(node)
            if known is not None:
                return named(known if known[0] == known[1] else outward(*known, self.digits), node)
            match node:
                case Binary(op=BinaryOp.POWER, left=left):
                    return replace(node, left=self.opened(left, numbers))
                case Call(function="exp", arguments=(inner,)):
                    # Even at one eps, e to the power of a number is not an exact number here, but e^(q·eps) is.
                    of_every_eps = replace(self, eps=None)
                    shift, rest = split_exponent(inner, of_every_eps.rational)
                    if rest is not None:
                        ends = self._exponential(shift, inner)
                        power = replace(node, arguments=(of_every_eps.opened(rest, numbers),))
                        above, below = ends[0].as_integer_ratio()
                        if ends[0] == ends[1] and above == 1:
                            return power if below == 1 else Binary(BinaryOp.DIVIDE, power, number(below, node.span))
                        return Binary(BinaryOp.MULTIPLY, named(ends, node), power, node.span)
                case Ranged(low=low_end, high=high_end):
                    first, last = self._number(low_end), self._number(high_end)
                    if first is not None and last is not None and first[0] <= last[0]:
                        return self.opened(node.written_out(int(first[0]), int(last[0])), numbers)
                case Call(function="log", arguments=(inner,)):
                    raise self._error(inner, "a logarithm needs a positive rational number", "this is not one")
            return None

        return rewritten(tree, change)

    def _of_powers(self, node: Expr) -> Ends | None:
        """Return rationals around the number `node` if it consists of powers of e, such as 2*exp(1/2) - 1; else None.

        Each exp(q) is read as exp(q*eps), and the number is evaluated at eps = 1, so that equal powers cancel.
        """
        if not is_constant(node) or any(isinstance(each, Call) and each.function == "log" for each in walk(node)):
            return None
        with suppress(DiagnosticError, Undecided):
            of_one = with_powers_of_eps(replace(self.expression, tree=node), self.names, Fraction(1))
            value = of_one.evaluate(self.names)
            sign = value.denominator.sign_at_one()
            if sign:
                form = ClosedForm(simplest(Quotient(value.numerator_flat() * sign, value.denominator * sign)))
                return form.enclosure(Fraction(1), self.digits)
        return None

    def _exponential(self, shift: Real, inner: Expr) -> Ends:
        try:
            result = shift.exp()
            ends = result.enclosure(4 * self.digits)
        except NotReal:
            raise self._error(inner, "this number is too large or too small to be written out", "") from None
        if any(max(map(int.bit_length, end.as_integer_ratio())) > RESULT_BIT_LIMIT for end in ends):
            raise self._error(inner, "this number is too large or too small to be written out", "")
        return ends if result.rational is not None else outward(*ends, self.digits)

    def _number(self, node: Expr) -> Ends | None:
        """Return (low, high), rationals around the number `node`, with low = high if it is rational.

        The result is None if `node` is a function of eps, or a number that cannot be enclosed or differs from row to
        row.
        """
        real = self.real(node)
        if real is not None:
            try:
                return real.enclosure(4 * self.digits)
            except NotReal as reason:
                raise self._error(node, str(reason), "") from None
        match node:
            case Call(function="min" | "max" as function, arguments=arguments):
                enclosures = [self._number(argument) for argument in arguments]
                all_of = [ends_of for ends_of in enclosures if ends_of is not None]
                if len(all_of) == len(enclosures):
                    pick = min if function == "min" else max
                    return pick(low for low, _ in all_of), pick(high for _, high in all_of)
        return None

    def real(self, node: Expr) -> Real | None:
        if not is_constant(node) and self.eps is None:
            return None
        try:
            factor, power = monomial(node, self.rational)
            if power and self.eps is not None:
                factor = factor * power_of(Real.from_rational(self.eps), power, node.span)
            return factor
        except (FormError, NotReal):
            self._check_logarithms_and_roots(node)
            return None

    def rational(self, node: Expr) -> Fraction:
        try:
            return self.expression.rational(node, self.names)
        except FormError:
            known = monomial(node, self.rational)[0].rational if is_irrational(node) else None
            if known is None:
                raise
            return known

    def _check_logarithms_and_roots(self, node: Expr) -> None:
        for call in walk(node):
            if isinstance(call, Call) and call.function in ("log", "sqrt"):
                (inner,) = call.arguments
                number = self.real(inner)
                if call.function == "log" and (number is None or number.sign <= 0):
                    raise self._error(inner, "a logarithm needs a positive rational number", "this is not one")
                if call.function == "sqrt" and (number is None or number.sign < 0):
                    raise self._error(inner, "a square root needs a number that is at least 0", "this is not one")

    def _error(self, node: Expr, message: str, label: str, *notes: str) -> Exception:
        return self.expression.error("E0615", message, node, label, *notes)


def _with_numbers(tree: Expr, numbers: Mapping[str, Fraction]) -> Expr:
    return rewritten(
        tree,
        lambda node: _literal(numbers[node.name], node) if isinstance(node, Name) and node.name in numbers else None,
    )


def _literal(value: Fraction, of: Expr) -> Expr:
    try:
        size = Number(abs(value), decimal(abs(value)), of.span)
    except ValueError:  # not a finite decimal
        return number(value, of.span)
    return Unary(UnaryOp.NEGATE, size, of.span) if value < 0 else size
