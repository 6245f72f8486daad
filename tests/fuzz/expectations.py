"""Forged certificates, and claims that are expected of them, about programs whose probabilities are known by formula.

Each family has honest certificates, a forger that changes what a certificate is about, a menu of claims, and a law
that says by floats whether a claim holds. Whatever ends with exit code 0 has to hold by the law: the claim of the
certificate itself, and each claim that is expected of it.
"""

from __future__ import annotations

import copy
import random
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from math import exp, inf
from typing import Any

import dipc
from dipc.certificate.privacy import certify_privacy
from dipc.certificate.write import certify, certify_factor
from dipc.decide.engine import Engine
from dipc.questions.privacy.check import PrivacyQuestion
from dipc.questions.privacy.outcome import read_claim
from dipc.verifier.command import verify
from dipc.verifier.reading import Budget, Exhausted, Rejected, Unreadable
from dipc.verifier.statement import Expected
from tests.questions.real_programs import NOISY_MAX
from tests.verifier import samples
from tests.verifier.mutations import changes

Document = dict[str, Any]

THRESHOLD = """
program threshold; input q : real; output o : bool; var r : real;
ideal { o <- q >= 0 }
r <- Lap(eps, q); o <- r >= 0
"""
WHOLE = """
program whole; input q : int; output o : {0, 1} = 0; var x : int;
ideal { if q >= 0 then o <- 1 end }
x <- DLap(eps, q); if x >= 0 then o <- 1 end
"""

#: Betas, by their text: functions of alpha, eps and the number of queries.
BETAS: Mapping[str, Callable[[float, float, int], float]] = {
    "0": lambda a, e, m: 0.0,
    "1": lambda a, e, m: 1.0,
    "1/2": lambda a, e, m: 0.5,
    "1/3": lambda a, e, m: 1 / 3,
    "exp(-eps)": lambda a, e, m: exp(-e),
    "exp(-eps)/2": lambda a, e, m: exp(-e) / 2,
    "exp(-2*eps)/2": lambda a, e, m: exp(-2 * e) / 2,
    "exp(-alpha*eps)": lambda a, e, m: exp(-a * e),
    "exp(-alpha*eps)/2": lambda a, e, m: exp(-a * e) / 2,
    "exp(-alpha*eps)/3": lambda a, e, m: exp(-a * e) / 3,
    "exp(-2*alpha*eps)/2": lambda a, e, m: exp(-2 * a * e) / 2,
    "exp(-alpha*eps/2)/2": lambda a, e, m: exp(-a * e / 2) / 2,
    "min(1/2, exp(-alpha*eps))": lambda a, e, m: min(0.5, exp(-a * e)),
}
_OF_NUMBERS: Mapping[str, Callable[[float, float, int], float]] = {
    "m*exp(-alpha*eps/2)": lambda a, e, m: m * exp(-a * e / 2),
    "2*m*exp(-alpha*eps/2)": lambda a, e, m: 2 * m * exp(-a * e / 2),
    "exp(-alpha*eps/2)": lambda a, e, m: exp(-a * e / 2),
    "exp(-alpha*eps)/m": lambda a, e, m: exp(-a * e) / m,
    "m*exp(-2*alpha*eps)": lambda a, e, m: m * exp(-2 * a * e),
    "1 + m*exp(-alpha*eps/2)": lambda a, e, m: 1 + m * exp(-a * e / 2),
}
EPS: Mapping[str, tuple[float, float]] = {
    "(0, inf)": (0, inf), "(0, 1]": (0, 1), "[1, 2]": (1, 2), "[1, 1]": (1, 1), "(3, inf)": (3, inf), "(0, 3)": (0, 3),
}  # fmt: skip
_POINTS = [2.0**power / 4 for power in range(-30, 26)] + [k / 10 for k in range(1, 60)]
_ROUNDING = 1e-11


def points(eps: str) -> list[float]:
    """Points of an interval of `EPS`, its ends among them."""
    low, high = EPS[eps]
    return [e for e in _POINTS if low < e < high] + [e for e in (low, high) if 0 < e < inf]


