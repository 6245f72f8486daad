"""Programs run with exact noise: `dipc run` and `program.run`."""

from __future__ import annotations

import csv
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, partial
from math import lcm
from typing import TextIO, TypeAlias, assert_never, overload

from dipc.algebra.exppoly import Closed
from dipc.algebra.numbers import exact_eps, exact_grid
from dipc.chain.flow import trapped_fault
from dipc.chain.state import (
    NOTHING_KNOWN,
    Affine,
    Choice,
    Comparison,
    Fault,
    Mark,
    NoiseVar,
    SlotValue,
    State,
    Unfinished,
    Waiting,
    slot_set,
)
from dipc.chain.step import Successor, step
from dipc.claims.given import CellPool
from dipc.claims.table import input_cells
from dipc.noise.lazy import Inversion, LazyReal, RandomBits, Threshold
from dipc.program.nearness import place_notes
from dipc.program.program import Program, ProgramGiven, as_program
from dipc.text.ast import COMPARED, BaseType
from dipc.text.core import Value, show_value
from dipc.text.diagnostic import bad_input, listing

#: The draws, by the number of the noise: an integer, or rate·N as a lazy real.
Drawn = dict[int, int | LazyReal]

#: The most values of variables in the cached states.
_REMEMBERED = 20_000_000


#: A random event of a run: it happens, given the draws so far and fresh bits, and returns the next event or the end.
Event: TypeAlias = "Callable[[Drawn, RandomBits], Event | Ending]"

#: The end of the program, with its outputs; None for one that was never assigned.
Ending: TypeAlias = "tuple[Value | LazyForm | None, ...]"


class LazyForm:
    """An affine function of draws, computed to as many digits as are needed: (constant + Σ weight·draw)/unit.

    The constant, the weights and the unit are integers, and the unit is positive. If `whole` is true, the draws are
    integers; otherwise they are real numbers of which only some digits are known.
    """

    __slots__ = ("_constant", "_terms", "_unit", "whole")

    def __init__(self, constant: Fraction, terms: Mapping[int, Fraction], *, whole: bool) -> None:
        self._unit = lcm(constant.denominator, *(weight.denominator for weight in terms.values()))
        self._constant = int(constant * self._unit)
        self._terms = [(number, int(weight * self._unit)) for number, weight in terms.items()]
        self.whole = whole

    def sign(self, drawn: Drawn, bits: RandomBits) -> int:
        """Return 1, 0 or -1, the sign of this number for the noises `drawn`.

        More digits of the noises are taken from `bits` where they are needed. A sum of real noises is 0 with
        probability 0, and is never reported as 0.
        """
        if self.whole:
            total = self._sum(drawn)
            return (total > 0) - (total < 0)
        while True:
            low, high, _ = self._enclosed(drawn, bits)
            if low >= 0:
                return 1
            if high <= 0:
                return -1
            self._refine(drawn, bits)

    def floor(self, drawn: Drawn, bits: RandomBits, grid: Fraction | None) -> Fraction:
        """Return this number for the noises `drawn`, rounded down to a multiple of `grid` if it is real.

        More digits of the noises are taken from `bits` where they are needed.
        """
        if self.whole:
            return Fraction(self._sum(drawn), self._unit)
        assert grid is not None
        while True:
            low, high, length = self._enclosed(drawn, bits)
            cell = self._unit * grid.numerator << length
            low, high = low * grid.denominator, high * grid.denominator
            # Almost surely the number is not the upper end; without noise both ends are the number.
            if low // cell == (high - (low < high)) // cell:
                return low // cell * grid
            self._refine(drawn, bits)

    def _sum(self, drawn: Drawn) -> int:
        total = self._constant
        for number, weight in self._terms:
            draw = drawn[number]
            assert isinstance(draw, int)
            total += weight * draw
        return total

    def _enclosed(self, drawn: Drawn, bits: RandomBits) -> tuple[int, int, int]:
        """Return (low, high, length): this number times its unit is between low/2^length and high/2^length.

        This number times its unit is an integer plus a sum of integers times noises. `drawn` has the digits of the
        noises that are known so far. A noise of which no digit is known gets its first digits from `bits`.
        """
        length = 0
        for number, _ in self._terms:
            draw = drawn[number]
            assert isinstance(draw, LazyReal)
            if draw.length < 0:
                draw.refine(bits)
            length = max(length, draw.length)
        low = high = self._constant << length
        for number, weight in self._terms:
            draw = drawn[number]
            assert isinstance(draw, LazyReal)
            shift = length - draw.length
            near, far = (draw.whole * weight) << shift, ((draw.whole + 1) * weight) << shift
            if (weight > 0) is (draw.sign > 0):
                low, high = low + draw.sign * near, high + draw.sign * far
            else:
                low, high = low + draw.sign * far, high + draw.sign * near
        return low, high, length

    def _refine(self, drawn: Drawn, bits: RandomBits) -> None:
        """Draw more digits from `bits` for the noise in `drawn` that makes this number most uncertain."""

        def width(term: tuple[int, int]) -> int:
            draw = drawn[term[0]]
            assert isinstance(draw, LazyReal)
            return abs(term[1]).bit_length() - draw.length

        draw = drawn[max(self._terms, key=width)[0]]
        assert isinstance(draw, LazyReal)
        draw.refine(bits)


