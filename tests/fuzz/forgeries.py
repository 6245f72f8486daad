"""Forged certificates of every kind: the proof of what is true under the claim of what is false, and vice versa.

A forger has the honest certificates of both, puts parts of one into the other, changes some values, and seals it anew.
Whatever comes out, the checker may not take it for a full proof of the false claim, or refutation of the true one.
"""

from __future__ import annotations

import copy
import random
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import Any

import dipc
from dipc.certificate.privacy import certify_privacy
from dipc.certificate.write import certify_constant, certify_factor, certify_solution
from dipc.decide.engine import Engine
from dipc.questions.privacy.check import PrivacyQuestion
from dipc.questions.privacy.every_number import EveryNumber
from dipc.questions.privacy.outcome import read_claim
from dipc.verifier.document import check_text
from dipc.verifier.reading import Budget, Exhausted, Rejected, Unreadable
from tests.questions.real_programs import ABOVE_THRESHOLD, NOISY_MAX, SPARSE
from tests.verifier import samples
from tests.verifier.mutations import mutated, places

Document = dict[str, Any]

#: What says what a certificate is about; the rest is its proof.
_HEADER = ("schema", "question", "tool", "program", "table", "claim", "adjacent", "sought")

#: Steps that one check may take.
_STEPS = 20_000_000


def changed(source: str, *changes: tuple[str, str]) -> str:
    for old, new in changes:
        assert old in source, old
        source = source.replace(old, new)
    return source


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
COIN = """
program coin; input x : {0..2}; output y : {0..1};
y <- Exp(eps, v in {0..1} : abs(v - x)/2);
"""
RELEASE = """
program release; input q[1..2] : real; output o : bool; output y : real; var r, s : real;
r <- Lap(eps/2, q[1]); s <- Lap(eps/2, q[2]); y <- s; o <- r >= 0
"""
LAPLACE = """
program laplace; input x : {0..1}; output y : real;
ideal { y <- x }
y <- Lap(eps, x);
"""
NEAREST = """
program nearest; input x : {0..2}; output y : {0..2};
metric { output: abs(y - y'); }
ideal { y <- x }
y <- Exp(eps, v in {0..2} : -abs(v - x));
"""
COUNT = """
program count; input q : real; output o : real;
ideal { o <- q }
o <- Gauss(2/eps, q)
"""
STILL = changed(COUNT, ("Gauss(2/eps", "Gauss(2"))
WINNER = """
program winner; input q[1..2] : real; output w : {1..2}; output v : real; var a, b : real;
ideal { if q[1] >= q[2] then w <- 1; v <- q[1] else w <- 2; v <- q[2] end }
a <- Lap(eps, q[1]); b <- Lap(eps, q[2]);
if a >= b then w <- 1; v <- Lap(eps, q[1]) else w <- 2; v <- Lap(eps, q[2]) end
"""
#: The answer 0 is behind two sides: where it is, is a neighborhood of two half-spaces.
CORNER = """
program corner; input x, y : real; output o : {0, 1}; var r, s : real;
ideal { if x >= 0 and y >= 0 then o <- 1 else o <- 0 end }
r <- Lap(eps, x); s <- Lap(eps, y);
if r >= 0 and s >= 0 then o <- 1 else o <- 0 end
"""
INT_CORNER = changed(CORNER, ("x, y : real", "x, y : int"), ("r, s : real", "r, s : int"), ("Lap(", "DLap("))


# --- honest certificates -----------------------------------------------------------------------------------


def _of_rows(source: str, beta: str, eps: str = "(0, inf)") -> str:
    rows = [{"q": q, "o": "true"} for q in (1, 2)]
    return samples.checked(source, rows, beta=beta, eps=eps, alpha=0)


def _of_inputs(source: str, beta: str, eps: str = "(0, inf)", alpha: str = "dd", **options: Any) -> str:
    report = dipc.check(dipc.load(source), inputs="all", beta=beta, eps=eps, alpha=alpha, keep_proofs=True, **options)
    return dipc.certify(report)


def _of_inputs_near(source: str, beta: str, gamma: str = "2", alpha: str = "1", eps: str = "(0, inf)") -> str:
    return _of_inputs(source, beta, eps, alpha, gamma=gamma)


