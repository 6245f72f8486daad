"""Upper bounds of the expected error of answers at every input, for programs in which only noise causes the error.

**Lemma.** *Let D be a linear combination of centered noises, and a(u) the exact answer. If at each exit of the program,
for the inputs of a class, |output - a(u)| <= |D|, then E[|output - a(u)|^k] <= E[|D|^k] at each of these inputs, with
equality if output - a(u) is D at all exits.* Exits cover all values of the noises. ∎

The condition is checked for each exit and for each sign of D: two systems of linear inequalities must have no solution.
If the output is a clamped sum of a number and noise, D is this noise, because clamping never makes the distance of two
numbers greater.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction

from dipc.algebra.limits import OutsideFragment, Undecided
from dipc.chain.chain import ExitState
from dipc.chain.state import Affine, Constraint, centered
from dipc.decide.engine import Engine
from dipc.decide.obligation import Decision, Obligation, Verdict
from dipc.measure.event import Noise
from dipc.measure.measure import Bound
from dipc.program.expected_error import Erring, Moment, of_noise
from dipc.questions.every_input import ClassCase, EveryInput
from dipc.questions.expected_error import ErrorRow, errors_of
from dipc.questions.report import RowResult, answer_texts, guard_texts
from dipc.questions.source import Source
from dipc.rules.clamps import halfspace, is_empty

_ZERO, _ONE = Fraction(0), Fraction(1)


def class_rows(source: Source, engine: Engine, point: Fraction, *, claimed: bool) -> Iterator[ErrorRow]:
    """Yield a row for each class of inputs of `source`, with an upper bound of the expected error in the class.

    All inputs of a class have the same right answer, as a function of the input. Each row has the value of the bound at
    the eps `point`. If `claimed`, `engine` decides the claim. A row without a known bound has a reason instead. Raises
    DiagnosticError for claims that make no sense.
    """
    assert isinstance(source, EveryInput)
    for case in source.cases():
        entry = case.undecided_row()
        if not isinstance(case, ClassCase):
            yield ErrorRow(
                case.number,
                {},
                entry.output,
                None,
                None,
                reason="the set of inputs with this answer is not known",
            )
            continue
        try:
            yield _row(source, case, engine, point, entry, claimed=claimed)
        except Undecided as undecided:
            where = _guards_text(source, case)
            yield ErrorRow(case.number, {}, entry.output, None, None, reason=undecided.reason, where=where)


def _guards_text(source: EveryInput, case: ClassCase) -> str:
    return ", ".join(guard_texts(source.program.core, case.convex.guards, case.convex.inputs.finite)) or "all"


def _row(
    source: EveryInput, case: ClassCase, engine: Engine, point: Fraction, entry: RowResult, *, claimed: bool
) -> ErrorRow:
    program, inputs = source.program, case.convex.inputs
    assert isinstance(program, Erring)
    place = program.error.place
    states, answer, _ = source.exits.ends(inputs.finite, inputs.region)
    if place is None or not states:
        raise OutsideFragment("expected errors for every input are known only for outputs that are sums of noise")
    slot = program.core.outputs[place]
    exact = answer[slot]
    form = Affine.number(exact) if isinstance(exact, Fraction) else exact
    if not isinstance(form, Affine):
        raise OutsideFragment(f"the answer `{program.core.slots[slot].name}` is not a number")
    noise, equal = _noise(states, slot, form, case.convex.guards)
    drawn = {each.id: each for state in states for each in state.noises}
    noises = tuple([Noise(drawn[key].law, drawn[key].rate, _ZERO) for key, _ in noise.noises])
    factors = tuple([c for _, c in noise.noises])

    def expected(which: Moment) -> Bound:
        return of_noise(noises, factors, which)

    forms = errors_of(program, engine, expected, point, signed=equal)
    result = _decided(case, engine, expected(program.error.moment), entry, equal=equal) if claimed else None
    output = answer_texts(program.core, inputs.region)
    return ErrorRow(case.number, {}, output, *forms, None, result, _guards_text(source, case), equal)


def _decided(case: ClassCase, engine: Engine, bound: Bound, entry: RowResult, *, equal: bool) -> RowResult:
    """Decide with `engine` the claim about the class of `case`, and return the result.

    `bound` is 1 minus an upper bound of the expected error. If `equal` is true, the expected error is equal to this
    bound; only then can the claim be refuted. `entry` is the row of the undecided case; the result takes its output,
    alpha and gamma.
    """
    required = case.goal.required
    if required.beta is None or required.is_open:
        raise OutsideFragment("a claim about expected errors must not leave a distance open")
    decision = engine.decide(Obligation(bound, required.beta, case.goal.intervals))
    if decision.verdict is Verdict.INACCURATE and not (equal and not required.alpha_base):
        decision = Decision.undecided("the bound of the expected error exceeds the claim")
    return RowResult(
        case.number,
        {},
        entry.output,
        entry.alpha,
        required.beta,
        entry.gamma,
        decision.verdict,
        decision.bound,
        counterexample=decision.counterexample,
        failing=decision.failing,
        reason=decision.reason,
    )


def _noise(states: Sequence[ExitState], slot: int, answer: Affine, guards: Sequence[Constraint]) -> tuple[Affine, bool]:
    """Return (D, exact): a linear combination D of noises with |output - `answer`| <= |D| at each exit.

    This holds for all inputs that satisfy `guards`. The second entry is True if output - `answer` is D itself at every
    exit. `states` are the exits, and `slot` is the output's. Raises OutsideFragment if no D is found.
    """
    means = {noise.id: noise.mean for state in states for noise in state.noises}
    if any(means[noise.id] != noise.mean for state in states for noise in state.noises):
        raise OutsideFragment("the mean of a noise depends on the path through the program")
    outputs = []
    for state in states:
        value = state.outputs[slot]
        value = Affine.number(value) if isinstance(value, Fraction) else value
        if not isinstance(value, Affine):
            raise OutsideFragment("the output is not always assigned")
        outputs.append((value, state))
    for form in dict.fromkeys(value for value, _ in outputs if value.noises):
        over = centered(form, means)
        noise = form - over.noiseless
        if all(_is_less(value - answer, noise, state, guards) for value, state in outputs):
            return over - over.noiseless, all(value - answer == noise for value, _ in outputs)
    raise OutsideFragment(
        "expected errors for every input are known only if the output differs from the answer by at most its noise"
    )


def _is_less(gap: Affine, noise: Affine, state: ExitState, guards: Sequence[Constraint]) -> bool:
    """Return True if |`gap`| <= |`noise`| whenever the program ends in `state`, at all inputs that satisfy `guards`.

    `gap` and `noise` are forms of noises and inputs.
    """
    known = [
        halfspace(item.form, strict=item.strict) for item in (*state.constraints.items, *state.guards.items, *guards)
    ]
    return all(
        is_empty([*known, halfspace(noise.scaled(side)), halfspace(gap.scaled(sign) - noise.scaled(side), strict=True)])
        for side in (_ONE, -_ONE)
        for sign in (_ONE, -_ONE)
    )