def _together(weights: Sequence[Closed], eps: Fraction) -> Threshold:
    """Return a function that encloses the sum of `weights` at `eps` with a given precision.

    For a number of bits b, the function returns integers (low, high): the sum is between low/2^b and high/2^b.
    """
    known: dict[int, tuple[int, int]] = {}

    def enclosed(bits: int) -> tuple[int, int]:
        if bits not in known:
            digits = bits * 31 // 100 + 3
            ends = [weight.enclosure(eps, digits) for weight in weights]
            low, high = (sum(end, Fraction(0)) * 2**bits for end in zip(*ends, strict=True))
            known[bits] = low.numerator // low.denominator, -(-high.numerator // high.denominator)
        return known[bits]

    return enclosed


#: The most random events of one run; a run with more counts as endless.
_MOST_EVENTS = 1_000_000

#: The number of runs between two reports of progress.
_TOGETHER = 1_000

#: A callback that receives the number of finished runs and of all runs.
Progress = Callable[[int, int], None]

#: The values of all outputs, in their order; None for one that was never assigned.
Answer = tuple[Value | None, ...]


@dataclass(frozen=True)
class Runs(Sequence[Mapping[str, Value | None]]):
    """The outputs of independent runs of a program at one input and one eps, as a sequence of mappings by name.

    An output that was never assigned is None. The outputs have exactly the distribution that proofs about the program
    are about, except that real outputs are rounded down to multiples of `grid`. With a `seed` the runs are predictable,
    and protect no privacy. `answers` has the values in the order of the outputs, and `random_bits` is the number of
    bits used.
    """

    program: Program
    input: Mapping[str, Value]
    eps: Fraction
    grid: Fraction | None
    seed: int | None
    answers: tuple[Answer, ...]
    random_bits: int

    def __len__(self) -> int:
        return len(self.answers)

    @overload
    def __getitem__(self, position: int) -> Mapping[str, Value | None]: ...
    @overload
    def __getitem__(self, position: slice) -> Sequence[Mapping[str, Value | None]]: ...
    def __getitem__(self, position: int | slice) -> Mapping[str, Value | None] | Sequence[Mapping[str, Value | None]]:
        names = self.program.outputs
        if isinstance(position, slice):
            return [dict(zip(names, answer, strict=True)) for answer in self.answers[position]]
        return dict(zip(names, self.answers[position], strict=True))

    def write_samples(self, stream: TextIO) -> None:
        """Write the outputs to `stream` as `dipc conform --samples` reads them.

        Raises DiagnosticError for runs that left an output without a value.
        """
        empty = [name for name, *column in zip(self.program.outputs, *self.answers, strict=True) if None in column]
        if empty:
            message = f"no samples are written: some runs assign nothing to {listing(empty)}"
            raise bad_input("E1703", message, "declare it with an initial value")
        rows = csv.writer(stream, lineterminator="\n")
        rows.writerow(self.program.outputs)
        rows.writerows([show_value(value) for value in answer if value is not None] for answer in self.answers)


