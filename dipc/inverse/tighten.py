"""The tightest constant: the least f such that a program is (alpha, f·beta, gamma)-accurate.

f is the supremum of (1 - Pr)/beta over all cases of a question and all eps. It is found exactly: the critical points
are isolated roots of the quotient's derivative, and the ends are limits. Where only lower bounds of probabilities are
known f is enclosed: no less than what the exact ones need, no more than what all need.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from dipc.algebra.limits import Limits, Undecided
from dipc.claim.claim import Given, GivenEps
from dipc.claim.intervals import intervals_text
from dipc.claim.options import ClaimOptions
from dipc.diagnostics.diagnostic import Diagnostic
from dipc.exits.program import Program
from dipc.ideal.inputs import InputSpec
from dipc.inverse.claims import (
    INTERRUPTED,
    Claimed,
    Claims,
    Progress,
    Stopped,
    UnknownCases,
    claims_of,
    interrupted_before,
)
from dipc.inverse.factors import Factors
from dipc.inverse.question import asked
from dipc.obligations.saying import Saying
from dipc.sign import Root
from dipc.sign.digits import number_cell, root_cell
from dipc.sign.optimum import Far, Highest, Number, Peak, Where, highest
from dipc.tables.table import TableGiven

#: Significant digits of a factor unless more are asked for.
DIGITS = 30

Cell = tuple[Fraction, Fraction]


@dataclass(frozen=True, slots=True, eq=False)
class TightSpot:
    """Where a factor is needed: the cases of an inequality and the value of its variable, eps or a product t of it.

    `eps` is an enclosure (exact where both ends are equal; (0, 0) is the limit at 0), None for the limit at infinity;
    `everywhere` says that it is needed at every value. Unless `attained`, the factor needed only approaches the least
    one as the variable approaches that."""

    claimed: Claimed
    eps: Cell | None
    everywhere: bool
    attained: bool


@dataclass(frozen=True, slots=True, eq=False)
class Tightest:
    """The least factor f >= 0 with Pr >= 1 - f·beta at every case that claims something and every eps.

    `factor`: low <= f <= high; high is one unit of the last digit more than low, or both are f, which is rational then.
    None: no f > 0 suffices. `places` are those that need f, all others need less; where there are several, they need
    the same if `proved`, and agree to the digits asked for if not.

    `kappa` is the largest integer with Pr >= 1 - beta/kappa, proved, and proved to be the largest; 0 where beta itself
    fails (although f = 0 may suffice, where beta is negative and Pr = 1); None where every kappa holds, as f = 0, and
    unless the factor is `complete`.

    Where cases are `unknown`, `factor` is only what the others need, and a lower bound. Where cases have mere bounds
    that need more than all exact ones, it is a lower bound as well, and `upper` the same from above, unless that is
    infinite or not known: no factor less than `factor` suffices, and `upper` does, as far as the cases are known.
    """

    claims: Claims
    eps: str
    digits: int
    factor: Cell | None
    kappa: int | None
    places: tuple[TightSpot, ...]
    proved: bool
    unknown: tuple[UnknownCases, ...]
    upper: Cell | None = None
    upper_places: tuple[TightSpot, ...] = ()

    @property
    def word(self) -> str:
        """What a case is called: `row`, `class`."""
        return self.claims.question.word

    @property
    def interrupted(self) -> bool:
        """Whether Ctrl-C stopped the search."""
        return any(cases.reason == INTERRUPTED for cases in self.unknown)

    @property
    def complete(self) -> bool:
        """Whether the factor is that of all cases."""
        return not self.unknown and not self.upper_places

    @property
    def sayings(self) -> Mapping[str, Saying]:
        """Where beta/kappa says something, or beta itself where there is no such kappa, by the claims' variables."""
        return self.claims.sayings(Fraction(1, self.kappa) if self.kappa else Fraction(1))

    @property
    def warnings(self) -> tuple[Diagnostic, ...]:
        """Where the claim may not mean what it seems to."""
        return self.claims.warnings

    @property
    def is_zero(self) -> bool:
        """Whether every factor suffices, as Pr = 1 at every case that claims something."""
        return self.factor is not None and not any(self.factor)

    @property
    def attained(self) -> bool | None:
        """Whether some eps needs the factor itself; None where it is not known which of several places needs most."""
        found = {place.attained for place in self.places}
        if self.proved or len(found) == 1:
            return True in found
        return None


def tighten(
    program: Program,
    table: TableGiven | None = None,
    *,
    inputs: InputSpec | None = None,
    for_all: str | None = None,
    beta: Given = None,
    alpha: Given = None,
    gamma: Given = None,
    eps: GivenEps = None,
    digits: int = DIGITS,
    progress: Progress | None = None,
    limits: Limits | None = None,
) -> Tightest:
    """The least factor f such that the program is (alpha, f·beta, gamma)-accurate, to so many digits.

    The other parameters are those of `dipc.check`. Cases that hold vacuously do not count. Raises DiagnosticError for a
    bad table or claim, ValueError for digits that are not positive, and Stopped, with what was known, on Ctrl-C. A case
    past a limit is among the `unknown`.
    """
    if digits < 1:
        raise ValueError(f"digits is at least 1, not {digits}")
    options = ClaimOptions(beta=beta, alpha=alpha, gamma=gamma, eps=eps)
    question = asked(program, table, options, inputs=inputs, for_all=for_all, limits=limits)
    found = tightest(claims_of(question, progress), digits)
    if found.interrupted:
        raise Stopped(found)
    return found


