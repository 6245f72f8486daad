"""Betas as text, those in pieces too."""

from __future__ import annotations

import json
from typing import assert_never

from dipc.algebra.exppoly import ExpPoly
from dipc.algebra.parametric import FLAT, Parametric
from dipc.algebra.quotient import Quotient
from dipc.algebra.selection import Combination, Kind, Operation, Selected, Selection
from dipc.scale.codec import Json, Unreadable, closed_text, read_closed, read_terms
from dipc.sign.piecewise import BetaForm, PiecewiseForm

_PIECES = "~"


def beta_text(beta: BetaForm) -> str:
    """The one text of this beta."""
    if isinstance(beta.value, ExpPoly | Quotient):
        return closed_text(beta.value)
    return _PIECES + json.dumps(_tree(beta.value), separators=(",", ":"))


def read_beta(text: str) -> BetaForm:
    """What `beta_text` wrote; raises Unreadable."""
    if not text.startswith(_PIECES):
        return PiecewiseForm(read_closed(text))
    try:
        return PiecewiseForm(_value(json.loads(text.removeprefix(_PIECES))))
    except (ValueError, TypeError) as error:
        raise Unreadable(text) from error


def _tree(value: Selected) -> Json:
    match value:
        case Parametric():
            return ["", closed_text(value.numerator_flat()), closed_text(value.denominator)]
        case Selection():
            return [str(value.kind), *map(_tree, value.arguments)]
        case Combination():
            return [str(value.operation), _tree(value.left), _tree(value.right)]
    assert_never(value)


def _value(tree: Json) -> Selected:
    if not isinstance(tree, list) or not tree or not isinstance(tree[0], str):
        raise Unreadable(tree)
    name, parts = tree[0], tree[1:]
    if name == "":
        above, below = (read_terms(str(part)) for part in parts)
        if below.is_zero():
            raise Unreadable(tree)
        return Parametric({} if above.is_zero() else {FLAT: above}, below)
    if name in [*Kind]:
        return Selection(Kind(name), tuple(map(_value, parts)))
    left, right = map(_value, parts)
    return Combination(Operation(name), left, right)
