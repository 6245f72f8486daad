"""Answers that depend on noisy values alone: a delta for releasing these values is enough for the answers.

**Lemma.** Let every draw of a program be X_i = f_i(u) + N_i, with a linear form f_i of the inputs u and independent
noise N_i, and let no other step depend on u. Then the outputs are a random function of X = (X_1, …, X_n), and Pr[P(u)
in S] is the mean of a function of X with values in [0, 1]. If releasing X is (budget, delta)-private, P is, too (Dwork
and Roth 2014, Proposition 2.1).

The delta of X need not be the least delta of P, so that nothing is refuted in this way.
"""

from __future__ import annotations

from dipc.chain.state import Affine, NoiseVar
from dipc.noise.law import Measure
from dipc.questions.privacy.adjacency import EveryPair, Pairs
from dipc.questions.privacy.gaussian import GaussianLaws, GaussianMechanism, NormalOutput, variance_of
from dipc.questions.privacy.laws import Subject

#: The proof of a claim, as reports name it.
OF_NOISY_VALUES = "post-processing: the answers depend on the noisy values alone, and releasing all of these is private"


def noisy_value_laws(subject: Subject, pairs: Pairs | EveryPair) -> GaussianLaws | None:
    """Return the laws, at `pairs`, of all values with Gaussian noise that the program of `subject` draws.

    None if the outputs do not depend on the inputs through these values alone. Raises Undecided for unbounded moves,
    and past a limit.
    """
    program = subject.program
    if not program.core.has_open_inputs:
        return None
    drawn: dict[int, NoiseVar] = {}
    for state in program.exits({}).states:
        forms = [item.form for item in (*state.constraints.items, *state.guards.items)]
        forms += [value for value in state.outputs.values() if isinstance(value, Affine)]
        if any(form.inputs for form in forms):
            return None
        for noise in state.noises:
            law, mean = noise.law, noise.mean
            if mean.noises or law.has_form or law.measure is Measure.CLOSED_FORM:
                return None
            known = drawn.setdefault(noise.id, noise)
            if (known.law, known.rate, known.mean) != (law, noise.rate, mean):
                return None
    every = [drawn[number] for number in sorted(drawn)]
    values = [
        NormalOutput(f"noisy value {each.id + 1}", each.mean.inputs, each.mean.constant, variance_of(each), each.rate)
        for each in every
    ]
    mechanism = GaussianMechanism.from_outputs(values, every)
    return None if mechanism is None else GaussianLaws.of_mechanism(subject, mechanism, pairs)
