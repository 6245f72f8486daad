"""Claims about every real and int input: the classes, and a proof that they cover all inputs.

The paths of the ideal block cover all inputs. The certificate divides each path into cells, intersections of
half-spaces of inputs and alpha. For each cell it names a class. The checker shows that the cell lies in the half-spaces
of the class, and that the program has the bound of the class there (`bounds.py`).

A half-space of ints and its opposite are both closed, with integer constants. A cell without real points has no integer
points, and an implication between half-spaces of reals holds for integers.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from contextlib import suppress
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cache, partial
from math import ceil
from typing import Any

from dipc.verifier import reading as read
from dipc.verifier.bounds import Bounds, Merges
from dipc.verifier.claims import Claim, Interval, NotOneForm, read_intervals
from dipc.verifier.classes import (
    VARIABLES,
    ClassFacts,
    DistanceLine,
    Kind,
    Required,
    Slacks,
    add_slack,
    greatest_alpha,
    intervals_of,
    least_alpha,
    least_decay,
    read_halfspaces,
    required,
)
from dipc.verifier.every_number import check_numbers, constants_of
from dipc.verifier.functions import (
    equal_closed,
    multiply,
    positive_everywhere,
    subtract,
)
from dipc.verifier.ideal import OPEN, Ideal, is_integral, tightened, whole_inputs
from dipc.verifier.implication import seen_below_one
from dipc.verifier.linear import ALPHA, Guard, answers_count, contradictory, implied, key_of, read_guard
from dipc.verifier.normal import Enclosed, Probability
from dipc.verifier.obligations import VERDICTS, Context, Decided, Positive, Tally, check_obligation, read_context, worst
from dipc.verifier.probability import Theorem
from dipc.verifier.program import Machine, computed_constants, value_text
from dipc.verifier.reading import (
    ALL_INPUTS,
    DERIVATION_ENDS,
    Budget,
    NotDerived,
    Rejected,
    in_step,
    must_be_derived,
    why_it_ends,
)
from dipc.verifier.surroundings import Surroundings, has_one_answer
from dipc.verifier.syntax import Program

# === coverage ==================================================================================

_ZERO, _ONE = Fraction(0), Fraction(1)


#: The most cells that one path is divided into.
MOST_CELLS = 2_000


class Open(Exception):
    """Raised if a comparison of inputs, `guard`, has different outcomes on one cell."""

    def __init__(self, guard: Guard) -> None:
        super().__init__()
        self.guard = guard


#: The guards of inputs u of a path and distances alpha <= dd(u).
Cell = tuple[Guard, ...]


#: The class that is right about a cell, with the merges of ways; or a cut of the cell. A near input proves that nothing
#: is claimed about the part behind the cut, or about all of the cell.
_ANSWER: read.Table = {
    "class": read.natural,
    "unites": read.boolean,
    "merges": read.listed(read.tuple_of(read.natural, read.natural)),
    "cut": read_guard,
    "near": read.anything,
}


@dataclass(frozen=True, slots=True)
class Divided:
    """The question of how to prove the claim on `cell`, a set of inputs in one path of the ideal.

    The answer names one of `classes` whose proof is valid on the whole cell, or says how to divide the cell further.
    All of `classes` have the same answer. `known` has the path, and checks whether inputs near the cell have another
    answer. If `only` is not None, it is the number of the one class that is examined.
    """

    coverage: Coverage
    known: Surroundings
    cell: Cell
    classes: Sequence[ClassFacts]
    only: int | None

    @property
    def key(self) -> str:
        """The key under which the certificate has the answer to this question.

        It is a hash of the cell, the values of the finite inputs, the number `only`, and the number of the first class.
        Classes have different numbers in different cases of a certificate, so the keys of two cases differ.
        """
        first = self.classes[0].number if self.classes else None
        of = [self.known.finite, first, self.only]
        return key_of([*map(str, of), *[guard.text for guard in self.cell]])


@dataclass
class Coverage:
    """A check of the classes of a certificate against the program: whether they cover all inputs of the claim.

    A class covers a cell of inputs if the cell lies in it, and its bound holds for the program there. `alpha` is (the
    least distance that the claim is about, True if the distance must be greater), or None if alpha is each input's own
    dd.
    """

    machine: Machine
    ideal: Ideal
    alpha: tuple[Fraction, bool] | None
    budget: Budget
    _bounds: Bounds = field(init=False)
    _whole: frozenset[int] = field(init=False)
    #: The slots of the inputs in the program, by their slots in the ideal.
    places: Mapping[int, int] = field(init=False)
    _why: str = ""

    def __post_init__(self) -> None:
        self._bounds = Bounds(self.machine, self.ideal, self.budget)
        self._whole = whole_inputs(self.machine)
        self.places = dict(zip(self.ideal.machine.numbered("input"), self.machine.numbered("input"), strict=True))

    def check(self, classes: Sequence[ClassFacts], *, everything: bool) -> tuple[str, ...]:
        """Return the reasons why `classes` are taken on trust, an empty tuple if the classes are proved.

        With `everything`, each input of the claim must be covered by a class. Otherwise each class must cover its own
        inputs, those in its half-spaces.
        """
        try:
            self._bounds.require_known_distances()
            missing = self._missing(classes) if everything else 0
            if everything and not missing:
                return ()  # Then classes that cover nothing do no harm.
            # Otherwise each class must at least be right about its own inputs.
            unused = sum(not self._is_about_its_own(shown) for shown in classes)
        except DERIVATION_ENDS as error:
            return (f"that the classes cover all inputs, with the program's bounds: {why_it_ends(error)}",)
        because = f": {self._why}" if self._why else ""
        trusted: list[str] = []
        if everything:
            trusted.append(f"that each input of {missing} cells is in a class with the program's bound{because}")
        if unused:
            trusted.append(f"that the bounds of {unused} of {len(classes)} classes are the program's{because}")
        return tuple(trusted)

    def _finite(self, texts: Mapping[str, str]) -> tuple[str, ...] | None:
        slots = self.machine.declared("output")
        if set(texts) != {slot.name for slot in slots}:
            return None
        return tuple(texts[slot.name] for slot in slots if slot.type not in OPEN)

    def _paths(self) -> Iterator[tuple[Surroundings, tuple[str, ...] | None]]:
        names = [slot.name for slot in self.machine.declared("output")]
        for finite in self.ideal.combinations():
            for path in self.ideal.paths(finite):
                known = Surroundings(self.ideal, finite, path, self.budget)
                yield known, self._finite(dict(zip(names, map(value_text, path.answer), strict=True)))

    def _missing(self, classes: Sequence[ClassFacts]) -> int:
        by_answer: dict[tuple[str, ...] | None, list[ClassFacts]] = {}
        for shown in classes:
            by_answer.setdefault(self._finite(shown.answer), []).append(shown)
        return sum(
            shown is None
            for known, answer in self._paths()
            for shown in self._divided(known, by_answer.get(answer, []), ())
        )

    def _is_about_its_own(self, shown: ClassFacts) -> bool:
        """True if the class `shown` covers all of its own inputs, so that its bound holds for the program there.

        Its own inputs have the answer of the class, and lie in two kinds of its half-spaces. Those of the first kind do
        not depend on alpha; their boundaries are left out, except if all inputs in the half-space are integers. Those
        of the second kind are listed in `beside`: inputs just beyond them have another answer.
        """
        within = [
            replace(half, strict=not half.inputs.keys() <= self._whole) for half in shown.halfspaces if not half.step
        ]
        within += [shown.halfspaces[place] for place in shown.beside]
        own = self._finite(shown.answer)
        cells = [
            one
            for known, answer in self._paths()
            if answer == own
            for one in self._divided(known, [shown], within, only=shown.number)
        ]
        return None not in cells

    # --- cells ----------------------------------------------------------------------------------------

    def _divided(
        self, known: Surroundings, classes: Sequence[ClassFacts], within: Iterable[Guard], only: int | None = None
    ) -> Iterator[ClassFacts | None]:
        """Divide the inputs of a path into cells. For each cell, yield one of `classes` that covers it, or None.

        Nothing is yielded for a cell in which every input is nearer than alpha to one with another answer. Only inputs
        that satisfy the guards `within` are divided. `known` has the path, and checks that a stated near input has
        another answer and is nearer than alpha. If `only` is not None, it is the number of the one class that is
        examined.
        """
        if self.alpha is None:
            # No distance is between 0 and 1 if all distances are integers.
            distance = [Guard(((ALPHA, _ONE),), -_ONE if is_integral(self.machine) else _ZERO, strict=False)]
        else:
            least, greater = self.alpha
            distance = [Guard(((ALPHA, _ONE),), -least, strict=greater)]
        if self.alpha == (_ZERO, False):
            # A claim about every input does not depend on distances.
            distance.append(Guard(((ALPHA, -_ONE),), _ZERO, strict=False))
        waiting: list[Cell] = [(*distance, *(guard.renamed(self.places) for guard in known.path.guards), *within)]
        for _ in range(MOST_CELLS):
            if not waiting:
                return
            cell = waiting.pop()
            if contradictory(cell, self.budget):
                continue
            question = Divided(self, known, cell, classes, only)
            answer = self.budget.answers.find(question.key, question)
            if answer is None:
                yield None
                continue
            with answers_count():
                number, unites, merges, cut, near = read.fields(answer, {}, _ANSWER)
                if cut is not None or near is not None:
                    *holds, fails = [cell] if cut is None else self.halves(cell, cut)
                    waiting += holds if near is not None else [*holds, fails]
                    if near is not None:
                        known.require_near(near, self.part(fails))
                    continue
                shown = next((one for one in classes if one.number == number), None)
                if shown is None:
                    raise Rejected("a class contains a cell with another answer")
            try:
                pairs = partial(lambda stated, _ways: stated, merges or ())
                yield shown if self.is_right(shown, known, cell, unites=bool(unites), merges=pairs) else None
            except NotDerived as error:
                self._why = error.why
                yield None
            except Open:
                self._why = "a class is not right for every input of a cell"
                yield None
        raise NotDerived(f"a path of the `ideal` is divided into more than {MOST_CELLS} cells")

    def halves(self, cell: Cell, guard: Guard) -> list[Cell]:
        """Return the two parts of `cell`, where `guard` holds and where it fails."""
        return [(*cell, tightened(side, self._whole)) for side in (guard, guard.opposite())]

    def part(self, cell: Cell) -> list[Guard]:
        """Return the guards of `cell`, with the slots of inputs in the ideal in place of those in the program."""
        slots = {own: other for other, own in self.places.items() if own != other}
        return [guard.renamed(slots) for guard in cell] if slots else list(cell)

    def implies(self, cell: Cell, guard: Guard) -> bool:
        """True only if `guard` holds on all of `cell`."""
        return implied(cell, dict(guard.form), guard.constant, self.budget)

    def is_right(self, shown: ClassFacts, known: Surroundings, cell: Cell, *, unites: bool, merges: Merges) -> bool:
        """True if `cell` lies in the class `shown`, and the bound of the class holds for the program there.

        `known` has the path of the ideal that the cell belongs to. If `unites` is true, states of the program are
        united, and `merges` lists the pairs of exits to merge. Raises NotDerived if the bound cannot be derived, and
        Open if the cell has to be divided first.
        """

        @cache
        def decide(guard: Guard) -> bool:
            holds, fails = self.halves(cell, guard)
            if contradictory(fails, self.budget):
                return True
            if contradictory(holds, self.budget):
                return False
            raise Open(guard)

        if shown.values is None or not all(self.implies(cell, half) for half in shown.halfspaces):
            return False
        assert shown.wanted is not None, "the required answer comes with the bound"
        if shown.dd is not None and not self._has_distance(shown.dd, cell):
            raise NotDerived("the dd stated for a class is not shown to be the dd of each of its inputs")
        if shown.kind is Kind.WAYS and all(not isinstance(value, Enclosed) and not value[0] for value in shown.values):
            return True  # no probability is less than 0
        values = self._bounds.values(
            shown, shown.wanted, known.finite, known.path, decide, unites=unites, merges=merges
        )
        return all(any(self._is_at_least(value, stated) for stated in shown.values) for value in values)

    def _is_at_least(self, bound: Probability, stated: Probability) -> bool:
        if isinstance(bound, Enclosed):
            return isinstance(stated, Enclosed) and bound.equals(stated, self.budget)
        if isinstance(stated, Enclosed):
            return False
        if equal_closed(bound, stated, self.budget):
            return True
        more = multiply(bound[0], stated[1], self.budget)
        less = multiply(stated[0], bound[1], self.budget)
        return all(positive_everywhere(ring, self.budget) for ring in (subtract(more, less), bound[1], stated[1]))

    def _has_distance(self, dd: str, cell: Cell) -> bool:
        if dd == "inf":
            return has_one_answer(self.ideal)
        if dd == "1" and not is_integral(self.machine) and self.ideal.norm != "discrete":
            return False
        return dd in ("0", "1") and self.implies(cell, Guard(((ALPHA, -_ONE),), Fraction(dd), strict=False))


# === inputs ====================================================================================


@dataclass(frozen=True, slots=True)
class Witness:
    """An input that refutes a claim, and what was checked about it.

    - `inputs` and `outputs` are its cells; an output is None if nothing is claimed about it. `dd` is its distance, None
      if the certificate states none.
    - `decided` is the refuted obligation about answers within `gamma`. `theorem` is about the program.
    - `constants` are the constants in the claim of its case, and none for a row of a table. `number` is m, or None if
      the question is about one m.
    """

    theorem: Theorem
    inputs: Sequence[str]
    outputs: Sequence[str | None]
    dd: str | None
    gamma: Fraction
    decided: Decided
    constants: Mapping[str, Fraction]
    number: int | None = None


@dataclass(frozen=True, slots=True)
class InputsResult:
    """The result of checking classes of inputs against `claim`.

    `tally` counts the verdicts of the classes, and `obligations` lists all obligations of the certificate. `trusted`
    says what was taken on trust, and `witnesses` are inputs that refute the claim. `varying` has the constants with
    different values in different cases.
    """

    tally: Tally
    obligations: Sequence[Decided]
    trusted: tuple[str, ...]
    varying: frozenset[str]
    witnesses: Sequence[Witness]
    claim: Claim


def check_inputs(
    data: Mapping[str, Any],
    tree: Program,
    constants: Mapping[str, Fraction],
    positive: Positive,
    budget: Budget,
) -> InputsResult:
    """Check the parts of the document `data` that are about classes of inputs. Raises Rejected for a wrong part.

    `tree` is the program, `constants` are its constants, and `positive` has the denominators proved to be positive.
    Charges its work to `budget`.
    """
    whole = Claim.read(data["claim"], constants)
    context = read_context(data, whole.intervals, positive)
    decided = read.listed(lambda item: _obligation(item, context, budget), step="obligation")(data["obligations"])
    tally = Tally()
    singly: dict[int, str] = {}
    trusted: list[str] = []
    witnesses: list[Witness] = []
    covering = budget.part(ALL_INPUTS)
    parameter, varying = next(varying_constants(data), (None, set()))
    for case_number, item in enumerate(read.items(data["cases"]), start=1):
        with in_step(f"case {case_number}"):
            given, classes = read.fields(item, _CASE)
            number, computed_from_it = constants_of(given, parameter)
            claim = whole if number is None else _claim_at(whole, parameter, number, computed_from_it)
            # If all classes are undecided, the program may be refused for this number.
            says = any(entry.get("verdict") != "undecided" for entry in classes)
            if computed_from_it.keys() != varying and (says or computed_from_it):
                raise Rejected("the cases disagree on which constants are computed from the number of queries")
            with must_be_derived():
                if says and computed_from_it != computed_constants(tree, claim.constants, varying, budget):
                    raise Rejected("its constants are not those that the program computes")
                theorem = Theorem.from_tree(tree, claim.constants, budget, covering) if says else None
            own = []
            shown: list[ClassFacts] = []
            for entry in classes:
                one = _Class(claim, decided, theorem, budget, tally.counts["rows"] + 1)
                with in_step(f"class {one.number}"):
                    verdict, missing = one.check(entry)
                shown += one.shown
                witnesses += [replace(witness, number=number) for witness in one.witnesses]
                own.append(verdict)
                tally.add(verdict, missing, vacuous=verdict == "accurate" and missing is None and not one.says)
            if not own or (number is not None and number in singly) or (number is None and case_number > 1):
                raise Rejected("it has no classes, or occurs twice")
            alpha = None if claim.alpha == "dd" else _at_least(claim, theorem, budget)
            if theorem is not None:
                trusted += _trusted(theorem, shown, alpha, covering, everything=worst(own) == "accurate")
            if number is not None:
                singly[number] = worst(own)
    if parameter is not None:
        # The claim about all other numbers must not use constants that differ between numbers.
        steady = {name: value for name, value in whole.constants.items() if name not in varying}
        alike = replace(whole, constants=steady)
        verdict, missing, words = check_numbers(data["numbers"], alike, decided, tree, singly, budget, covering)
        start = read.rational(data["numbers"]["start"])
        says = says_something(replace(alike, constants={**steady, parameter: start}), budget)
        tally.add(verdict, missing, vacuous=verdict == "accurate" and missing is None and not says)
        trusted += words
    return InputsResult(
        tally,
        decided,
        tuple(dict.fromkeys(trusted)),
        frozenset(varying) | ({parameter} if parameter is not None else frozenset()),
        witnesses,
        whole,
    )


#: Distances at which beta is compared with 1.
_SAMPLES = ("0", "1", "64", "1048576")


def says_something(claim: Claim, budget: Budget) -> bool:
    """True if the beta of `claim` is shown to be below 1 at some distance and eps of the claim.

    Charges its work to `budget`.
    """
    owns: list[dict[str, str]] = [{"gamma": gamma} for gamma in _SAMPLES] if claim.gamma == "free" else [{}]
    for own in owns:
        for dd in _SAMPLES:
            with suppress(NotOneForm, *DERIVATION_ENDS):
                if seen_below_one(claim.terms(own, dd, budget)[2], claim.intervals, budget):
                    return True
    return False


def _at_least(claim: Claim, theorem: Theorem | None, budget: Budget) -> tuple[Fraction, bool]:
    """Return (the least dd that `claim` covers, True if dd must be greater than this number).

    If all inputs and outputs of the program of `theorem` are integers, dd is an integer, so the number is rounded up.
    Charges its work to `budget`.
    """
    alpha = least_alpha(claim, budget)
    if theorem is None or not is_integral(theorem.machine):
        return alpha, claim.is_near({}, alpha, alpha)
    least = Fraction(ceil(alpha))
    return (least + 1 if claim.is_near({}, least, alpha) else least), False


def _trusted(
    theorem: Theorem,
    shown: Sequence[ClassFacts],
    alpha: tuple[Fraction, bool] | None,
    budget: Budget,
    *,
    everything: bool,
) -> Iterator[str]:
    ideal = theorem.ideal
    if isinstance(ideal, Ideal):
        yield from Coverage(theorem.machine, ideal, alpha, budget).check(shown, everything=everything)
    else:
        why = "the program has no `ideal`" if ideal is None else ideal
        yield f"that the classes cover all inputs, with the program's bounds: {why}"
    for counts, what in ((theorem.reasons, "probabilities"), (theorem.distances, "answers and dd")):
        for reason, count in sorted(counts.items()):
            yield f"the {what} of {count} refuting inputs, which this checker could not derive: {reason}"


_CASE: read.Table = {
    "constants": read.by_name(read.rational),
    "classes": read.listed(read.by_name(read.anything)),
}


def varying_constants(data: Mapping[str, Any]) -> Iterator[tuple[str, Set[str]]]:
    """Yield (name of m, the other constants that change with m) if the document `data` is about every m; else nothing.

    The constants are those whose values the cases of the document state.
    """
    if data.get("numbers") is not None:
        parameter = read.text(read.by_name(read.anything)(data["numbers"]).get("parameter"))
        cases = [read.fields(item, _CASE) for item in read.items(data.get("cases", []))]
        yield parameter, {name for constants, _ in cases for name in constants} - {parameter}


def _claim_at(claim: Claim, parameter: str | None, number: int, others: Mapping[str, Fraction]) -> Claim:
    assert parameter is not None
    if not others.keys() <= claim.constants.keys():
        raise Rejected("a case has constants that are not in the program", "constants")
    return replace(claim, constants={**claim.constants, parameter: Fraction(number), **others})


# --- what classes refer to --------------------------------------------------------------------------


def _obligation(item: object, context: Context, budget: Budget) -> Decided:
    entry = dict(read.by_name(read.anything)(item))
    with in_step("intervals"):
        own = read_intervals(entry.pop("intervals", None))
    return check_obligation(entry, replace(context, intervals=own), budget)


# --- classes ----------------------------------------------------------------------------------------

#: The kinds of evidence for a class, with the verdict that each proves; None for any verdict but undecided.
_EVIDENCE: Mapping[str, tuple[read.Reader[Any], str | None]] = {
    "required": (read.anything, "accurate"),
    "empty": (read.boolean, "accurate"),
    "witness": (read.anything, "inaccurate"),
    "reason": (read.text, "undecided"),
    "open": (read.text, None),
}

_CLASS: read.Table = {
    "answer": read.by_name(read.text),
    "where": read.listed(read.text),
    "halfspaces": read_halfspaces,
    "beside": read.listed(read.natural),
    "verdict": read.one_of(*VERDICTS),
}


@dataclass(frozen=True, slots=True)
class _Class:
    claim: Claim
    decided: Sequence[Decided]
    theorem: Theorem | None
    budget: Budget
    number: int
    #: The facts proved about the class, which are compared with the program.
    shown: list[ClassFacts] = field(default_factory=list)
    #: The input that refutes the claim about the class.
    witnesses: list[Witness] = field(default_factory=list)
    #: The obligations that prove the claim about the class.
    proved: list[Decided] = field(default_factory=list)

    @property
    def says(self) -> bool:
        return any(seen_below_one(one.beta, one.intervals, self.budget) for one in self.proved)

    def check(self, value: object) -> tuple[str, str | None]:
        """Return (the verdict of the class with the JSON `value`, the reason why it is not certified or None).

        Raises Rejected for a wrong class.
        """
        readers = {kind: reader for kind, (reader, _) in _EVIDENCE.items()}
        answer, _, halfspaces, beside, verdict, *evidence = read.fields(value, _CLASS, readers)
        named = ClassFacts(self.number, answer, halfspaces, [read.index(place, halfspaces) for place in beside])
        given = {kind: one for kind, one in zip(_EVIDENCE, evidence, strict=True) if one is not None}
        if len(given) != 1:
            raise Rejected("it must have exactly one kind of evidence")
        self._require_inputs(halfspaces)
        ((kind, one),) = given.items()
        shows = _EVIDENCE[kind][1]
        if verdict != shows if shows is not None else verdict == "undecided":
            raise Rejected(f"its evidence does not fit the verdict {verdict}")
        match kind:
            case "required":
                return verdict, self._proved(one, named)
            case "empty" if one:
                self.shown.append(named)
            case "empty":
                raise Rejected("`empty` must be true if it is given")
            case "witness":
                return verdict, self._witness(one)
        return verdict, one if kind == "open" else None

    def _require_inputs(self, halfspaces: Sequence[Guard]) -> None:
        if self.theorem is None:
            return  # Nothing is said.
        machine = self.theorem.machine
        inputs = {slot for slot in machine.numbered("input") if machine.slots[slot].type in OPEN}
        if any(half.inputs.keys() - inputs for half in halfspaces):
            raise Rejected("a half-space is about something other than real and int inputs of the program")

    def _witness(self, value: object) -> str | None:
        """Return None if `value` is proved to be an input that refutes the claim, else the reason why it is not.

        The input is checked like a row of a table. Raises Rejected if `value` is wrong.
        """
        with in_step("witness"):
            side: read.Reader[Any] = read.by_name(read.text)
            table = {"input": side, "output": side, "dd": read.text, "obligation": read.natural}
            given, answer, dd, place, gamma = read.fields(value, table, {"gamma": read.text})
            own = {} if gamma is None else {"gamma": gamma}
            if bool(own) is not (self.claim.gamma == "free"):
                raise Rejected("it must have its own gamma if gamma is left open, and only then")
            alpha, radius, beta = self.claim.terms(own, dd, self.budget)
            if alpha is not None and dd != "inf" and self.claim.is_near(own, read.rational(dd), alpha):
                raise Rejected("nothing is claimed there: dd is not more than alpha")
            (decided,) = self._decided([place], self.claim.intervals)
            assert self.theorem is not None, "the claim is about an output"
            machine = self.theorem.machine
            names = [[slot.name for slot in machine.declared(side)] for side in ("input", "output")]
            if set(given) != set(names[0]) or not set(answer) <= set(names[1]):
                raise Rejected("its inputs and outputs differ from those of the program")
            inputs, outputs = [given[name] for name in names[0]], [answer.get(name) for name in names[1]]
            self.theorem.check_distance(inputs, outputs, dd, computed=self.theorem.ideal is not None)
            self.theorem.check(inputs, outputs, radius, decided.value)
            self.witnesses.append(Witness(self.theorem, inputs, outputs, dd, radius, decided, self.claim.constants))
            return decided.require("inaccurate", beta, self.budget)

    def _proved(self, value: object, named: ClassFacts) -> str | None:
        """Return None if `value` has obligations that prove the claim for the class `named`, else why they do not.

        Also appends the class to `self.shown`, the classes that may cover inputs. Obligations about the distance 1 are
        enough for all distances if, as the distance grows, the error falls at least as fast as beta. Raises Rejected if
        `value` does not fit the claim.
        """
        variable, dd, weights, kind, slacks, places = read.fields(value, _REQUIRED)
        assert self.theorem is not None, "the claim is about an output"
        machine = self.theorem.machine
        decay = _ZERO
        if kind == Kind.DISTANCES:
            known = least_decay(self.claim, self.budget)
            if known is None or not is_integral(machine):
                raise Rejected("beta at greater distances does not follow from beta at distance 1")
            if (variable, dd, weights) != ("eps", None, None):
                raise Rejected("a bound at distance 1 must have the variable eps, and must not have dd or weights")
            _, gamma, beta = self.claim.terms({}, "1", self.budget)
            wanted = Required(DistanceLine(_ZERO, _ONE), DistanceLine(gamma), beta)
            decay, intervals, whole = known, self.claim.intervals, frozenset[int]()
        else:
            wanted = required(self.claim, variable, dd, self.budget)
            if self.claim.alpha != "dd":
                wanted = replace(wanted, alpha=DistanceLine(_at_least(self.claim, self.theorem, self.budget)[0]))
            greatest = greatest_alpha(weights, named.halfspaces, self.budget)
            intervals = intervals_of(self.claim, wanted, greatest)
            whole = whole_inputs(machine)
        obligations = self._decided(places, intervals)
        bounds: Slacks = {}
        for item in slacks:
            add_slack(item, named.halfspaces, whole, wanted, bounds, self.budget)
        self.proved.extend(obligations)
        values = tuple(decided.value for decided in obligations)
        shown = replace(named, kind=Kind(kind), wanted=wanted, dd=dd, values=values, slacks=bounds, decay=decay)
        self.shown.append(shown)
        missing = [decided.require("accurate", wanted.beta, self.budget) for decided in obligations]
        return next((why for why in missing if why is not None), None)

    def _decided(self, places: Sequence[int], intervals: Sequence[Interval]) -> list[Decided]:
        chosen = [self.decided[read.index(place, self.decided)] for place in places]
        if not chosen or any(decided.intervals != intervals for decided in chosen):
            raise Rejected("its obligation does not cover the same values as the claim")
        return chosen


_REQUIRED: read.Table = {
    "variable": read.one_of(*VARIABLES),
    "dd": read.nullable(read.text),
    "greatest": read.nullable(read.items),
    "kind": read.one_of(*Kind),
    "slacks": read.items,
    "obligations": read.listed(read.natural),
}
