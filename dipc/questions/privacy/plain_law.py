"""Programs whose output has the law of an input plus Laplace noise, although the noise is drawn in several steps.

**Lemma.** Laplace noise of rate a has the characteristic function A/(A + s²) with A = a²·eps². Let a program release
f(u) + Σ c_i·N_i, where a choice with the constant weights w_e decides which Laplace noises N_i are added, and f is the
same form of the inputs for each choice. In multiples of eps its noise has the characteristic function φ(x) = Σ_e
w_e·Π_i A_i/(A_i + x), with x = s² and A_i = (a_i/c_i)². The noise has a Laplace law of rate r exactly if φ(x) = r²/(r²
+ x), as a characteristic function determines the law. Multiplied by all denominators this is an equation of
polynomials. It holds if it holds at more points than the degree. ∎

This is how a release is made more accurate later without a further loss (Koufogiannis, Han and Pappas 2016): the
earlier release is the later one with probability (a/b)², and otherwise the later one with more noise.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from math import prod

from dipc.algebra.exppoly import ExpPoly
from dipc.algebra.limits import Undecided
from dipc.algebra.reals import Real
from dipc.chain.state import Affine
from dipc.program.clipped import clipped, without_accuracy
from dipc.program.exits import Exit
from dipc.program.program import Program
from dipc.text.ast import BaseType
from dipc.text.core import SampleNoise
from dipc.text.diagnostic import DiagnosticError, SourceText
from dipc.text.parser import parse
from dipc.text.printer import print_program

_ZERO, _ONE = Fraction(0), Fraction(1)

#: A choice: its weight, and A_i for each noise that it adds.
_Choice = tuple[Fraction, tuple[Fraction, ...]]


def plain_release(program: Program) -> Program | None:
    """Return a program that adds one Laplace noise to a form of the inputs and has the output law of `program`.

    The result is None if `program` draws at most one noise, or has another law.
    """
    core = program.core
    outputs = core.output_slots
    given = core.only_at is not None or core.requires is not None or not core.has_open_inputs
    if given or len(outputs) != 1 or outputs[0].type is not BaseType.REAL:
        return None
    draws = sum(isinstance(each, SampleNoise) for each in core.instructions)
    if (draws < 2 and not core.loops) or clipped(program) is not None:
        return None  # Clamps of inputs compare them without noise.
    with suppress(Undecided, DiagnosticError):
        exits = list(program.exits({}).all())
        read = [_choice(exit_, core.outputs[0]) for exit_ in exits]
        known = [each for each in read if each is not None]
        if len(known) < len(read) or len({form for form, _ in known}) != 1:
            return None
        choices = [choice for _, choice in known]
        if max(len(squares) for _, squares in choices) < 2:
            return None
        rate = _laplace_rate(choices)
        return None if rate is None else _releasing(program, known[0][0], rate)
    return None


def _choice(exit_: Exit, output: int) -> tuple[Affine, _Choice] | None:
    """Return (the part of an output that depends on inputs alone, (probability of the exit, squares of its noises)).

    The output is that with the slot `output` in `exit_`. The square of a noise is (a/c)², where a is its rate as
    Laplace noise and c its factor in the output. None for exits with conditions, for probabilities that depend on eps,
    and for noise other than Laplace noise.
    """
    state, value = exit_.state, exit_.state.outputs[output]
    if state.constraints.items or state.guards.items or not isinstance(value, Affine):
        return None
    weight = _ONE
    if exit_.weight is not None:
        terms = exit_.weight.terms() if isinstance(exit_.weight, ExpPoly) else None
        if terms is None or any(power or exponent for power, exponent, _ in terms):
            return None
        weight = sum((c for _, _, c in terms), _ZERO)
    noises = {noise.id: noise for noise in state.noises}
    form = value.noiseless
    squares = []
    for number, c in value.noises:
        noise = noises[number]
        rate = noise.law.laplace_rate(noise.rate)
        if rate is None or noise.mean.noises:
            return None
        squares.append((rate / c) ** 2)
        form = form + noise.mean.scaled(c)
    return form, (weight, tuple(squares))


def _laplace_rate(choices: Sequence[_Choice]) -> Fraction | None:
    """Return the r for which the mixture of all `choices` is Laplace noise of rate r, or None if it is not."""
    degree = sum(len(squares) for _, squares in choices) + 1
    for square in sorted({square for _, squares in choices for square in squares}):
        if all(
            sum(weight * prod(a / (a + x) for a in squares) for weight, squares in choices) == square / (square + x)
            for x in range(1, degree + 2)
        ):
            return Real.from_rational(square).sqrt().rational
    return None


def _releasing(program: Program, form: Affine, rate: Fraction) -> Program:
    core = program.core
    terms = [f"({c})*{core.slots[slot].name}" for slot, c in form.inputs]
    mean = " + ".join([*terms, f"({form.constant})"])
    (output,) = core.output_slots
    release = parse(SourceText(core.source.name, f"program p; {output.name} <- Lap(({rate})*eps, {mean})"))
    tree = replace(without_accuracy(parse(core.source)), body=release.body)
    return program.with_constants({}, SourceText(core.source.name, print_program(tree)))
