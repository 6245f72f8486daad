"""Exact affine forms over noises and real inputs, and how they are shown."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from dipc.text.core import BoolType, DomType, Slot, Value
from dipc.text.printer import signed_sum

# --- Exact affine forms over noises and real inputs -------------------------------------------------------------------
#

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


def centered(form: Affine, means: Mapping[int, Affine]) -> Affine:
    """The form over N = X - mean for each of its noises X: the same coefficients, and in place of its inputs and
    constant the slack b + D·u + A·mean(u)."""
    return combination([(Fraction(1), form), *[(c, means[noise]) for noise, c in form.noises]], Fraction(0))


def _sorted(terms: dict[int, Fraction]) -> Terms:
    return tuple(sorted([(key, coefficient) for key, coefficient in terms.items() if coefficient]))


# --- Affine forms and comparisons as a person reads them --------------------------------------------------------------
#


def affine_text(form: Affine, noise_name: Callable[[int], str], input_name: Callable[[int], str]) -> str:
    """`2*r1 - r2 + q[1] + 1/2`; `0` for the zero form."""
    terms = [(noise_name(noise), coefficient) for noise, coefficient in form.noises]
    terms += [(input_name(slot), coefficient) for slot, coefficient in form.inputs]
    return _sum_text(terms, form.constant)


def comparison_text(
    difference: Affine, op: str, noise_name: Callable[[int], str], input_name: Callable[[int], str]
) -> str:
    """`difference op 0` with the positive terms on the left and the negative ones on the right: `r1 < rT`."""
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
#

#: One output of det: a value, or a form over the real (or int) inputs.
Answer = Value | Affine


def finite_values(slot: Slot) -> tuple[Value, ...]:
    """All values of a DOM or bool slot, in the order of its domain."""
    match slot.type:
        case DomType(values=values):
            return values
        case BoolType():
            return (False, True)
    raise AssertionError(f"{slot.name} has no finite type")


def same_value(one: object, other: object) -> bool:
    """Whether two values are the same: true is not the number 1."""
    return isinstance(one, bool) is isinstance(other, bool) and one == other
