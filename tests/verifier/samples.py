"""Certificates to check and to tamper with."""

from __future__ import annotations

import json
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

import dipc
from dipc.certificate.answers import with_answers
from dipc.certificate.data import sealed
from dipc.certificate.write import certify
from dipc.verifier.document import check_text
from dipc.verifier.reading import Rejected, Unreadable

ROOT = Path(__file__).resolve().parent.parent.parent

#: Its output is certain, so that Pr - 1 + beta is beta: any function can be an obligation.
CERTAIN = """
program certain;
const m = 3;
input q : real;
output a : {0, 1};
a <- 0;
"""

#: Betas that are nonnegative, each in a way of its own: zero, linear factors, double roots, slopes, high order at 0.
NONNEGATIVE = (
    "0",
    "eps*exp(-eps/3)",
    "(eps - 1)^2*(eps + 2)*exp(-eps)",
    "(exp(-eps) - 1/2)^2",
    "(exp(eps/2) - m)^2*(exp(-eps) + 1)^2*eps",
    "exp(-eps) - 1 + eps - eps^2/2 + eps^3/6",
    "1 - exp(-eps)*(1 + eps)",
    "(exp(-eps) - 1/2)^2 + 1/10^6",
    "(exp(-eps)*(1 + eps) - 1/2)^2*3 + 1/10^4",
    "(1 - exp(-2*eps))/(1 + eps^2)",
    "1/((eps^2 - eps + 1)^2*(2 - exp(-eps))^2)",
    "(exp(-eps) - 1/3)^2*exp(-eps)/(1 - exp(-eps) + exp(-3*eps)*eps)",
)

#: Nonnegative betas that are the least of several.
LEAST = ("min(eps, 1 - exp(-eps) + 1/9, 2)", "min(1, exp(-eps))", "min(1/2, 1/3)", "min(eps)")

#: Nonnegative betas that are the greatest of several, or the least of such.
GREATEST = (
    "max(eps, 1 - eps)",
    "abs(eps - 1)",
    "max(0, eps - 1)",
    "min(1, max(eps, 2 - eps), abs(-exp(-eps)))",
    "max(exp(-eps) - 9/10, 1/10 - exp(-eps), (1 - eps)/4, (eps - 1)/8)",
    "max(exp(-2*eps)/(1 - exp(-eps)), 1/3 - exp(-eps))",
    "1 + 1/max(eps, 1)",
    "1/min(eps, max(exp(-eps), 1/3)) - eps/max(1, 2*eps)",
    "3 + (eps - 1)*max(eps, 2)",
)

#: Betas that nothing is certified of.
IN_PIECES = ("9 + eps^2 + (eps - 1)*max(eps - 3, 2 - eps)",)

#: Betas that are negative somewhere.
NEGATIVE = (
    "-1",
    "exp(-eps) - 1/2",
    "(exp(-eps) - 1/2)^2 - 1/10^6",
    "(exp(-eps) - 1/5)/(1 + exp(-2*eps))",
    "(eps - 1)*(exp(eps) - 2)*exp(-3*eps)",
    "min(1, eps - 1)",
    "max(eps - 2, -1)",
    "min(2, max(1/4 - eps, exp(-eps) - 1/2))",
)

GEOMETRIC = """
program geometric;
input q : int;
output out : int;
out <- DLap(eps/2, q);
"""


#: Of four queries one has another weight, and one makes no difference.
MARKED = """
program marked; input flag : bool; input q[1..4] : real; output o : {0, 1}; var r : real;
claim { alpha: dd; gamma: 0; beta: exp(-alpha*eps/8); }
ideal { if q[1] + q[2] + 2*q[3] >= 1/2 then o <- 1 else o <- 0 end }
r <- Lap(eps, q[1] + q[2] + 2*q[3]); if r >= 1/2 then o <- 1 else o <- 0 end
"""


def checked(source: str, table: Any, **options: Any) -> str:
    """The certificate of a check."""
    return certify(dipc.check(dipc.load(source), table, keep_proofs=True, **options), "test")


@cache
def certain(betas: tuple[str, ...], eps: str = "(0, inf)") -> str:
    """The certificate of obligations with these betas, one a row."""
    return checked(CERTAIN, [{"q": 0, "a": 0, "beta": beta} for beta in betas], eps=eps)


@cache
def sparse(factor: int = 6) -> str:
    """The certificate of Sparse, m = 3."""
    root = ROOT / "benchmarks"
    return checked(str(root / "sparse.dip"), str(root / "sparse.csv"), beta=f"2*m*c*exp(-alpha*eps/(8*c))/{factor}")


@cache
def marked() -> str:
    """The certificate of rows that represent all inputs of a product."""
    inputs = ["q in {-1, 0, 1}", "flag in {true, false}"]
    return certify(dipc.check(dipc.load(MARKED), inputs=inputs, classes=True, keep_proofs=True))


@cache
def geometric() -> str:
    """A certificate with a quotient, from discrete noise."""
    rows = [{"q": 0, "out": 0, "gamma": gamma} for gamma in (0, 1, 3)]
    return checked(GEOMETRIC, rows, beta="2*exp(-(gamma+1)*eps/2)/(1+exp(-eps/2))")


def untrue(text: str) -> list[str]:
    """The faults of a certificate, as the engine sees them."""
    from tests.verifier.truth import untruths

    return list(untruths(json.loads(text)))


def document(text: str) -> dict[str, Any]:
    """The certificate as an object, without its digest."""
    found = json.loads(text)
    del found["digest"]
    assert isinstance(found, dict)
    return found


def is_accepted_whole(data: dict[str, Any]) -> bool:
    """Whether the checker accepts the certificate, resealed as forgers do, without anything on trust."""
    try:
        return check_text(resealed(data)).complete
    except (Rejected, Unreadable):
        return False


def resealed(data: dict[str, Any], *, answers: bool = True) -> str:
    """The text of a certificate with the right digest, and right answers about half-spaces, as forgers write it."""
    data = {name: value for name, value in data.items() if name != "digest"}
    if answers and "answers" in data:
        with suppress(AttributeError, KeyError, TypeError, ValueError):  # it is no document at all
            return sealed(with_answers(data))
    return sealed(data)
