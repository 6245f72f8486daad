"""Exact affine forms over noises and real inputs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction

Terms = tuple[tuple[int, Fraction], ...]

_ZERO = Fraction(0)
_ONE = Fraction(1)


@dataclass(frozen=True, slots=True)
class Affine:
    """Σ coefficient · X[noise] + Σ coefficient · u[input slot] + constant.

    Both term tuples are sorted by key, without zeros: equal functions are equal objects.
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

    def __add__(self, other: Affine) -> Affine:
        return combination(((_ONE, self), (_ONE, other)), _ZERO)

    def __sub__(self, other: Affine) -> Affine:
        return combination(((_ONE, self), (-_ONE, other)), _ZERO)

    def __neg__(self) -> Affine:
        return Affine(
            tuple([(key, -coefficient) for key, coefficient in self.noises]),
            tuple([(key, -coefficient) for key, coefficient in self.inputs]),
            -self.constant,
        )

    def scaled(self, factor: Fraction) -> Affine:
        return combination(((factor, self),), _ZERO)

    def shifted(self, amount: Fraction) -> Affine:
        return Affine(self.noises, self.inputs, self.constant + amount)

    def normalized(self) -> Affine:
        """The positive multiple whose first coefficient (noises before inputs) is 1 or -1; a number is left alone."""
        terms = self.noises or self.inputs
        if not terms or abs(terms[0][1]) == 1:
            return self
        return self.scaled(1 / abs(terms[0][1]))

    def substituted(self, inputs: Mapping[int, Fraction]) -> Affine:
        """The form with the inputs that have a value replaced by it."""
        constant = self.constant
        for slot, coefficient in self.inputs:
            if slot in inputs:
                constant += coefficient * inputs[slot]
        return Affine(self.noises, tuple([term for term in self.inputs if term[0] not in inputs]), constant)

    def at(self, inputs: Mapping[int, Fraction]) -> Fraction:
        """The value at `inputs`; the form must have no noises."""
        assert not self.noises
        total = self.constant
        for slot, coefficient in self.inputs:
            total += coefficient * inputs[slot]
        return total


def combination(parts: Iterable[tuple[Fraction, Affine]], constant: Fraction) -> Affine:
    """Σ factor · form + constant over `parts`."""
    noises: dict[int, Fraction] = {}
    inputs: dict[int, Fraction] = {}
    for factor, form in parts:
        if not factor:
            continue
        if form.constant:
            constant = constant + factor * form.constant
        for key, coefficient in form.noises:
            term = coefficient if factor == 1 else factor * coefficient
            noises[key] = noises[key] + term if key in noises else term
        for key, coefficient in form.inputs:
            term = coefficient if factor == 1 else factor * coefficient
            inputs[key] = inputs[key] + term if key in inputs else term
    return Affine(_sorted(noises), _sorted(inputs), constant)


def _sorted(terms: dict[int, Fraction]) -> Terms:
    return tuple(sorted([(key, coefficient) for key, coefficient in terms.items() if coefficient]))