def _of_count(source: str, beta: str, eps: str = "(0, inf)", gamma: str = "2") -> str:
    report = dipc.check(
        dipc.load(source), inputs="q = 1..2", beta=beta, gamma=gamma, alpha=0, eps=eps, keep_proofs=True
    )
    return dipc.certify(report)


def _of_every_m(source: str, beta: str, eps: str = "(0, inf)") -> str:
    return _of_inputs(source, beta, eps, for_all="m")


def _of_gamma(source: str, beta: str) -> str:
    report = dipc.check(dipc.load(source), inputs="x = 0..2", beta=beta, gamma="free", alpha=0, keep_proofs=True)
    return dipc.certify(report)


def _of_privacy(
    source: str,
    budget: str,
    delta: str = "0",
    adjacent: str = "linf:1",
    eps: str | None = None,
    inputs: str | None = None,
) -> str:
    program = dipc.load(source)
    question = PrivacyQuestion(program, adjacent, inputs, Engine(program.measurer, program.limits, keep_proofs=True))
    return certify_privacy(question, question.decide(read_claim(program, budget, delta, eps)))


def _of_all_pairs(source: str, budget: str, adjacent: str = "linf:1") -> str:
    return _of_privacy(source, budget, adjacent=adjacent, inputs="all")


def _of_pairs_of_every_m(source: str, budget: str, adjacent: str = "linf:1") -> str:
    program = dipc.load(source)
    question = EveryNumber(
        program, "m", None, adjacent, Engine(program.measurer, program.limits, keep_proofs=True), None
    )
    return certify_privacy(question, question.decide(read_claim(program, budget, None, None)))


def _least_factor(source: str, inputs: str = "q = 1..2") -> str:
    return certify_factor(dipc.tighten(dipc.load(source), inputs=inputs, beta="1", alpha=0, digits=6, eps="[1, 2]"))


def _least_eps(source: str, beta: str) -> str:
    return certify_solution(dipc.solve(dipc.load(source), inputs="q = 1..2", wanted="eps", beta=beta, alpha=0))


def _least_gamma(source: str, beta: str) -> str:
    return certify_solution(dipc.solve(dipc.load(source), inputs="x = 0..1", wanted="gamma", beta=beta, eps="[1, 2]"))


def _least_budget(source: str, adjacent: str = "linf:1") -> str:
    program = dipc.load(source)
    question = PrivacyQuestion(program, adjacent, "all", Engine(program.measurer, program.limits, keep_proofs=True))
    return certify_constant(question, question.constant(None))


@dataclass(frozen=True)
class Kind:
    """A kind of certificate: how an honest one is written, and for which claims.

    The claims hold or fail; for least numbers they are programs whose least numbers differ.
    """

    write: Callable[..., str]
    true: tuple[tuple[Any, ...], ...]
    false: tuple[tuple[Any, ...], ...]


_ROWS = changed(THRESHOLD, ("ideal { o <- q >= 0 }", ""))
_HALF = changed(THRESHOLD, ("Lap(eps", "Lap(eps/2"))
_TRUNCATED = changed(_ROWS, ("Lap(eps, q)", "TLap(eps, q, -3, 3)"))
_UNIFORM = changed(_ROWS, ("Lap(eps, q)", "Unif(-3, 3, q)"))
_FALLING = changed(NOISY_MAX, ("eps/2", "eps/4"))