def run(
    program: ProgramGiven,
    input: Mapping[str, object],  # noqa: A002 - the contract's name
    eps: Fraction | int | str,
    n: int = 1,
    *,
    grid: Fraction | int | str | None = None,
    seed: int | None = None,
) -> Runs:
    """Run `program` `n` times at `input` and `eps` with exact noise, from the operating system's random bits.

    With a `seed` the bits are predictable, for tests. Nothing is rounded before it is compared: comparisons and choices
    are those of the ideal program. Real outputs are rounded down to multiples of `grid`. The time and the number of
    random bits of a run depend on the data, and are not protected.

    Raises DiagnosticError if the inputs do not fit the program, if it has real outputs but `grid` is None, or if a run
    fails. Raises ValueError if `n` is negative, or if `eps` or `grid` is not a positive rational number. Raises
    TypeError for floats, and Undecided past a limit.
    """
    if n < 0:
        raise ValueError(f"the number of runs must be at least 0, not {n}")
    execution = Execution(as_program(program, eps=eps), input, eps, grid=grid, seed=seed)
    return execution.runs(n)


class Execution:
    """A source of runs of a program at one input and one eps.

    Everything that does not depend on random bits is computed once for each state of the program, and shared by all
    runs.
    """

    def __init__(
        self,
        program: Program,
        input: Mapping[str, object],  # noqa: A002 - the contract's name
        eps: Fraction | int | str,
        *,
        grid: Fraction | int | str | None = None,
        seed: int | None = None,
    ) -> None:
        point, spacing = exact_eps(eps), None if grid is None else exact_grid(grid)
        core = program.core
        core.require_meaning(point)
        require_grid(program, spacing)
        cells = zip(program.inputs, input_cells(core, input, CellPool()), strict=True)
        values = {name: cell.value for name, cell in cells if cell.value is not None}
        self.bits = RandomBits(seed)
        self._program = program
        self._result = values, point, spacing, seed
        self._grid = spacing
        self._eps = point
        self._flow = program.flow
        self._weights = program.choices.require_weights()
        self._live = self._flow.live(core.outputs)
        self._everything = slot_set(range(len(core.slots)))
        self._noises: dict[int, tuple[Fraction, Fraction, bool]] = {}
        self._events: dict[State, Event | Ending] = {}
        self._given = dict(zip(core.inputs, values.values(), strict=True))
        self._start = self._flow.first_state(self._given)

    def runs(self, n: int, progress: Progress | None = None) -> Runs:
        """Return the outputs of `n` more runs; `progress` is called with the number of finished runs and with `n`."""
        before = self.bits.drawn
        answers: list[Answer] = []
        for done in range(n):
            if progress is not None and done % _TOGETHER == 0:
                progress(done, n)
            answers.append(self.answer())
        return Runs(self._program, *self._result, tuple(answers), self.bits.drawn - before)

    def answer(self) -> Answer:
        """Return the values of all outputs after one more run. Raises DiagnosticError for a failure in the run."""
        drawn: Drawn = {}
        if len(self._events) * len(self._start.values) > _REMEMBERED:
            self._events.clear()  # the first event keeps all others alive
        event = self._event_at(self._start)
        for _ in range(_MOST_EVENTS):
            if isinstance(event, tuple):
                return tuple(
                    [each.floor(drawn, self.bits, self._grid) if isinstance(each, LazyForm) else each for each in event]
                )
            event = event(drawn, self.bits)
        message = f"a run of `{self._program.name}` has not ended after {_MOST_EVENTS} random events"
        raise bad_input("E1702", message, "`dipc prob` tells whether a loop runs forever")

    def once(self) -> dict[str, Value | None]:
        """Run the program once more and return its outputs by name; None is an output that was never assigned."""
        return dict(zip(self._program.outputs, self.answer(), strict=True))

    # --- the chain as random events -----------------------------------------------------------------------

    def _event_at(self, state: State) -> Event | Ending:
        known = self._events.get(state)
        if known is None:
            known = self._events[state] = self._next_event(state)
        return known

    def _next_event(self, state: State) -> Event | Ending:
        flow = self._flow
        passed: dict[State, None] = {}
        while state.label != flow.exit_label:
            try:
                successors = step(flow, state)
                if state.label in flow.program.loops or successors[0].edge is not None:
                    if state in passed:
                        raise trapped_fault(flow, dict(enumerate(passed)), frozenset(range(len(passed))))
                    passed[state] = None
            except Fault as fault:
                raise fault.diagnosed(flow.program.source, *place_notes(self._flow.program, self._given)) from None
            event = self._event(state, successors)
            if event is not None:
                return event
            state = self._bare(successors[0].state)
        return tuple([self._output(slot, state.values[slot]) for slot in flow.program.outputs])

    def _event(self, state: State, successors: Sequence[Successor]) -> Event | None:
        """Return the function that executes the step after `state`; None if the step is without randomness.

        The step draws a noise, makes a choice, or decides a comparison of noises. `successors` are the states that it
        may lead to. None is also returned for a choice with one option.
        """
        # Each next event is computed when a run first reaches its state.
        follow = [cache(partial(self._event_at, self._bare(each.state))) for each in successors]
        match successors[0].edge:
            case None:
                noises = successors[0].state.noises
                return self._draw(noises[-1], follow[0]) if len(noises) > len(state.noises) else None
            case Comparison(difference=difference, op=op):
                form = self._form(difference)
                after = {each.edge.holds: later for each, later in zip(successors, follow, strict=True)}  # type: ignore[union-attr]
                holds = {sign: COMPARED[op](sign, 0) for sign in (-1, 0, 1)}
                return lambda drawn, bits: after[holds[form.sign(drawn, bits)]]()
            case Choice():
                inversion = self._inversion(successors)
                return (lambda _, bits: follow[inversion.draw(bits)]()) if len(successors) > 1 else None
            case unreachable:
                assert_never(unreachable)

    def _draw(self, noise: NoiseVar, follow: Callable[[], Event | Ending]) -> Event:
        rate = noise.law.rate_at(noise.rate, self._eps)
        scale = Fraction(1) if noise.law.whole else 1 / rate
        self._noises[noise.id] = noise.mean.constant, scale, noise.law.whole

        def draw(drawn: Drawn, bits: RandomBits) -> Event | Ending:
            drawn[noise.id] = noise.law.draw_exactly(bits, rate)
            return follow()

        return draw

    def _bare(self, state: State) -> State:
        """Return `state` without values that are never read again, and without constraints on noises.

        More states become equal in this way. Runs do not change, because every run satisfies its constraints.
        """
        kept = state.forget(self._everything & ~self._live[state.label])
        return State(kept.label, kept.values, (), NOTHING_KNOWN, NOTHING_KNOWN, kept.fingerprint)

    def _form(self, form: Affine) -> LazyForm:
        constant, terms, whole = form.constant, {}, False
        for number, coefficient in form.noises:
            mean, scale, whole = self._noises[number]
            constant += coefficient * mean
            terms[number] = coefficient * scale
        return LazyForm(constant, terms, whole=whole)

    def _output(self, slot: int, value: SlotValue) -> Value | LazyForm | None:
        if isinstance(value, Affine):
            form = self._form(value)
            form.whole = self._flow.program.slots[slot].type is BaseType.INT
            return form
        assert not isinstance(value, Waiting | Unfinished), "an execution draws each choice at once"
        return None if isinstance(value, Mark) else value

    def _inversion(self, successors: Sequence[Successor]) -> Inversion:
        weights = []
        for successor in successors:
            assert isinstance(successor.edge, Choice)
            weights.append(self._weights.closed(successor.edge.weight))
        return Inversion([_together(weights[:count], self._eps) for count in range(1, len(weights))])


def require_grid(program: Program, grid: Fraction | None) -> None:
    """Raise DiagnosticError (E1701) if `program` has real outputs and `grid` is None."""
    core = program.core
    reals = [slot for slot in core.output_slots if slot.type is BaseType.REAL]
    if grid is None and reals:
        names = listing(slot.name for slot in reals)
        message = f"{names} {'is' if len(reals) == 1 else 'are'} real, but no grid is given to round down to"
        notes = (
            (
                "a real number has infinitely many digits: give a grid, such as --grid 2^-20, or "
                "grid='1/1048576' in Python"
            ),
            "rounding it is post-processing, which keeps privacy; an answer within gamma is then within gamma + grid",
        )
        raise bad_input("E1701", message, *notes, place=core.source.excerpt(reals[0].span))
