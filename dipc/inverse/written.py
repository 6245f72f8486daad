"""The probabilities behind one row of a report about every real input, in closed form."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from dipc.algebra.limits import Undecided
from dipc.decide.engine import Engine
from dipc.inverse.claims import measured
from dipc.inverse.solve_beta import union_text
from dipc.questions.class_result import ClassNote, ClassResult
from dipc.questions.every_input import EveryInput
from dipc.questions.every_number.all_numbers import AllNumbers
from dipc.questions.outcome import RowResult
from dipc.questions.source import Source
from dipc.rules.posed import Posed, Variable


@dataclass(frozen=True, slots=True)
class WrittenForm:
    """A probability, or, unless `exact`, a lower bound of it: `text` is a function of `variable`, written `eps`."""

    text: str
    variable: Variable
    exact: bool


def forms_of(source: Source, engine: Engine, row: RowResult) -> Sequence[WrittenForm]:
    """Those of a class; of the classes for one number of queries; for all from some one on that of the union bound, a
    polynomial in the number. None where they are not known."""
    try:
        match source, row:
            case EveryInput(), _:
                posed = next(case for case in source.cases() if case.number == row.row).posed()
                return _written(posed, engine, source.program.core.only_at)
            case AllNumbers(), ClassResult(note=note) if note is not None and note.where:
                return _for_numbers(source, engine, note)
    except Undecided:
        pass
    return ()


def _for_numbers(source: AllNumbers, engine: Engine, note: ClassNote) -> Sequence[WrittenForm]:
    name, _, value = note.where[0].partition(" = ")
    if name == source.parameter and value.isdigit():
        return _written(
            [one for case in source.at(int(value)).cases() for one in case.posed()], engine, source.program.core.only_at
        )
    proof = source.range.proof
    if proof is None or note.numbers is None:
        return ()
    found, unknown = measured(
        [(1, Posed(o, source.required.variable, why)) for o, why in proof.inequalities(note.numbers[1])], engine
    )
    if unknown:
        return ()
    wrong = union_text(found, source.parameter, source.program.limits)
    return [WrittenForm(f"1 - ({wrong})", found[0].variable, exact=False)]


def _written(posed: Sequence[Posed], engine: Engine, only_at: Fraction | None) -> Sequence[WrittenForm]:
    found, _ = measured([(1, one) for one in posed], engine)
    return [
        WrittenForm(
            str(claimed.bound if claimed.variable is not Variable.EPS else claimed.bound.standing_for(only_at)),
            claimed.variable,
            claimed.exact,
        )
        for claimed in found
    ]