@cache
def is_accurate(whole: bool, alpha: str, beta: str, eps: str) -> bool:
    """Whether a wrong answer has at most the probability `beta`.

    Its probability is exp(-dd*eps)/2 with a real input, and exp(-dd*eps)/(1 + exp(-eps)) with an int input.
    """
    least = 0.0 if alpha == "dd" else _quotient(alpha)
    distances: Iterable[float] = range(1, 40) if whole else [0, *_POINTS]
    for distance in distances:
        if distance < least or (distance == least and least > 0 and "alpha" not in beta):
            continue
        for e in points(eps):
            wrong = exp(-distance * e) / (1 + exp(-e) if whole else 2)
            if wrong > BETAS[beta](distance if alpha == "dd" else least, e, 1) * (1 + _ROUNDING) + 1e-300:
                return False
    return True


@cache
def is_accurate_for(numbers: tuple[int, ...], alpha: str, beta: str, eps: str) -> bool:
    """Whether the engine has the claim about NOISY_MAX for each of these numbers of queries."""
    return all(
        dipc.check(dipc.load(NOISY_MAX, m=m), inputs="all", alpha=alpha, beta=beta, eps=eps).verdict == "accurate"
        for m in numbers
    )


def is_private(factor: float, delta: float, adjacent: str, eps: str) -> bool:
    """Whether THRESHOLD is (factor*eps, delta)-private for inputs adjacent by linf:R or l1:R.

    Its probabilities are those of a threshold next to Laplace noise.
    """
    radius = _quotient(adjacent.partition(":")[2])

    def below(x: float, e: float) -> float:
        return 1 - exp(-x * e) / 2 if x > 0 else exp(x * e) / 2

    return all(
        below(x + radius, e) <= exp(min(700.0, factor * e)) * below(x, e) + delta + _ROUNDING
        for e in points(eps)
        if e <= 30
        for x in [-k / 4 * radius for k in range(25)]
    )


# === families ======================================================================================


@dataclass(frozen=True)
class Family:
    """Honest certificates, how they are forged, the claims expected, and whether a claim (verdict and parts) holds."""

    honest: Callable[[], Sequence[str]]
    forge: Callable[[Document, Sequence[Document], random.Random], None]
    expected: Callable[[random.Random], Expected]
    claim_of: Callable[[Document], Expected]
    holds: Callable[[Document, Expected], bool]


def _of_inputs(source: str, beta: str, alpha: str = "dd", eps: str = "(0, inf)", **options: Any) -> str:
    program = dipc.load(source)
    return certify(dipc.check(program, inputs="all", beta=beta, alpha=alpha, eps=eps, keep_proofs=True, **options))


@cache
def _inputs(source: str) -> list[str]:
    return [
        _of_inputs(source, "exp(-alpha*eps)"),
        _of_inputs(source, "exp(-alpha*eps)/2", "0"),
        _of_inputs(source, "exp(-eps)/2", "1"),
        _of_inputs(source, "exp(-2*alpha*eps)/2"),
        _of_inputs(source, "exp(-alpha*eps)/2", "dd", "[1, 2]"),
        _of_inputs(source, "1/2", "0", "(3, inf)"),
        _of_inputs(source, "1/3", "0"),
    ]


@cache
def _numbers() -> list[str]:
    return [
        _of_inputs(NOISY_MAX, "m*exp(-alpha*eps/2)", for_all="m"),
        _of_inputs(NOISY_MAX, "2*m*exp(-alpha*eps/2)", for_all="m >= 3"),
        _of_inputs(NOISY_MAX, "m*exp(-2*alpha*eps)", for_all="m"),
    ]


