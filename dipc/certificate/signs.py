"""Proofs of signs as data: what `dipc.sign` found, for `dipc.verifier` to find again."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from dipc.certificate.numbers import digits, rational
from dipc.sign.chart import Analysis, SignChart
from dipc.sign.polynomial import Polynomial
from dipc.sign.roots import CoverPiece, Crossing, FactorSign


def analysis_data(analysis: Analysis) -> dict[str, Any]:
    """The normal form, the factors and what shows their signs on the analysis's interval."""
    form = analysis.form
    return {
        "scale": rational(form.scale),
        "factor": rational(form.factor),
        "power": form.power,
        "exponent": rational(form.exponent),
        "sign": analysis.sign,
        "factors": [
            {"polynomial": polynomial_data(factor.polynomial), "multiplicity": factor.multiplicity}
            for factor in analysis.factors
        ],
        "evidence": ["even" if found is None else _evidence(found) for found in analysis.signs],
    }


def chart_data(chart: SignChart, analysis: Analysis) -> dict[str, Any]:
    """The roots as eps, each with the number of its factor, and the signs before, between and after them."""
    numbers = {factor.polynomial: number for number, factor in enumerate(analysis.factors)}
    roots = [[numbers[root.polynomial], rational(root.lower), rational(root.upper)] for root in chart.roots]
    return {"roots": roots, "signs": list(chart.signs)}


#: Greater ones are texts: not every reader of JSON knows longer integers.
LONGEST_EXPONENT = 10**12


def polynomial_data(polynomial: Polynomial) -> list[list[Any]]:
    """The terms c·t^k·e^{-j·t} as [j, k, "c"]."""
    return [[j if j <= LONGEST_EXPONENT else digits(j), k, digits(c)] for j, k, c in polynomial.terms]


def _evidence(found: FactorSign) -> dict[str, Any] | None:
    if found.rational_root is not None:
        return None
    data: dict[str, Any] = {}
    if found.zero is not None:
        zero = found.zero
        data["zero"] = {"order": zero.order, "radius": rational(zero.radius), "sign": zero.sign}
    if found.pieces:
        data["pieces"] = list(_pieces(found.pieces))
    if found.infinity is not None:
        data["infinity"] = {"bound": rational(found.infinity.bound), "sign": found.infinity.sign}
    return data


def _pieces(pieces: Iterable[CoverPiece | Crossing]) -> Iterable[dict[str, Any]]:
    for piece in pieces:
        data: dict[str, Any] = {"interval": [rational(piece.lower), rational(piece.upper)]}
        match piece:
            case CoverPiece(slope=0):
                data |= {"method": "value", "sign": piece.sign}
            case CoverPiece():
                data |= {"method": "slope", "sign": piece.sign, "slope": piece.slope}
            case Crossing():
                data |= {"method": "crossing", "slope": piece.slope}
        yield data | {"bits": max(0, piece.bits)}
