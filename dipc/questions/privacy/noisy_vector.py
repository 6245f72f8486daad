"""Answers that depend on noisy values alone: a delta for releasing these values is enough for the answers.

**Lemma.** Let every draw of a program be X_i = f_i(u) + N_i, with a linear form f_i of the inputs u and independent
noise N_i, and let no other step depend on u. Then the outputs are a random function of X = (X_1, …, X_n), and Pr[P(u)
in S] is the mean of a function of X with values in [0, 1]. If releasing X is (budget, delta)-private, P is, too (Dwork
and Roth 2014, Proposition 2.1).

The delta of X need not be the least delta of P, so that nothing is refuted in this way.
"""

from __future__ import annotations

from dipc.chain.state import Affine
from dipc.noise.law import Measure
from dipc.program.program import Program
from dipc.questions.privacy.adjacency import EveryPair, Pairs
from dipc.questions.privacy.gaussian import GaussianLaws, GaussianMechanism, NormalOutput
from dipc.questions.privacy.laws import Subject

#: The proof of a claim, as reports name it.
OF_NOISY_VALUES = "post-processing: the answers depend on the noisy values alone, and releasing all of these is private"


def noisy_value_laws(subject: Subject, pairs: Pairs | EveryPair) -> GaussianLaws | None:
    """Return the laws, at `pairs`, of all values with Gaussian noise that the program of `subject` draws.

    None if the outputs depend on other random values. Raises Undecided for unbounded moves, and past a limit.
    """
    mechanism = _noisy_values(subject.program)
    return None if mechanism is None else GaussianLaws.of_mechanism(subject, mechanism, pairs)


def _noisy_values(program: Program) -> GaussianMechanism | None:
    """Return the mechanism that releases each noisy value of `program`.

    None if a step depends on the inputs in another way.
    """
    if not program.core.has_open_inputs:
        return None
    values: dict[int, NormalOutput] = {}
    kinds = set()
    for state in program.exits({}).states:
        forms = [item.form for item in (*state.constraints.items, *state.guards.items)]
        forms += [value for value in state.outputs.values() if isinstance(value, Affine)]
        if any(form.inputs for form in forms):
            return None
        for noise in state.noises:
            law, mean = noise.law, noise.mean
            if mean.noises or law.has_form or law.measure is Measure.CLOSED_FORM:
                return None
            variance = 1 / noise.rate**2 if law.whole else law.normal_variance(noise.rate)
            kinds.add((law.normal_unit, law.fixed, law.whole))
            name = f"noisy value {noise.id + 1}"
            value = NormalOutput(name, mean.inputs, mean.constant, variance, noise.rate)
            if values.setdefault(noise.id, value) != value:
                return None
    if len(kinds) != 1:
        return None
    ((unit, fixed, whole),) = kinds
    return GaussianMechanism(tuple([values[number] for number in sorted(values)]), unit, fixed, whole)