def _forge_inputs(data: Document, others: Sequence[Document], chance: random.Random) -> None:
    """Drop classes, exchange parts of proofs, change the claim, the intervals of obligations, or what a class shows."""
    betas = tuple(_OF_NUMBERS) if data["numbers"] is not None else tuple(BETAS)
    for _ in range(chance.randrange(1, 4)):
        case = chance.choice([case for case in data["cases"] if case["classes"]] or [{"classes": [{}]}])
        one = chance.choice(case["classes"])
        other = chance.choice(others)
        match chance.randrange(11):
            case 0 if len(case["classes"]) > 1:
                case["classes"].remove(one)
            case 1:
                data["claim"]["beta"] = chance.choice(betas)
            case 2:
                data["claim"]["alpha"] = chance.choice(("dd", "0", "1", "2", "1/2"))
            case 3:
                eps = chance.choice(tuple(EPS))
                data["claim"]["eps"] = [eps]
                for entry in data["obligations"]:
                    if chance.random() < 0.7:
                        entry["intervals"] = [eps]
            case 4 if data["obligations"]:
                chance.choice(data["obligations"])["intervals"] = [chance.choice(tuple(EPS))]
            case 5:
                for part in ("betas", "obligations", "probabilities", "cases", "claim"):
                    if chance.random() < 0.5:
                        data[part] = copy.deepcopy(other[part])
            case 6:
                for name in ("required", "witness", "reason"):
                    one.pop(name, None)
                one |= {"verdict": "accurate", "empty": True}
            case 7:
                data["verdict"] = one["verdict"] = chance.choice(("accurate", "inaccurate"))
            case 8 if data["numbers"] is not None:
                name = chance.choice(("least", "start"))
                data["numbers"][name] = str(max(0, int(data["numbers"][name]) + chance.choice((-2, -1, 1, 2))))
            case 9 if len(data["cases"]) > 1 and case in data["cases"]:
                data["cases"].remove(case)
            case 10 if data["numbers"] is not None:
                data["numbers"] = copy.deepcopy(other["numbers"])
            case _ if "required" in one:
                name = chance.choice(("variable", "dd", "greatest", "kind", "obligations"))
                one["required"][name] = copy.deepcopy(
                    next(
                        (c["required"][name] for case in other["cases"] for c in case["classes"] if "required" in c),
                        None,
                    )
                )


def _claim_of(data: Document) -> Expected:
    claim = data["claim"]
    return Expected(data["verdict"], alpha=claim["alpha"] or "0", beta=claim["beta"], eps=claim["eps"][0])


def _expected_of_inputs(chance: random.Random) -> Expected:
    return Expected(
        chance.choice(("accurate", "inaccurate")),
        all_inputs=chance.random() < 0.5,
        alpha=chance.choice(("dd", "0", "1", "2", "1/2")),
        beta=chance.choice(tuple(BETAS)),
        eps=chance.choice(tuple(EPS)),
    )


def _expected_of_numbers(chance: random.Random) -> Expected:
    beta = chance.choice(tuple(_OF_NUMBERS))
    return Expected(
        chance.choice(("accurate", "inaccurate")), beta=beta, alpha=chance.choice(("dd", "1")), eps="(0, inf)"
    )


def _holds_for_inputs(data: Document, claim: Expected) -> bool:
    whole = "program whole" in data["program"]["text"]
    assert claim.alpha is not None
    assert claim.beta is not None
    assert claim.eps is not None
    return is_accurate(whole, claim.alpha, claim.beta, claim.eps) is (claim.verdict == "accurate")


def _holds_for_numbers(data: Document, claim: Expected) -> bool:
    """The first three numbers; a refutation is one of a number that the certificate has as a case."""
    least = max(1, int(data["numbers"]["least"]))
    assert claim.alpha is not None
    assert claim.beta is not None
    assert claim.eps is not None
    cases = tuple(int(case["constants"]["m"]) for case in data["cases"] if case["constants"])
    numbers = (least, least + 1, least + 2) if claim.verdict == "accurate" else cases
    return is_accurate_for(numbers, claim.alpha, claim.beta, claim.eps) is (claim.verdict == "accurate")


# --- privacy ----------------------------------------------------------------------------------------


def _of_pairs(budget: str, adjacent: str, delta: str = "0", eps: str | None = None) -> str:
    program = dipc.load(THRESHOLD)
    question = PrivacyQuestion(program, adjacent, "all", Engine(program.measurer, program.limits, keep_proofs=True))
    return certify_privacy(question, question.decide(read_claim(program, budget, delta, eps)))


@cache
def _pairs() -> list[str]:
    return [
        _of_pairs("eps", "linf:1"),
        _of_pairs("2*eps", "l1:2"),
        _of_pairs("3*eps", "linf:2", "1/9"),
        _of_pairs("eps/2", "linf:1", "0", "[1, 1]"),
        _of_pairs("eps/3", "linf:2"),
    ]