KINDS: dict[str, Kind] = {
    "rows": Kind(
        _of_rows,
        (
            (_ROWS, "exp(-eps)/2"),
            (_ROWS, "exp(-eps)/2 + eps/9", "(0, 1]"),
            (_ROWS, "min(exp(-eps), 1/2)"),
        ),
        (
            (changed(_ROWS, ("Lap(eps", "Lap(eps/2")), "exp(-eps)/2"),
            (_ROWS, "exp(-eps)/3"),
            (_ROWS, "exp(-2*eps)/2", "[5, 6]"),
            (_ROWS, "max(exp(-2*eps)/2, exp(-eps)/3)"),
            (changed(_ROWS, ("r >= 0", "r >= 1/2")), "exp(-eps)/2"),
        ),
    ),
    "rows with bounded noise": Kind(
        _of_rows,
        (
            (_TRUNCATED, "exp(-eps)/2"),
            (_UNIFORM, "1/3"),
            (_UNIFORM, "exp(-eps)", "(0, 1]"),
            (changed(_UNIFORM, ("Unif(-3, 3", "Unif(-2, 4")), "1/6"),
        ),
        (
            (_TRUNCATED, "exp(-eps)/3"),
            (changed(_TRUNCATED, ("TLap(eps", "TLap(eps/2")), "exp(-eps)/2"),
            (changed(_TRUNCATED, ("-3, 3", "-3, 1")), "exp(-eps)/2"),
            (_UNIFORM, "1/4"),
            (_UNIFORM, "exp(-eps)"),
            (changed(_UNIFORM, ("-3, 3", "-4, 2")), "1/3"),
        ),
    ),
    "rows with normal noise": Kind(
        _of_count,
        (
            (COUNT, "erfc(eps/sqrt(2))"),
            (COUNT, "2*exp(-eps/2)", "(0, 1]"),
            (STILL, "1/3"),
            (STILL, "exp(-eps)", "[1/2, 1]"),
        ),
        (
            (COUNT, "erfc(eps)"),
            (changed(COUNT, ("2/eps", "3/eps")), "erfc(eps/sqrt(2))"),
            (COUNT, "exp(-eps/2)", "(0, 1]", "1/2"),
            (STILL, "1/4"),
            (STILL, "exp(-eps)", "[1/2, 2]"),
            (changed(STILL, ("Gauss(2", "Gauss(3")), "1/3"),
        ),
    ),
    "inputs with normal noise": Kind(
        _of_inputs,
        (
            (changed(THRESHOLD, ("Lap(eps", "Gauss(2/eps")), "exp(-alpha*eps/8)"),
            (changed(THRESHOLD, ("Lap(eps", "Gauss(2/eps")), "exp(-eps/8)", "(0, inf)", "1"),
        ),
        (
            (changed(THRESHOLD, ("Lap(eps", "Gauss(2/eps")), "exp(-alpha*eps/2)/2"),
            (changed(THRESHOLD, ("Lap(eps", "Gauss(9/eps")), "exp(-alpha*eps/2)"),
            (changed(THRESHOLD, ("Lap(eps", "Gauss(2/eps"), ("r >= 0", "r >= 1")), "exp(-eps/8)", "(0, inf)", "1"),
        ),
    ),
    "right and near": Kind(
        _of_inputs_near,
        (
            (WINNER, "2*exp(-eps)"),
            (WINNER, "exp(-eps)*3/2", "4"),
            (changed(WINNER, ("ideal", "metric { output: above; }\nideal")), "2*exp(-eps)"),
            (changed(WINNER, ("ideal", "metric { dd: all; }\nideal")), "exp(-eps)/9"),
        ),
        (
            (WINNER, "exp(-eps)/9"),
            (WINNER, "exp(-5*eps)", "4"),
            (WINNER, "2*exp(-eps)", "2", "1/2"),
            (changed(WINNER, ("ideal", "metric { output: below; }\nideal")), "exp(-2*eps)/2"),
            (changed(WINNER, ("q[1] >= q[2]", "q[1] >= q[2] + 1")), "2*exp(-eps)"),
        ),
    ),
    "behind two sides": Kind(
        _of_inputs,
        ((CORNER, "3/2*exp(-alpha*eps)"), (CORNER, "2*exp(-eps)", "(0, inf)", "1")),
        (
            (CORNER, "exp(-alpha*eps)/2"),
            (CORNER, "2*exp(-2*eps)", "(0, inf)", "1"),
            (changed(CORNER, ("y >= 0", "y >= 3")), "3/2*exp(-alpha*eps)"),
            (changed(CORNER, ("Lap(eps, x)", "Lap(eps/2, x)")), "3/2*exp(-alpha*eps)"),
        ),
    ),
    "ints behind two sides": Kind(
        _of_inputs,
        ((INT_CORNER, "2*exp(-eps)", "(0, inf)", "1"), (INT_CORNER, "2*exp(-2*eps)", "(0, inf)", "2")),
        (
            (INT_CORNER, "exp(-2*eps)", "(0, inf)", "1"),
            (INT_CORNER, "exp(-4*eps)", "(0, inf)", "1"),
            (changed(INT_CORNER, ("y >= 0", "y >= 3")), "2*exp(-eps)", "(0, inf)", "1"),
        ),
    ),
    "every gamma": Kind(
        _of_gamma,
        ((NEAREST, "exp(-gamma*eps/2)"), (NEAREST, "exp(-gamma*eps/3)")),
        (
            (NEAREST, "exp(-2*gamma*eps)"),
            (NEAREST, "exp(-(gamma + 1)*eps)/2"),
            (changed(NEAREST, ("Exp(eps", "Exp(eps/4")), "exp(-gamma*eps/2)"),
        ),
    ),
    "inputs": Kind(
        _of_inputs,
        (
            (THRESHOLD, "exp(-alpha*eps)/2"),
            (THRESHOLD, "exp(-alpha*eps)/2", "(0, 1]"),
            (SPARSE, "2*m*exp(-alpha*eps/8)/6"),
            (THRESHOLD, "exp(-2*eps)/2", "(0, inf)", "2"),
        ),
        (
            (_HALF, "exp(-alpha*eps)/2"),
            (THRESHOLD, "exp(-alpha*eps)/3"),
            (changed(THRESHOLD, ("r >= 0", "r > 1")), "exp(-alpha*eps)/2"),
            (SPARSE, "2*m*exp(-alpha*eps/8)/12"),
            (SPARSE, "2*m*exp(-alpha*eps/2)"),
            (THRESHOLD, "exp(-2*eps)/2", "(0, inf)", "1"),
        ),
    ),
    "int inputs": Kind(
        _of_inputs,
        ((WHOLE, "exp(-alpha*eps)"), (WHOLE, "exp(-(alpha - 1)*eps)"), (WHOLE, "exp(-2*eps)", "(0, inf)", "2")),
        (
            (WHOLE, "exp(-alpha*eps)/2"),
            (changed(WHOLE, ("DLap(eps", "DLap(eps/2")), "exp(-alpha*eps)"),
            (changed(WHOLE, ("x >= 0", "x >= 1")), "exp(-alpha*eps)"),
            # Of dd > 1/2, so of dd = 1.
            (WHOLE, "exp(-2*eps)", "(0, inf)", "1/2"),
        ),
    ),
    "every m": Kind(
        _of_every_m,
        (
            (NOISY_MAX, "m*exp(-alpha*eps/2)"),
            (_FALLING, "m*exp(-alpha*eps/4)"),
            (ABOVE_THRESHOLD, "2*m*exp(-alpha*eps/8)"),
        ),
        (
            (NOISY_MAX, "m*exp(-2*alpha*eps)"),
            (_FALLING, "m*exp(-alpha*eps)"),
            (ABOVE_THRESHOLD, "m*exp(-alpha*eps)/2"),
            (NOISY_MAX, "exp(-alpha*eps)/2"),
        ),
    ),
    "pairs": Kind(
        _of_privacy,
        ((COIN, "eps"), (COIN, "eps/2", "1/1000 + eps/1000"), (COIN, "eps/3", "1/5", "linf:1", "(0, 1]")),
        (
            (COIN, "eps/3"),
            (COIN, "eps/3", "1/1000"),
            (changed(COIN, ("Exp(eps", "Exp(4*eps")), "eps"),
            (COIN, "eps/3", "1/50", "linf:1", "[1, 2]"),
            (COIN, "eps/4", "0", "linf:2"),
        ),
    ),
    "all pairs": Kind(
        _of_all_pairs,
        ((RELEASE, "eps"), (RELEASE, "eps/2", "l1:1"), (SPARSE, "eps"), (NOISY_MAX, "2*eps")),
        (
            (changed(THRESHOLD, ("Lap(eps", "Lap(2*eps")), "eps"),
            (SPARSE, "eps/3"),
            (NOISY_MAX, "eps/4"),
            (changed(NOISY_MAX, ("eps/2", "3*eps")), "2*eps"),
        ),
    ),
    "all pairs for every m": Kind(
        _of_pairs_of_every_m,
        ((SPARSE, "eps"), (ABOVE_THRESHOLD, "eps")),
        ((SPARSE, "eps/3"), (changed(SPARSE, ("eps/(4*c)", "4*eps")), "eps")),
    ),
    "least factors": Kind(
        _least_factor,
        ((THRESHOLD,), (_HALF,)),
        ((changed(THRESHOLD, ("Lap(eps", "Lap(3*eps/4")),), (changed(THRESHOLD, ("r >= 0", "r >= 1/2")),)),
    ),
    "least eps": Kind(_least_eps, ((THRESHOLD, "1/4"), (_HALF, "1/4")), ((THRESHOLD, "1/8"), (_HALF, "1/20"))),
    "least gammas": Kind(
        _least_gamma,
        ((LAPLACE, "1/10"), (LAPLACE, "1/20")),
        ((changed(LAPLACE, ("Lap(eps", "Lap(eps/2")), "1/10"), (LAPLACE, "1/100")),
    ),
    "least budgets": Kind(
        _least_budget,
        ((THRESHOLD,), (SPARSE,)),
        ((_HALF,), (changed(SPARSE, ("eps/(4*c)", "eps")),), (THRESHOLD, "linf:2")),
    ),
}


