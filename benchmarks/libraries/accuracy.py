"""OpenDP's accuracies of Laplace noise against the exact ones.

`scale_to_accuracy(scale, alpha)` promises an a with P[|noise| >= a] <= alpha; with gamma in its place that is
`dipc solve --for gamma`, and its inverse `--for eps`, as a scale is 1/eps.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import dipc

#: The probability of being further off.
_ALPHA = Fraction(1, 20)

#: Equal to so many digits counts as equal.
_CLOSE = Fraction(1, 10**15)


@dataclass(frozen=True, slots=True)
class Accuracy:
    """A comparison in words, and whether its result is the one found before."""

    text: str
    as_expected: bool


def accuracies() -> Iterator[Accuracy]:
    """The comparisons; none where OpenDP is not installed."""
    try:
        import opendp.prelude as dp
        from opendp import accuracy
    except ImportError:
        yield Accuracy("accuracy: not installed", False)
        return
    dp.enable_features("contrib")
    library: Any = accuracy
    exact = _least("gamma", "laplace", eps="1")
    yield _same("laplacian_scale_to_accuracy(1, 0.05)", library.laplacian_scale_to_accuracy(1.0, 0.05), exact)
    for whole in (2, 4, 10):
        given = library.accuracy_to_discrete_laplacian_scale(float(whole), 0.05)
        eps = _least("eps", "discrete_laplace", gamma=str(whole - 1))
        yield _same(f"accuracy_to_discrete_laplacian_scale({whole}, 0.05)", given, 1 / eps)
    real = library.discrete_laplacian_scale_to_accuracy(1.0, 0.05)
    program = dipc.load(Path(__file__).parent / "discrete_laplace.dip")
    for name, whole, safe in (("floor", int(real), False), ("ceiling", int(real) + 1, True)):
        inside = program.probability({"x": 0}, {"y": 0}, gamma=whole - 1)
        low, high = (1 - end for end in reversed(inside.enclosure(1)))
        found = high <= _ALPHA if safe else low > _ALPHA
        words = "at most" if safe else "more than"
        yield Accuracy(
            f"discrete_laplacian_scale_to_accuracy(1, 0.05) = {real:.4f}: P[|Y| >= {whole}], its {name}, is "
            f"{float(low):.10f}, {words} 0.05",
            found,
        )


def _least(wanted: str, program: str, *, gamma: str | None = None, eps: str | None = None) -> Fraction:
    """Return the least eps or gamma, as `wanted` says, for an answer 0 of `program`, to 30 digits.

    The other of the two is given, as `gamma` or `eps`.
    """
    loaded = dipc.load(Path(__file__).parent / f"{program}.dip")
    row = {"x": 0, "y": 0}
    found = dipc.solve(loaded, [row], wanted=wanted, beta=str(_ALPHA), alpha=0, gamma=gamma, eps=eps).as_json()
    least = found["least"]
    low, high = (Fraction(end) for end in (least["eps"] if wanted == "eps" else least))
    return (low + high) / 2


def _same(name: str, given: float, exact: Fraction) -> Accuracy:
    gap = abs(Fraction(given) / exact - 1)
    return Accuracy(f"{name} = {given!r}, exactly {float(exact):.15f}", gap <= _CLOSE)