_BUDGETS = {"0*eps": 0.0, "eps/3": 1 / 3, "eps/2": 0.5, "eps": 1.0, "3/2*eps": 1.5, "2*eps": 2.0, "3*eps": 3.0}
_DELTAS = {"0": 0.0, "1/9": 1 / 9, "1/3": 1 / 3, "1": 1.0}
_ADJACENT = ("linf:1", "l1:1", "linf:2", "l1:2", "linf:1/2")


def _forge_pairs(data: Document, others: Sequence[Document], chance: random.Random) -> None:
    """Change adjacency, budget, delta, eps, inputs or shifts, drop a pair, or take parts of another certificate."""
    for _ in range(chance.randrange(1, 4)):
        other = chance.choice(others)
        match chance.randrange(8):
            case 0:
                data["adjacent"] = chance.choice(_ADJACENT)
            case 1:
                data["claim"]["budget"] = chance.choice(("0", "1/3", "1/2", "1", "3/2", "2", "3"))
            case 2:
                delta = chance.choice(tuple(_DELTAS))
                data["claim"]["delta"] = [] if delta == "0" else [[0, "0", delta]]
            case 3:
                data["claim"]["eps"] = [chance.choice(tuple(EPS))]
            case 4 if "inputs" in data:
                data["inputs"] = [[chance.choice(("0", "1", "-1", "1/2", "3"))] for _ in data["inputs"]]
            case 5 if data.get("shifts"):
                vectors = data["shifts"]["vectors"]
                vectors[chance.randrange(len(vectors))] = chance.choice(([], [[0, "1"]], [[0, "-1"]], [[0, "1/2"]]))
            case 6 if "pairs" in data:
                data["pairs"] = chance.choice(([], [[0, 1]], [[1, 0]], [[0, 1], [1, 0]]))
            case _:
                for part in data.keys() & other.keys() - {"schema", "question", "program"}:
                    if chance.random() < 0.3:
                        data[part] = copy.deepcopy(other[part])


def _claim_of_pairs(data: Document) -> Expected:
    claim, ((_, _, delta), *_) = data["claim"], [*data["claim"]["delta"], (0, "0", "0")]
    verdict = "private" if data["verdict"] == "private" else "not-private"
    budget = next(text for text, factor in _BUDGETS.items() if abs(factor - _quotient(claim["budget"])) < 1e-9)
    adjacent = data["adjacent"]
    if adjacent is None:  # then the sentence is about the pair itself
        ((i, j), *_), points = data["pairs"], data["inputs"]
        adjacent = f"linf:{abs(Fraction(points[i][0]) - Fraction(points[j][0]))}"
    return Expected(verdict, adjacent=adjacent, budget=budget, delta=delta, eps=claim["eps"][0])


def _quotient(text: str) -> float:
    above, _, below = text.partition("/")
    return int(above) / int(below or 1)


def _expected_of_pairs(chance: random.Random) -> Expected:
    return Expected(
        chance.choice(("private", "not-private")),
        adjacent=chance.choice(_ADJACENT),
        budget=chance.choice(tuple(_BUDGETS)),
        delta=chance.choice(tuple(_DELTAS)),
        eps=chance.choice(tuple(EPS)),
    )


def _holds_for_pairs(_data: Document, claim: Expected) -> bool:
    assert claim.budget is not None
    assert claim.delta is not None
    assert claim.adjacent is not None
    assert claim.eps is not None
    known = is_private(_BUDGETS[claim.budget], _quotient(claim.delta), claim.adjacent, claim.eps)
    return known is (claim.verdict == "private")


# --- least numbers ----------------------------------------------------------------------------------


@cache
def _factors() -> list[str]:
    return [
        certify_factor(
            dipc.tighten(dipc.load(THRESHOLD), inputs="q = 1..2", beta=beta, alpha=0, digits=4, eps="[1, 2]")
        )
        for beta in ("1", "exp(-eps)")
    ]


def _forge_factors(data: Document, others: Sequence[Document], chance: random.Random) -> None:
    """Change the ends of a bracket, the claim of a part, its rows or its eps, or take parts of another certificate."""
    for _ in range(chance.randrange(1, 4)):
        other = chance.choice(others)
        name = chance.choice(("proved", "refuted"))
        part = data[name]
        if part is None:
            continue
        match chance.randrange(6):
            case 0:
                place = name == "proved"
                number = chance.choice(("1/100", "1/10", "1/6", "1/5", "1/2", "2/3", "1"))
                data["enclosed"][place] = number
                part["claim"]["beta"] = f"{number}*({data['claim']['beta']})"
            case 1:
                data["claim"]["beta"] = chance.choice(("1", "exp(-eps)", "exp(-2*eps)/2"))
            case 2:
                part["claim"]["eps"] = data["claim"]["eps"] = [chance.choice(tuple(EPS))]
            case 3 if len(part["rows"]) > 1:
                part["rows"].pop()
                part["table"]["rows"] -= 1
            case 4:
                data[name] = copy.deepcopy(other[name])
            case _:
                data[name] = None