def tightest(claims: Claims, digits: int = DIGITS) -> Tightest:
    """`tighten` for a question whose inequalities are known; on Ctrl-C those that are left are `unknown`."""
    limits = claims.question.program.limits
    factors = Factors(limits)
    candidates: list[tuple[Peak, Claimed]] = []
    forbidding: list[tuple[Peak, Claimed]] = []
    unknown = list(claims.unknown)
    for at, claimed in enumerate(claims.distinct):
        try:
            peaks = list(factors.needs(claimed.bound, claimed.beta, claimed.intervals))
            only_zero = factors.forbids(claimed.bound, claimed.beta, claimed.intervals)
        except Undecided as undecided:
            unknown.append(UnknownCases(undecided.reason, claimed.rows))
        except KeyboardInterrupt:
            unknown.append(interrupted_before(claims.distinct[at:]))
            break
        else:
            candidates += [(peak, claimed) for peak in peaks]
            if only_zero is not None:
                forbidding.append((Peak(only_zero, True, None), claimed))
    if candidates:
        # f > 0 is needed somewhere, and suffices nowhere that it is forbidden.
        candidates += forbidding
    upper: _Most | None = None
    try:
        most = _most(candidates, digits, limits)
        if not any(place.claimed.exact for place in most.places) and most.places:
            upper, most = most, _most([each for each in candidates if each[1].exact], digits, limits)
    except Undecided as undecided:
        # Known one by one, they could not be compared, or not be written to so many digits.
        rows = {number for _, claimed in candidates for number in claimed.rows}
        unknown.append(UnknownCases(undecided.reason, tuple(sorted(rows))))
        most = _NOTHING
    return Tightest(
        claims=claims,
        eps=intervals_text(claims.intervals),
        digits=digits,
        factor=most.factor,
        kappa=None if unknown or upper is not None else 0 if forbidding else most.kappa,
        places=most.places,
        proved=most.proved,
        unknown=tuple(unknown),
        upper=None if upper is None else upper.factor,
        upper_places=() if upper is None else upper.places,
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Most:
    """The fields of `Tightest` that say which peaks are the highest."""

    factor: Cell | None
    kappa: int | None
    places: tuple[TightSpot, ...]
    proved: bool


_NOTHING = _Most((Fraction(0), Fraction(0)), None, (), proved=True)


def _most(candidates: Sequence[tuple[Peak, Claimed]], digits: int, limits: Limits) -> _Most:
    best = highest((peak for peak, _ in candidates), digits)
    if best is None:
        return _NOTHING
    owners = {id(peak): claimed for peak, claimed in candidates}
    for number in best.numbers:
        number.recognize()
    # Exact ones come first, and among them those that are attained; the sort is stable.
    ordered = sorted(best.peaks, key=lambda peak: (not owners[id(peak)].exact, not peak.attained))
    places = tuple(_place(peak, owners[id(peak)], digits, limits) for peak in ordered)
    return _Most(None if best.is_infinite else _cell(best, digits), _kappa(best), places, best.proved)


def _cell(best: Highest, digits: int) -> Cell:
    cells = [number_cell(number, digits) for number in _distinct(best.numbers)]
    return max(low for low, _ in cells), max(high for _, high in cells)


def _distinct(numbers: tuple[Number, ...]) -> list[Number]:
    return list({id(number): number for number in numbers}.values())


def _kappa(best: Highest) -> int:
    """The largest integer k >= 0 with maximum <= 1/k, where 1/0 is infinity."""
    if best.is_infinite:
        return 0
    low, high = best.enclosure(DIGITS)
    # Where the maximum is tiny, there are very many integers between the ends.
    kappa, above = int(1 / high), int(1 / low) + 1
    while above - kappa > 1:
        middle = (kappa + above) // 2
        if best.against(Fraction(1, middle)) > 0:
            above = middle
        else:
            kappa = middle
    return kappa


def _place(peak: Peak, claimed: Claimed, digits: int, limits: Limits) -> TightSpot:
    eps = _eps(peak.at, digits, limits)
    return TightSpot(claimed, eps, peak.at is Far.EVERYWHERE, peak.attained)


def _eps(at: Where, digits: int, limits: Limits) -> Cell | None:
    match at:
        case Fraction():
            return at, at
        case Root():
            return root_cell(at, digits, limits)
        case Far.ZERO | Far.EVERYWHERE:
            return Fraction(0), Fraction(0)
        case Far.INFINITY:
            return None