@cache
def honest(name: str, given: tuple[Any, ...]) -> str:
    return KINDS[name].write(*given)


# --- forging -----------------------------------------------------------------------------------------------


def forged(name: str, chance: random.Random) -> tuple[Document, Document]:
    """A forgery, and the honest certificate whose claim it has."""
    kind = KINDS[name]
    given = [(each, samples.document(honest(name, each))) for each in (*kind.true, *kind.false)]
    (_, own), (_, other) = chance.sample(given, 2)
    result = copy.deepcopy(other)
    for part in _HEADER:
        result.pop(part, None)
        if part in own:
            result[part] = copy.deepcopy(own[part])
    for part in ("proved", "refuted"):
        if "enclosed" in own and result[part] is not None and own[part] is not None:
            result[part]["program"] = copy.deepcopy(own[part]["program"])
            if chance.random() < 0.5:
                result[part]["claim"] = copy.deepcopy(own[part]["claim"])
    for part in own.keys() - {*_HEADER, "verdict"}:
        if chance.random() < 0.4:
            result[part] = copy.deepcopy(own[part])
    for _ in range(chance.choice((0, 0, 1, 1, 2, 3))):
        paths = [path for path in places(result) if path[0] not in {*_HEADER, "verdict"}]
        result, _ = mutated(result, paths, chance)
    return result, own


