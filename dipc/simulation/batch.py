"""A batch: many runs of the checker's machine at once, with codes for the values of each slot in an array over runs.

`dipc.verifier` reads the text and evaluates expressions; it shares nothing with the engine. This room adds the draws,
and decides each comparison of noises by them.

Values are exact. A value that occurs in a batch has a code, its index in a table. A number with noise is an affine form
over draws, and a draw has a float or an integer for each run. An operation is evaluated once for each combination of
values that occurs. If it compares noises, its result may differ between runs with equal values. Only real draws are
rounded.

All runs that have reached the same instruction execute it together. The earliest instruction in the program is next.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from heapq import heappop, heappush
from math import exp, inf, lcm
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from dipc.simulation.draws import GREATEST_RATE, Positions, Sampler, TooExtreme, places, sampler, shares
from dipc.text.diagnostic import DiagnosticError, SourceText, Span, bad_input
from dipc.verifier.execution import Affine, Constraints, Execution, Held, Split
from dipc.verifier.functions import Closed
from dipc.verifier.program import (
    Branch,
    Choice,
    Code,
    Fault,
    Halt,
    Instruction,
    Jump,
    Machine,
    Operation,
    Place,
    Sample,
    Scored,
    Store,
    Value,
    calculated,
    holds,
    value_text,
)
from dipc.verifier.reading import Budget, Ended
from dipc.verifier.syntax import Literal

Mask = NDArray[np.bool_]

#: The codes of the values in some runs: one for each run, or one for all of them.
Codes = int | Positions

#: The code of a slot without a value.
NOTHING = 0

#: The comparisons form >= 0 of noises whose truth is known in some runs.
Known = Mapping[Affine, bool]

#: Sums of integers below this in absolute value are computed in 64 bits.
_SAFE = 2**62

#: The greatest exponent of a weight in absolute value: e^-10^6 is 0 as a float.
_MOST_EXPONENT = Fraction(10**6)

#: The most variables whose values a diagnostic shows.
_SHOWN = 8

#: The comparisons that one comparison of a form with 0 decides.
_INEQUALITIES = ("<", "<=", ">", ">=")

#: The number of values up to which searching one by one is faster than sorting.
_FEW = 8

#: The note on an element that an array does not have.
_FAR = "guard the access with `if`, or declare a longer array"

#: The codes, messages and notes of diagnostics by the checker's reasons.
_FAULTS = {"a division by 0": ("E0702", "division by zero", "guard the division with `if`")}


class GivenUp(DiagnosticError):
    """Raised if the runs cannot go on, although the program may be right."""


class _Failure(Exception):
    """Raised if an index or a value is outside its range.

    `code`, `message` and `note` are those of the diagnostic to report; whoever catches the exception adds the place in
    the text of the program.
    """

    def __init__(self, code: str, message: str, note: str) -> None:
        super().__init__(code, message, note)
        self.code = code
        self.message = message
        self.note = note


class DrawnEvaluation(Execution):
    """The checker's evaluation of expressions, for runs whose noises have been drawn.

    A comparison is therefore known to be true or false, and does not become a constraint.
    """

    def __post_init__(self) -> None:
        """Do nothing, instead of computing facts about the text that only an exploration needs."""

    def is_nonnegative(self, form: Affine, known: Constraints | Known) -> bool:
        """True if `form` >= 0 according to `known`. Raises Split with the form if `known` does not have it."""
        assert isinstance(known, Mapping)
        if form in known:
            return known[form]
        raise Split(form)


class Batch:
    """`size` runs of `machine` at one eps; `slots` has the codes of the values of each slot.

    After `run`, these are the values at the end of the runs. `table` has the value of each code, and `draws` the
    numbers of each draw, one for each run.
    """

    def __init__(
        self,
        machine: Machine,
        source: SourceText,
        eps: Fraction,
        inputs: Mapping[str, Value],
        generator: Generator,
        size: int,
        *,
        shared: bool = False,
    ) -> None:
        """Start `size` runs of `machine`, whose text is `source`, at `eps` and the `inputs`, by name.

        Draws come from `generator`. If `shared`, each run gets the same draws whichever other runs take part, as long
        as the same instructions are executed in some run.
        """
        self.size = size
        self.machine = machine
        self.table: list[Held] = [None]
        self._codes: dict[object, int] = {}
        self.slots: list[Codes] = [
            self.code_of(inputs.get(slot.name) if slot.role == "input" else slot.initial) for slot in machine.slots
        ]
        self._source = source
        self._eps = eps
        self._generator = generator
        self._shared = shared
        self._everyone: Positions = np.arange(size)
        self._evaluation = DrawnEvaluation(machine, Budget(2**62))
        self.draws: list[NDArray[Any]] = []
        self._samplers: dict[int, Sampler] = {}
        self._shares: dict[int, list[float]] = {}
        #: The instruction that is executed, and the runs that wait at the instructions of a heap.
        self._at = 0
        self._waiting: dict[int, list[Positions]] = {}
        self._heap: list[int] = []
        #: The rounds of the present execution of each `while`, by its first instruction.
        self._rounds = {first: 0 for first, _ in machine.loops}

    # --- values and their codes -------------------------------------------------------------------

    def code_of(self, value: Held) -> int:
        """Return the code of `value`, which may be new."""
        if value is None:
            return NOTHING
        code = self._codes.setdefault((value,) if isinstance(value, bool) else value, len(self.table))
        if code == len(self.table):
            self.table.append(value)
        return code

    def combined(self, columns: Sequence[Codes]) -> tuple[list[tuple[Held, ...]], Positions | None]:
        """Return the combinations of values of `columns` that occur, and for each run the index of its combination.

        The indices are None if each column has one code for all runs.
        """
        count, owners = 1, None
        for column in columns:
            if not isinstance(column, int):
                present, own = distinct(column, len(self.table))
                if owners is not None:
                    present, own = distinct(owners * len(present) + own, count * len(present))
                count, owners = len(present), own
        witnesses: Positions = np.zeros(count, dtype=np.intp)
        if owners is not None:
            witnesses[owners] = np.arange(len(owners))
        codes = [[column] * count if isinstance(column, int) else column[witnesses].tolist() for column in columns]
        return [tuple([self.table[code] for code in group]) for group in zip(*codes, strict=True)], owners

    def _applied(self, op: str, columns: Sequence[Codes], runs: Positions) -> Codes:
        """Return the codes of the results of the operation `op` in the runs with the indices `runs`.

        `columns` has the codes of the arguments of `op`: for each argument one code for each run, or one for all. The
        operation is computed once for each combination of arguments. Raises a diagnostic if it has no result in some
        run.
        """
        groups, owners = self.combined(columns)
        if owners is None:
            return self._decided(op, groups[0], runs, {})
        found: list[int] = []
        parted: dict[int, Positions] = {}
        parts: list[Positions] = []
        for number, values in enumerate(groups):
            try:
                found.append(self.code_of(self._result(op, values, {})))
            except (Split, Ended) as open_or_wrong:
                parts = parts or positions_of(owners, len(groups))
                parted[number] = self._parted(op, values, runs[parts[number]], {}, open_or_wrong)
                found.append(NOTHING)
        if not parted and all(code == found[0] for code in found):
            return found[0]
        codes = np.array(found, dtype=np.intp)[owners]
        for number, own in parted.items():
            codes[parts[number]] = own
        return codes

    def _result(self, op: str, values: Sequence[Held], known: Known) -> Held:
        """Return the result of the operation `op` on the arguments `values`.

        `known` says which comparisons of noises are true and which are false. Raises Split if the result depends on
        another comparison, and Ended if the operation has no result.
        """
        if not any(isinstance(value, Affine) for value in values):
            return calculated(op, values)  # type: ignore[arg-type]
        operation = Operation(op, tuple([Place((number,), 0, None) for number in range(len(values))]))
        return self._evaluation.value(operation, values, known)  # type: ignore[arg-type]

    def _decided(self, op: str, values: Sequence[Held], runs: Positions, known: Known) -> Codes:
        """Return the codes of the results of the operation `op` on the arguments `values`, in `runs`.

        `runs` has the indices of runs that all have these arguments. `known` says which comparisons of noises are true
        in all of them, and which are false. The result is one code for each run, or one for all of them.
        """
        try:
            return self.code_of(self._result(op, values, known))
        except (Split, Ended) as open_or_wrong:
            return self._parted(op, values, runs, known, open_or_wrong)

    def _parted(self, op: str, values: Sequence[Held], runs: Positions, known: Known, why: Split | Ended) -> Positions:
        """Return the codes of the results of the operation `op` on the arguments `values`, one for each of `runs`.

        `why` is what `_result` raised for these arguments. A Split names a comparison of noises: the runs in which it
        is true are computed separately from those in which it is false. An Ended is reported as a diagnostic. `known`
        says which other comparisons are true in all the runs, and which are false.
        """
        if isinstance(why, Ended):
            raise self._explained(why.why, runs) from None
        truth = self._nonnegative(why.row, runs)
        if op in _INEQUALITIES:
            # The form is a difference of both sides, at least 0 where `<=` or `>=` holds, or where `<` or `>` fails.
            return np.where(truth, self.code_of(op in ("<=", ">=")), self.code_of(op in ("<", ">")))
        codes = np.empty(len(runs), dtype=np.intp)
        for side in (True, False):
            part = np.flatnonzero(truth == side)
            if len(part):
                codes[part] = self._decided(op, values, runs[part], {**known, why.row: side})
        return codes

    def _nonnegative(self, form: Affine, runs: Positions) -> Mask:
        """Return, for each of the runs with the indices `runs`, whether `form` >= 0.

        `form` is affine in the draws. It is computed exactly if all its draws are integers, otherwise in floating
        point.
        """
        if all(self.draws[number].dtype == np.int64 for number, _ in form.terms):
            return np.asarray(self._integer_sums(form, runs)[0] >= 0, dtype=np.bool_)
        # Scaled so that no coefficient overflows.
        scale = max(abs(coefficient) for _, coefficient in form.terms)
        total = np.full(len(runs), _rounded(form.constant / scale))
        for number, coefficient in form.terms:
            total += float(coefficient / scale) * self.draws[number][runs]
        return total >= 0

    def _integer_sums(self, form: Affine, runs: Positions) -> tuple[NDArray[Any], int]:
        """Return (integers, n): for each of `runs` the value of `form` times n, which is an integer.

        All draws in `form` are integers, and n is the common denominator of its coefficients and its constant.
        """
        common = lcm(form.constant.denominator, *(coefficient.denominator for _, coefficient in form.terms))
        terms = [(self.draws[number][runs], int(coefficient * common)) for number, coefficient in form.terms]
        constant = int(form.constant * common)
        most = abs(constant) + sum(
            abs(coefficient) * max(abs(int(values.max())), abs(int(values.min()))) for values, coefficient in terms
        )
        kind: type[Any] = np.int64 if most < _SAFE else object
        total = np.full(len(runs), constant, dtype=kind)
        for values, coefficient in terms:
            total = total + values.astype(kind) * coefficient
        return total, common

    # --- expressions ------------------------------------------------------------------------------

    def holds(self, condition: Code, runs: Positions) -> Mask:
        """Return, for each of `runs`, whether `condition` is true; `runs` must not be empty."""
        codes = self.value(condition, runs)
        return np.full(len(runs), True) & (codes == self.code_of(True))

    def value(self, code: Code, runs: Positions) -> Codes:
        """Evaluate the expression `code` in each of `runs`, and return the indices of its values in `table`.

        `runs` must not be empty. Raises DiagnosticError if the evaluation fails in a run.
        """
        match code:
            case Literal(value):
                return self.code_of(value)
            case Place(slots, _, index):
                if index is None:
                    return self._read(slots[0], runs)
                chosen = self._chosen(code, runs)
                if isinstance(chosen, int):
                    return self._read(chosen, runs)
                codes = np.empty(len(runs), dtype=np.intp)
                for slot, part in split(chosen, len(self.slots)):
                    codes[part] = self._read(slot, runs[part])
                return codes
            case Fault(why):
                raise self._explained(why, runs)
            case Operation("and" | "or" as op, (left, right)):
                truth = self.value(left, runs)
                decided = self.code_of(op == "or")
                if isinstance(truth, int):
                    return truth if truth == decided else self.value(right, runs)
                # The right side is evaluated only in the runs that the left side does not decide.
                part = np.flatnonzero(truth != decided)
                result = np.full(len(runs), decided)
                if len(part):
                    result[part] = self.value(right, runs[part])
                return result
            case Operation(op, arguments):
                return self._applied(op, [self.value(argument, runs) for argument in arguments], runs)

    def _read(self, slot: int, runs: Positions) -> Codes:
        held = self.slots[slot]
        if isinstance(held, int):
            missing = held == NOTHING
        else:
            held = held if runs is self._everyone else held[runs]
            missing = not held.all()
        if missing:
            run = int(runs[np.argmax(held == NOTHING)])
            message = f"`{self.machine.slots[slot].name}` is read before it is assigned"
            note = "assign it on every path that leads here, or declare it with an initial value"
            raise self.fault("E0701", message, run, note)
        return held

    def _chosen(self, place: Place, runs: Positions) -> Codes:
        """Return the number of the slot that `place` selects: one for each of `runs`, or one for all of them.

        For example, the place a[i] selects the slot of a[2] in a run in which i is 2. Raises a diagnostic if an index
        is outside the bounds of the array.
        """
        if place.index is None:
            return place.slots[0]

        def slot(value: Held) -> int:
            assert isinstance(value, Fraction), "an index without noise passed the type check"
            if value.denominator != 1 or not 0 <= value - place.low < len(place.slots):
                name = self.machine.slots[place.slots[0]].name.partition("[")[0]
                ends = f"{place.low}..{place.low + len(place.slots) - 1}"
                raise _Failure("E0703", f"the index {value} is outside `{name}[{ends}]`", _FAR)
            return place.slots[int(value) - place.low]

        return self._translated(slot, self.value(place.index, runs), runs)

    def _translated(self, function: Callable[[Held], int], codes: Codes, runs: Positions) -> Codes:
        """Return the results of `function`, called once for each value that has a code in `codes`.

        `codes` has one code for each of `runs`, or one for all of them. The result has one number for each of `runs`,
        or one if all are equal. A _Failure of `function` is raised as the diagnostic of a run with this value.
        """
        present, owners = distinct(np.atleast_1d(codes), len(self.table))
        found = []
        for code in present.tolist():
            try:
                found.append(function(self.table[code]))
            except _Failure as failure:
                run = int(runs[np.argmax(codes == code)])
                raise self.fault(failure.code, failure.message, run, failure.note) from None
        return found[0] if len(set(found)) == 1 else np.array(found, dtype=np.intp)[owners]

    # --- instructions -----------------------------------------------------------------------------

    def run(self, loop_limit: int) -> None:
        """Execute all runs to their ends.

        Raises DiagnosticError for a failure in some run. Raises GivenUp if a run takes more than `loop_limit` rounds of
        one `while`.
        """
        self._go(0, self._everyone)
        while self._heap:
            self._at = heappop(self._heap)
            parts = self._waiting.pop(self._at)
            runs = parts[0] if len(parts) == 1 else np.concatenate(parts)
            self._step(self.machine.code[self._at], runs if len(runs) < self.size else self._everyone, loop_limit)

    def _go(self, goal: int, runs: Positions) -> None:
        if not len(runs):
            return
        if goal in self._rounds:
            self._rounds[goal] = self._rounds[goal] + 1 if goal < self._at else 0
        if goal not in self._waiting:
            self._waiting[goal] = []
            heappush(self._heap, goal)
        self._waiting[goal].append(runs)

    def _step(self, instruction: Instruction, runs: Positions, loop_limit: int) -> None:
        following = self._at + 1
        match instruction:
            case Halt():
                return
            case Jump(goal):
                following = goal
            case Branch(condition, otherwise):
                truth = self.holds(condition, runs)
                if self._at in self._rounds and self._rounds[self._at] >= loop_limit and truth.any():
                    inside = runs[truth]
                    message = (
                        f"after {loop_limit} rounds of this `while`, {len(inside)} of {self.size} runs are still in it"
                    )
                    note = "if it ends with probability 1, but later, allow more rounds"
                    raise GivenUp(*self.fault("E0720", message, int(inside[0]), note).diagnostics)
                if not truth.all():
                    self._go(otherwise, runs[~truth])
                    runs = runs[truth]
            case Store(target, value):
                self._store(target, self.value(value, runs), runs)
            case Sample(target, family, rate, mean):
                center = self.value(mean, runs)
                if self._at not in self._samplers:
                    self._samplers[self._at] = self._sampler(instruction)
                number = len(self.draws)
                self._evaluation.laws[number] = family, rate
                drawn = self._drawn(self._samplers[self._at], runs)
                everywhere = np.zeros(self.size, dtype=drawn.dtype)
                everywhere[runs] = drawn
                self.draws.append(everywhere)
                noise = self.code_of(Affine(Fraction(0), ((number, Fraction(1)),)))
                self._store(target, self._applied("+", [center, noise], runs), runs)
            case Choice(target, arms):
                chosen = places(self._weights(arms), self._drawn(Generator.random, runs))
                for arm, part in split(chosen, len(arms)):
                    self._store(target, self.value(arms[arm][0], runs[part]), runs[part])
            case Scored(target, rate, scored):
                groups, owners = self.combined([self.value(score, runs) for _, score in scored])
                uniform = self._drawn(Generator.random, runs)
                parts = [np.arange(len(runs))] if owners is None else positions_of(owners, len(groups))
                chosen = np.empty(len(runs), dtype=np.intp)
                for scores, part in zip(groups, parts, strict=True):
                    exponents = [rate * self._eps * score for score in scores if isinstance(score, Fraction)]
                    most = max(exponents)
                    weights = [exp(max(exponent - most, -_MOST_EXPONENT)) for exponent in exponents]
                    chosen[part] = places(weights, uniform[part])
                codes = np.array([self.code_of(literal.value) for literal, _ in scored], dtype=np.intp)
                self._store(target, codes[chosen], runs)
        self._go(following, runs)

    def _drawn(self, draw: Callable[[Generator, int], NDArray[Any]], runs: Positions) -> NDArray[Any]:
        if self._shared:
            return draw(self._generator, self.size)[runs]
        return draw(self._generator, len(runs))

    def _sampler(self, draw: Sample) -> Sampler:
        try:
            return sampler(draw.family, draw.rate, self._eps)
        except TooExtreme as extreme:
            message = f"at this eps the rate is {float(min(extreme.rate, GREATEST_RATE)):.3g}, too extreme to simulate"
            note = f"a simulation needs rates between {float(extreme.least):.0e} and {float(GREATEST_RATE):.0e}"
            raise self.fault("E0722", message, None, note) from None

    def _weights(self, arms: Sequence[tuple[Code, Closed]]) -> list[float]:
        if self._at not in self._shares:
            try:
                found = shares([weight for _, weight in arms], self._eps)
            except ArithmeticError:
                message, note = "at this eps a weight of `choose` has no value", "weights must be finite for every eps"
                raise self.fault("E0722", message, None, note) from None
            if found is None:
                message = f"at eps = {self._eps} these weights do not add up to a distribution"
                raise self.fault("E0721", message, None, "weights must be at least 0 and sum to 1 for every eps > 0")
            self._shares[self._at] = found
        return self._shares[self._at]

    def _store(self, target: Place, codes: Codes, runs: Positions) -> None:
        chosen = self._chosen(target, runs)
        if isinstance(chosen, int):
            self._write(chosen, codes, runs)
            return
        for slot, part in split(chosen, len(self.slots)):
            self._write(slot, codes if isinstance(codes, int) else codes[part], runs[part])

    def _write(self, slot: int, codes: Codes, runs: Positions) -> None:
        declared = self.machine.slots[slot]
        finite = isinstance(declared.type, frozenset)

        def fitting(value: Held) -> int:
            if isinstance(value, bool) and declared.type != "bool":
                value = Fraction(value)
            if not isinstance(value, Affine) and not holds(declared.type, value):
                message = f"`{declared.name}` would become {value_text(value)}, which is outside its domain"
                raise _Failure("E0704", message, "widen the domain, or guard the assignment")
            return self.code_of(value)

        codes = self._translated(fitting, self._resolved(codes, runs) if finite else codes, runs)
        if runs is not self._everyone:
            held = self.slots[slot]
            everywhere = np.full(self.size, held) if isinstance(held, int) else held.copy()
            everywhere[runs] = codes
            codes = everywhere
        self.slots[slot] = codes

    def _resolved(self, codes: Codes, runs: Positions) -> Codes:
        """Return `codes` with the code of an integer or rational in place of each code of an affine form in draws.

        `codes` has one code for each of `runs`, or one for all of them. All draws in the forms are integers. The number
        that replaces a form is its value in the run.
        """
        present, owners = distinct(np.atleast_1d(codes), len(self.table))
        forms = [(number, self.table[code]) for number, code in enumerate(present.tolist())]
        forms = [(number, form) for number, form in forms if isinstance(form, Affine)]
        if not forms:
            return codes
        resolved = np.full(len(runs), codes)
        for number, form in forms:
            part = np.flatnonzero(np.broadcast_to(owners, len(runs)) == number)
            assert isinstance(form, Affine)
            multiples, unit = self._integer_sums(form, runs[part])
            numbers, places_ = np.unique(multiples, return_inverse=True)
            found = [self.code_of(Fraction(int(multiple), unit)) for multiple in numbers]
            resolved[part] = np.array(found, dtype=np.intp)[places_]
        return resolved

    # --- results ----------------------------------------------------------------------------------

    def counted(self, slots: Sequence[int]) -> Counter[tuple[Any, ...]]:
        """Return the count of each combination of values of `slots`, with None for a slot without a value."""
        groups, owners = self.combined([self.slots[slot] for slot in slots])
        if owners is None:
            return Counter({groups[0] if groups else (): self.size})
        return Counter(dict(zip(groups, np.bincount(owners).tolist(), strict=True)))

    def happened(self, event: Mapping[str, Value], gamma: Fraction, sides: Sequence[int]) -> Mask:
        """Return the mask of the runs in which every output of `event` has the value that the event states.

        An int or a real has the stated value if it is within `gamma` of it on each of `sides`: 1 for outputs below the
        value, and -1 for outputs above it. An output that was never assigned has no value, and the event does not
        happen.
        """
        happened = np.ones(self.size, dtype=np.bool_)
        for slot in self.machine.numbered("output"):
            declared = self.machine.slots[slot]
            if declared.name in event:
                happened &= self.slots[slot] != NOTHING
                here, wanted = Place((slot,), 0, None), Literal(event[declared.name])
                conditions = [Operation("=", (here, wanted))]
                if declared.type in ("int", "real"):
                    off, ends = Operation("-", (here, wanted)), {1: (">=", -gamma), -1: ("<=", gamma)}
                    conditions = [Operation(ends[side][0], (off, Literal(ends[side][1]))) for side in sides]
                for condition in conditions:
                    part = np.flatnonzero(happened)
                    if len(part):
                        happened[part] = self.holds(condition, part)
        return happened

    # --- failures ---------------------------------------------------------------------------------

    def fault(self, code: str, message: str, run: int | None, *notes: str) -> DiagnosticError:
        """Return the diagnostic `code` for a failure of the current instruction.

        The diagnostic has `message` and `notes`, and shows the values in `run`. If `run` is None, the instruction fails
        in all runs, and no values are shown.
        """
        values = ", ".join(self._situation(run)) if run is not None else ""
        notes = (f"this happened with {values}", *notes) if values else notes
        place = self._source.excerpt(Span(*self.machine.spans[self._at]))
        return bad_input(code, message, *notes, place=place)

    def _explained(self, why: str, runs: Positions) -> DiagnosticError:
        code, message, note = _FAULTS.get(why, ("E0723", why, "the checker of certificates ends here"))
        if " has no element " in why:
            code, note = "E0703", _FAR
        return self.fault(code, message, int(runs[0]), note)

    def _situation(self, run: int) -> Iterator[str]:
        """Yield strings such as "i = 2" for the first few finite variables that have a value in `run`.

        `run` is the index of the run.
        """
        shown = 0
        for slot, held in zip(self.machine.slots, self.slots, strict=True):
            value = self.table[held if isinstance(held, int) else int(held[run])]
            if slot.type not in ("int", "real") and value is not None and shown < _SHOWN:
                shown += 1
                yield f"{slot.name} = {value_text(value)}"


def _rounded(value: Fraction) -> float:
    try:
        return float(value)
    except OverflowError:
        return inf if value > 0 else -inf


# --- arrays of codes -------------------------------------------------------------------------------


def distinct(codes: Positions, bound: int) -> tuple[Positions, Positions]:
    """Return (the different numbers in `codes`, increasing; for each run the index of its code among them).

    `codes` has one code for each run. All codes are < `bound`.
    """
    if bound > 4 * len(codes) + 1024:
        present, owners = np.unique(codes, return_inverse=True)
        return present, owners.astype(np.intp, copy=False)
    present = np.flatnonzero(np.bincount(codes, minlength=bound))
    order = np.empty(bound, dtype=np.intp)
    order[present] = np.arange(len(present))
    return present, order[codes]


def positions_of(owners: Positions, count: int) -> list[Positions]:
    """Return, for each number below `count`, the increasing positions at which `owners` has this number."""
    if count <= _FEW:
        return [np.flatnonzero(owners == number) for number in range(count)]
    # NumPy sorts short integers without comparing them.
    order = np.argsort(owners.astype(np.uint16) if count <= 1 << 16 else owners, kind="stable")
    return np.split(order, np.cumsum(np.bincount(owners, minlength=count))[:-1])


def split(codes: Positions, bound: int) -> Iterator[tuple[int, Positions]]:
    """Yield each of `codes` that occurs, with its positions, increasing. All codes are < `bound`."""
    present, owners = distinct(codes, bound)
    yield from zip(present.tolist(), positions_of(owners, len(present)), strict=True)
