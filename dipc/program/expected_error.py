"""The expected error of a program as a closed form in eps: E[d'(out, det)], or E[d'(out, det)²].

For finite outputs it is the sum of distance times probability. For a real output, Z = out - det is an affine form of
noises on each exit, and E[|Z|] is E[Z; Z >= 0] - E[Z; Z < 0]. With centered noises N_i and Z = Σ c_i·N_i + s, E[|Z|] is
a combination of probabilities of these events and of integrals of N_i over them. Such an integral is the measure of an
event with an additional factor eps·N_i in the density, divided by eps. All results are closed forms, with powers of eps
in the denominator.

An expected error E is decided as the probability 1 - E: a claim E <= f is Pr >= 1 - f.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from enum import Enum
from fractions import Fraction
from itertools import product
from math import floor

from dipc.algebra.exppoly import Closed, ExpPoly, Quotient
from dipc.algebra.limits import Effort, Limits, OutsideFragment
from dipc.chain.state import Affine, finite_values
from dipc.claims.given import Cell, CellPool, number_of, value_of
from dipc.frozen import frozen
from dipc.linear.halfspace import Halfspace
from dipc.measure.event import Event, Noise
from dipc.measure.measure import Bound, Share
from dipc.noise.law import Weighted
from dipc.program.exits import Exit, Exits, exits
from dipc.program.nearness import Nearness
from dipc.program.program import Cells, Probabilities, Program
from dipc.text.core import show_value
from dipc.text.diagnostic import bad_input, listing
from dipc.text.program import CoreProgram

_ZERO, _ONE = Fraction(0), Fraction(1)

_PRODUCTS = ("product", "above", "below")


class Moment(Enum):
    """The expectation that is computed for the error Z = out - det: that of |Z|, Z² or Z itself."""

    ABSOLUTE = 1
    SQUARE = 2
    SIGNED = 0

    def of_gap(self, gap: Fraction) -> Fraction:
        """Return |Z|, Z² or Z, as this moment says, for Z = `gap`."""
        match self:
            case Moment.ABSOLUTE:
                return abs(gap)
            case Moment.SQUARE:
                return gap * gap
            case Moment.SIGNED:
                return gap


@frozen
class Measured:
    """The error whose expectation is computed, and the `moment` that is computed.

    It is the error of the numeric output with index `place`. If `place` is None, it is the distance of the whole answer
    from the right one.
    """

    moment: Moment
    place: int | None


def measured(program: Program, moment: int, output: str | None = None) -> Measured:
    """Select the error of `program` whose expectation is computed.

    With an `output`, it is the error of the numeric output with this name. Without a name, it is the distance of whole
    answers if the `metric` block defines one for finite outputs, and otherwise the error of the only output. `moment`
    is 1 for the expectation of |Z| or 2 for that of Z², where Z is the error of an output. Raises ValueError for
    another moment, and DiagnosticError if the program has no error that can be measured.
    """
    core = program.core
    if moment not in (1, 2):
        raise ValueError(f"the moment must be 1 or 2, not {moment}")
    kind = Moment(moment)
    numeric = {
        slot.name: position
        for position, slot in enumerate(core.output_slots)
        if slot.is_symbolic or all(isinstance(value, Fraction) for value in finite_values(slot))
    }
    if output is not None:
        if output not in numeric:
            known = ", ".join(f"`{name}`" for name in numeric) or "there is none"
            message = f"`{output}` is not an output that is a number"
            raise bad_input("E1802", message, f"outputs that are numbers: {known}")
        return Measured(kind, numeric[output])
    if core.metric is not None and core.metric.output not in _PRODUCTS and not _has_symbolic(core):
        return Measured(kind, None)
    if len(core.outputs) == 1 and numeric:
        return Measured(kind, 0)
    numbers = f"{listing(numeric)} {'is a number' if len(numeric) == 1 else 'are numbers'}"
    advice = [f"choose one with `--output NAME`: {numbers}"] if numeric else []
    if not _has_symbolic(core):
        advice.append("`metric { output: discrete; }` counts every other answer as 1; `output: linf` is about numbers")
    outputs = f"{len(core.outputs)} outputs" if len(core.outputs) > 1 else "one output"
    outputs += "" if numeric else ", which is not a number" if len(core.outputs) == 1 else ", none of them a number"
    message = f"an expected error is about one output that is a number, but `{core.name}` has {outputs}"
    raise bad_input("E1803", message, *advice)


def _has_symbolic(core: CoreProgram) -> bool:
    return any(slot.is_symbolic for slot in core.output_slots)


class Erring(Program):
    """A program for which the "probability" of an answer is 1 - E, for its expected error E.

    So the claim E <= error is decided like a claim about accuracy. The beta of this claim is the `error` in the
    program's claim block. The alpha is 0 unless beta depends on a distance.
    """

    def __init__(self, program: Program, error: Measured) -> None:
        super().__init__(_about_errors(program.core), program.limits)
        self._own = program.core
        self.error = error

    def with_limits(self, limits: Limits) -> Erring:
        return Erring(Program(self._own, limits), self.error)

    @property
    def expected_quantity(self) -> str:
        index = self.error.place
        name = "output" if index is None else self.outputs[index]
        if index is None:
            gap = "the distance of output and det(u)"
            return gap if self.error.moment is Moment.ABSOLUTE else f"{gap}, squared"
        return f"|{name} - det(u)|" if self.error.moment is Moment.ABSOLUTE else f"({name} - det(u))²"

    def probabilities(self) -> ExpectedErrors:
        return ExpectedErrors(self, self.error)


def _about_errors(core: CoreProgram) -> CoreProgram:
    claim = core.claim
    if claim is None:
        return core
    kept = [field_ for field_ in claim.fields if field_.name in ("eps", "inputs")]
    kept += [replace(field_, name="beta") for field_ in claim.fields if field_.name == "error"]
    return replace(core, claim=replace(claim, fields=tuple(kept)))


class ExpectedErrors(Probabilities):
    """The values 1 - E for the expected errors E of one program, for the rows of a table."""

    def __init__(self, program: Program, error: Measured) -> None:
        super().__init__(program.row_flow, program.limits, program.choices, program.measurer)
        self._error = error
        self._nearness = Nearness(program.core, program.limits)
        self._pool = CellPool()
        self._exits: dict[tuple[Cell, ...], Exits] = {}
        self._known: dict[tuple[Cell | None, ...], Bound] = {}

    def bound(self, inputs: Sequence[Cell], outputs: Cells, gamma: Cell) -> Bound:
        """Return 1 - E for the expected error E at `inputs`, where `outputs` is the right answer.

        `gamma` has no effect. Raises Undecided if there is no closed form and past a limit, and DiagnosticError for an
        answer with an empty output and for programs that fail.
        """
        del gamma
        key = (*inputs, *outputs)
        if key not in self._known:
            self._known.clear()
            bound = self.expectation(inputs, outputs, self._error.moment)
            self._known[key] = self._interned.setdefault(bound, bound)
        return self._known[key]

    def expectation(self, inputs: Sequence[Cell], outputs: Cells, moment: Moment) -> Bound:
        """Return 1 minus the expectation of |Z|, Z² or Z (`moment`), where Z is the output minus the right output.

        The expectation is taken at `inputs`, and `outputs` has the right answer. The result is compared with 1 - beta,
        as a probability is. If the error is the distance of the whole answer, Z is this distance from `outputs`,
        whatever the `moment`. Raises Undecided if there is no closed form, and DiagnosticError for an answer with an
        empty output.
        """
        index = self._error.place
        if index is None:
            shares = self._of_distance(inputs, outputs)
        else:
            shares = self._of_output(index, inputs, outputs, moment)
        return Bound(tuple([_times(share, -_ONE) for share in shares]), _ONE)

    def _of_distance(self, inputs: Sequence[Cell], outputs: Cells) -> Iterator[Share]:
        for answer, distance in self._nearness.all_distances(inputs, outputs):
            if distance != 0:
                cells = tuple(map(self._pool.cell, answer))
                reached = super().bound(inputs, cells, self._pool.cell(_ZERO))
                if not reached.shares:
                    continue
                if distance is None:
                    text = ", ".join(map(show_value, answer))
                    note = "`metric { output: discrete; }` counts every other answer as 1"
                    message = f"the answer ({text}) is possible and infinitely far from the right one"
                    raise bad_input("E1803", message, note)
                factor = self._error.moment.of_gap(distance)
                yield from (_times(share, factor) for share in reached.shares)

    def _of_output(self, index: int, inputs: Sequence[Cell], outputs: Cells, moment: Moment) -> Iterator[Share]:
        program, cell = self.program, outputs[index]
        slot = program.outputs[index]
        if cell is None or not isinstance(cell.value, Fraction):
            message = (
                f"the cell of the output `{program.slots[slot].name}` is empty, so there is nothing to measure "
                "its error from"
            )
            raise bad_input("E1804", message, "fill the cell, or choose another --output")
        finite = tuple([inputs[position] for position in self._finite_inputs])
        if finite not in self._exits:
            values = {program.inputs[position]: value_of(inputs[position]) for position in self._finite_inputs}
            self.work += Effort(explorations=1)
            self._exits[finite] = exits(self.flow, self.choices, self.limits, values, None, [slot])
        reals = {program.inputs[position]: number_of(inputs[position]) for position in self._real_inputs}
        for exit_ in self._exits[finite].all():
            if exit_.event.guards_hold(reals):
                yield from self._of_exit(exit_, slot, cell.value, reals, moment)

    def _of_exit(
        self, exit_: Exit, slot: int, exact: Fraction, reals: Mapping[int, Fraction], moment: Moment
    ) -> Iterator[Share]:
        value = exit_.state.outputs[slot]
        if value is None:
            name = self.program.slots[slot].name
            message = f"the output `{name}` is not always assigned, so it may have no distance from the answer"
            raise bad_input("E1804", message, f"give it an initial value: `output {name} : … = 0`")
        if not isinstance(value, Affine):
            assert isinstance(value, Fraction)
            value = Affine.number(value)
        gap = value - Affine.number(exact)
        joint = exit_.event.components
        if not gap.noises:
            factor = moment.of_gap(gap.evaluate(reals))
            if factor:
                yield _times(Share(exit_.weight, tuple([component.event(reals) for component in joint])), factor)
            return
        drawn = {noise for noise, _ in gap.noises}
        own = [component for component in joint if not drawn.isdisjoint(component.members)]
        rest = tuple([component.event(reals) for component in joint if component not in own])
        area = _Area.from_exit(exit_, gap, [(component.members, component.event(reals)) for component in own], reals)
        if any(noise.law.whole for noise in area.noises):
            yield _times(Share(_weighted(exit_.weight, area.of_integers(moment)), rest), _ONE)
            return
        for weight, events in area.integrals(moment):
            yield Share(_weighted(exit_.weight, weight), (*events, *rest))


@frozen
class _Area:
    """A random number Z = Σ coefficient·N + `shift` on the event that the noises N satisfy the `constraints`.

    Each N is one of `noises` minus its mean. `coefficients` has pairs (index in `noises`, coefficient). `noises` are
    the noises in Z, and those that share a constraint with a noise in Z.
    """

    noises: tuple[Noise, ...]
    constraints: tuple[Halfspace, ...]
    coefficients: tuple[tuple[int, Fraction], ...]
    shift: Fraction

    @staticmethod
    def from_exit(
        exit_: Exit, form: Affine, own: Sequence[tuple[tuple[int, ...], Event]], reals: Mapping[int, Fraction]
    ) -> _Area:
        places: dict[int, int] = {}
        noises: list[Noise] = []
        constraints: list[Halfspace] = []
        for members, event in own:
            start = len(noises)
            places |= {noise: start + position for position, noise in enumerate(members)}
            noises += event.noises
            constraints += [
                replace(each, coefficients=tuple([(start + position, c) for position, c in each.coefficients]))
                for each in event.constraints
            ]
        drawn = {noise.id: noise for noise in exit_.state.noises}
        for noise, _ in form.noises:
            if noise not in places:
                places[noise] = len(noises)
                variable = drawn[noise]
                noises.append(Noise(variable.law, variable.rate, variable.mean.evaluate(reals)))
        coefficients = tuple(sorted([(places[noise], c) for noise, c in form.noises]))
        alone = form.noiseless.evaluate(reals)
        # The noises of an event can be shifted, together with its constraints.
        shift = alone + sum((c * drawn[noise].mean.evaluate(reals) for noise, c in form.noises), _ZERO)
        return _Area(tuple(noises), tuple(constraints), coefficients, shift)

    def integrals(self, moment: Moment) -> Iterator[tuple[Closed, tuple[Event, ...]]]:
        """Yield pairs (weight, events) with E[`moment` of Z; constraints] = Σ weight·(product of the events' measures).

        Z is the random number of this area, and the expectation is over the noises that satisfy its constraints.
        Without constraints, the expectation of a polynomial in independent noises is a sum of products of moments of
        single noises. Each of these moments is the sum of two integrals, one over each side of 0.
        """
        if moment is not Moment.ABSOLUTE and not self.constraints:
            for factor, powers in self._powers(moment):
                sides = [self._sides(position, power) for position, power in powers.items()]
                for events in product(*sides):
                    yield _over_eps(factor, sum(powers.values())), events
            return
        means = sum((c * self.noises[position].mean for position, c in self.coefficients), _ZERO)
        for side in (_ONE, -_ONE):
            half = Halfspace(
                tuple([(position, side * c) for position, c in self.coefficients]), side * (self.shift - means)
            )
            sign = side if moment is Moment.ABSOLUTE else _ONE
            for factor, powers in self._powers(moment):
                degree = sum(powers.values())
                noises = [
                    replace(noise, law=Weighted(noise.law, powers[position])) if position in powers else noise
                    for position, noise in enumerate(self.noises)
                ]
                yield _over_eps(sign * factor, degree), (Event(tuple(noises), (*self.constraints, half)),)

    def _sides(self, position: int, power: int) -> tuple[Event, Event]:
        """Return two events whose measures have the sum eps^`power`·E[N^`power`], one for N >= 0 and one for N <= 0.

        N is the noise with the index `position`, without its mean. In the events, the density of N is multiplied by
        (eps·N)^`power`.
        """
        noise = self.noises[position]
        weighted = (replace(noise, law=Weighted(noise.law, power)),)
        return Event(weighted, (Halfspace(((0, _ONE),), _ZERO),)), Event(weighted, (Halfspace(((0, -_ONE),), _ZERO),))

    def _powers(self, moment: Moment) -> Iterator[tuple[Fraction, dict[int, int]]]:
        """Yield a pair (coefficient, {index of a noise: its power}) for each term of Z² or Z, expanded in the noises.

        Z is the random number of this area. Its square is expanded if `moment` is `Moment.SQUARE`.
        """
        shift, terms = self.shift, self.coefficients
        if moment is not Moment.SQUARE:
            if shift:
                yield shift, {}
            yield from ((c, {index: 1}) for index, c in terms)
            return
        if shift:
            yield shift * shift, {}
            yield from ((2 * shift * c, {index: 1}) for index, c in terms)
        for number, (position, c) in enumerate(terms):
            yield c * c, {position: 2}
            yield from ((2 * c * other, {position: 1, second: 1}) for second, other in terms[number + 1 :])

    def of_integers(self, moment: Moment) -> Closed:
        """Return the expectation of `moment` of Z for discrete Laplace noises.

        Raises OutsideFragment for other noises, and for several noises if there are constraints or the moment is |Z|.
        Without constraints, and with z = e^{-rate·eps}: E[N²] = 2z/(1 - z)², and variances of independent noises add
        up.
        """
        one = ExpPoly.ONE
        tails = all(noise.law.exponential_tails for noise in self.noises)
        if moment is not Moment.ABSOLUTE and not self.constraints and tails:
            value: Closed = ExpPoly.constant(self.shift if moment is Moment.SIGNED else self.shift * self.shift)
            for place, c in self.coefficients if moment is Moment.SQUARE else ():
                z = ExpPoly.term(1, 0, -self.noises[place].rate)
                value = value + Quotient(z * (2 * c * c), (one - z) * (one - z))
            return value
        if len(self.noises) != 1 or not self.noises[0].law.exponential_tails:
            raise OutsideFragment(
                "the expected error of an int output is known only for one discrete Laplace noise or, with "
                "`--moment 2`, for a sum of them; for others, declare the output with a finite domain, and write "
                "`metric { output: linf; }`"
            )
        (noise,), ((_, c),) = self.noises, self.coefficients
        return self._between_numbers(noise, c, moment)

    def _between_numbers(self, noise: Noise, c: Fraction, moment: Moment) -> Closed:
        """Return the expectation of |Z|, Z² or Z, as `moment` says, for Z = `c`·k + `shift`.

        The integer k is `noise` minus its mean. The expectation is over the k that satisfy `constraints`, which are the
        integers in an interval.
        """
        low, high = _range_of(self.constraints, noise.mean)
        zero = -self.shift / c
        cuts = sorted({0, *([floor(zero) + 1] if moment is Moment.ABSOLUTE else [])})
        total: Closed = ExpPoly.ZERO
        for start, end in zip([None, *cuts], [*(cut - 1 for cut in cuts), None], strict=True):
            first = start if low is None or (start is not None and start > low) else low
            last = end if high is None or (end is not None and end < high) else high
            if first is not None and last is not None and first > last:
                continue
            s, a = self.shift, c
            if moment is Moment.SQUARE:
                polynomial = (s * s, 2 * a * s, a * a)
            else:
                # The form is 0 at the last integer of a part at most.
                inside = last - 1 if first is None and last is not None else first or 0
                sign = -1 if moment is Moment.ABSOLUTE and a * inside + s < 0 else 1
                polynomial = (sign * s, sign * a, _ZERO)
            # Each part is on one side of 0, where the probability of k is a multiple of z^|k|.
            nearest, farthest = first or 0, last
            if first is None or first < 0:
                polynomial = (polynomial[0], -polynomial[1], polynomial[2])
                nearest = -(last or 0)
                farthest = -first if first is not None else None
            part = _tail(polynomial, nearest, noise.rate)
            total = total + (part if farthest is None else part - _tail(polynomial, farthest + 1, noise.rate))
        z, one = ExpPoly.term(1, 0, -noise.rate), ExpPoly.ONE
        return total * Quotient(one, (one + z) * (one - z) * (one - z))


def _range_of(constraints: Sequence[Halfspace], mean: Fraction) -> tuple[int | None, int | None]:
    """Return the least and the greatest integer k for which `mean` + k satisfies `constraints`; None for no bound."""
    low: int | None = None
    high: int | None = None
    for each in constraints:
        ((_, a),) = each.coefficients
        bound = -(a * mean + each.constant) / a
        if a > 0:
            least = floor(bound) + 1 if each.strict else -floor(-bound)
            low = least if low is None else max(low, least)
        else:
            most = -floor(-bound) - 1 if each.strict else floor(bound)
            high = most if high is None else min(high, most)
    return low, high


def _tail(polynomial: tuple[Fraction, Fraction, Fraction], first: int, rate: Fraction) -> ExpPoly:
    """Return (1 - z)³·Σ p(k)·z^k over the integers k >= `first` >= 0, where z = e^{-`rate`·eps}.

    `polynomial` has the coefficients of p, from that of 1 to that of k².
    """
    p, q, r = map(ExpPoly.constant, polynomial)
    z, one, k = ExpPoly.term(1, 0, -rate), ExpPoly.ONE, ExpPoly.constant(Fraction(first))
    less = one - z
    by_k = q * (k * less * less + z * less)
    by_square = r * (k * k * less * less + k * z * less * 2 + z * (one + z))
    return ExpPoly.term(1, 0, -rate * first) * (p * less * less + by_k + by_square)


def of_noise(noises: tuple[Noise, ...], factors: Sequence[Fraction], moment: Moment) -> Bound:
    """Return 1 - E[`moment` of Z] for Z = Σ factor·N over the `noises` N with mean 0 and their `factors`.

    Raises OutsideFragment for sums of integer noises.
    """
    area = _Area(noises, (), tuple(enumerate(factors)), _ZERO)
    if any(noise.law.whole for noise in noises):
        shares = [Share(area.of_integers(moment), ())]
    else:
        shares = [Share(weight, events) for weight, events in area.integrals(moment)]
    return Bound(tuple([_times(share, -_ONE) for share in shares]), _ONE)


def _over_eps(factor: Fraction, degree: int) -> Closed:
    return ExpPoly.constant(factor) if not degree else Quotient(ExpPoly.constant(factor), ExpPoly.term(1, degree))


def _weighted(weight: Closed | None, factor: Closed) -> Closed:
    return factor if weight is None else weight * factor


def _times(share: Share, factor: Fraction) -> Share:
    return Share(_weighted(share.weight, ExpPoly.constant(factor)), share.events)
