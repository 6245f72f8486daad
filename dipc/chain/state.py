"""States of the chain and its edges: a location, values, the noises drawn so far, and the constraints on the noises.

Constraints compare affine forms over noises and real or int inputs. They are joined to conjunctions, which are tested
for what they imply or exclude, and freed from redundant constraints.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum, StrEnum
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from math import ceil, floor, gcd, lcm
from typing import TYPE_CHECKING

from dipc.frozen import LazyModule, frozen
from dipc.linear.halfspace import (
    Difference,
    Graph,
    Halfspace,
    difference_ends,
    difference_graph,
    greatest_bounds,
    is_contradictory,
    sorted_terms,
)
from dipc.noise.law import Law
from dipc.text.ast import NEGATED, BaseType, CompareOp, Expr
from dipc.text.core import DomType, Slot, Value, show_value
from dipc.text.diagnostic import Diagnostic, DiagnosticError, SourceText, Span
from dipc.text.printer import signed_sum
from dipc.text.program import CoreProgram

if TYPE_CHECKING:
    import networkx as nx

    from dipc.linear import program as linear_program
else:
    linear_program = LazyModule("dipc.linear.program")

# --- Exact affine forms over noises and real inputs -------------------------------------------------------------------

Terms = tuple[tuple[int, Fraction], ...]

_ZERO, _ONE, _MINUS_ONE = Fraction(0), Fraction(1), Fraction(-1)


@frozen
class Affine:
    """The affine form Σ coefficient · X[noise] + Σ coefficient · u[input slot] + constant.

    X[n] is the noise with the id n, and u[s] the input with the slot s. `noises` and `inputs` have the coefficients as
    pairs (id, coefficient) and (slot, coefficient). Both are sorted and have no coefficient 0, so that equal functions
    are equal objects.
    """

    noises: Terms
    inputs: Terms
    constant: Fraction
    _hash: int | None = field(default=None, init=False, repr=False, compare=False)

    def __hash__(self) -> int:
        # Once, and by numerators: hashing a fraction takes a modular inverse.
        if self._hash is None:
            terms = [(key, coefficient.numerator) for key, coefficient in self.noises]
            terms += [(~slot, coefficient.numerator) for slot, coefficient in self.inputs]
            object.__setattr__(self, "_hash", hash((tuple(terms), self.constant.numerator)))
        assert self._hash is not None
        return self._hash

    @staticmethod
    def number(value: Fraction) -> Affine:
        return Affine((), (), value)

    @staticmethod
    def noise(noise: int) -> Affine:
        return Affine(((noise, _ONE),), (), _ZERO)

    @staticmethod
    def input(slot: int) -> Affine:
        return Affine((), ((slot, _ONE),), _ZERO)

    @property
    def is_number(self) -> bool:
        return not self.noises and not self.inputs

    @property
    def noiseless(self) -> Affine:
        """The form with 0 in place of its noises."""
        return Affine((), self.inputs, self.constant)

    def __add__(self, other: Affine) -> Affine:
        return combination(((_ONE, self), (_ONE, other)), _ZERO)

    def __sub__(self, other: Affine) -> Affine:
        return combination(((_ONE, self), (-_ONE, other)), _ZERO)

    def __neg__(self) -> Affine:
        return Affine(_negated(self.noises), _negated(self.inputs), -self.constant if self.constant else _ZERO)

    def scaled(self, factor: Fraction) -> Affine:
        return combination(((factor, self),), _ZERO)

    def shifted(self, amount: Fraction) -> Affine:
        return Affine(self.noises, self.inputs, self.constant + amount)

    def normalized(self) -> Affine:
        """The positive multiple whose first coefficient (noises before inputs) is 1 or -1.

        A form without noises and inputs is unchanged.
        """
        terms = self.noises or self.inputs
        if not terms or abs(terms[0][1]) == 1:
            return self
        return self.scaled(1 / abs(terms[0][1]))

    def renamed(self, inputs: Mapping[int, int], noises: Mapping[int, int] | None = None) -> Affine:
        """Return the form with other slots of inputs and ids of noises.

        `inputs` has new slots by old ones, and `noises` new ids by old ones; no two may become equal. Inputs and noises
        that are not listed stay. If nothing changes, the result is the same object.
        """
        terms, drawn = _with_keys(self.inputs, inputs), _with_keys(self.noises, noises or {})
        return self if terms is self.inputs and drawn is self.noises else Affine(drawn, terms, self.constant)

    def substituted(self, inputs: Mapping[int, Fraction]) -> Affine:
        """Return the form with values in place of the inputs that have one in `inputs`."""
        constant = self.constant
        for slot, coefficient in self.inputs:
            if slot in inputs:
                constant += coefficient * inputs[slot]
        return Affine(self.noises, tuple([term for term in self.inputs if term[0] not in inputs]), constant)

    def evaluate(self, inputs: Mapping[int, Fraction]) -> Fraction:
        """Return the value at `inputs`; the form must have no noises."""
        assert not self.noises
        total = self.constant
        for slot, coefficient in self.inputs:
            value = inputs[slot]
            if value:
                total += value if coefficient is _ONE else coefficient * value
        return total


def _with_keys(terms: Terms, names: Mapping[int, int]) -> Terms:
    if not any(key in names for key, _ in terms):
        return terms
    return tuple(sorted([(names.get(key, key), coefficient) for key, coefficient in terms]))


def _negated(terms: Terms) -> Terms:
    return tuple([(key, _MINUS_ONE if coefficient is _ONE else -coefficient) for key, coefficient in terms])


def combination(terms: Iterable[tuple[Fraction, Affine]], constant: Fraction) -> Affine:
    """Return Σ factor · form + `constant` over `terms`."""
    noises: dict[int, Fraction] = {}
    inputs: dict[int, Fraction] = {}
    for factor, form in terms:
        if not factor:
            continue
        once = factor is _ONE or factor == 1
        if form.constant:
            constant = constant + (form.constant if once else factor * form.constant)
        for total, summands in ((noises, form.noises), (inputs, form.inputs)):
            for key, coefficient in summands:
                term = coefficient if once else factor * coefficient
                total[key] = total[key] + term if key in total else term
    return Affine(sorted_terms(noises), sorted_terms(inputs), constant)


def centered(form: Affine, means: Mapping[int, Affine]) -> Affine:
    """Return `form` with each of its noises X replaced by N + mean, where N = X - mean has the mean 0.

    `means` has the mean of each noise by id. The result refers to N by the id of X. So the coefficients of noises are
    unchanged, and the means are added to the part without noise.
    """
    return combination([(_ONE, form), *[(c, means[noise]) for noise, c in form.noises]], _ZERO)


# --- Affine forms and comparisons as a person reads them --------------------------------------------------------------


def affine_text(form: Affine, noise_name: Callable[[int], str], input_name: Callable[[int], str]) -> str:
    """Return `form` as text such as `2*r1 - r2 + q[1] + 1/2`; `0` for the zero form.

    `noise_name` and `input_name` give the name of a noise by its id, and of an input by its slot.
    """
    terms = [(noise_name(noise), coefficient) for noise, coefficient in form.noises]
    terms += [(input_name(slot), coefficient) for slot, coefficient in form.inputs]
    return _sum_text(terms, form.constant)


def comparison_text(
    difference: Affine, op: str, noise_name: Callable[[int], str], input_name: Callable[[int], str]
) -> str:
    """Return `difference op 0` as text such as `r1 < rT`, positive terms on the left, negative on the right.

    `noise_name` and `input_name` give the name of a noise by its id, and of an input by its slot.
    """
    terms = [(noise_name(noise), coefficient) for noise, coefficient in difference.noises]
    terms += [(input_name(slot), coefficient) for slot, coefficient in difference.inputs]
    left = [(name, coefficient) for name, coefficient in terms if coefficient > 0]
    right = [(name, -coefficient) for name, coefficient in terms if coefficient < 0]
    constant = difference.constant
    moves_left = bool(left) and bool(right) and constant > 0
    left_constant = constant if moves_left or not left else Fraction(0)
    return f"{_sum_text(left, left_constant)} {op} {_sum_text(right, left_constant - constant)}"


def _sum_text(terms: Sequence[tuple[str, Fraction]], constant: Fraction) -> str:
    signed = [(factor < 0, name if abs(factor) == 1 else f"{abs(factor)}*{name}") for name, factor in terms]
    if constant or not signed:
        signed.append((constant < 0, str(abs(constant))))
    return signed_sum(signed)


# --- Values and forms that det gives ----------------------------------------------------------------------------------

#: One output of det: a value, or a form over the real (or int) inputs.
Answer = Value | Affine


def as_form(value: SlotValue | None) -> Affine | None:
    """Return `value` as a form if it is a number or a form, else None."""
    if isinstance(value, Fraction):
        return Affine.number(value)
    return value if isinstance(value, Affine) else None


def finite_values(slot: Slot) -> tuple[Value, ...]:
    """Return all values of the DOM or bool variable `slot`, in the order of its domain."""
    match slot.type:
        case DomType(values=values):
            return values
        case BaseType.BOOL:
            return (False, True)
    raise AssertionError(f"{slot.name} has no finite type")


def same_value(one: object, other: object) -> bool:
    """Whether the values `one` and `other` are equal, with true different from the number 1."""
    return isinstance(one, bool) is isinstance(other, bool) and one == other


# --- Comparisons of noises and inputs as half-spaces, and conjunctions of them ----------------------------------------


@dataclass(frozen=True)
class Constraint:
    """The half-space `form` >= 0, or > 0 when `strict`.

    `form` is normalized, so that equal half-spaces are equal objects. If `whole`, the form has only integer noises and
    inputs, its coefficients are coprime integers, and its constant is an integer. Then form > 0 is stored as form - 1
    >= 0. With continuous noises the open and the closed half-space have the same measure. So `strict` is True only for
    comparisons of real inputs. For display, `difference` `op` 0 is the comparison as it was written, or its negation.
    """

    form: Affine
    strict: bool
    difference: Affine = field(compare=False)
    op: CompareOp = field(compare=False)
    whole: bool = field(default=False, compare=False)

    @property
    def is_open(self) -> bool:
        """Whether the boundary may be left out, because it is not in the half-space or has measure zero."""
        return self.strict or (not self.whole and bool(self.form.noises))

    @property
    def halfspace(self) -> Halfspace:
        """The half-space over noises and inputs.

        It is open if `is_open`: if the constraint is strict, or if the boundary has probability 0. Noise n has the
        number 2n, and the input with slot n the number 2n + 1.
        """
        return Halfspace(tuple(sorted(terms_of(self.form))), self.form.constant, self.is_open)

    @property
    def guard(self) -> Halfspace:
        """The half-space of a constraint on inputs alone, over their slots; open exactly if `strict`."""
        assert not self.form.noises
        return Halfspace(self.form.inputs, self.form.constant, self.strict)

    @cached_property
    def negation(self) -> Constraint:
        """The complementary constraint."""
        opposite = -self.form
        if self.whole:
            return Constraint(opposite.shifted(Fraction(-1)), False, self.difference, NEGATED[self.op], True)
        return Constraint(opposite, not self.form.noises and not self.strict, self.difference, NEGATED[self.op])

    @cached_property
    def bound(self) -> Difference | None:
        """The constraint as a bound (x, y, (w, strict)), which says x - y >= w; None if it is not of this kind.

        Here x and y are numbers of variables (see `variables_of`), or ORIGIN for 0. The last number, strict, is 1 if
        the bound may leave out x - y = w, and else 0.
        """
        upper, lower = difference_ends(terms_of(self.form))
        if upper is None or lower is None:
            return None
        constant = self.form.constant
        least = -constant.numerator if constant.denominator == 1 else -constant
        return upper, lower, (least, int(self.is_open))

    def holds_at(self, inputs: Mapping[int, Fraction]) -> bool:
        """Whether a constraint on inputs alone holds at `inputs`."""
        value = self.form.evaluate(inputs)
        return value > 0 or (not value and not self.strict)


def constraint(difference: Affine, op: CompareOp, whole: bool = False) -> Constraint:
    """Return the inequality `difference` `op` 0 as a constraint.

    `whole` is True if `difference` has only integer noises and inputs.
    """
    assert op not in (CompareOp.EQ, CompareOp.NE)
    form = difference if op in (CompareOp.GE, CompareOp.GT) else -difference
    strict = op in (CompareOp.GT, CompareOp.LT)
    if whole:
        form = _coprime(form)
        constant = ceil(form.constant) - 1 if strict else floor(form.constant)
        return Constraint(Affine(form.noises, form.inputs, Fraction(constant)), False, difference, op, True)
    return Constraint(form.normalized(), strict and not form.noises, difference, op)


def equality(difference: Affine, whole: bool = False) -> tuple[Constraint, Constraint] | None:
    """Return `difference` = 0 as two constraints, each displayed as the equation.

    `whole` is True if `difference` has only integer noises and inputs; the result is then None if no integers satisfy
    the equation.
    """
    form = _coprime(difference) if whole else difference.normalized()
    if whole and form.constant.denominator != 1:
        return None
    return (
        Constraint(form, False, difference, CompareOp.EQ, whole),
        Constraint(-form, False, difference, CompareOp.EQ, whole),
    )


def _coprime(form: Affine) -> Affine:
    """Return the positive multiple of `form` whose coefficients are coprime integers.

    Its constant may be any rational.
    """
    coefficients = [coefficient for _, coefficient in (*form.noises, *form.inputs)]
    if not coefficients or all(abs(coefficient) == 1 for coefficient in coefficients):
        return form
    below = lcm(*[coefficient.denominator for coefficient in coefficients])
    above = gcd(*[int(coefficient * below) for coefficient in coefficients])
    return form.scaled(Fraction(below, above))


@frozen(eq=False)
class ConstraintSet:
    """A conjunction of constraints: `items` in the order in which they were added, `keys` as a set.

    `variables` are the numbers of all variables that occur (see `variables_of`); `fingerprint` is the hash.
    """

    items: tuple[Constraint, ...]
    keys: frozenset[Constraint]
    variables: frozenset[int]
    fingerprint: int

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ConstraintSet) and (self is other or self.keys == other.keys)

    def __hash__(self) -> int:
        return self.fingerprint

    def add(self, extra: Constraint) -> ConstraintSet:
        if extra in self.keys:
            return self
        return ConstraintSet(
            (*self.items, extra),
            self.keys | {extra},
            self.variables.union(variables_of(extra.form)),
            self.fingerprint ^ hash(extra),
        )


NOTHING_KNOWN = ConstraintSet((), frozenset(), frozenset(), 0)


def constraint_set(items: Iterable[Constraint]) -> ConstraintSet:
    """Return the conjunction of `items`."""
    result = NOTHING_KNOWN
    for item in items:
        result = result.add(item)
    return result


def variables_of(form: Affine) -> list[int]:
    """Return the variables of `form` as numbers: noise n is 2n, the input with slot n is 2n + 1."""
    return [variable for variable, _ in terms_of(form)]


def is_input(variable: int) -> bool:
    """Whether `variable` is an input: noise n has the number 2n, the input with slot n the number 2n + 1."""
    return variable >= 0 and variable % 2 == 1


def terms_of(form: Affine) -> list[tuple[int, Fraction]]:
    """Return the terms of `form` as pairs (variable, coefficient): noise n is 2n, the input with slot n is 2n + 1."""
    terms = [(2 * noise, coefficient) for noise, coefficient in form.noises]
    terms += [(2 * slot + 1, coefficient) for slot, coefficient in form.inputs]
    return terms


# --- Other coordinates for noises, in which more constraints are differences of two variables -------------------------
#
# Y[i] = X[i] + o[i], where o[i] depends on inputs alone: at given inputs, each of the two determines the other. With
# r1 = X[1] + q[1] and r2 = X[2] + q[2], say, r1 >= r2 has four variables, but Y[1] >= Y[2] has two.

#: By noise, its o: a form without noises.
Offsets = Mapping[int, Affine]

_NOTHING = Affine.number(Fraction(0))


def offsets(items: Iterable[Constraint]) -> Offsets:
    """Return an affine form of inputs by noise id; adding it to the noise simplifies comparisons of noises.

    If `items` compare X[1] + u[1] with X[2] + u[2], say, new noises Y[n] = X[n] + u[n] are compared directly, as Y[1]
    with Y[2]. Noises that need no form are left out. The result is empty if no comparison of two noises involves
    inputs.
    """
    # By noise, the noises it is compared with, in which form and with which sign: most are never needed.
    steps: dict[int, list[tuple[int, Affine, Fraction]]] = {}
    lost = False
    for item in items:
        form = item.form
        if len(form.noises) == 2 and form.noises[0][1] == -form.noises[1][1] and abs(form.noises[0][1]) == 1:
            (first, sign), (second, opposite) = form.noises
            steps.setdefault(first, []).append((second, form, sign))
            steps.setdefault(second, []).append((first, form, opposite))
            lost = lost or bool(form.inputs)
    if not lost:
        return {}
    result: dict[int, Affine] = {}
    for root in steps:
        if root in result:
            continue
        result[root] = _NOTHING
        pending = [root]
        while pending:
            noise = pending.pop()
            for other, form, sign in steps[noise]:
                if other not in result:
                    result[other] = result[noise] - Affine((), form.inputs, Fraction(0)).scaled(sign)
                    pending.append(other)
    return {noise: offset for noise, offset in result.items() if offset != _NOTHING}


def change_coordinates(items: Sequence[Constraint], by: Offsets, sign: int = 1) -> list[Constraint]:
    """Return the constraints `items` written with the noises Y[n] = X[n] + by[n] in place of X[n].

    `by` is a result of `offsets`. With `sign` -1, `items` are in terms of Y and are written in terms of X again.
    """
    if not by:
        return list(items)
    return [_change_coordinates(item, by, sign) for item in items]


def _change_coordinates(item: Constraint, by: Offsets, sign: int) -> Constraint:
    shifts = [(-sign * coefficient, by[noise]) for noise, coefficient in item.form.noises if noise in by]
    if not shifts:
        return item
    form = combination([(Fraction(1), item.form), *shifts], Fraction(0))
    return replace(item, form=form, difference=form if item.difference == item.form else item.difference)


# --- What a set of constraints decides about another one, exactly -----------------------------------------------------
#
# Soundness of the chain never depends on an answer being found: a comparison left open only branches, and a branch
# whose constraints contradict each other has measure zero.


def decided(question: Constraint, *known: ConstraintSet) -> bool | None:
    """Whether `known` implies (True) or excludes (False) the constraint `question`; None if neither was proved.

    A constraint on noises is decided up to measure zero, a guard for every value of the inputs. One of `known` must be
    the constraints that confine the noises to the values that they can have (`nonnegative`).
    """
    # A variable without constraints: nothing is decided. Most calls end here.
    for variable in variables_of(question.form):
        if not any(variable in constraints.variables for constraints in known):
            return None
    opposite = question.negation
    for constraints in known:
        if question in constraints.keys:
            return True
        if opposite in constraints.keys:
            return False
    facts = connected([question], [item for constraints in known for item in constraints.items])
    if entails(facts, question):
        return True
    if entails(facts, opposite):
        return False
    return None


def entails(facts: Sequence[Constraint], question: Constraint) -> bool:
    """Whether `facts` were proved to imply `question`, up to measure zero if noises occur."""
    differences = [fact.bound for fact in facts]
    asked = question.bound
    if asked is None or None in differences:
        by = offsets([*facts, question])
        if by:
            facts, (question,) = change_coordinates(facts, by), change_coordinates([question], by)
            differences, asked = [fact.bound for fact in facts], question.bound
    graph = difference_graph(difference for difference in differences if difference is not None)
    if asked is not None and graph_entails(graph, question):
        return True
    if asked is not None and None not in differences:
        return False
    return linear_program.contradiction([fact.halfspace for fact in (*facts, question.negation)]) is not None


def graph_entails(graph: Graph, question: Constraint) -> bool:
    """Whether the bounds x - y >= w in `graph` imply `question`, which must be a bound of this kind."""
    asked = question.bound
    assert asked is not None
    upper, lower, (weight, strict) = asked
    # The closed half-space is as good as the open one where a noise is concerned.
    enough = (weight, strict if question.strict else 0)
    best = greatest_bounds(graph, lower, upper, enough)
    return best is None or (upper in best and best[upper] >= enough)


def contradict(facts: Sequence[Constraint]) -> bool:
    """Whether `facts` were proved to have probability 0 together, for every input."""
    keys = set(facts)
    if any(fact.negation in keys for fact in facts):
        return True
    differences = [fact.bound for fact in facts]
    if None in differences:
        facts = change_coordinates(facts, offsets(facts))
        differences = [fact.bound for fact in facts]
    if is_contradictory(difference_graph(difference for difference in differences if difference is not None)):
        return True
    return None in differences and linear_program.contradiction([fact.halfspace for fact in facts]) is not None


def contradict_each(facts: Sequence[Constraint], others: Iterable[Sequence[ConstraintSet]]) -> bool:
    """Whether `facts` were proved to contradict each element of `others`.

    An element is a sequence of conjunctions. It is contradicted if `facts` and its conjunctions, all together, have
    probability 0 for every input.
    """
    opposites = {fact.negation for fact in facts}
    return all(
        # More often than not, paths differ in their last comparison.
        any(not opposites.isdisjoint(reversed(known.items)) for known in other)
        or contradict([*facts, *(item for known in other for item in known.items)])
        for other in others
    )


def connected(questions: Iterable[Constraint], facts: Iterable[Constraint]) -> list[Constraint]:
    """Return those of `facts` that share variables with one of `questions`, directly or through other facts."""
    rest = [(fact, frozenset(variables_of(fact.form))) for fact in facts]
    reached = {variable for question in questions for variable in variables_of(question.form)}
    constraints: list[Constraint] = []
    while True:
        near = [fact for fact, variables in rest if not variables.isdisjoint(reached)]
        if not near:
            return constraints
        constraints += near
        rest = [(fact, variables) for fact, variables in rest if variables.isdisjoint(reached)]
        for fact in near:
            reached.update(variables_of(fact.form))


# --- Drops constraints that follow from others: fewer cycles for whoever measures the rest ----------------------------

_MOST = 300


def irredundant(items: Sequence[Constraint], given: Sequence[Constraint] = ()) -> tuple[Constraint, ...]:
    """Return a selection of `items` that is equivalent to all of `items` wherever `given` holds.

    Items are tested from the last to the first, and each that the others imply is dropped. If there are too many items
    to test, all are returned.
    """
    if len(items) > _MOST:
        return tuple(items)
    core = _entangled([*given, *items])
    if not core:
        return tuple(items)
    candidates = {id(item) for item in items}
    kept = [item for item in core if id(item) in candidates]
    outside = [item for item in core if id(item) not in candidates]
    dropped: set[int] = set()
    for item in reversed(kept.copy()):
        rest = [other for other in kept if other is not item]
        if entails([*outside, *rest], item):
            kept = rest
            dropped.add(id(item))
    return tuple([item for item in items if id(item) not in dropped])


def _entangled(items: Sequence[Constraint]) -> list[Constraint]:
    """Return those of `items` that may follow from other items or restrict their variables.

    An item is removed if one of its variables occurs in no other item, because some value of this variable satisfies
    the item, whatever the other variables are. This is repeated until no item can be removed.
    """
    inside = {index: variables_of(item.form) for index, item in enumerate(items)}
    users: dict[int, set[int]] = {}
    for position, variables in inside.items():
        for variable in variables:
            users.setdefault(variable, set()).add(position)
    pending = [variable for variable, positions in users.items() if len(positions) == 1]
    while pending:
        (position,) = users[pending.pop()] or {-1}
        for variable in inside.pop(position, ()):
            users[variable].discard(position)
            if len(users[variable]) == 1:
                pending.append(variable)
    return [items[index] for index in sorted(inside)]


# --- The codes of the diagnostics about running a program; a code, once given, keeps its meaning ----------------------


class Code(StrEnum):
    """The codes E07xx of diagnostics about faults that occur while a program runs."""

    UNASSIGNED = "E0701"
    DIVISION_BY_ZERO = "E0702"
    OUTSIDE_ARRAY = "E0703"
    OUTSIDE_DOMAIN = "E0704"
    NOT_AN_INTEGER = "E0705"
    ENDLESS_LOOP = "E0706"


# --- What goes wrong while a program runs, before the path that leads there is known ----------------------------------


class Fault(Exception):
    """A fault at an instruction, raised before the path to it is known: a diagnostic without the path.

    The exploration catches the fault, adds the path, and raises a `DiagnosticError`. `code`, `message` and `notes` are
    those of the diagnostic. It points at `span` in the text, where it shows `label`.
    """

    def __init__(self, code: Code, message: str, span: Span, label: str, *notes: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.span = span
        self.label = label
        self.notes = notes

    def noting(self, *more: str) -> Fault:
        """Return the fault with the notes `more` added."""
        return Fault(self.code, self.message, self.span, self.label, *self.notes, *more)

    def diagnosed(self, source: SourceText, *more: str) -> DiagnosticError:
        return DiagnosticError(
            Diagnostic(self.code, self.message, source.excerpt(self.span), self.label, (*self.notes, *more))
        )


# --- States of the chain: a location, values, the noises drawn so far and what is known of them -----------------------


class Mark(Enum):
    """The content of a slot that has no value, or whose value no longer matters."""

    UNASSIGNED = "unassigned"
    FORGOTTEN = "forgotten"
    """It may have a value, but no later instruction reads it and no one asks for it."""


@frozen
class Waiting:
    """A finite choice drawn at `label` that no instruction has read yet.

    `options` are the possible values with their weights, in order. A possible value may itself be a waiting choice. The
    option True is different from the option 1, although they are equal in Python.
    """

    label: int
    options: tuple[tuple[Value | Waiting, ChoiceWeight], ...]

    def __eq__(self, other: object) -> bool:
        return self is other or (
            isinstance(other, Waiting)
            and self.label == other.label
            and self.options == other.options
            and all(type(one) is type(its) for (one, _), (its, _) in zip(self.options, other.options, strict=True))
        )

    def __hash__(self) -> int:
        return hash((self.label, tuple([value for value, _ in self.options])))


@frozen
class Unfinished:
    """An evaluation of an instruction that stopped because it must read a waiting choice.

    The expressions of an instruction are evaluated by a stack machine (`_Code` of `dipc.chain.waiting`). `place` is the
    index of its next instruction, and `stack` has the values computed so far.
    """

    place: int
    stack: tuple[Value, ...]


SlotValue = Value | Affine | Mark | Waiting | Unfinished


def value_text(value: Value | Waiting | Unfinished) -> str:
    """Return the text of `value` for messages; a waiting choice is `a choice`."""
    return "a choice" if isinstance(value, Waiting | Unfinished) else show_value(value)


@frozen
class NoiseVar:
    """A noise that a path draws: an independent random variable X[id], drawn into the variable `slot` named `name`.

    - `id` is the label of the instruction that draws. No path draws twice at one label, because reals and ints are not
      assigned in loops. So a noise has the same id on every path.
    - `law` and `rate`, in multiples of eps, describe the noise. X[id] includes the `mean`, which depends on inputs
      alone. If the mean in the program is random, the variable is the sum of the mean's random part and X[id].
      One-sided noise has the mean 0.
    - `version` counts the draws of the variable in the text; None if there is only one.
    - `apart` is True if the noise needs a name of its own for display, because the variable may hold something else.
    """

    id: int
    slot: int
    name: str
    version: int | None
    law: Law
    rate: Fraction
    mean: Affine
    apart: bool = False

    @property
    def display_name(self) -> str:
        name = self.name if self.version is None else f"{self.name}#{self.version}"
        return f"noise({name})" if self.apart else name


@frozen(eq=False)
class State:
    """A state of the chain; `label` is the next instruction, len(instructions) after the program has ended.

    `values` are the contents of all slots. `constraints` are about `noises` (and inputs), `guards` about inputs alone;
    `noises` are sorted by id. `fingerprint`, a hash of values and guards, is updated in each step, because hashing
    hundreds of slots takes too long.
    """

    label: int
    values: tuple[SlotValue, ...]
    noises: tuple[NoiseVar, ...]
    constraints: ConstraintSet
    guards: ConstraintSet
    fingerprint: int

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, State)
            and self.label == other.label
            and self.fingerprint == other.fingerprint
            and self.values == other.values
            and self.guards == other.guards
            and self.noises == other.noises
            and self.constraints == other.constraints
        )

    def __hash__(self) -> int:
        return hash((self.label, self.fingerprint, self.constraints.fingerprint))

    def with_label(self, label: int) -> State:
        return State(label, self.values, self.noises, self.constraints, self.guards, self.fingerprint)

    def assign(self, slot: int, value: SlotValue, label: int) -> State:
        old = self.values[slot]
        if old is value:
            return self.with_label(label)
        values = (*self.values[:slot], value, *self.values[slot + 1 :])
        fingerprint = self.fingerprint ^ _slot_hash(slot, old) ^ _slot_hash(slot, value)
        return State(label, values, self.noises, self.constraints, self.guards, fingerprint)

    def draw(self, noise: NoiseVar, value: Affine, label: int) -> State:
        """Return the state at `label` after `noise` is drawn and its slot becomes `value`."""
        drawn = self.assign(noise.slot, value, label)
        noises = (*self.noises, noise)
        return State(label, drawn.values, noises, self.constraints, self.guards, drawn.fingerprint)

    def assume(self, known: Constraint) -> State:
        if known.form.noises:
            constraints = self.constraints.add(known)
            return State(self.label, self.values, self.noises, constraints, self.guards, self.fingerprint)
        return self.guarded_by(self.guards.add(known))

    def drop_constraints(self, dropped: Sequence[Constraint]) -> State:
        """Return the state without the constraints and guards `dropped`, which must follow from those that stay."""
        constraints = constraint_set(item for item in self.constraints.items if item not in dropped)
        guards = constraint_set(item for item in self.guards.items if item not in dropped)
        fingerprint = self.fingerprint ^ self.guards.fingerprint ^ guards.fingerprint
        state = State(self.label, self.values, self.noises, constraints, guards, fingerprint)
        return state._drop_noises({noise for item in dropped for noise, _ in item.form.noises})

    def constrained_by(self, constraints: ConstraintSet, noises: Iterable[NoiseVar]) -> State:
        """Return the state with `constraints` and `noises` in place of its own.

        Noises that neither the constraints nor the values mention are left out.
        """
        ordered = tuple(sorted(noises, key=lambda noise: noise.id))
        state = State(self.label, self.values, ordered, constraints, self.guards, self.fingerprint)
        return state._drop_noises({noise.id for noise in ordered})

    def guarded_by(self, guards: ConstraintSet) -> State:
        """Return the state with `guards` in place of its own."""
        fingerprint = self.fingerprint ^ self.guards.fingerprint ^ guards.fingerprint
        return State(self.label, self.values, self.noises, self.constraints, guards, fingerprint)

    def forget(self, slots: int) -> State:
        """Return the state without the values of the slots in the bit set `slots`.

        Noises that neither values nor constraints mention any more are removed, which changes no probability.
        """
        own = self.values
        known = [slot for slot in slots_in(slots) if own[slot] is not Mark.FORGOTTEN]
        if not known:
            return self
        values = list(own)
        fingerprint = self.fingerprint
        loose: set[int] = set()
        for slot in known:
            old = values[slot]
            values[slot] = Mark.FORGOTTEN
            fingerprint ^= _slot_hash(slot, old) ^ _slot_hash(slot, Mark.FORGOTTEN)
            if isinstance(old, Affine):
                loose.update([noise for noise, _ in old.noises])
        state = State(self.label, tuple(values), self.noises, self.constraints, self.guards, fingerprint)
        return state._drop_noises(loose)

    def _drop_noises(self, loose: set[int]) -> State:
        if loose:
            loose = {noise for noise in loose if 2 * noise not in self.constraints.variables}
        if not loose:
            return self
        # From the last one on: what was drawn is held there. To ask what is an instance of a class is slow.
        for value in reversed(self.values):
            if type(value) is Affine and value.noises:
                loose.difference_update([noise for noise, _ in value.noises])
                if not loose:
                    return self
        noises = tuple([noise for noise in self.noises if noise.id not in loose])
        return State(self.label, self.values, noises, self.constraints, self.guards, self.fingerprint)


def slot_set(slots: Iterable[int]) -> int:
    """Return `slots` as a bit set: an integer whose bit i is 1 exactly if slot i is among them."""
    result = 0
    for slot in slots:
        result |= 1 << slot
    return result


def slots_in(members: int) -> Iterator[int]:
    """Yield the slots in the bit set `members`, increasing."""
    while members:
        lowest = members & -members
        yield lowest.bit_length() - 1
        members ^= lowest


def initial_state(label: int, values: tuple[SlotValue, ...]) -> State:
    """Return the state at `label` with the given `values` of all slots, and without noises."""
    fingerprint = 0
    for slot, value in enumerate(values):
        fingerprint ^= _slot_hash(slot, value)
    return State(label, values, (), NOTHING_KNOWN, NOTHING_KNOWN, fingerprint)


def _slot_hash(slot: int, value: SlotValue) -> int:
    if type(value) is Fraction:
        # The hash of a fraction itself takes a modular inverse, and to ask what is an instance of its class is slow.
        return hash((slot, value.numerator, value.denominator))
    return hash((slot, id(value) if isinstance(value, Mark) else value))


# --- What one step of the chain does ----------------------------------------------------------------------------------


@frozen
class Comparison:
    """A step by one outcome of a comparison; `known` are the constraints that this outcome adds to the state's.

    The probability of the step is the measure of the state's constraints with `known`, divided by the measure without.
    The comparison is `difference` `op` 0, and `holds` tells whether it is true. A comparison of inputs alone has
    probability 0 or 1. `label` is the label of the instruction that compares.
    """

    known: tuple[Constraint, ...]
    difference: Affine
    op: CompareOp
    holds: bool
    label: int


@frozen
class ExponentialWeight:
    """The weight exp(rate·eps·scores[index]) / Σ exp(rate·eps·score), summed over all `scores`."""

    rate: Fraction
    scores: tuple[Fraction, ...]
    index: int


@frozen
class NoiseWeight:
    """The weight Pr[low <= mean + N <= high] for a noise N of `law` with `rate`; `low` or `high` None is infinite."""

    law: Law
    rate: Fraction
    mean: Fraction
    low: Fraction | None
    high: Fraction | None

    @property
    def is_bounded(self) -> bool:
        """Whether the weight may be less than 1."""
        return self.low is not None or self.high is not None

    def __str__(self) -> str:
        ends = [f"at least {self.low}"] * (self.low is not None) + [f"at most {self.high}"] * (self.high is not None)
        return " and ".join(ends) or "anything"


@frozen
class InputValue:
    """The weight of one value of a finite input whose values are explored together, like options of a choice.

    The weight is 1 if the input in `slot` has this `value`, and else 0.
    """

    slot: int
    value: Value


#: The weight of an option. That of a `choose` is an expression of numbers, `eps`, `exp(q*eps)` and + - * / ^.
ChoiceWeight = ExponentialWeight | Expr | NoiseWeight | InputValue


@frozen
class Choice:
    """A step by one option of a random choice: the variable in `slot` becomes `value`.

    The choice is independent of all noises and of all other choices. `weight` describes the probability of the option,
    which the chain does not compute. If a choice lists a value twice, two steps lead to the same state. `label` is the
    label of the instruction that drew the choice.
    """

    slot: int
    value: Value | Waiting
    weight: ChoiceWeight
    label: int


#: How a state is left; None if its successor is certain.
Edge = Comparison | Choice | None


# --- What is known of noises before anything is compared: one-sided noise is never negative, other noise is bounded ---


def nonnegative(noises: Iterable[NoiseVar]) -> ConstraintSet:
    """Return the constraints that confine each of `noises` to the range of its law.

    A noise is at least the least value of its law, and at most the greatest value, if the law has these values. Most
    laws have neither.
    """
    known = [
        constraint(combination([(_ONE, Affine.noise(noise.id)), (-_ONE, noise.mean)], -end), operator)
        for noise in noises
        for end, operator in ((noise.law.least, CompareOp.GE), (noise.law.greatest, CompareOp.LE))
        if end is not None
    ]
    return constraint_set(known) if known else NOTHING_KNOWN


# --- The path that leads to a state, told by the comparisons and the choices taken ------------------------------------

_MOST_SHOWN = 8


def path_notes(
    program: CoreProgram,
    graph: nx.DiGraph[int],
    states: Mapping[int, State],
    start: int,
    node: int,
    dom_inputs: Mapping[int, Value],
) -> tuple[str, ...]:
    """Return sentences that tell how the state `node` of `program` is reached from the state `start`.

    The first sentence has the finite inputs `dom_inputs`, by slot. The next has the comparisons and choices on a
    shortest path through `graph`, whose nodes are the numbers of `states`.
    """
    import networkx as nx

    notes: list[str] = []
    if dom_inputs:
        named = [f"{program.slots[slot].name} = {show_value(value)}" for slot, value in dom_inputs.items()]
        notes.append("the inputs are " + ", ".join(named[:_MOST_SHOWN]) + (", ..." if len(named) > _MOST_SHOWN else ""))
    taken: list[str] = []
    for before, after in pairwise(nx.shortest_path(graph, start, node)):
        edges: tuple[Edge, ...] = graph.edges[before, after]["edges"]
        if edges[0] is not None:
            taken.append(_decision(program, states[before], edges[0]))
    if taken:
        earlier = len(taken) - _MOST_SHOWN
        last = taken[max(0, earlier) :]
        where = f"on the path (after {earlier} earlier decisions) where " if earlier > 0 else "on the path where "
        notes.append(where + ", then ".join(last))
    return tuple(notes)


def _decision(program: CoreProgram, state: State, edge: Comparison | Choice) -> str:
    line = program.source.excerpt(program.instructions[edge.label].span).line
    if isinstance(edge, Choice) and isinstance(edge.weight, NoiseWeight):
        return f"`{program.slots[edge.slot].name}` is {edge.weight} (line {line})"
    if isinstance(edge, Choice):
        return f"`{program.slots[edge.slot].name}` becomes {value_text(edge.value)} (line {line})"
    names = {noise.id: noise.display_name for noise in state.noises}
    text = comparison_text(
        edge.difference,
        edge.op.value,
        names.__getitem__,
        lambda slot: program.slots[slot].name,
    )
    return f"`{text}` is {'true' if edge.holds else 'false'} (line {line})"