def _claim_of_factors(data: Document) -> Expected:
    return Expected("accurate" if data["proved"] is not None else "inaccurate", eps=data["claim"]["eps"][0])


def _holds_for_factors(data: Document, _claim: Expected) -> bool:
    """Whether a wrong answer has at most the probability beta times the factor, and with the other factor not."""
    beta, eps = BETAS[data["claim"]["beta"]], data["claim"]["eps"][0]
    for name, holds, number in (("proved", True, data["enclosed"][1]), ("refuted", False, data["enclosed"][0])):
        if data[name] is None:
            continue
        rows = [_quotient(row["input"][0]) for row in data[name]["rows"]]
        margin = -_ROUNDING if holds else _ROUNDING
        known = all(
            exp(-q * e) / 2 <= _quotient(number) * beta(0, e, 1) * (1 - margin) for q in rows for e in points(eps)
        )
        if known is not holds:
            return False
    return True


FAMILIES: Mapping[str, Family] = {
    "real inputs": Family(lambda: _inputs(THRESHOLD), _forge_inputs, _expected_of_inputs, _claim_of, _holds_for_inputs),
    "int inputs": Family(lambda: _inputs(WHOLE), _forge_inputs, _expected_of_inputs, _claim_of, _holds_for_inputs),
    "numbers": Family(_numbers, _forge_inputs, _expected_of_numbers, _claim_of, _holds_for_numbers),
    "pairs": Family(_pairs, _forge_pairs, _expected_of_pairs, _claim_of_pairs, _holds_for_pairs),
    "factors": Family(_factors, _forge_factors, lambda _: Expected(), _claim_of_factors, _holds_for_factors),
}

#: Steps that one check may take.
_STEPS = 20_000_000


def attempts(name: str, seeds: Iterable[int]) -> Counter[str]:
    """Count certificates, honest and forged, that were refused, accepted, and met the expectation.

    Fails where a false certificate is accepted, or meets the expectation.
    """
    family = FAMILIES[name]
    documents = [samples.document(text) for text in family.honest()]
    found: Counter[str] = Counter()
    for seed in seeds:
        chance = random.Random(f"{name} {seed}")
        data = copy.deepcopy(chance.choice(documents))
        if is_forged := chance.random() < 0.7:
            same_question = [each for each in documents if each["question"] == data["question"]]
            family.forge(data, same_question, chance)
        text = samples.resealed(data)
        asked = [None, *(family.expected(chance) for _ in range(1 if is_forged else 4))]
        for expected in asked:
            try:
                accepted = verify(text, budget=Budget(_STEPS), expected=expected)
            except (Rejected, Unreadable, Exhausted):
                found["refused"] += 1
                break
            found["tried"] += 1
            if accepted.exit_code:
                continue
            claim = expected if expected is not None and expected.is_given else family.claim_of(data)
            assert family.holds(data, claim), (name, seed, str(claim), list(accepted.lines())[:2])
            found["met" if expected is not None else "accepted"] += 1
    return found


def fields(name: str, most: int | None = None) -> int:
    """Count the certificates that are accepted after one field was deleted or replaced.

    `most` fields of each certificate are tried at random, or all. Fails where a false certificate is accepted.
    """
    family, accepted = FAMILIES[name], 0
    for text in family.honest():
        data = samples.document(text)
        chance = None if most is None else random.Random(name)
        for forged in changes(data, chance, most or 0):
            try:
                checked = verify(samples.resealed(forged), budget=Budget(_STEPS))
            except (Rejected, Unreadable, Exhausted):
                continue
            if not checked.exit_code:
                accepted += 1
                claim = family.claim_of(forged)
                assert family.holds(forged, claim), (name, str(claim), list(checked.lines())[:2])
    return accepted
