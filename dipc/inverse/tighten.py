"""The tightest constant: the least f such that a program is (alpha, f·beta, gamma)-accurate at every row of a table.

f is the supremum of (1 - Pr)/beta over all rows and all eps. It is found exactly: the critical points are isolated
roots of the quotient's derivative, and the ends are limits.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from dipc.algebra.limits import Limits, Undecided
from dipc.claim.intervals import intervals_text
from dipc.exits.program import Program
from dipc.inverse.factors import Factors
from dipc.inverse.obligations import Obligation, Obligations, Unknown, obligations_of
from dipc.sign import Root
from dipc.sign.digits import number_cell, root_cell
from dipc.sign.optimum import Far, Highest, Number, Peak, Where, highest
from dipc.sources.check import Progress
from dipc.sources.question import InputSpec
from dipc.tables.table import Row

#: Significant digits of a factor unless more are asked for.
DIGITS = 30

Cell = tuple[Fraction, Fraction]


@dataclass(frozen=True, slots=True, eq=False)
class Place:
    """Where a factor is needed: the rows of an obligation and the eps. `eps` is an enclosure (exact where both ends are
    equal; (0, 0) is the limit at 0), None for the limit at infinity; `everywhere` says that it is needed at every eps.
    Unless `attained`, the factor needed only approaches the least one as eps approaches that."""

    obligation: Obligation
    eps: Cell | None
    everywhere: bool
    attained: bool


@dataclass(frozen=True, slots=True, eq=False)
class Tightest:
    """The least factor f >= 0 with Pr >= 1 - f·beta at every row that claims something and every eps.

    `factor`: low <= f <= high; high is one unit of the last digit more than low, or both are f, which is rational then.
    None: no f > 0 suffices. `places` are those that need f, all others need less; where there are several, they need
    the same if `proved`, and agree to the digits asked for if not.

    `kappa` is the largest integer with Pr >= 1 - beta/kappa at every row, proved, and proved to be the largest; 0
    where beta itself fails; None where every kappa holds, as f = 0, and where rows are `unknown`: then f is only what
    the others need, and a lower bound.
    """

    obligations: Obligations
    eps: str
    digits: int
    factor: Cell | None
    kappa: int | None
    places: tuple[Place, ...]
    proved: bool
    unknown: tuple[Unknown, ...]

    @property
    def complete(self) -> bool:
        """Whether the factor is that of all rows."""
        return not self.unknown

    @property
    def is_zero(self) -> bool:
        """Whether every factor suffices, as Pr = 1 at every row that claims something."""
        return self.factor is not None and not any(self.factor)

    @property
    def attained(self) -> bool | None:
        """Whether some eps needs the factor itself; None where it is not known which of several places needs most."""
        found = {place.attained for place in self.places}
        if self.proved or len(found) == 1:
            return True in found
        return None

    def row(self, number: int) -> Row:
        """The row of the table with this number."""
        return self.obligations.table.rows[number - 1]


def tighten(
    program: Program,
    table: object = None,
    *,
    inputs: InputSpec | None = None,
    beta: object = None,
    alpha: object = None,
    gamma: object = None,
    eps: object = None,
    digits: int = DIGITS,
    progress: Progress | None = None,
    limits: Limits | None = None,
) -> Tightest:
    """The least factor f such that the program is (alpha, f·beta, gamma)-accurate at all rows, to so many digits.

    The other parameters are those of `dipc.check`. Rows that hold vacuously do not count. Raises DiagnosticError for a
    bad table or claim, and ValueError for digits that are not positive. A row past a limit is among the `unknown`.
    """
    if digits < 1:
        raise ValueError(f"digits is at least 1, not {digits}")
    found = obligations_of(
        program, table, inputs=inputs, beta=beta, alpha=alpha, gamma=gamma, eps=eps, progress=progress, limits=limits
    )
    return tightest(found, digits)


def tightest(obligations: Obligations, digits: int = DIGITS) -> Tightest:
    """`tighten` for obligations that are known."""
    limits = obligations.program.limits
    factors = Factors(obligations.claim.intervals, limits)
    candidates: list[tuple[Peak, Obligation]] = []
    unknown = list(obligations.unknown)
    for obligation in obligations.distinct:
        try:
            peaks = list(factors.needs(obligation.probability, obligation.beta))
        except Undecided as undecided:
            unknown.append(Unknown(undecided.reason, obligation.rows))
        else:
            candidates += [(peak, obligation) for peak in peaks]
    try:
        most = _most(candidates, digits, limits)
    except Undecided as undecided:
        # Known one by one, they could not be compared, or not be written to so many digits.
        rows = {number for _, obligation in candidates for number in obligation.rows}
        unknown.append(Unknown(undecided.reason, tuple(sorted(rows))))
        most = _NOTHING
    return Tightest(
        obligations=obligations,
        eps=intervals_text(obligations.claim.intervals),
        digits=digits,
        factor=most.factor,
        kappa=None if unknown else most.kappa,
        places=most.places,
        proved=most.proved,
        unknown=tuple(unknown),
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Most:
    """The fields of `Tightest` that say which peaks are the highest."""

    factor: Cell | None
    kappa: int | None
    places: tuple[Place, ...]
    proved: bool


_NOTHING = _Most((Fraction(0), Fraction(0)), None, (), proved=True)


def _most(candidates: Sequence[tuple[Peak, Obligation]], digits: int, limits: Limits) -> _Most:
    best = highest((peak for peak, _ in candidates), digits)
    if best is None:
        return _NOTHING
    owners = {id(peak): obligation for peak, obligation in candidates}
    for number in best.numbers:
        number.recognize()
    # Those that are attained come first; the sort is stable.
    ordered = sorted(best.peaks, key=lambda peak: not peak.attained)
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
    low, _ = best.enclosure(DIGITS)
    kappa = int(1 / low)
    while kappa and best.against(Fraction(1, kappa)) > 0:
        kappa -= 1
    return kappa


def _place(peak: Peak, obligation: Obligation, digits: int, limits: Limits) -> Place:
    eps = _eps(peak.at, digits, limits)
    return Place(obligation, eps, peak.at is Far.EVERYWHERE, peak.attained)


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
