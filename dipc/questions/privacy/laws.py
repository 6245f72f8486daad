"""The output laws of many inputs in closed form, each measured once: equal functions are one number.

**Int outputs.** Far out, what is left of an output is one answer. Let an int output be ±N + c wherever the program
ends, for a DLap noise N of one rate r that is compared with no other noise, and let B be beyond all centers of these
noises and all numbers that they are compared with. For o >= B the probability of o, together with the values of the
other outputs, is then a function of eps times e^(-r·eps·(o - B)), at every input. So at two inputs p/p' is the same for
all o >= B: these are in the worst set together or not at all, and may be one answer, which has the probability of B
over 1 - e^(-r·eps). For o <= -B it is the same."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from math import ceil

from dipc.algebra.closed_form import ClosedForm
from dipc.algebra.exppoly import ExpPoly
from dipc.algebra.limits import LimitReached, OutsideFragment, Undecided
from dipc.algebra.quotient import Closed, Quotient
from dipc.chain.affine import Affine
from dipc.chain.chain import ExitState
from dipc.chain.state import is_symbolic
from dipc.claims.given import show_value
from dipc.decide.engine import Engine, Underway, settled
from dipc.decide.obligation import Decision, Obligation
from dipc.measure.bound import Bound
from dipc.program.exits import Answer, exits
from dipc.program.program import Program, Progress
from dipc.questions.privacy.adjacency import Input, Pairs, texts
from dipc.text.core import IntType, Slot, Value

#: The number of the zero function in every table.
IMPOSSIBLE = 0


@dataclass(frozen=True, slots=True)
class LawTable:
    """For each input (`rows`) and each of the `answers` the number of its probability: a function of `forms`, or, where
    that is a text, why it is not known: each of these has a number of its own, for the same reason may be given for
    different functions. The answers are all that occur at some input."""

    names: tuple[str, ...]
    answers: tuple[Answer, ...]
    forms: tuple[ClosedForm | str, ...]
    rows: tuple[tuple[int, ...], ...]

    def closed(self, number: int) -> Closed:
        """The function with this number. Raises Undecided where it is not known."""
        form = self.forms[number]
        if isinstance(form, str):
            raise Undecided(form)
        return form.value

    def texts(self, answer: int) -> dict[str, str | None]:
        """The values of an answer by name; None for what was never assigned."""
        values = zip(self.names, self.answers[answer], strict=True)
        return {name: None if value is None else show_value(value) for name, value in values}


def law_table(program: Program, inputs: Sequence[Input], engine: Engine, progress: Progress | None = None) -> LawTable:
    """The laws at these inputs; `progress` is called as they are found. Raises Undecided where the program is too large
    to be executed, DiagnosticError where it goes wrong."""
    laws = program.laws()
    at_inputs = []
    for done, point in enumerate(inputs):
        if progress is not None:
            progress(done, len(inputs))
        at_inputs.append(laws.at(dict(zip(program.core.inputs, point, strict=True))))
    answers = sorted({answer for law in at_inputs for answer in law}, key=laws.rank)
    forms: list[ClosedForm | str] = [ClosedForm(ExpPoly.zero())]
    numbers = {forms[IMPOSSIBLE]: IMPOSSIBLE}

    def number(form: ClosedForm | str) -> int:
        if isinstance(form, ClosedForm) and form in numbers:
            return numbers[form]
        forms.append(form)
        if isinstance(form, ClosedForm):
            numbers[form] = len(forms) - 1
        return len(forms) - 1

    measured = settled((Underway(_measured(bound)) for bound in _bounds(at_inputs)), engine)
    numbered = []
    for done, law in enumerate(at_inputs):
        if progress is not None:
            progress(done, len(at_inputs))
        numbered.append({answer: number(next(measured)) for answer in law})
    rows = tuple(tuple(row.get(answer, IMPOSSIBLE) for answer in answers) for row in numbered)
    names = tuple(slot.name for slot in laws.observed)
    return LawTable(names, tuple(answers), tuple(forms), rows)


def _bounds(at_inputs: Iterable[Mapping[Answer, Bound]]) -> Iterable[Bound]:
    return (bound for law in at_inputs for bound in law.values())


def _measured(bound: Bound) -> Generator[Obligation | Bound, Decision, ClosedForm | str]:
    decision = yield bound
    if decision.bound is not None:
        return decision.bound
    assert decision.reason is not None
    return decision.reason


#: A value that is asked about, what it stands for, and by what its probability is multiplied.
_Answered = tuple[Value, Value, Closed]


@dataclass(frozen=True, slots=True)
class _Tails:
    """An int output whose values beyond `bound` are geometric with this rate; None where it is always nearer."""

    slot: Slot
    bound: int
    rate: Fraction | None

    def values(self) -> list[_Answered]:
        """All values; tails come last."""
        every: list[_Answered] = [(Fraction(o), Fraction(o), ExpPoly.one()) for o in range(-self.bound, self.bound + 1)]
        if self.rate is None:
            return every
        share = Quotient(ExpPoly.one(), 1 - ExpPoly.term(1, 0, -self.rate))
        far = self.bound + 1
        return [*every, (Fraction(-far), f"{-far} or less", share), (Fraction(far), f"{far} or more", share)]


def integer_table(program: Program, inputs: Sequence[Input]) -> LawTable:
    """The laws at these inputs. Raises Undecided for real outputs, and for int ones of another kind."""
    slots = [program.core.slots[slot] for slot in program.core.outputs]
    if any(is_symbolic(slot.type) and not isinstance(slot.type, IntType) for slot in slots):
        raise OutsideFragment("a delta is decided for finite and int outputs, and some are real")
    reached = list(_reached(program, inputs))
    taken: set[tuple[int, int]] = set()
    tails = {slot.index: _tails(slot, reached, taken) for slot in slots if isinstance(slot.type, IntType)}
    finite = [slot for slot in slots if slot.index not in tails]
    seen = dict.fromkeys(tuple([_value(here.state, slot) for slot in finite]) for here in reached)
    answers: list[tuple[_Answered, ...]] = []
    for values in seen:
        known = dict(zip(finite, values, strict=True))
        each: list[list[_Answered]] = [
            [(known[slot], known[slot], ExpPoly.one())] if slot in known else tails[slot.index].values()
            for slot in slots
        ]
        answers += product(*each)
    if len(answers) > program.limits.answers:
        raise LimitReached("answers", f"{len(answers)} answers are looked at one by one")
    forms = [ClosedForm(ExpPoly.zero())]
    numbers = {forms[IMPOSSIBLE]: IMPOSSIBLE}
    rows = []
    for point in inputs:
        row = []
        for answer in answers:
            asked = {slot.name: show_value(value) for slot, (value, _, _) in zip(slots, answer, strict=True)}
            found = program.closed_probability(texts(program, point), asked).value
            for _, _, share in answer:
                found = found * share
            form = ClosedForm(found)
            if form not in numbers:
                numbers[form] = len(forms)
                forms.append(form)
            row.append(numbers[form])
        rows.append(tuple(row))
    said = tuple([tuple([value for _, value, _ in answer]) for answer in answers])
    return LawTable(tuple([slot.name for slot in slots]), said, tuple(forms), tuple(rows))


@dataclass(frozen=True, slots=True)
class _Here:
    """An exit that is reached at an input, the real and int ones of which are `given`."""

    state: ExitState
    given: Mapping[int, Fraction]


def _reached(program: Program, inputs: Sequence[Input]) -> Iterator[_Here]:
    """All exits, at each input those that its guards allow."""
    core = program.core
    explored: dict[tuple[Value, ...], tuple[ExitState, ...]] = {}
    for point in inputs:
        values = dict(zip(core.inputs, point, strict=True))
        finite = {slot: value for slot, value in values.items() if not is_symbolic(core.slots[slot].type)}
        given = {slot: value for slot, value in values.items() if slot not in finite and isinstance(value, Fraction)}
        key = tuple(finite.values())
        if key not in explored:
            explored[key] = exits(program.flow, program.choices, program.limits, finite, None, core.outputs).states
        for state in explored[key]:
            if all(item.holds_at(given) for item in state.guards.items):
                yield _Here(state, given)


def _value(state: ExitState, slot: Slot) -> Value:
    """The value of a finite output. Raises Undecided for one that was never assigned: no probability is asked of it."""
    value = state.outputs[slot.index]
    if value is None:
        raise OutsideFragment(f"`{slot.name}` is not assigned on every path")
    assert not isinstance(value, Affine)
    return value


def _tails(slot: Slot, reached: Iterable[_Here], taken: set[tuple[int, int]]) -> _Tails:
    """Where the values of an int output are geometric; `taken` are exits with the noises that other outputs are made
    of. Raises Undecided where they nowhere are."""
    rates: set[Fraction] = set()
    far = Fraction(0)
    for at, here in enumerate(reached):
        form = here.state.outputs[slot.index]
        if not isinstance(form, Affine):
            raise OutsideFragment(f"`{slot.name}` is not assigned on every path")
        constant = form.substituted(here.given).constant
        far = max(far, abs(constant))
        if not form.noises:
            continue
        (noise, factor), *others = form.noises
        drawn = next(each for each in here.state.noises if each.id == noise)
        if others or abs(factor) != 1 or not drawn.law.whole or not drawn.law.exponential_tails or (at, noise) in taken:
            raise OutsideFragment(f"`{slot.name}` is not one noise and a number: its tails are not geometric")
        taken.add((at, noise))
        rates.add(drawn.rate)
        far = max(far, abs(constant + factor * drawn.mean.at(here.given)))
        for item in here.state.constraints.items:
            compared = item.form.substituted(here.given)
            if all(key != noise for key, _ in compared.noises):
                continue
            if len(compared.noises) > 1:
                raise OutsideFragment(
                    f"the noise of `{slot.name}` is compared with others: its tails are not geometric"
                )
            far = max(far, abs(constant - factor * compared.constant / compared.noises[0][1]))
    if len(rates) > 1:
        raise OutsideFragment(f"`{slot.name}` has noises of several rates: its tails are not geometric")
    # One more, so that single values come to the ratio of each tail.
    return _Tails(slot, ceil(far) + 1, next(iter(rates), None))


def different_pairs(table: LawTable, pairs: Pairs) -> list[tuple[int, int]]:
    """Of all pairs with the same couples of functions, whatever the outputs are called, the first."""
    known: set[tuple[tuple[int, int], ...]] = set()
    found: list[tuple[int, int]] = []
    for i, j in pairs.ordered:
        key = tuple(sorted(zip(table.rows[i], table.rows[j], strict=True)))
        if key not in known:
            known.add(key)
            found.append((i, j))
    return found
