"""Near inputs: how a certificate proves dd(u) < alpha (FORMAT.md, lemma 5).

For all inputs u in a part of a path of the ideal, the certificate states one other input, by forms of u and alpha.
Multipliers prove that the other input has another answer, satisfies `requires`, and is nearer to u than alpha. If all
of this is proved, nothing is claimed about the part.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import product

from dipc.verifier import reading as read
from dipc.verifier.execution import Affine, plus, scaled
from dipc.verifier.ideal import Ideal, Path, gap, open_inputs, tightened
from dipc.verifier.linear import ALPHA, Guard, a_point, contradictory
from dipc.verifier.program import Value, typed
from dipc.verifier.reading import Budget, Rejected

_ZERO, _ONE = Fraction(0), Fraction(1)

#: The most moved inputs for which an l1 norm is written out.
MOST_SIGNED = 6

#: A near input: the number of its finite inputs, the forms that are rounded up, and the real and int inputs that differ
#: from those of u. The forms are of inputs, alpha and rounded numbers, which are numbered from below alpha downwards.
_NEAR: read.Table = {
    "finite": read.natural,
    "rounded": read.listed(read.tuple_of(a_point, read.rational)),
    "moved": read.listed(read.tuple_of(read.natural, a_point, read.rational)),
}


@dataclass(frozen=True, slots=True)
class Surroundings:
    """The inputs around those of one path of the ideal, with methods that check which of them have another answer.

    `finite` are the values of the path's finite inputs.
    """

    ideal: Ideal
    finite: tuple[Value, ...]
    path: Path
    budget: Budget
    #: The last near input that was accepted, with its part.
    _shown: list[tuple[object, Sequence[Guard]]] = field(default_factory=list)
    _kept: dict[object, Sequence[tuple[Path, Sequence[tuple[Affine | Fraction, ...]]]]] = field(default_factory=dict)

    def require_near(self, stated: object, part: Sequence[Guard]) -> None:
        """Raise Rejected unless `stated` gives every u an input nearer than alpha that has another answer.

        The inputs u are all those of the path that satisfy the guards `part`, which may also contain alpha. The JSON
        value `stated` gives an input in terms of u and alpha.
        """
        if (stated, part) in self._shown:
            return
        number, rounded, moved = read.fields(stated, _NEAR)
        choices = list(self.ideal.combinations())
        self.budget.spend(20 + len(choices) + 4 * (len(rounded) + len(moved)))
        finite = choices[read.index(number, choices)]
        known, whole = list(part), set(self.ideal.integer_inputs)
        for place, (form, constant) in enumerate(rounded, start=1):
            if any(i <= ALPHA - place for i in form):
                raise Rejected("a rounded form depends on a number that is rounded later")
            # value <= n < value + 1 for an integer n.
            whole.add(ALPHA - place)
            excess = plus(_line(form, constant), Affine(_ZERO, ((ALPHA - place, -_ONE),)))
            known += [_guard(scaled(excess, -_ONE), whole), _guard(plus(excess, _ONE), whole, strict=True)]
        own, near = (open_inputs(self.ideal.machine, each) for each in (self.finite, finite))
        for slot, form, constant in moved:
            if not isinstance(near.get(slot), Affine):
                raise Rejected("a moved input is neither real nor int")
            if slot in self.ideal.integer_inputs and not (
                form.keys() <= whole and all(c.denominator == 1 for c in (constant, *form.values()))
            ):
                raise Rejected("an int input is not shown to move to an integer")
            near[slot] = _line(form, constant)
        changed = {slot for slot, _, _ in moved}
        moves = [plus(_number(near[slot]), scaled(_number(own[slot]), -_ONE)) for slot, _, _ in moved]
        gaps = [gap(*pair) for pair in zip(self.finite, finite, strict=True)]
        for length in dict.fromkeys(self._lengths(gaps, moves)):
            further = plus(length, Affine(_ZERO, ((ALPHA, -_ONE),)))
            if not contradictory([*known, _guard(further, whole)], self.budget):
                raise Rejected("an input is not shown to be nearer than alpha")
        for other, numbers in self._alike(finite):
            there = [
                guard
                if changed.isdisjoint(guard.variables)
                else _guard(_put(guard.form, guard.constant, near), whole, guard.strict)
                for guard in other.guards
            ]
            for one, two in numbers:
                less = plus(_put(two.terms, two.constant, near) if isinstance(two, Affine) else two, scaled(one, -_ONE))
                there += [_guard(less, whole), _guard(scaled(less, -_ONE), whole)]
            if not contradictory([*known, *there], self.budget):
                raise Rejected("the input stated to be nearer than alpha is not shown to have another answer")
        if self.ideal.machine.requires and not all(holds for _, holds in self.ideal.allowed(near, known)):
            raise Rejected("the input stated to be nearer than alpha is not shown to satisfy `requires`")
        if self.ideal.has_apart and any(apart for _, apart in self.ideal.cases(own, near, known)):
            raise Rejected("the input stated to be nearer than alpha is not shown to be at a finite distance")
        self._shown[:] = [(stated, part)]

    def _lengths(self, gaps: Sequence[Fraction], moves: Sequence[Fraction | Affine]) -> Iterator[Fraction | Affine]:
        """Yield lengths whose maximum is the distance between two inputs.

        `gaps` are the distances between their finite inputs, and `moves` the differences of their real and int inputs.
        Raises Rejected if there are too many `moves`.
        """
        match self.ideal.norm:
            case "discrete":
                yield _ONE
            case "linf":
                yield from gaps
                yield from (scaled(move, sign) for move in moves for sign in (_ONE, -_ONE))
            case _:
                if len(moves) > MOST_SIGNED:
                    raise Rejected("too many inputs are moved")
                for signs in product((_ONE, -_ONE), repeat=len(moves)):
                    yield _sum([*gaps, *map(scaled, moves, signs)])

    def _alike(self, finite: tuple[Value, ...]) -> Sequence[tuple[Path, Sequence[tuple[Affine | Fraction, ...]]]]:
        """Return the paths for the finite inputs `finite` that may give the same answer as `self.path`.

        Each path comes with the pairs of numbers that must be equal for the two answers to be equal.
        """
        key = typed(finite)
        if key not in self._kept:
            paths = self.ideal.paths(finite)
            self.budget.spend(len(paths))
            self._kept[key] = [(path, same) for path in paths if (same := self.equal_numbers(path)) is not None]
        return self._kept[key]

    def equal_numbers(self, other: Path) -> list[tuple[Affine | Fraction, ...]] | None:
        """Return the pairs of numbers that must be equal for `other` to have the answer of `self.path`.

        Return None if `other` cannot have this answer.
        """
        numbers: list[tuple[Affine | Fraction, ...]] = []
        for one, two in zip(*(self.ideal.decisive_outputs(path.answer) for path in (self.path, other)), strict=True):
            if not isinstance(one, Affine) and not isinstance(two, Affine):
                if type(one) is not type(two) or one != two:
                    return None
            elif not isinstance(one, bool | str) and not isinstance(two, bool | str):
                numbers.append((one, two))
        return numbers


def _line(form: Mapping[int, Fraction], constant: Fraction) -> Fraction | Affine:
    return plus(Affine(constant, tuple(form.items())), _ZERO)


def _number(value: Affine | Value) -> Affine | Fraction:
    assert isinstance(value, Affine | Fraction), "the input is real or int"
    return value


def _put(
    form: Sequence[tuple[int, Fraction]], constant: Fraction, near: Mapping[int, Affine | Value]
) -> Fraction | Affine:
    return _sum([constant, *(scaled(_number(near[slot]), c) for slot, c in form)])


def _sum(values: Sequence[Fraction | Affine]) -> Fraction | Affine:
    total: Fraction | Affine = _ZERO
    for value in values:
        total = plus(total, value)
    return total


def _guard(value: Fraction | Affine, whole: Set[int], strict: bool = False) -> Guard:
    """Return the guard `value` >= 0, or `value` > 0 if `strict`.

    If all of its inputs are in `whole`, the integer ones, the guard is tightened to an equivalent one over integers,
    not strict and with an integer constant.
    """
    terms, constant = (value.terms, value.constant) if isinstance(value, Affine) else ((), value)
    return tightened(Guard(terms, constant, strict), whole)


def has_one_answer(ideal: Ideal) -> bool:
    """True if det of `ideal` is one constant answer for all inputs."""
    answers = {
        typed(ideal.decisive_outputs(path.answer)) for finite in ideal.combinations() for path in ideal.paths(finite)
    }
    return len(answers) == 1 and not any(isinstance(value, Affine) for answer in answers for _, value in answer)
