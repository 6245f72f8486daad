"""The theorem that a check has proved, in one sentence, and whether an expected claim follows from it.

The sentence is made from what was checked, never from a certificate's own words. Omissions weaken it: rows that are not
listed, outputs left empty, adjacency that is not stated.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import permutations, product
from math import prod
from typing import Any

from dipc.verifier.claims import Claim, Interval, NotOneForm, arguments_of, evaluate
from dipc.verifier.claims import read_intervals as read_stated_intervals
from dipc.verifier.functions import closed_text, divided
from dipc.verifier.implication import (
    CERTAIN,
    Follows,
    claim_follows,
    is_at_least,
    is_within,
    seen_below_one,
)
from dipc.verifier.inputs import InputsResult, Witness, says_something
from dipc.verifier.multisets import orders
from dipc.verifier.normal import Probability, complement
from dipc.verifier.obligations import fails_at
from dipc.verifier.privacy import Pairs, PrivacyClaim, adjacency, are_adjacent
from dipc.verifier.probability import Theorem, cell_value, satisfies
from dipc.verifier.program import Machine, Slot, Value, value_text, values_of
from dipc.verifier.reading import DERIVATION_ENDS, Budget, Rejected, UnusableArgument, decimal, why_it_ends
from dipc.verifier.rounding import rational_bound
from dipc.verifier.rows import Row
from dipc.verifier.syntax import Apply, read_expression

#: Whether an expected claim follows, with the reason if the answer is not YES.
Answer = tuple[Follows, str]

#: The number of digits of a program's digest that a sentence shows.
_DIGEST = 16

#: The most different values of the rows' own alpha, beta or gamma that a sentence shows.
_SHOWN = 3


@dataclass(frozen=True)
class Subject:
    """The program that a statement is about, with those of its constants that have only one value.

    `at` is the only eps at which the program is read, or None. `requires` is the condition on all inputs, or "".
    """

    name: str
    constants: tuple[tuple[str, str], ...]
    sha256: str
    at: Fraction | None
    requires: str = ""

    def leaving_open(self, names: frozenset[str]) -> Subject:
        """Return the subject without the constants `names`."""
        return replace(self, constants=tuple(each for each in self.constants if each[0] not in names))

    def __str__(self) -> str:
        given = ", ".join(f"{name} = {value}" for name, value in self.constants)
        at = "" if self.at is None else f", read at eps = {self.at}"
        required = f", whose inputs satisfy {self.requires}," if self.requires else ""
        return f"{self.name} ({f'{given}; ' if given else ''}sha256 {self.sha256[:_DIGEST]}{at}){required}"


@dataclass(frozen=True)
class Expected:
    """The claim that the user who checks the certificate expects to be proved.

    `block` has the fields of the program's claim block. A part that is None is read from `block`; if `block` has no
    such part, the part that was proved is expected. `all_inputs` is true if the claim must be about all inputs. `own`
    is true if a row's own alpha, beta and gamma have precedence over `block`, as those in a table of the user do.
    """

    verdict: str | None = None
    all_inputs: bool = False
    alpha: str | None = None
    beta: str | None = None
    gamma: str | None = None
    eps: str | None = None
    adjacent: str | None = None
    budget: str | None = None
    delta: str | None = None
    block: Mapping[str, str] = field(default_factory=dict)
    own: bool = False

    @property
    def is_given(self) -> bool:
        """True if anything is expected."""
        parts = any(getattr(self, name) is not None for name in _PARTS)
        return self.verdict is not None or self.all_inputs or parts

    def words(self, *, about_privacy: bool) -> str:
        """Return the expected claim in words: first the parts that are given, then those that are as proved.

        `about_privacy` is true if the theorem is about privacy, and false if it is about accuracy.
        """
        names = _OF_PRIVACY if about_privacy else _OF_ACCURACY
        block = {} if about_privacy else self.block
        # A claim block with a beta has a default for each part that it leaves out.
        known = _OF_ACCURACY[:-1] if "beta" in block else tuple(block)
        given = {name: getattr(self, name) or block.get(name) for name in dict.fromkeys((*names, *_PARTS))}
        stated = [f"{name} = {value}" for name, value in given.items() if value is not None]
        proved = [name for name in names if given[name] is None and name not in known]
        words = [self.verdict or "what was proved", *(["at all inputs"] if self.all_inputs else [])]
        after = f" ({', '.join(proved)} as proved)" if proved and (stated or self.verdict) else ""
        return " ".join(words) + (f", {', '.join(stated)}" if stated else "") + after

    def require_expressions(self, budget: Budget) -> None:
        """Raise UnusableArgument if alpha, beta or gamma is not an expression. Charges its work to `budget`."""
        for name in _OF_ACCURACY[:-1]:
            text = getattr(self, name)
            if text is not None:
                try:
                    read_expression(text, budget)
                except DERIVATION_ENDS as error:
                    raise _unreadable(name, text, error) from None

    def intervals(self, proved: Sequence[Interval]) -> tuple[Interval, ...]:
        """Return the intervals of eps that are expected, or `proved` if the expected claim states none.

        Raises UnusableArgument if they are not intervals of rational numbers.
        """
        text = self.eps if self.eps is not None else self.block.get("eps")
        return tuple(proved) if text is None else read_intervals(text)

    def claim(
        self, proved: Claim, wanted: str, *, distance: str | None, varying: Container[str] = frozenset()
    ) -> Claim:
        """Return the expected claim about accuracy, with parts of `proved` in place of those not given.

        If a claim block has a beta and no alpha, the expected alpha is `distance`. Irrational numbers are rounded so
        that the claim says more, or less if `wanted` is "inaccurate". The rounding does not use constants in `varying`,
        which have several values. Raises UnusableArgument if a part cannot be read, or if the direction in which to
        round a number is not clear.
        """
        defaults: dict[str, Any] = {"alpha": distance, "beta": proved.beta, "gamma": None}
        constants = {name: value for name, value in proved.constants.items() if name not in varying}

        def part(name: str) -> str | None:
            given: str | None = getattr(self, name)
            if given is None:
                given = self.block.get(name)
            if given is not None:
                given = _rounded(given, name, constants, wanted)
            if given is None:
                given = defaults[name] if "beta" in self.block else getattr(proved, name)
            return given

        return Claim(part("alpha"), part("beta"), part("gamma"), self.intervals(proved.intervals), proved.constants)

    def own_cells(self, own: Mapping[str, str]) -> dict[str, str]:
        """Return the cells in `own`, a row's own alpha, beta and gamma, that replace parts of the expected claim.

        A part that the user gives replaces the cell. So does a part of the claim block, unless the rows are those of
        the user's own table. A claim block with a beta gives all parts, since it has a default for each part that it
        leaves out.
        """
        given = _OF_ACCURACY if "beta" in self.block else tuple(self.block)
        return {
            name: cell for name, cell in own.items() if getattr(self, name) is None and (self.own or name not in given)
        }


_INTERVALS = 'give --eps intervals within (0, inf), such as "(0, 1]"'
_BUDGET = "give --budget a multiple of eps, such as 2*eps, and --delta a number or an expression in eps"
_SUCH_AS = {"alpha": "such as 1 or dd", "beta": "such as exp(-alpha*eps)/2", "gamma": "such as 1/2"}

_OF_ACCURACY = ("alpha", "beta", "gamma", "eps")


def _rounded(text: str, name: str, constants: Mapping[str, Fraction], wanted: str) -> str:
    """Return the part `text` of a claim with rational numbers in place of irrational ones.

    The rounded claim implies the given one. If `wanted` is "inaccurate" or "not-private", the given claim implies the
    rounded one instead. `name` is the name of the part, and `constants` has the values of names in it. Raises
    UnusableArgument if the text cannot be read, or if the direction in which to round a number is not clear.
    """
    try:
        return rational_bound(text, constants, Budget(), above=wanted in ("inaccurate", "not-private"))
    except DERIVATION_ENDS as error:
        raise _unreadable(name, text, error) from None


def _unreadable(name: str, text: str, error: Exception) -> UnusableArgument:
    note = f"give --{name} an expression, {_SUCH_AS[name]}" if name in _SUCH_AS else _BUDGET
    return UnusableArgument(f"the {name} asked about, `{text[:60]}`, cannot be read: {why_it_ends(error)}", note)


_OF_PRIVACY = ("adjacent", "budget", "delta", "eps")
_PARTS = (*_OF_ACCURACY[:-1], *_OF_PRIVACY)

#: An interval as people write it: its brackets and its ends.
_INTERVAL = re.compile(r"([(\[])([^,)\]]*),([^)\]]*)([)\]])")


def read_intervals(text: str) -> tuple[Interval, ...]:
    """Return the intervals that `text` lists, such as `(0, 1/2], [2, inf)`.

    The text may also be a number, which is read as an interval with one point. Raises UnusableArgument for other text.
    """
    plain = text.replace(" ", "").replace("∞", "inf").replace("∪", ",")
    parts: list[str] = []
    try:
        while match := _INTERVAL.match(plain):
            low, high = (side if side == "inf" else str(decimal(side)) for side in match.group(2, 3))
            parts.append(f"{match[1]}{low}, {high}{match[4]}")
            plain = plain[match.end() :].removeprefix(",")
        if plain:
            value = decimal(plain)
            parts.append(f"[{value}, {value}]")
    except ValueError:
        why = f"the eps asked about, `{text[:60]}`, cannot be read: an end is not a rational number"
        raise UnusableArgument(why, _INTERVALS) from None
    try:
        return read_stated_intervals(parts)
    except Rejected as error:
        why = f"the eps asked about, `{text[:60]}`, cannot be read: {error.why}"
        raise UnusableArgument(why, _INTERVALS) from None


#: The kind of a theorem by its verdict; others are undecided.
_KINDS = {"accurate": "proved", "private": "proved", "inaccurate": "refuted", "not private": "refuted"}


@dataclass(frozen=True)
class Statement(ABC):
    """A theorem about one program, with the verdict of its certificate."""

    verdict: str

    @property
    def kind(self) -> str:
        """The text "proved", "refuted" or "undecided"."""
        return _KINDS.get(self.verdict, "undecided")

    @property
    @abstractmethod
    def sentence(self) -> str:
        """The theorem in words."""

    @abstractmethod
    def follows(self, expected: Expected, budget: Budget) -> Answer:
        """Return whether the claim `expected` follows, with the reason if it does not. Charges its work to `budget`."""


def eps_text(intervals: Sequence[Interval]) -> str:
    """Return the values of eps in `intervals` in words, as a part of a theorem."""
    if len(intervals) == 1 and intervals[0].is_point:
        return f"at eps = {intervals[0].lower}"
    return f"for every eps in {' or '.join(map(str, intervals))}"


def one_line(expression: str) -> str:
    """Return the `expression` of a certificate on one line, without comments."""
    return " ".join(" ".join(line.partition("#")[0].split()) for line in expression.splitlines()).strip()


def _less_than_one(beta: str, budget: Budget) -> str:
    """Return the text of 1 - `beta`, with parentheses around a beta that is a sum. Charges its work to `budget`."""
    try:
        tree = read_expression(beta, budget)
    except DERIVATION_ENDS:
        return f"1 - ({beta})"
    return f"1 - ({beta})" if isinstance(tree, Apply) and tree.op in ("+", "-", "neg") else f"1 - {beta}"


def _claimed(claim: Claim, rows: Sequence[Row], budget: Budget) -> str:
    """Return in words what `claim` says: the probability, then alpha and gamma.

    Each is followed by the values that some of `rows` state in its place. Charges its work to `budget`.
    """
    words: list[str] = []
    for name in ("beta", "alpha", "gamma"):
        own = [one_line(row.cells.own[name]) for row in rows if name in row.cells.own]
        stated = None if getattr(claim, name) is None else one_line(str(getattr(claim, name)))
        has_distance = any(row.cells.dd is not None for row in rows)
        if name == "alpha" and stated is None and has_distance:
            stated = "dd"
        if own and len(own) == len(rows):
            stated = None
        elif name == "beta":
            words.append(f"with probability >= {_less_than_one(str(stated), budget)}")
        elif stated is not None and (name, stated) != ("gamma", "0"):
            words.append(f"{name} = {'every gamma' if stated == 'free' else stated}")
        if own:
            different = list(dict.fromkeys(own))
            texts = ", ".join(different[:_SHOWN]) + (", ..." if len(different) > _SHOWN else "")
            count = "each row's" if len(own) == len(rows) else f"{len(own)} rows'"
            if name == "beta" and not words:
                words.append("with probability >= 1 - beta")
            words.append(f"{count} own {name} being {texts}")
    return ", ".join(words)


def _values(slots: Sequence[Slot], cells: Sequence[str], known: dict[tuple[int, str], Value]) -> tuple[Value, ...]:
    for number, (slot, cell) in enumerate(zip(slots, cells, strict=True)):
        if (number, cell) not in known:
            known[number, cell] = cell_value(slot, cell)
    return tuple(known[number, cell] for number, cell in enumerate(cells))


#: The most inputs that are tested one by one against a precondition, to count those that satisfy it.
MOST_INPUTS = 2_000


def domain_size(machine: Machine) -> int | None:
    """Return the number of inputs of `machine`; None if an input is real or int, or if there are too many to count."""
    sizes = [
        2 if slot.type == "bool" else len(slot.type) if isinstance(slot.type, frozenset) else None
        for slot in machine.declared("input")
    ]
    known = [size for size in sizes if size is not None]
    if len(known) < len(sizes):
        return None
    if not machine.requires:
        return prod(known)
    if prod(known) > MOST_INPUTS:
        return None
    numbers = machine.numbered("input")
    every = product(*(values_of(machine.slots[number].type) for number in numbers))
    budget = Budget()
    return sum(satisfies(machine, dict(zip(numbers, values, strict=True)), budget) for values in every)


def _point(machine: Machine, cells: Sequence[str]) -> str:
    names = [slot.name for slot in machine.declared("input")]
    return ", ".join(f"{name} = {cell}" for name, cell in zip(names, cells, strict=True)) or "its only input"


# === accuracy ==================================================================================


@dataclass(frozen=True)
class OfAccuracy(Statement):
    """A theorem that a program is accurate, or that it fails at some inputs."""

    subject: Subject
    claim: Claim
    budget: Budget

    @property
    @abstractmethod
    def _has_distance(self) -> bool:
        """True if the inputs have a dd.

        In this case the alpha of a claim block that has a beta and no alpha is dd.
        """

    @property
    def _varying(self) -> frozenset[str]:
        return frozenset()

    def follows(self, expected: Expected, budget: Budget) -> Answer:
        """Return whether the claim `expected` follows, with the reason if it does not. Charges its work to `budget`."""
        wanted = expected.verdict or ("inaccurate" if self.kind == "refuted" else "accurate")
        distance = "dd" if self._has_distance else None
        asked = expected.claim(self.claim, wanted, distance=distance, varying=self._varying)
        if expected.adjacent or expected.budget or expected.delta or wanted not in ("accurate", "inaccurate"):
            return Follows.NO, "it is about accuracy"
        if self.verdict == "undecided":
            return Follows.OPEN, "it is undecided"
        if wanted == "accurate":
            return self._implies(asked, expected, budget) if self.kind == "proved" else (Follows.NO, "it is inaccurate")
        if self.verdict == "accurate":
            return Follows.NO, "nothing is refuted"
        if self._refutes(asked, expected, budget):
            return Follows.YES, ""
        return Follows.NO, "no input that was refuted violates the claim asked"

    @abstractmethod
    def _implies(self, asked: Claim, expected: Expected, budget: Budget) -> Answer:
        """Return whether the claim `asked` follows from the one proved, with the reason if it does not.

        `asked` was read from `expected`, which also says whether the claim must be about all inputs. Charges its work
        to `budget`.
        """

    @abstractmethod
    def _refutes(self, asked: Claim, expected: Expected, budget: Budget) -> bool:
        """True if an input at which a claim was refuted violates the claim `asked`.

        `asked` was read from `expected`, which also says which cells of rows replace parts of the claim. Charges its
        work to `budget`.
        """


# === rows ======================================================================================


@dataclass(frozen=True)
class OfRows(OfAccuracy):
    """The theorem about the rows of a table.

    If rows represent more inputs than are listed, `product` is (these inputs in words, their number, True if they are
    all inputs of the program). `computed` is true if the certificate states that dd is that of the ideal.
    """

    rows: Sequence[Row]
    theorem: Theorem
    product: tuple[str, int, bool] | None
    computed: bool

    @property
    def _has_distance(self) -> bool:
        return self.theorem.ideal is not None or any(row.cells.dd is not None for row in self.rows)

    def _witnesses(self) -> Iterator[tuple[Row, Witness]]:
        for row in self.rows:
            if row.verdict == "inaccurate" and row.missing is None:
                cells = row.cells
                for one in row.shown:
                    if one.decided is not None and one.decided.fails_at is not None:
                        yield (
                            row,
                            Witness(self.theorem, cells.inputs, cells.outputs, cells.dd, one.gamma, one.decided, {}),
                        )

    def _inputs(self, *, whole: bool) -> int:
        """Return the number of different inputs of the rows.

        If `whole` is true, rows that leave an output open are not counted.
        """
        slots = self.theorem.machine.declared("input")
        known: dict[tuple[int, str], Value] = {}
        rows = (row for row in self.rows if not whole or None not in row.cells.outputs)
        return len({_values(slots, row.cells.inputs, known) for row in rows})

    @property
    def _covers_domain(self) -> bool:
        if self.product is not None:
            return self.product[2] and all(None not in row.cells.outputs for row in self.rows)
        size = domain_size(self.theorem.machine)
        return size is not None and size <= len(self.rows) and self._inputs(whole=True) == size

    @property
    def _refuting_place(self) -> str:
        count = len(self.rows)
        if self.product is not None:
            text, number, _ = self.product
            where = f"at all {number} inputs of the domain" if self._covers_domain else f"at {text}"
            where += f", by {count} rows"
        elif self._covers_domain:
            where = f"at all {domain_size(self.theorem.machine)} inputs of the domain"
            where += "" if self._inputs(whole=True) == count else f", in {count} rows"
        else:
            size = domain_size(self.theorem.machine)
            where = f"at {count} listed input{'' if count == 1 else 's'}"
            if size is not None:
                where += f" ({self._inputs(whole=False)} of the {size} of the domain)"
        return where

    def _notes(self) -> list[str]:
        notes = []
        vacuous = sum(row.vacuous for row in self.rows)
        if vacuous:
            notes.append("all vacuously" if vacuous == len(self.rows) else f"{vacuous} vacuously")
        undecided = sum(row.verdict == "undecided" for row in self.rows)
        if undecided:
            notes.append(f"{undecided} of {len(self.rows)} undecided")
        empty = sum(output is None for row in self.rows for output in row.cells.outputs)
        if empty:
            notes.append(f"{empty} of {sum(len(row.cells.outputs) for row in self.rows)} outputs unconstrained")
        has_distance = any(row.cells.dd is not None for row in self.rows)
        if not self.computed and self.theorem.ideal is not None:
            distances = " and distances" if has_distance else ""
            notes.append(f"answers{distances} as in the table, not compared with the ideal")
        elif not self.computed and has_distance:
            notes.append("distances as in the table")
        return notes

    @property
    def sentence(self) -> str:
        """The theorem in words."""
        right = "is right" if self.computed else "gives the listed answers"
        notes = self._notes()
        after = f" ({'; '.join(notes)})" if notes else ""
        claimed = _claimed(self.claim, self.rows, self.budget)
        eps = eps_text(self.claim.intervals)
        if self.verdict == "inaccurate":
            denied = "is not always right" if self.computed else "does not always give the listed answers"
            at = next((f", at {_place(one)}" for _, one in self._witnesses()), "")
            count = sum(row.verdict == "inaccurate" for row in self.rows)
            return f"{self.subject} {denied} {claimed}{at}; refuted at {count} of {len(self.rows)} listed inputs{after}"
        if self.verdict == "undecided" and all(row.verdict == "undecided" for row in self.rows):
            return f"nothing is proved about {self.subject} {self._refuting_place}"
        return f"{self.subject} {right} {claimed}, {self._refuting_place}{after}, {eps}"

    def _implies(self, asked: Claim, expected: Expected, budget: Budget) -> Answer:
        if expected.all_inputs and not self._covers_domain:
            return Follows.NO, f"its rows are not shown to be all inputs of the program: it is {self._refuting_place}"
        if not is_within(asked.intervals, self.claim.intervals):
            return Follows.NO, "it is about other values of eps"
        result, why, says = Follows.YES, "", False
        known: dict[tuple[object, ...], tuple[Follows, str, bool]] = {}
        for number, row in enumerate(self.rows, start=1):
            own = expected.own_cells(row.cells.own)
            stated = tuple((id(one.decided), id(one.beta), one.gamma, one.to) for one in row.shown)
            is_empty = all(cell is None for cell in row.cells.outputs)
            key = (tuple(sorted(own.items())), row.cells.dd, is_empty, stated, tuple(row.cells.own.items()))
            if key not in known:
                known[key] = self._row(row, asked, own, budget)
            answer, reason, said = known[key]
            says = says or said
            if answer is not Follows.YES and result is not Follows.NO:
                result, why = answer, f"row {number}: {reason}"
        if result is Follows.YES and not says:
            return Follows.NO, "every row is vacuous"
        return result, why

    def _row(self, row: Row, asked: Claim, own: Mapping[str, str], budget: Budget) -> tuple[Follows, str, bool]:
        """Return (whether the claim `asked` follows at `row`, the reason if not, True if it is not vacuous there).

        `own` has those cells of the row that replace parts of the claim. Charges its work to `budget`.
        """
        if all(output is None for output in row.cells.outputs):
            return Follows.YES, "", False
        dd = row.cells.dd
        if asked.gamma == "free" and "gamma" not in own:
            same = (asked.alpha, asked.beta, self.claim.gamma) == (self.claim.alpha, self.claim.beta, "free")
            is_own = dict(own) == dict(row.cells.own)
            says = not row.vacuous
            return (Follows.YES if same and is_own else Follows.OPEN), "gamma is left open in another claim", says
        try:
            alpha, gamma, beta = asked.terms(own, dd, budget)
        except (NotOneForm, *DERIVATION_ENDS) as error:
            why = why_it_ends(error) if not isinstance(error, NotOneForm) else "alpha is not a number"
            return Follows.OPEN, why, False
        if dd not in (None, "inf") and alpha is not None and asked.is_near(own, Fraction(str(dd)), alpha):
            return Follows.YES, "", False
        says = seen_below_one(beta, asked.intervals, budget)
        shown = [one for one in row.shown if one.gamma <= gamma and one.decided is not None]
        if not shown:
            answer = is_at_least(beta, ((CERTAIN,),), asked.intervals, budget)
            near = not any(one.gamma <= gamma for one in row.shown)
            return answer, "gamma is less than the one proved" if near else "nothing is proved there", says
        best = max(shown, key=lambda one: one.gamma)
        answer = is_at_least(beta, best.beta, asked.intervals, budget)
        why = "beta is less than the one proved" if answer is Follows.NO else "the two betas could not be compared"
        return answer, why, says

    def _refutes(self, asked: Claim, expected: Expected, budget: Budget) -> bool:
        return any(violates(one, asked, expected.own_cells(row.cells.own), budget) for row, one in self._witnesses())


def _place(one: Witness) -> str:
    return f"{_point(one.theorem.machine, one.inputs)}, eps = {one.decided.fails_at}"


def violates(one: Witness, asked: Claim, own: Mapping[str, str], budget: Budget) -> bool:
    """True if the claim `asked` fails at the input of the witness `one`, at the eps where its obligation was refuted.

    `own` has cells of a row that replace parts of the claim. Charges its work to `budget`.
    """
    eps = one.decided.fails_at
    if eps is None or one.decided.open is not None or not any(eps in interval for interval in asked.intervals):
        return False
    try:
        alpha, gamma, beta = asked.terms(own, one.dd, budget)
        if one.dd not in (None, "inf") and alpha is not None and asked.is_near(own, Fraction(str(one.dd)), alpha):
            return False
        value: Probability | str = one.decided.value
        if gamma > one.gamma:
            value = one.theorem.derived_probability(one.inputs, one.outputs, gamma)
        if beta is None or isinstance(value, str):
            return False
        return any(fails_at(value, arms, eps, budget) for arms in arguments_of(beta))
    except (NotOneForm, *DERIVATION_ENDS):
        return False


# === every input ===================================================================================


@dataclass(frozen=True)
class OfInputs(OfAccuracy):
    """The theorem about every real and int input, proved by classes of inputs.

    `kinds` names the types of the inputs, such as "real and int", and `found` is what was checked about the classes.
    With a `parameter`, a pair (name of m, its least value), the theorem is about every m at or above that value.
    """

    kinds: str
    parameter: tuple[str, str] | None
    found: InputsResult

    @property
    def _has_distance(self) -> bool:
        return True

    @property
    def _varying(self) -> frozenset[str]:
        return self.found.varying

    @property
    def sentence(self) -> str:
        """The theorem in words."""
        every = "" if self.parameter is None else f", for every {self.parameter[0]} >= {self.parameter[1]}"
        claimed, eps = _claimed(self.claim, (), self.budget), eps_text(self.claim.intervals)
        if self.verdict == "inaccurate":
            at = ""
            if self.found.witnesses:
                one = self.found.witnesses[0]
                number = "" if self.parameter is None else f"{self.parameter[0]} = {one.number}, "
                at = f", at {number}{_place(one)}"
            return f"{self.subject} is not always right {claimed}{at}"
        counts = self.found.tally.counts
        count, vacuous, undecided = counts["rows"], counts["vacuous"], counts["undecided"]
        notes = []
        if vacuous:
            notes.append("vacuously" if vacuous == count else f"{vacuous} of {count} classes vacuously")
        if undecided:
            notes.append(f"{undecided} of {count} classes undecided")
        after = f" ({'; '.join(notes)})" if notes else ""
        if undecided == count:
            return f"nothing is proved about {self.subject} at every {self.kinds} input{every}"
        return f"{self.subject} is right {claimed}, at every {self.kinds} input{every}{after}, {eps}"

    def _refutes(self, asked: Claim, expected: Expected, budget: Budget) -> bool:  # noqa: ARG002 - there are no rows
        if asked == self.claim and any(one.decided.open is None for one in self.found.witnesses):
            return True
        return asked.gamma != "free" and any(
            violates(one, replace(asked, constants=one.constants), {}, budget) for one in self.found.witnesses
        )

    def _implies(self, asked: Claim, expected: Expected, budget: Budget) -> Answer:  # noqa: ARG002 - it is about all inputs
        if self.found.tally.counts["vacuous"] == self.found.tally.counts["rows"]:
            return Follows.NO, "it holds vacuously"
        if self.parameter is not None:
            number = self.claim.constants[self.parameter[0]]
            if number < Fraction(self.parameter[1]):
                return Follows.NO, _is_too_small(self.parameter, number)
        opened = {} if self.parameter is None else {self.parameter[0]: Fraction(self.parameter[1])}
        steady = {name: value for name, value in self.claim.constants.items() if name not in self.found.varying}
        proved = replace(self.claim, constants=steady)
        answer = claim_follows(replace(asked, constants=steady), proved, opened, budget)
        if answer is Follows.YES and not says_something(replace(asked, constants={**steady, **opened}), budget):
            return Follows.NO, "the claim asked about is vacuous"
        why = {Follows.NO: "the claim asked is stronger", Follows.OPEN: "the two claims could not be compared"}
        return answer, why.get(answer, "")


# === privacy ===================================================================================


@dataclass(frozen=True)
class OfPrivacy(Statement):
    """A theorem that a program is private for pairs of inputs, or that it is not at one pair."""

    subject: Subject
    claim: PrivacyClaim
    intervals: Sequence[Interval]
    machine: Machine

    @property
    def _private(self) -> str:
        return f"{self.subject} is ({self.claim.budget}*eps, {closed_text(self.claim.delta)})-private"

    def follows(self, expected: Expected, budget: Budget) -> Answer:
        """Return whether the claim `expected` follows, with the reason if it does not. Charges its work to `budget`."""
        parts = (expected.alpha, expected.beta, expected.gamma)
        if expected.verdict in ("accurate", "inaccurate") or any(part is not None for part in parts):
            return Follows.NO, "it is about privacy"
        is_private = self.verdict == "private"
        if expected.verdict is not None and (expected.verdict == "private") is not is_private:
            return Follows.NO, "it is private" if is_private else "it is not private"
        return self._answer(expected, budget)

    @abstractmethod
    def _answer(self, expected: Expected, budget: Budget) -> Answer:
        """Return whether the claim `expected` follows, with the reason if it does not.

        The caller has compared the verdicts, which are equal. Charges its work to `budget`.
        """

    def _expected_claim(self, expected: Expected, budget: Budget) -> PrivacyClaim:
        """Return the claim that is `expected`, where parts that are not given are those of this theorem.

        Charges its work to `budget`. Raises UnusableArgument if the expected budget is not a multiple of eps, or if
        delta cannot be read.
        """
        factor, delta = self.claim.budget, self.claim.delta
        try:
            if expected.budget is not None:
                form = evaluate(expected.budget, {}, budget)
                ring = form.numerator.get((), {})
                quotient = divided(ring, form.denominator, budget)
                if form.numerator.keys() - {()} or quotient is None or quotient.keys() - {(1, Fraction(0))}:
                    why = f"the budget asked about, `{expected.budget[:60]}`, is not a multiple of eps"
                    raise UnusableArgument(why, _BUDGET)
                factor = quotient.get((1, Fraction(0)), Fraction(0))
            if expected.delta is not None:
                wanted = "private" if self.verdict == "private" else "not-private"
                form = evaluate(_rounded(expected.delta, "delta", {}, wanted), {}, budget)
                delta = (dict(form.numerator.get((), {})), form.denominator)
        except (NotOneForm, *DERIVATION_ENDS) as error:
            why = "it has no closed form" if isinstance(error, NotOneForm) else why_it_ends(error)
            raise UnusableArgument(f"the budget or delta asked about cannot be read: {why}", _BUDGET) from None
        return PrivacyClaim(factor, delta)

    def _eps_asked(self, expected: Expected) -> tuple[Interval, ...]:
        return expected.intervals(self.intervals) if expected.eps is not None else tuple(self.intervals)

    def _implies(self, expected: Expected, budget: Budget) -> Answer:
        """Return whether the budget, delta and eps of `expected` follow from what was proved, with the reason if not.

        Adjacency is not compared here. Charges its work to `budget`.
        """
        asked, eps = self._expected_claim(expected, budget), self._eps_asked(expected)
        if not is_within(eps, self.intervals):
            return Follows.NO, "it is about other values of eps"
        if asked.budget < self.claim.budget:
            return Follows.NO, f"the budget proved is {self.claim.budget}*eps"
        answer = is_at_least(((asked.delta,),), ((self.claim.delta,),), eps, budget)
        why = "delta is less than the one proved" if answer is Follows.NO else "the two deltas could not be compared"
        return answer, "" if answer is Follows.YES else why


@dataclass(frozen=True)
class OfPairs(OfPrivacy):
    """The theorem about pairs of inputs; for a refutation, about the one pair whose outputs refute privacy.

    `adjacent` is the adjacency that the certificate states, such as `linf:1`, and `pairs` has the checked pairs.
    """

    adjacent: str | None
    pairs: Pairs

    def _texts(self, place: int) -> str:
        return _point(self.machine, [value_text(value) for value in self.pairs.inputs[place]])

    @property
    def _covers_domain(self) -> bool:
        return domain_size(self.machine) == self._count

    @property
    def _count(self) -> int:
        """The number of inputs, counting all orders of the values that may be exchanged within groups."""
        return sum(orders(point, self.pairs.groups) for point in self.pairs.inputs)

    @property
    def sentence(self) -> str:
        """The theorem in words."""
        said = self._private
        by = "not said to be adjacent" if self.adjacent is None else f"adjacent by {self.adjacent}"
        if self.pairs.refuted is not None:
            i, j = self.pairs.refuted[3]
            return (
                f"{said}: this fails at the inputs {self._texts(i)} and {self._texts(j)}, {by}, "
                f"eps = {self.pairs.refuted[2].fails_at}"
            )
        size = domain_size(self.machine)
        count = self._count
        if self._covers_domain:
            of = f"all {count} inputs of the domain"
        else:
            of = f"{count} listed inputs" + ("" if size is None else f" (the domain has {size})")
        if self.pairs.groups:
            pairs = f"{len(self.pairs.ordered)} ordered pairs of {len(self.pairs.inputs)} multisets"
            return f"{said}, at all pairs, {by}, of {of}, by {pairs}, {eps_text(self.intervals)}"
        which = f"{len(self.pairs.ordered)} listed ordered pairs, {by}, of" if self.adjacent is None else (
            f"all {len(self.pairs.ordered)} ordered pairs, {by}, of"
        )  # fmt: skip
        return f"{said}, at {which} {of}, {eps_text(self.intervals)}"

    def _answer(self, expected: Expected, budget: Budget) -> Answer:
        asked = expected.adjacent if expected.adjacent is not None else self.adjacent
        if self.pairs.refuted is not None:
            return self._refutes(asked, expected, budget)
        if expected.all_inputs and not self._covers_domain:
            return Follows.NO, "its inputs are not all inputs of the program"
        answer, why = self._implies(expected, budget)
        if answer is Follows.NO:
            return answer, why
        if asked is None:
            return Follows.OPEN, "it does not state which inputs are adjacent: give --adjacent"
        if asked != self.adjacent:
            distance, reach = _read_adjacency(asked)
            pairs = permutations(range(len(self.pairs.inputs)), 2)
            near = [
                (i, j)
                for i, j in pairs
                if are_adjacent(distance, reach, self.pairs.inputs[i], self.pairs.inputs[j], self.pairs.groups)
            ]
            if not near:
                return Follows.NO, f"no two of its inputs are adjacent by {asked}"
            stated = set(self.pairs.ordered)
            for i, j in near:
                if (i, j) not in stated:
                    return (
                        Follows.NO,
                        f"{self._texts(i)} and {self._texts(j)} are adjacent, and not among its pairs",
                    )
        return answer, why

    def _refutes(self, adjacent: str | None, expected: Expected, budget: Budget) -> Answer:
        assert self.pairs.refuted is not None
        first, second, decided, (i, j) = self.pairs.refuted
        asked, intervals = self._expected_claim(expected, budget), self._eps_asked(expected)
        eps = decided.fails_at
        if adjacent is None:
            return Follows.OPEN, "its two inputs are not said to be adjacent: give --adjacent"
        distance, reach = _read_adjacency(adjacent)
        if not are_adjacent(distance, reach, self.pairs.inputs[i], self.pairs.inputs[j]):
            return Follows.NO, f"its two inputs are not adjacent by {adjacent}"
        if eps is None or not any(eps in interval for interval in intervals):
            return Follows.NO, "it is refuted at another eps"
        allowed = asked.allowed(second, budget)
        if fails_at(allowed, (complement(first, budget),), eps, budget):
            return Follows.YES, ""
        return Follows.NO, "the pair that was refuted does not violate the claim asked"


def _read_adjacency(text: str) -> tuple[str, Fraction]:
    try:
        name, _, radius = text.partition(":")
        return adjacency(f"{name.strip()}:{decimal(radius.strip())}")
    except (Rejected, ValueError):
        why = f"the adjacency asked about, `{text[:40]}`, cannot be read"
        raise UnusableArgument(why, "give --adjacent linf:1, l1:1 or hamming:1") from None


def _is_too_small(parameter: tuple[str, object], number: Fraction) -> str:
    return f"it is about {parameter[0]} >= {parameter[1]}, and the program has {parameter[0]} = {number}"


@dataclass(frozen=True)
class OfAllPairs(OfPrivacy):
    """The theorem about all pairs of adjacent real inputs.

    `adjacent` is a distance and a radius. With a `parameter`, a pair (name of a constant, its least value), the theorem
    is about every value of the constant at or above the least one. `number` is the value of the constant in the
    program.
    """

    adjacent: tuple[str, Fraction]
    parameter: tuple[str, int] | None
    number: Fraction | None

    @property
    def sentence(self) -> str:
        """The theorem in words."""
        every = "" if self.parameter is None else f", for every {self.parameter[0]} >= {self.parameter[1]}"
        by = f"{self.adjacent[0]}:{self.adjacent[1]}"
        return f"{self._private}, at all pairs of real inputs adjacent by {by}{every}, {eps_text(self.intervals)}"

    def _answer(self, expected: Expected, budget: Budget) -> Answer:
        if expected.adjacent is not None and not self._includes(*_read_adjacency(expected.adjacent)):
            return Follows.NO, f"it is not about all pairs adjacent by {expected.adjacent}"
        if self.parameter is not None and self.number is not None and self.number < self.parameter[1]:
            return Follows.NO, _is_too_small(self.parameter, self.number)
        return self._implies(expected, budget)

    def _includes(self, distance: str, reach: Fraction) -> bool:
        """True if all inputs within `reach` by `distance` are adjacent in the sense that was proved."""
        own, most = self.adjacent
        count = len(self.machine.declared("input"))
        if own == distance:
            return reach <= most
        known = self.parameter is None
        match distance, own:
            case "l1", "linf":
                return reach <= most
            case "linf", "l1":
                return known and count * reach <= most
            case _, "hamming":
                return known and count <= most
        return False


@dataclass(frozen=True)
class Both(Statement):
    """The theorem of two certificates together: a number suffices for the claim, and each smaller number does not.

    The verdict says in words what the two imply about the number.
    """

    proved: Statement | None
    refuted: Statement | None

    @property
    def kind(self) -> str:
        """The text "proved", or "refuted" if there is no proof."""
        return "proved" if self.proved is not None else "refuted"

    @property
    def sentence(self) -> str:
        """Both theorems in words."""
        parts = [f"{one.kind}: {one.sentence}" for one in (self.proved, self.refuted) if one is not None]
        return f"{self.verdict}; {'; '.join(parts)}"

    def follows(self, expected: Expected, budget: Budget) -> Answer:
        """Return whether the claim `expected` follows from one of the two certificates, with the reason if not.

        Charges its work to `budget`.
        """
        denied = expected.verdict in ("inaccurate", "not-private") or (expected.verdict is None and not self.proved)
        one = self.refuted if denied else self.proved
        return (Follows.NO, f"nothing is {'refuted' if denied else 'proved'}") if one is None else one.follows(
            expected, budget
        )  # fmt: skip


def is_about_privacy(statement: Statement) -> bool:
    """True if `statement` is about privacy, not accuracy."""
    if isinstance(statement, Both):
        return any(one is not None and is_about_privacy(one) for one in (statement.proved, statement.refuted))
    return isinstance(statement, OfPrivacy)


def block_of(fields: Sequence[tuple[str, str]]) -> dict[str, str]:
    """Return those `fields` of a claim block that are about accuracy, without spaces except between words."""
    return {name: re.sub(r"(?<!\w)\s+|\s+(?!\w)", "", text) for name, text in fields if name in _OF_ACCURACY}
