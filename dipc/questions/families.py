"""Rows of a table decided together, in families: rows with the same answer, whose claims differ only in alpha.

A *family* is the rows of a table with the same finite inputs, the same stated outputs and the same exits. Their
probabilities are the sums over the same noises of events whose half-spaces differ only in their constants, which are
affine functions of the rows' numbers. The claim of a row differs from that of another row only through alpha.

Lemma. Let beta never grow with alpha. Let every row of a set have an alpha <= a, and constants that are at least the
numbers c. If the event with the constants c has a probability of at least 1 - beta(a), then the claim holds at every
row of the set. Proof. 1. The half-spaces of a row contain those with the constants c, over the same noises; the weights
of exits are probabilities. So the row's probability is at least that of the event with the constants c. 2. The row's
beta is at least beta(a). Hence Pr[row] >= Pr[c] >= 1 - beta(a) >= 1 - beta(row).

So a few obligations decide a table: a set is the rows with alphas of the same leading digits, and c is rounded down.
Numbers are integers over one common denominator. Rows that no such obligation decides are left to `TableRows`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from fractions import Fraction
from math import lcm
from typing import TYPE_CHECKING

from dipc.algebra.limits import Limits, NotApplicable, Undecided
from dipc.algebra.parametric import Parametric
from dipc.chain.event import GAMMA
from dipc.chain.state import Terms
from dipc.claims import conditions
from dipc.claims.claim import Claim
from dipc.claims.expression import DISTANCES
from dipc.claims.given import Cell, value_of
from dipc.claims.table import PackedRows, Row
from dipc.decide.engine import Engine
from dipc.decide.obligation import Obligation, Verdict
from dipc.decide.scope import ClaimScope, claim_scope
from dipc.frozen import frozen
from dipc.linear.halfspace import Halfspace
from dipc.measure.event import Event
from dipc.measure.measure import Bound, Share
from dipc.program.exits import Exit
from dipc.program.program import Probabilities
from dipc.sign.piecewise import BetaForm
from dipc.text.ast import Name, mentions
from dipc.text.diagnostic import DiagnosticError

if TYPE_CHECKING:
    from dipc.program.ideal import Distances

#: The leading binary digits of alpha that rows of one set share, for the first and the second attempt.
_DIGITS = (4, 7)

#: The most bits of the common denominator of the numbers of a table; rows with longer ones are decided one by one.
_MOST_BITS = 256

#: The most obligations that are remembered.
_MOST_REMEMBERED = 50_000

_ZERO, _ONE = Fraction(0), Fraction(1)


# --- Numbers of a table as integers over one denominator --------------------------------------------------------------


class IntegerColumns:
    """Columns of numbers of a table, as integers over one common `denominator`.

    `columns` maps the position of each column in `wanted` to its integers, one for each row. Raises NotApplicable if a
    value in one of these columns is not a number, or if the denominator is too long.
    """

    def __init__(self, rows: PackedRows, wanted: Iterable[int]) -> None:
        columns = rows.columns
        ratios: dict[int, list[tuple[int, int]]] = {}
        below = 1
        for position in wanted:
            cells = columns[position].cells
            values = [None if cell is None else cell.value for cell in cells]
            ratios[position] = [value.as_integer_ratio() for value in values if isinstance(value, Fraction)]
            if len(ratios[position]) < len(cells):
                raise NotApplicable
            below = lcm(below, *{denominator for _, denominator in ratios[position]})
            if below.bit_length() > _MOST_BITS:
                raise NotApplicable
        self.denominator = below
        self.columns: dict[int, list[int]] = {}
        for position, distinct in ratios.items():
            scaled = [numerator * (below // denominator) for numerator, denominator in distinct]
            self.columns[position] = [scaled[number] for number in columns[position].numbers]


@frozen
class IntegerForm:
    """An affine function of the numbers in a row, written with integers: (Σ coefficient·number + `constant`) / `scale`.

    `terms` has pairs (position of a column, coefficient).
    """

    terms: tuple[tuple[int, int], ...]
    constant: int
    scale: int

    @staticmethod
    def create(terms: Mapping[int, Fraction], constant: Fraction) -> IntegerForm:
        scale = lcm(constant.denominator, *[c.denominator for c in terms.values()])
        return IntegerForm(
            tuple([(position, int(c * scale)) for position, c in sorted(terms.items()) if c]),
            int(constant * scale),
            scale,
        )

    def values(self, numbers: IntegerColumns, rows: Sequence[int]) -> list[int]:
        """Return the value at each of `rows`, as an integer: the value times `scale` and the denominator of `numbers`.

        `rows` are indices into the columns of `numbers`.
        """
        result = [self.constant * numbers.denominator] * len(rows)
        for position, coefficient in self.terms:
            column = numbers.columns[position]
            if coefficient == 1:
                result = [value + column[row] for value, row in zip(result, rows, strict=True)]
            else:
                result = [value + coefficient * column[row] for value, row in zip(result, rows, strict=True)]
        return result

    def least(self, numbers: IntegerColumns, rows: Sequence[int]) -> Fraction:
        """Return the least value at `rows`, which are indices into the columns of `numbers` and not empty."""
        return Fraction(min(self.values(numbers, rows)), self.scale * numbers.denominator)


@frozen
class AlphaColumn:
    """The alphas of rows as integers over the common denominator `below`.

    `of` maps the index of each row to its integer, or to None for an infinite alpha.
    """

    of: Mapping[int, int | None]
    below: int

    def fraction(self, alpha: int) -> Fraction:
        return Fraction(alpha, self.below)

    def among(self, rows: Iterable[int]) -> set[int]:
        """Return the finite alphas of `rows`, each as an integer over the common denominator `below`."""
        return {alpha for row in rows if (alpha := self.of[row]) is not None}


# --- The claim of rows as a function of alpha -------------------------------------------------------------------------


class FamilyClaim:
    """The claim of all rows of a table as a function of alpha, which is dd(u) or one number.

    `falls` is True if beta is proved never to grow with alpha. The values of beta, and the eps where beta < 1, are kept
    for later tables with the same claim. Raises NotApplicable for claims that depend on a row in another way.
    """

    def __init__(self, claim: Claim, row: Row, limits: Limits) -> None:
        """Read the `claim` about the rows of a table that have the finite inputs and outputs of `row`.

        `limits` bound the work. Raises NotApplicable if rows of the table differ in more than alpha.
        """
        if claim.beta is None or claim.table.columns - {"dd"} or mentions(claim.beta.tree, "dd"):
            raise NotApplicable
        if claim.gamma is not None and any(mentions(claim.gamma.tree, name) for name in DISTANCES):
            raise NotApplicable
        self._row, self._limits = row, limits
        terms = claim.terms(row)
        self.gamma = terms.gamma
        self.alpha: Fraction | None = None
        if not conditions.at_dd(claim, (row.alpha, row.beta, row.gamma, row.dd)):
            if claim.alpha is not None and any(mentions(claim.alpha.tree, name) for name in DISTANCES):
                raise NotApplicable
            self.alpha = terms.alpha
            if self.alpha is None:
                raise NotApplicable
        elif row.dd is None or not (claim.alpha is None or isinstance(claim.alpha.tree, Name)):
            raise NotApplicable
        #: Whether the claim is about rows with dd = alpha, where alpha is one number.
        self.is_about_equal = self.alpha is None or not claim.is_near(row, self.alpha, self.alpha)
        radius = self.gamma.value
        assert isinstance(radius, Fraction)
        names = claim.constants | {name: Parametric.unknown(name) for name in DISTANCES}
        names["gamma"] = Parametric.number(radius)
        behavior = conditions.trend(claim.beta, "alpha", names, claim.intervals)
        self.falls = behavior.falls and behavior.continuous
        self.intervals = claim.intervals
        self._claim = claim
        self._radius = radius
        self._betas: dict[Fraction, BetaForm] = {}
        self._scopes: dict[Fraction, ClaimScope] = {}
        #: The largest alpha known to have beta >= 1 everywhere, and the least known not to, if `falls`.
        self._most_vacuous: Fraction | None = None
        self._least_informative: Fraction | None = None

    def beta(self, alpha: Fraction) -> BetaForm:
        """Return beta at `alpha`. Raises DiagnosticError if beta has no value there."""
        known = self._betas.get(alpha)
        if known is None:
            if len(self._betas) > _MOST_REMEMBERED:
                self._betas.clear()
            row = self._row
            known = self._betas[alpha] = self._claim.terms_towards(row, alpha, self._radius, self.gamma, "").beta
        return known

    def scope(self, alpha: Fraction) -> ClaimScope:
        """Return the values of eps where beta < 1 at `alpha`. Raises NotApplicable if they are not decided."""
        known = self._scopes.get(alpha)
        if known is None:
            if len(self._scopes) > _MOST_REMEMBERED:
                self._scopes.clear()
            known = self._scopes[alpha] = claim_scope(self.beta(alpha), self.intervals, self._limits)
        if known.reason is not None:
            raise NotApplicable
        return known

    def is_vacuous(self, alpha: Fraction) -> bool:
        """Return True if beta >= 1 at all eps for `alpha`. Raises NotApplicable if that is not decided.

        If beta never grows with alpha, the results for other alphas are used if they decide it.
        """
        if self.falls:
            if self._most_vacuous is not None and alpha <= self._most_vacuous:
                return True
            if self._least_informative is not None and alpha >= self._least_informative:
                return False
        vacuous = self.scope(alpha).is_vacuous
        if vacuous:
            self._most_vacuous = alpha if self._most_vacuous is None else max(alpha, self._most_vacuous)
        else:
            self._least_informative = alpha if self._least_informative is None else min(alpha, self._least_informative)
        return vacuous

    def vacuous_among(self, alphas: Sequence[Fraction]) -> int:
        """Return the number of `alphas` with beta >= 1 at all eps; these are the first ones.

        The `alphas` are increasing, and beta must never grow with alpha. Raises NotApplicable if the number is not
        decided.
        """
        assert self.falls
        low, high = 0, len(alphas)
        while low < high:
            middle = (low + high) // 2
            if self.is_vacuous(alphas[middle]):
                low = middle + 1
            else:
                high = middle
        return low


def rounded_up(alpha: Fraction, digits: int) -> Fraction:
    """Return a number >= `alpha` with at most `digits` + 1 significant binary digits.

    `alpha` is at least 0. For example, 9 is rounded up to 10, in binary 1010, if `digits` is 2.
    """
    if not alpha:
        return _ZERO
    above, below = alpha.numerator, alpha.denominator
    shift = above.bit_length() - below.bit_length() - digits
    if shift >= 0:
        return Fraction(-(-above // (below << shift)) << shift)
    return Fraction(-(-(above << -shift) // below), 1 << -shift)


# --- A family: exits with open constants ------------------------------------------------------------------------------


#: A half-space of an event; only its coefficients on the noises if a row determines its constant.
Side = Halfspace | Terms


@dataclass(slots=True)
class Family:
    """The exits of rows with the same answer; some constants in their half-spaces differ from row to row.

    `shares` pairs each exit with the half-spaces of its events. `forms` computes the constants that differ from the
    numbers in a row, in the order of the half-spaces. `known` says for each obligation decided so far whether the claim
    holds; its keys are (greatest alpha, constants). `cap` is the multiple of alpha that last sufficed as a lower bound
    of the constants, None for no bound.
    """

    shares: tuple[tuple[Exit, tuple[tuple[Side, ...], ...]], ...]
    forms: list[IntegerForm]
    known: dict[tuple[Fraction, tuple[Fraction, ...]], bool] = field(default_factory=dict)
    #: The last multiple of alpha that sufficed as a bound of the constants; None means no bound.
    cap: int | None = 1

    def bound(self, constants: Sequence[Fraction]) -> Bound:
        """Return the probability, summed over the exits, for rows with these `constants` in their half-spaces.

        `constants` has the constants that differ from row to row, in the order of the half-spaces.
        """
        left = iter(constants)
        shares = []
        for exit_, events in self.shares:
            parts = [
                Event(
                    part.around_zero,
                    tuple([side if isinstance(side, Halfspace) else Halfspace(side, next(left)) for side in sides]),
                )
                for part, sides in zip(exit_.event.components, events, strict=True)
            ]
            shares.append(Share(exit_.weight, tuple(parts)))
        return Bound(tuple(shares))


class RowFamilies:
    """The families of rows for one program and one claim, kept from one table to the next.

    A family is a set of rows with the same answer and the same exits. `distances` computes dd by the program's ideal;
    it is None for a program without an ideal.
    """

    def __init__(self, probabilities: Probabilities, distances: Distances | None) -> None:
        self._probabilities = probabilities
        self._distances = distances
        core = probabilities.program
        self._column = {slot: number for number, slot in enumerate((*core.inputs, *core.outputs))}
        self._has_numeric_outputs = any(core.slots[slot].is_symbolic for slot in core.outputs)
        self._families: dict[tuple[object, ...], Family] = {}
        self._facets: dict[tuple[object, ...], tuple[list[tuple[IntegerForm, bool]], list[IntegerForm]]] = {}

    # --- det and dd by the facets of a region -------------------------------------------------------

    def distances_of(self, row: Row, numbers: IntegerColumns, rows: Sequence[int]) -> tuple[list[int], int] | None:
        """Return dd of `rows` as (integers, common denominator); `rows` are indices into the columns of `numbers`.

        All these rows have the same finite inputs and outputs as `row`. The result is None if the inputs with this
        answer are not known to be one convex set of real inputs. Raises NotApplicable if the answer in some row differs
        from det.
        """
        if self._has_numeric_outputs:
            return None
        key = row.outputs
        if key not in self._facets:
            self._facets[key] = self._facets_of(row)
        inside, out = self._facets[key]
        if not out:
            return None
        for form, strict in inside:
            least = min(form.values(numbers, rows))
            if least < 0 or (strict and not least):
                raise NotApplicable
        scale = lcm(*[form.scale for form in out])
        result: list[int] | None = None
        for form in out:
            factor = scale // form.scale
            values = form.values(numbers, rows)
            values = values if factor == 1 else [factor * value for value in values]
            result = values if result is None else [min(pair) for pair in zip(result, values, strict=True)]
        assert result is not None
        return result, scale * numbers.denominator

    def _facets_of(self, row: Row) -> tuple[list[tuple[IntegerForm, bool]], list[IntegerForm]]:
        if self._distances is None or not all(row.outputs):
            return [], []
        with suppress(Undecided, DiagnosticError):
            answer = tuple(map(value_of, row.outputs))
            region = self._distances.convex_region(answer)
            if region is not None:
                guards, out = region
                return [(self._form(guard.form.inputs, guard.form.constant), guard.strict) for guard in guards], [
                    self._form(terms, constant) for terms, constant in out
                ]
        return [], []

    def _form(self, terms: Terms, constant: Fraction) -> IntegerForm:
        return IntegerForm.create({self._column[slot]: c for slot, c in terms}, constant)

    # --- families -----------------------------------------------------------------------------------

    def split(
        self, row: Row, gamma: Cell, numbers: IntegerColumns, rows: Sequence[int]
    ) -> Iterator[tuple[Family, Sequence[int]]]:
        """Divide `rows` into families of rows with the same exits; yield each family with its rows.

        `rows` are indices into the columns of `numbers`. All of them have the same finite inputs and outputs as `row`,
        and the same gamma, the number in the cell `gamma`. Raises NotApplicable for programs whose exits are not
        listed, and Undecided past a limit.
        """
        exits = self._probabilities.plan_exits(row.inputs, row.outputs)
        if exits is None:
            raise NotApplicable
        radius = gamma.value
        assert isinstance(radius, Fraction)
        holds = [self._holding(each, radius, numbers, rows) for each in exits]
        groups: dict[tuple[bool, ...], list[int]] = {}
        if all(isinstance(each, bool) for each in holds):
            groups[tuple([each is True for each in holds])] = [*rows]
        else:
            columns = [[each] * len(rows) if isinstance(each, bool) else each for each in holds]
            for index, pattern in zip(rows, zip(*columns, strict=True), strict=True):
                groups.setdefault(pattern, []).append(index)
        for pattern, members in groups.items():
            key = exits, pattern, radius
            family = self._families.get(key)
            if family is None:
                chosen = [each for each, taken in zip(exits, pattern, strict=True) if taken]
                family = self._families[key] = self._family(chosen, radius)
            yield family, members

    def _holding(self, each: Exit, radius: Fraction, numbers: IntegerColumns, rows: Sequence[int]) -> bool | list[bool]:
        """Return for each of `rows` whether its numbers satisfy the conditions of the exit `each`.

        The result is a single bool if it is the same for all rows. `radius` is gamma. `numbers` has the table's numbers
        by column, and `rows` are indices into each column.
        """
        event = each.event
        if event.in_balls and radius <= 0:
            return False
        result: list[bool] | None = None
        for guard in event.guards:
            values = self._form(guard.form.inputs, guard.form.constant).values(numbers, rows)
            held = [value > 0 for value in values] if guard.strict else [value >= 0 for value in values]
            result = _both(result, held)
        for point in event.points:
            form = point.substituted({GAMMA: radius})
            values = self._form(form.inputs, form.constant).values(numbers, rows)
            result = _both(result, [value >= 0 for value in values])
        return True if result is None else result

    def _family(self, exits: Sequence[Exit], radius: Fraction) -> Family:
        shares = []
        forms: list[IntegerForm] = []
        for each in exits:
            events = []
            for part in each.event.components:
                mine: list[Side] = []
                for bound, slack in zip(part.bounds, part.slacks, strict=True):
                    form = slack.substituted({GAMMA: radius})
                    if not form.inputs:
                        mine.append(Halfspace(bound.noises, form.constant))
                        continue
                    mine.append(bound.noises)
                    forms.append(self._form(form.inputs, form.constant))
                events.append(tuple(mine))
            shares.append((each, tuple(events)))
        return Family(tuple(shares), forms)


@frozen(eq=False)
class FamilyProver:
    """A prover of claims about many rows at once, by obligations that `engine` decides.

    `numbers` has the numbers of the rows, `alphas` their alphas, and `about` is their claim.
    """

    numbers: IntegerColumns
    alphas: AlphaColumn
    about: FamilyClaim
    engine: Engine

    def undecided(self, family: Family, rows: Sequence[int]) -> list[int]:
        """Prove the claim for sets of the `rows` of `family`, and return the rows for which this fails."""
        alphas = self.alphas
        if not self.about.falls:
            exact = {alpha: alphas.fraction(alpha) for alpha in alphas.among(rows)}
            return self._by_sets(family, rows, exact, _DIGITS[-1])
        left = rows
        for digits in _DIGITS:
            grid = {alpha: rounded_up(alphas.fraction(alpha), digits) for alpha in alphas.among(left)}
            left = self._by_sets(family, left, grid, digits)
        return [*left]

    def _by_sets(self, family: Family, rows: Sequence[int], grid: Mapping[int, Fraction], digits: int) -> list[int]:
        """Prove the claim for the `rows` of `family` in sets of rows, and return the rows for which this fails.

        `grid` maps the alpha of each row to an upper bound of this alpha. Rows with the same upper bound are one set;
        their alphas agree in about `digits` leading binary digits.
        """
        order = {most: index for index, most in enumerate(dict.fromkeys(grid.values()))}
        number = {alpha: order[most] for alpha, most in grid.items()}
        sets: list[list[int]] = [[] for _ in order]
        for row in rows:
            alpha = self.alphas.of[row]
            assert alpha is not None
            sets[number[alpha]].append(row)
        left: list[int] = []
        for most, members in zip(order, sets, strict=True):
            least = [form.least(self.numbers, members) for form in family.forms]
            if not self._holds(family, least, most, digits):
                left += members
        return left

    def _holds(self, family: Family, least: Sequence[Fraction], most: Fraction, digits: int) -> bool:
        """Return True if one obligation proves the claim for all rows with alpha <= `most` and constants >= `least`.

        The rows belong to `family`, and their constants are those of the half-spaces that differ from row to row. Their
        alphas agree with `most` in about `digits` leading binary digits. Small multiples of alpha are tried first as
        lower bounds of the constants, because many sets of rows then have the same obligation.
        """
        low = most - most / (1 << (digits - 1))
        unit = (low or _ONE) / 16
        caps: list[int | None] = [1, 2, 4, None] if most else [None]
        caps.sort(key=lambda cap: cap != family.cap)
        beta = self.about.beta(most)
        tried = set()
        for cap in caps:
            constants = tuple(
                [
                    cap * low if cap is not None and constant >= cap * low else constant // unit * unit
                    for constant in least
                ]
            )
            if constants in tried:
                continue
            tried.add(constants)
            known = family.known.get((most, constants))
            if known is None:
                if len(family.known) > _MOST_REMEMBERED:
                    family.known.clear()
                obligation = Obligation(family.bound(constants), beta, self.about.intervals)
                known = self.engine.decide(obligation).verdict is Verdict.ACCURATE
                family.known[most, constants] = known
            if known:
                family.cap = cap
                return True
        return False


def _both(one: list[bool] | None, other: list[bool]) -> list[bool]:
    return other if one is None else [a and b for a, b in zip(one, other, strict=True)]
