"""A finite set of inputs, cut into classes whose members all have the same obligation."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from itertools import product
from math import floor, prod
from typing import TYPE_CHECKING, Any

from dipc.algebra.limits import LimitReached, Undecided
from dipc.chain.state import Affine, Constraint
from dipc.claims.conditions import Theorem
from dipc.claims.given import INFINITY, CellPool
from dipc.claims.table import Row, Table
from dipc.frozen import LazyModule, frozen
from dipc.program.inputs import FiniteInputs, default_inputs, parse_inputs
from dipc.program.metric import Norm
from dipc.program.program import Program
from dipc.questions.report import Exchange, Product, Report
from dipc.text import ast
from dipc.text.ast import BaseType
from dipc.text.core import DomType, Value
from dipc.text.diagnostic import Diagnostic, DiagnosticError, SourceText
from dipc.text.parser import parse
from dipc.text.precondition import selection_unsupported
from dipc.text.program import CoreProgram
from dipc.text.statements import lower, lower_ideal

if TYPE_CHECKING:
    from dipc.program import ideal as ideals
    from dipc.questions import multisets, one_choice, symmetry
    from dipc.questions.symmetry import AlikeInputs
else:
    ideals = LazyModule("dipc.program.ideal")
    multisets = LazyModule("dipc.questions.multisets")
    one_choice = LazyModule("dipc.questions.one_choice")
    symmetry = LazyModule("dipc.questions.symmetry")

_ZERO = Fraction(0)


#: The assignments tried for each allowed class. If more are needed, the inputs have too little symmetry.
TRIALS = 15

#: The most states of the ideal to explore if classes are only meant to save time, or one state for each 16 inputs if
#: that is more. A state takes about as long as several rows.
LEAST_STATES, INPUTS_A_STATE = 5_000, 16

#: The code of the diagnostic for too many classes.
TOO_MANY = "E1251"


def input_classes(
    program: Program, values: Mapping[int, Sequence[Value]], most: int | None = None
) -> tuple[Program, tuple[AlikeInputs, ...]]:
    """Return (a program, classes of all combinations of `values` with the same obligation).

    `values` has the distinct values of every input slot. The returned program is `program` with numeric finite inputs
    declared as `real` or `int` where possible; it has the same answers at these values.

    Every combination is in exactly one class. The members of a class have the same dd(u), the same probability of
    det(u) within any gamma, and therefore the same obligation. Raises DiagnosticError for a program without an ideal or
    with a partial one. Also raises it, with the code TOO_MANY, if there are more classes than the program's limit
    `orbits`, or than `most`.
    """
    executed = promoted(program)
    try:
        classes = _ClassSearch(program, executed, values, most).find()
    except DiagnosticError as error:
        # With inputs that stay finite there are even more classes.
        if executed is program or any(diagnostic.code == TOO_MANY for diagnostic in error.diagnostics):
            raise
        executed = program
        classes = _ClassSearch(program, program, values, most).find()
    inputs = prod(len(values[slot]) for slot in program.core.inputs)
    counted = sum(each.count for each in classes)
    assert counted == inputs, f"the classes have {counted} members, and there are {inputs} inputs"
    return executed, classes


class _ClassSearch:
    def __init__(
        self, program: Program, executed: Program, values: Mapping[int, Sequence[Value]], most: int | None
    ) -> None:
        self._given = program
        self._most = min(program.limits.orbits, program.limits.orbits if most is None else most)
        if most is not None:
            # Every region is explored before the first class is known, and takes longer than several rows.
            states = max(LEAST_STATES, prod(map(len, values.values())) // INPUTS_A_STATE)
            executed = executed.with_limits(replace(executed.limits, states=min(executed.limits.states, states)))
        self._core = executed.core
        self._values = values
        self._ideal = ideals.Ideal(executed)
        self._probabilities = executed.probabilities()
        self._pool = CellPool()
        self._trials = 0
        slots = executed.core.slots
        self._finite = [slot for slot in self._core.inputs if not slots[slot].is_symbolic]
        self._positions = [self._position(slot) for slot in self._core.inputs if slots[slot].is_symbolic]
        self._by_slot = {position.slot: position for position in self._positions}
        self._families = symmetry.Families(self._ideal)
        given = ideals.Ideal(program)
        self._norm, self._distances = given.metric.norm, ideals.Distances(given)
        self._apart = None if self._ideal.finite_inputs else symmetry.apartness(self._ideal)
        near, is_known = program.core.has_product_distance, given.metric.core.apart is None or self._apart is not None
        self._is_plain = given.metric.is_plain and near
        #: Whether exchanging the values of two numeric inputs in u and in u' never changes d(u, u'), except for pairs
        #: that `_apart` puts infinitely far apart. Then only equal answers, or near real outputs, are as good as det's.
        self._is_symmetric = near and is_known and given.metric.core.same is None

    def _position(self, slot: int) -> symmetry.Position:
        values = tuple(_fraction(value) for value in self._values[slot])
        declared = self._given.core.slots[slot].type
        domain = tuple(_fraction(value) for value in declared.values) if isinstance(declared, DomType) else None
        return symmetry.Position(slot, values, domain, self._core.slots[slot].type is BaseType.INT)

    def find(self) -> tuple[AlikeInputs, ...]:
        asked = prod(len(self._values[slot]) for slot in self._finite)
        if asked > self._most:
            kept = f"{asked} combinations of bool and DOM inputs that cannot be treated as numbers (limit `orbits`)"
            raise DiagnosticError(_too_many(kept))
        members: list[tuple[ideals.Region, AlikeInputs]] = []
        for combination in product(*(self._values[slot] for slot in self._finite)):
            finite = dict(zip(self._finite, combination, strict=True))
            for region in self._ideal.regions(finite):
                for each in self._classes(finite, region):
                    members.append((region, each))
                    if len(members) > self._most:
                        raise DiagnosticError(_too_many(f"more than {self._most} classes (limit `orbits`)"))
        # Distances are computed last, as they are expensive and useless if there are too many classes.
        return tuple([replace(each, dd=self._dd(each, region)) for region, each in members])

    def _dd(self, each: AlikeInputs, region: ideals.Region) -> Fraction | None:
        """Return dd at the inputs of the class `each`, which are in `region`; None is infinity.

        Raises Undecided past a limit.
        """
        family, positions = self._families.family(region), self._by_slot
        if self._is_plain and family is not None and family.alone and self._norm is not Norm.L1:
            sorts = [{positions[slot].any_integer for slot, _ in item.form.inputs} for item in region.guards]
            if all(len(sort) < 2 for sort in sorts):
                values = dict(zip(self._core.inputs, each.inputs, strict=True))
                distance = escape(region.guards, {slot: _fraction(values[slot]) for slot in positions}, positions)
                return distance if distance is None or self._norm is Norm.LINF else Fraction(1)
        return self._distances.dd(each.inputs)

    def _classes(self, finite: Mapping[int, Value], region: ideals.Region) -> Iterator[AlikeInputs]:
        """Yield the classes of the inputs in `region` with the values `finite`; their dd is not computed yet."""
        blocks = self._blocks(finite, region, self._families.family(region))
        for assignment in symmetry.representatives(blocks, region.guards):
            self._trials += 1
            if self._trials > TRIALS * self._most:
                trials = f"more than {TRIALS} assignments to try for each of {self._most} classes (limit `orbits`)"
                raise DiagnosticError(_too_many(trials))
            if assignment is None:
                continue
            chosen, count = assignment
            everything: dict[int, Value] = {**finite, **chosen}
            inputs = tuple(everything[slot] for slot in self._core.inputs)
            answer = tuple(each.evaluate(chosen) if isinstance(each, Affine) else each for each in region.answer)
            yield symmetry.AlikeInputs(inputs, answer, None, count, blocks)

    def _blocks(
        self, finite: Mapping[int, Value], region: ideals.Region, family: symmetry.RegionFamily | None
    ) -> tuple[symmetry.Block, ...]:
        # Computed even if it is not used: an error with retyped inputs must be raised here.
        endings = self._endings(finite, region)
        if endings is None or family is None or not self._is_symmetric:
            return symmetry.singletons(self._positions)
        forms = frozenset(form for form in region.answer if isinstance(form, Affine))
        guards = symmetry.guards_of(region.guards)
        return symmetry.blocks_of(guards, family, forms, endings, self._apart, self._positions)

    def _endings(self, finite: Mapping[int, Value], region: ideals.Region) -> tuple[symmetry.Ending, ...] | None:
        """Return the exits with the answer of `region`, in a form in which equal exits are recognized.

        `finite` has the values of the finite inputs, by slot. The result is None past a limit.
        """
        zero = self._pool.cell(Fraction(0))
        inputs = [self._pool.cell(finite[slot]) if slot in finite else zero for slot in self._core.inputs]
        outputs = [zero if isinstance(each, Affine) else self._pool.cell(each) for each in region.answer]
        centers = {
            slot: form for slot, form in zip(self._core.outputs, region.answer, strict=True) if isinstance(form, Affine)
        }
        try:
            exits = self._probabilities.exits(inputs, outputs)
        except Undecided:
            return None
        return tuple(symmetry.ending_of(event, weight, centers) for event, weight in exits)


def _fraction(value: Value) -> Fraction:
    assert isinstance(value, Fraction)
    return value


def _too_many(what: str) -> Diagnostic:
    return Diagnostic(
        TOO_MANY,
        f"the inputs cannot be enumerated: {what}",
        notes=(
            "inputs that can be exchanged for each other are decided only once, but too few of these can be exchanged",
            "ask about fewer values of the inputs, or check the rows that matter with a table",
        ),
    )


# --- nearest --------------------------------------------------------------------------------------
#
# The distance of an input inside a convex region from the inputs outside it, in the largest-difference norm (linf).


def escape(
    guards: Sequence[Constraint], inputs: Mapping[int, Fraction], positions: Mapping[int, symmetry.Position]
) -> Fraction | None:
    """Return the distance from `inputs` to the nearest input that violates one of `guards`; None is infinity.

    The distance of two inputs is the greatest difference of their values. `inputs` satisfies all `guards`. The nearest
    input has values in the domains that `positions` declares. The result is dd(u) if the guards are those of the only
    region with its answer, and if this answer is constant. Raises ValueError if a guard mixes int inputs with others.

    Each guard is treated on its own, and the least distance is the result: an input violates a conjunction if it
    violates one of the guards.
    """
    distances = [_violation_distance(guard, inputs, positions) for guard in guards]
    finite = [radius for radius in distances if radius is not None]
    return min(finite, default=None)


def _violation_distance(
    guard: Constraint, inputs: Mapping[int, Fraction], positions: Mapping[int, symmetry.Position]
) -> Fraction | None:
    """Return the distance from `inputs` to the nearest input that violates `guard`; None is infinity.

    `positions` has the domains of the inputs, by slot.
    """
    terms = guard.form.inputs
    slack = guard.form.evaluate(inputs)
    kinds = {
        "listed" if each.domain is not None else "int" if each.any_integer else "real"
        for each in (positions[slot] for slot, _ in terms)
    }
    if not terms:
        return None
    if kinds == {"real"}:
        return slack / sum(abs(coefficient) for _, coefficient in terms)
    if kinds == {"int"}:
        # At radius r the form can be as small as slack - r·Σ|coefficient|, and r is an integer.
        steps = slack / sum(abs(coefficient) for _, coefficient in terms)
        whole = floor(steps)
        return Fraction(whole if guard.strict and steps == whole else whole + 1)
    if "int" in kinds:
        raise ValueError("one comparison mixes int inputs with others")
    return _stepwise(guard, slack, inputs, positions)


def _stepwise(
    guard: Constraint, slack: Fraction, inputs: Mapping[int, Fraction], positions: Mapping[int, symmetry.Position]
) -> Fraction | None:
    """Return the distance from `inputs` to the nearest input that violates `guard`; None is infinity.

    `slack` is the value of the guard's form at `inputs`, and `positions` has the domain of each input, by slot. An
    input whose domain is a list of values changes the form in steps, any other input continuously.
    """
    slope = sum(
        (abs(coefficient) for slot, coefficient in guard.form.inputs if positions[slot].domain is None), start=_ZERO
    )
    gains: dict[Fraction, Fraction] = {_ZERO: _ZERO}
    for slot, coefficient in guard.form.inputs:
        for radius, gain in _gains(coefficient, inputs[slot], positions[slot].domain or ()):
            gains[radius] = gains.get(radius, _ZERO) + gain
    level = slack
    steps = sorted(gains)
    for position, radius in enumerate(steps):
        level -= gains[radius]
        reached = level - slope * radius
        if reached < 0 or (reached == 0 and (guard.strict or slope)):
            return radius
        following = steps[position + 1] if position + 1 < len(steps) else None
        if slope and (following is None or level / slope < following):
            return level / slope
    return None


def _gains(coefficient: Fraction, value: Fraction, domain: Sequence[Fraction]) -> list[tuple[Fraction, Fraction]]:
    """Return pairs (radius, gain): how `coefficient`·x can fall as x moves in `domain` away from `value`.

    The radii increase. With |x - `value`| at most a radius, the least `coefficient`·x is lower by the gain than with
    the radius before.
    """
    result: list[tuple[Fraction, Fraction]] = []
    so_far = _ZERO
    for other in sorted(domain, key=lambda other: abs(other - value)):
        fall = coefficient * (value - other)
        if fall > so_far:
            result.append((abs(other - value), fall - so_far))
            so_far = fall
    return result


# --- promote --------------------------------------------------------------------------------------
#
# Numeric finite inputs retyped as real or int, so that one symbolic execution serves all their values.
#
# An input `x : {-1..1}` that is only added, scaled, compared and used as a mean can just as well be declared `real` (or
# `int`, where it meets integers). If the new program obeys the rules of the language, each expression has the exact
# value it had, as finite domains of rationals and reals share one arithmetic. If a value is used as only a finite one
# can be (as an index, a factor, a score, in min or max, as the value of a finite variable), the type checker refuses
# the new text, and the declaration stays as it was. The declared domains still bound the inputs, in the claim and in
# dd(u).

#: The text that replaces each of these types, by the position of the declaration in the program.
_Types = Mapping[int, str]


def promoted(program: Program) -> Program:
    """Return `program` with as many finite numeric inputs declared `real` or `int` as the language allows."""
    core = program.core
    tree = parse(core.source.in_language)
    domains = [_domains(declaration, program) for declaration in tree.declarations]
    numeric = [
        index
        for index, listed in enumerate(domains)
        if listed and all(listed) and all(isinstance(value, Fraction) for values in listed for value in values)
    ]
    if not numeric:
        return program
    everything = dict.fromkeys(numeric, "real")
    result = _retyped(program, tree, everything)
    if result is not None:
        return result
    chosen: dict[int, str] = {}
    best = program
    for position in numeric:
        # For an int input an inequality is one between integers: 1/2 must not become a value of it.
        whole = all(
            value.denominator == 1 for values in domains[position] for value in values if isinstance(value, Fraction)
        )
        for word in ("real", "int") if whole else ("real",):
            trial = _retyped(program, tree, {**chosen, position: word})
            if trial is not None:
                chosen[position], best = word, trial
                break
    return best


def _domains(declaration: ast.Declaration, program: Program) -> list[Sequence[Value]]:
    """Return the listed values of each input that `declaration` declares in `program`; () for inputs without a list."""
    if not isinstance(declaration, ast.VariableDecl) or declaration.role is not ast.Role.INPUT:
        return []
    names = {declarator.name for declarator in declaration.declarators}
    slots = program.core.input_slots
    types = [slot.type for slot in slots if slot.name.partition("[")[0] in names]
    return [kind.values if isinstance(kind, DomType) else () for kind in types]


def _retyped(program: Program, tree: ast.ProgramTree, types: _Types) -> Program | None:
    """Return `program` with other types in some declarations, or None if that breaks a rule of the language.

    `tree` is the program's syntax tree. `types` has the text of the new type, by the position of the declaration. The
    result is also None if the program gets longer: an int that is assigned to a variable with a domain is compared with
    each value.
    """
    core = program.core
    source = SourceText(core.source.name, _substituted(core.source.in_language.text, tree.declarations, types))
    try:
        parsed = parse(source)
        retyped = replace(
            lower(parsed, source, core.overrides, core.only_at), only_at=core.only_at, only_in=core.only_in
        )
        lower_ideal(parsed, source, core.constants, core.only_at)
    except DiagnosticError:
        return None
    if "int" in types.values() and len(retyped.instructions) > len(core.instructions):
        return None
    assert retyped.inputs == core.inputs
    assert retyped.outputs == core.outputs
    return Program(retyped, program.limits)


def _substituted(text: str, declarations: Sequence[ast.Declaration], types: _Types) -> str:
    for position in sorted(types, reverse=True):
        declaration = declarations[position]
        assert isinstance(declaration, ast.VariableDecl)
        span = declaration.type.span
        text = text[: span.start] + types[position] + text[span.end :]
    return text


# --- check ----------------------------------------------------------------------------------------
#
# Finite products of inputs as tables of classes (Corollary 13 of the paper).

#: A product with more inputs than this is decided by classes unless the options decline it.
ROW_BY_ROW = 5_000

#: The most inputs that a certificate lists one by one although transitions prove them to be interchangeable.
_ROWS_IN_CERTIFICATE = 64


@frozen
class ClassTable:
    """All combinations of input values, as a table with one row for each class of inputs with the same obligation.

    A row of `table` is one input of a class with its det and dd; `program` is the program to check it with. `classes`
    are the classes. `product` has the values of the inputs, and says which inputs can be exchanged. `inputs` is the
    number of inputs. If `everything` is true, these are all inputs of a program with finite inputs and outputs.
    """

    program: Program
    table: Table
    classes: tuple[AlikeInputs, ...]
    product: Product
    inputs: int
    everything: bool

    def counted(self, report: Report) -> Report:
        """Return `report`, which is about the rows of the table, as a report about all inputs.

        Each row gets the `count` of inputs that it represents.
        """
        rows = tuple(replace(row, count=each.count) for row, each in zip(report.rows, self.classes, strict=False))
        evidence = report.evidence
        if evidence is not None:
            evidence = replace(evidence, product=self.product)
        report = replace(report, rows=rows, inputs=self.inputs, evidence=evidence)
        return with_corollary(report) if self.everything else report


def class_table(
    program: Program, inputs: FiniteInputs, *, as_given: bool = False, most: int | None = None
) -> ClassTable:
    """Return the table of the classes of `inputs` to `program`, with one row for each class.

    The verdict, the probability and the counterexample of a row hold for all inputs of its class, and every input is in
    one class. A report about the table is therefore a report about each input. If `as_given` is true, the declared
    types of inputs are not changed: rows are then decided more slowly, but for the given program itself. At most `most`
    classes are searched for. Raises DiagnosticError and Undecided as `input_classes` does.
    """
    core = program.core
    values = {slot: tuple(dict.fromkeys(own)) for slot, own in zip(core.inputs, inputs.choices, strict=True)}
    executed, classes = input_classes(program, values, most)
    pool = CellPool()
    return ClassTable(
        program if as_given else executed,
        _table(inputs, classes, pool),
        classes,
        _product(core, values, classes, pool),
        sum(each.count for each in classes),
        _is_everything(core, values),
    )


def _listed_classes(
    program: Program,
    inputs: FiniteInputs,
    classes: tuple[AlikeInputs, ...],
    choices: Sequence[Sequence[Value]],
    alike: tuple[tuple[int, ...], ...] = (),
) -> ClassTable:
    """Return the table of the given `classes` of `inputs` to `program`.

    `choices` has the values of each input, and `alike` has the indices of interchangeable inputs.
    """
    core, pool = program.core, CellPool()
    values = dict(zip(core.inputs, choices, strict=True))
    texts = tuple([tuple([pool.cell(value).text for value in values[slot]]) for slot in core.inputs])
    table, everything = _table(inputs, classes, pool), _is_everything(core, values)
    return ClassTable(program, table, classes, Product(texts, (), alike), inputs.count, everything)


def _table(inputs: FiniteInputs, classes: Sequence[AlikeInputs], pool: CellPool) -> Table:
    rows = tuple(
        Row(
            number,
            tuple(pool.cell(value) for value in each.inputs),
            tuple(pool.cell(value) for value in each.answer),
            None,
            None,
            None,
            INFINITY if each.dd is None else pool.cell(each.dd),
        )
        for number, each in enumerate(classes, start=1)
    )
    return Table(inputs.name, rows, frozenset({"dd"}), {}, computed=frozenset({"dd"}))


def _product(
    core: CoreProgram, values: Mapping[int, Sequence[Value]], classes: Sequence[AlikeInputs], pool: CellPool
) -> Product:
    place = {slot: position for position, slot in enumerate(core.inputs)}
    exchanges: dict[int, Exchange] = {}
    for row, each in enumerate(classes, start=1):
        if id(each.blocks) not in exchanges:  # They are one object for the classes of one region.
            exchanged = tuple(tuple(place[slot] for slot in one.slots) for one in each.blocks if len(one.slots) > 1)
            free = tuple(place[one.slots[0]] for one in each.blocks if one.free)
            exchanges[id(each.blocks)] = Exchange(row, exchanged, free)
    return Product(
        tuple(tuple(pool.cell(value).text for value in values[slot]) for slot in core.inputs), tuple(exchanges.values())
    )


def grouped(program: Program, inputs: Any, classes: bool | None, *, as_given: bool = False) -> ClassTable | None:
    """Return the table of the classes of `inputs` to `program`, or None if the inputs are to be checked one by one.

    `classes` decides: True for classes, False for one by one, None for classes only if there are many inputs and few
    classes. `inputs` is a value that `parse_inputs` reads, or None for all inputs of a program with finite inputs. If
    `as_given` is true, the declared types of inputs are not changed. Raises DiagnosticError for inputs that cannot be
    read, and as `class_table` does.
    """
    if classes is False:
        return None
    requires = program.core.requires
    if requires is not None or program.core.selection is not None:
        # Inputs that an exchange turns into each other need not both satisfy the condition.
        if classes:
            refused, note = "grouping inputs in classes", "leave `--classes` out"
            if requires is None:
                raise selection_unsupported(refused, note)
            raise requires.unsupported(program.core.source, refused, note)
        return None
    result = default_inputs(program) if inputs is None else parse_inputs(inputs, program)
    if not isinstance(result, FiniteInputs):
        return None
    # A certificate can list a few rows, which its checker always follows. It follows most proofs by transitions.
    by_transitions = bool(classes) or not as_given or result.count > _ROWS_IN_CERTIFICATE
    with suppress(LimitReached):
        found = multisets.multiset_classes(program, result, by_transitions=by_transitions)
        if found is not None:
            by_multisets, groups = found
            return _listed_classes(program, result, by_multisets, groups.choices, groups.alike)
    if classes is None and result.count <= ROW_BY_ROW:
        return None
    if not as_given:  # The checker of certificates does not follow these classes.
        by_choice = one_choice.choice_classes(program, result)
        if by_choice is not None:
            return _listed_classes(program, result, by_choice, result.choices)
    try:
        # If hardly any two inputs are alike, finding classes costs more than it saves.
        return class_table(program, result, as_given=as_given, most=None if classes else result.count // 2)
    except DiagnosticError as error:
        # Classes were not requested, and there are too many of them to save time: decide row by row.
        if classes is None and all(each.code == TOO_MANY for each in error.diagnostics):
            return None
        raise
    except LimitReached as reached:
        if classes is None and reached.limit == "states":
            return None
        raise


def with_corollary(report: Report) -> Report:
    """Return `report`, about all inputs, with Corollary 13 of the paper as the theorem that its verdict proves.

    Inputs and outputs must be finite. If the report has no theorem about its rows, it is returned unchanged. The
    corollary is the theorem of the rows (Theorem 12, or 10 with a fixed gamma) at every input.
    """
    theorem = report.theorem
    if theorem is None or theorem.name is None:
        return report
    return replace(report, decided_by=Theorem("Corollary 13", f"{theorem.decides}, at all inputs", theorem.conditions))


def is_everything(program: Program, inputs: Any) -> bool:
    """Return True if `inputs` are all inputs of `program`, and if all inputs and outputs are finite.

    `inputs` is a value that `parse_inputs` reads, or None for all inputs. The result is False if the program has a
    selection, which limits the question to some of its inputs.
    """
    if program.core.selection is not None:
        return False
    result = default_inputs(program) if inputs is None else parse_inputs(inputs, program)
    core = program.core
    return isinstance(result, FiniteInputs) and _is_everything(
        core, dict(zip(core.inputs, result.choices, strict=True))
    )


def _is_everything(core: CoreProgram, values: Mapping[int, Sequence[Value]]) -> bool:
    """Return True if `values`, by input slot, are all values of each input of `core`, and all outputs are finite."""
    if not core.has_finite_outputs:
        return False
    for slot in core.inputs:
        match core.slots[slot].type:
            case DomType(values=domain):
                if set(values[slot]) != set(domain):
                    return False
            case BaseType.BOOL:
                if len(values[slot]) < 2:
                    return False
            case _:
                return False
    return True
