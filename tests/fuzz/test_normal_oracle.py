"""Random programs over normal and Laplace noises, against an oracle that shares nothing with dipc.

The noises are Gaussian and Laplace with one or two centers, or discrete Gaussian. The tests compare probabilities,
verdicts of claims close to them, and certificates.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterable
from contextlib import suppress
from fractions import Fraction
from typing import Any

import mpmath
import pytest

import dipc
from dipc.verifier.document import check_text
from dipc.verifier.reading import Rejected
from tests.fuzz.normal_oracle import Comparison, Drawn, around, over_integers, over_plane
from tests.verifier.samples import resealed

F = Fraction

#: Digits that the oracle is good for, by the number of centers.
_GOOD = {"one": 18, "two": 9, "integers": 18}


def _noise(chance: random.Random, *, whole: bool, mixed: bool) -> tuple[str, Fraction, int]:
    """The law, its scale in 1/eps or as the rate in eps, and its mean."""
    if whole:
        law = chance.choice(("DGauss", "DGauss", "DLap" if mixed else "DGauss"))
        return law, F(chance.choice((1, 1, 2, 3)), chance.choice((1, 2))), chance.randint(-2, 2)
    law = chance.choice(("Gauss", "Gauss", "Lap")) if mixed else "Gauss"
    return law, F(chance.choice((1, 1, 2, 3, 5)), chance.choice((1, 2, 3))), chance.randint(-3, 3)


def _comparisons(chance: random.Random, count: int, centers: int, *, whole: bool) -> list[tuple[str, Comparison]]:
    """Random comparisons, each as a text and as the `Comparison` that it states."""
    found = []
    hub = chance.randrange(count)
    hubs = [hub, (hub + 1) % count][: max(1, centers)]
    others = [i for i in range(count) if i not in hubs]
    pairs = [(chance.choice(hubs), other) for other in others]
    if centers == 2:
        pairs += [(hubs[1 - hubs.index(h)], other) for h, other in pairs if chance.random() < 0.4]
        if chance.random() < 0.6 or not pairs:
            pairs.append((hubs[0], hubs[1]))
    elif chance.random() < 0.4:
        pairs += pairs[:1]  # a leaf between two bounds
    for first, second in pairs:
        i, j = (first, second) if chance.random() < 0.5 else (second, first)
        d = F(chance.randint(-3, 3)) if whole or chance.random() < 0.7 else F(chance.randint(-5, 5), 3)
        strict = chance.random() < 0.5
        factor = 2 if not whole and chance.random() < 0.15 else 1
        times = "2*" if factor == 2 else ""
        op = ">" if strict else ">="
        text = f"{times}r[{i + 1}] {op} r[{j + 1}] - ({d})"
        found.append((text, Comparison(((i, F(factor)), (j, F(-1))), d, strict)))
    if chance.random() < 0.35:
        i = chance.randrange(count) if centers == 1 else chance.choice(others or hubs)
        d, strict = F(chance.randint(-2, 3)), chance.random() < 0.5
        found.append((f"r[{i + 1}] {'>' if strict else '>='} {-d}", Comparison(((i, F(1)),), d, strict)))
    return found


def attack(seed: int) -> str:
    """One program at one eps: its probability, a verdict beside it, and what kind it was."""
    chance = random.Random(f"normal {seed}")
    kind = chance.choice(("one", "one", "one", "two", "integers"))
    whole, centers = kind == "integers", 2 if kind == "two" else 1
    count = chance.randint(2, 3) if whole else chance.randint(2, 5) if centers == 1 else chance.randint(3, 5)
    noises = [_noise(chance, whole=whole, mixed=kind != "two" and chance.random() < 0.6) for _ in range(count)]
    fixed = kind != "integers" and all(law == "Gauss" for law, _, _ in noises) and chance.random() < 0.15
    stated = _comparisons(chance, count, centers, whole=whole)
    eps = F(chance.choice((1, 1, 2, 3, 1, 5)), chance.choice((1, 2, 3)))
    if kind == "one" and chance.random() < 0.1:
        eps = chance.choice((F(1, 1000), F(40)))
    draws, drawn = [], []
    for place, (law, size, mean) in enumerate(noises, start=1):
        deviates = law in ("Gauss", "DGauss")
        scale = (f"{size}" if fixed else f"{size}/eps") if deviates else f"{size}*eps"
        draws.append(f"r[{place}] <- {law}({scale}, {mean});")
        drawn.append(Drawn(law, (size if fixed else size / eps) if deviates else size * eps, F(mean)))
    text = (
        f"program p; output o : bool; var r[1..{count}] : {'int' if whole else 'real'};\n"
        + " ".join(draws)
        + f"\no <- {' and '.join(text for text, _ in stated)}\n"
    )
    comparisons = [item for _, item in stated]
    try:
        found = dipc.load(text).probability({}, {"o": True}).enclosure(eps)
    except dipc.Undecided:
        return f"{kind}: undecided"
    with mpmath.workdps(40):
        match kind:
            case "one":
                wanted = around(drawn, comparisons, _center(comparisons))
            case "two":
                wanted = mpmath.mpf(over_plane(drawn, comparisons, _two_centers(comparisons, count)))
            case _:
                wanted = over_integers(drawn, comparisons)
        slack = mpmath.mpf(10) ** -_GOOD[kind]
        low, high = (mpmath.mpf(end.numerator) / end.denominator for end in found)
        assert low - slack <= wanted <= high + slack, (text, eps, found, wanted)
        assert high - low < mpmath.mpf(10) ** -25, (text, eps)
        failing = F(int((1 - wanted) * 10**30), 10**30)
    gap = F(10) ** -(_GOOD[kind] - 1)
    side = chance.choice((-1, 1))
    beta = failing + side * gap
    if not 0 < beta < 1:
        return kind
    about: dict[str, Any] = {"alpha": 0, "eps": f"[{eps}, {eps}]", "keep_proofs": True}
    report = dipc.check(dipc.load(text), [{"o": True}], beta=beta, **about)
    assert report.verdict is (dipc.Verdict.ACCURATE if side > 0 else dipc.Verdict.INACCURATE), (text, eps, beta)
    accepted = check_text(dipc.certify(report))
    assert accepted.verdict == report.verdict
    # Twenty digits of an integral over a plane, or at so large an eps, may take more steps than a check is permitted.
    assert accepted.complete or kind == "two" or eps == 40, (text, eps, beta)
    if side > 0:
        # The same of a claim that is false by as much.
        forged = json.loads(dipc.certify(report))
        less = beta - 2 * gap
        forged["claim"]["beta"], forged["betas"] = str(less), [{"min": [[[0, "0", str(less)]] if less else []]}]
        with suppress(Rejected):
            assert not check_text(resealed(forged)).complete, (text, eps, less)
    return kind


def _center(comparisons: list[Comparison]) -> int:
    pairs = [{i for i, _ in item.terms} for item in comparisons if len(item.terms) == 2]
    return min(set.intersection(*pairs)) if pairs else 0


def _two_centers(comparisons: list[Comparison], count: int) -> tuple[int, int]:
    for i in range(count):
        for j in range(i + 1, count):
            if all(len({k for k, _ in item.terms} - {i, j}) <= 1 for item in comparisons):
                return i, j
    raise AssertionError


def kinds_of_programs(seeds: Iterable[int]) -> dict[str, int]:
    """The number of programs of each kind."""
    kinds: dict[str, int] = {}
    for seed in seeds:
        kind = attack(seed)
        kinds[kind] = kinds.get(kind, 0) + 1
    return kinds


def test_probabilities_and_verdicts_are_those_of_the_oracle() -> None:
    kinds = kinds_of_programs([*range(8), 18, 27, 28])
    assert {"one", "two", "integers"} <= kinds.keys()


@pytest.mark.slow
@pytest.mark.parametrize("hundred", range(10))
def test_a_thousand_of_them(hundred: int) -> None:
    kinds = kinds_of_programs(range(100 + 100 * hundred, 200 + 100 * hundred))
    assert sum(number for kind, number in kinds.items() if "undecided" in kind) <= 25