def wrongly_accepted(forgery: Document, own: Document) -> str | None:
    """The answers of both certificates if `forgery` is accepted in full and contradicts `own`, the honest one.

    None if the forgery is refused, or contradicts nothing.
    """
    try:
        accepted = check_text(samples.resealed(forgery), Budget(_STEPS))
    except (Rejected, Unreadable, Exhausted):
        return None
    if not accepted.complete:
        return None
    if "enclosed" in own:
        low, high = own["enclosed"]
        other = forgery["enclosed"]
        apart = other != own["enclosed"] and (_number(other[1]) <= _number(low) or _number(other[0]) >= _number(high))
        return f"{other} for {own['enclosed']}" if apart else None
    decided = {"accurate", "inaccurate", "private", "not private"}
    if own["verdict"] in decided and accepted.verdict in decided and accepted.verdict != own["verdict"]:
        return f"{accepted.verdict} for {own['verdict']}"
    return None


def _number(text: str | None) -> Fraction:
    return Fraction(-1 if text is None else text)


def attempts(name: str, seeds: Iterable[int]) -> Counter[str]:
    """Count forgeries by fate: refused, or accepted because they are true.

    Fails where a forgery of something false is accepted.
    """
    found: Counter[str] = Counter()
    for seed in seeds:
        forgery, own = forged(name, random.Random(f"{name} {seed}"))
        wrong = wrongly_accepted(forgery, own)
        assert wrong is None, (name, seed, wrong)
        found["tried"] += 1
    return found
