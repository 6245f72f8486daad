"""Single events that may go wrong, as a certificate states them: found by the laws of their noises.

An event Σ c·N + constant >= 0 over centered noises has a probability that only depends on the laws of the noises with
their coefficients, up to a positive factor; the sign of the coefficient of a symmetric noise does not matter either.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from dipc.verifier.events import Event, Family

_ZERO = Fraction(0)


@dataclass(frozen=True, slots=True, order=True)
class Law:
    """A noise of this family and rate with its coefficient."""

    family: Family
    rate: Fraction
    coefficient: Fraction


@dataclass(frozen=True, slots=True)
class Term:
    """What goes wrong where not Σ N + constant >= 0, or with two `constants` where not that with both signs of the
    noises; the sizes of the laws' coefficients sum to 1."""

    laws: tuple[Law, ...]
    constants: tuple[Fraction, ...]

    @property
    def least(self) -> Fraction:
        """The smaller constant."""
        return min(self.constants)


@dataclass
class Terms:
    """The terms of the events that a certificate refers to by number."""

    events: Sequence[Event]
    _half: dict[tuple[Law, ...], set[Fraction]] = field(default_factory=dict)
    _ball: dict[tuple[Law, ...], set[tuple[Fraction, Fraction]]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for number in range(len(self.events)):
            term = self.numbered(number)
            match None if term is None else term.constants:
                case (constant,):
                    assert term is not None
                    self._half.setdefault(term.laws, set()).add(constant)
                case (above, below):
                    assert term is not None
                    self._ball.setdefault(term.laws, set()).add((above, below))
                case _:
                    pass

    def numbered(self, number: int) -> Term | None:
        """The term of one event; None for an event of another kind."""
        event = self.events[number]
        if any(noise.mean or noise.family is Family.DISCRETE_LAPLACE for noise in event.noises):
            return None
        first, *rest = event.constraints or (None,)
        if first is None or len(rest) > 1 or not first.coefficients:
            return None
        laws = [Law(event.noises[i].family, event.noises[i].rate, c) for i, c in first.coefficients.items()]
        size = _size(laws)
        if not rest:
            return Term(_halved(laws), (first.constant / size,))
        (second,) = rest
        if second.coefficients != {i: -c for i, c in first.coefficients.items()}:
            return None
        return _both(laws, first.constant / size, second.constant / size)

    def halfspace(self, laws: Sequence[Law], implied: Callable[[Fraction], bool]) -> Term | None:
        """Of the stated terms with these noises that with the greatest constant of which is `implied` that a slack is
        at least as great; None where there is none."""
        key, size = _halved(laws), _size(laws)
        for constant in sorted(self._half.get(key, ()), reverse=True):
            if implied(constant * size):
                return Term(key, (constant,))
        return None

    def ball(self, laws: Sequence[Law], implied: Callable[[Fraction, Fraction], bool]) -> Term | None:
        """The same for both sides of a ball."""
        size = _size(laws)
        best: Term | None = None
        for sign in (1, -1):
            key = _scaled(laws, Fraction(sign) / size)
            for above, below in self._ball.get(key, ()):
                ends = (above, below) if sign == 1 else (below, above)
                if (best is None or min(ends) > best.least) and implied(*(end * size for end in ends)):
                    best = Term(key, (above, below))
        return best


def _size(laws: Iterable[Law]) -> Fraction:
    return sum((abs(law.coefficient) for law in laws), _ZERO)


def _scaled(laws: Iterable[Law], factor: Fraction) -> tuple[Law, ...]:
    return tuple(sorted(Law(law.family, law.rate, law.coefficient * factor) for law in laws))


def _halved(laws: Sequence[Law]) -> tuple[Law, ...]:
    """The laws of one half-space: of a symmetric noise the sign does not matter."""
    positive = [
        Law(law.family, law.rate, abs(law.coefficient)) if law.family is Family.LAPLACE else law for law in laws
    ]
    return _scaled(positive, 1 / _size(laws))


def _both(laws: Sequence[Law], above: Fraction, below: Fraction) -> Term:
    """The term of a ball, whichever of its sides is written first."""
    size = _size(laws)
    one, other = _scaled(laws, 1 / size), _scaled(laws, -1 / size)
    return Term(one, (above, below)) if one >= other else Term(other, (below, above))
