"""The functions behind a picture, typeset."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from dipc.report.curves import Curve
from dipc.report.html.document import section
from dipc.report.html.mathml import mathml

#: A closed form with more terms is not typeset, and a longer text is not written out.
_TYPESET_TERMS = 40
_LONGEST = 4_000


def closed_forms(curves: Sequence[Curve], other: str = "β") -> str:
    """A section with the first side of each curve, and with what is called `other`: 1 less the second."""
    parts = []
    for curve in curves:
        body = f"<p>{escape(curve.labels[0])}, a function of {escape(str(curve.variable))}"
        body += "" if str(curve.variable) == "eps" else ", written ε"
        body += f'</p>{_form(curve)}<p>{escape(other)}</p><code class="form">{escape(str(curve.beta))}</code>'
        parts.append(f"<details><summary>{escape(curve.name)}</summary>{body}</details>\n")
    return section("Closed forms", "".join(parts)) if parts else ""


def _form(curve: Curve) -> str:
    numerator, denominator = curve.bound.parts()
    if (
        curve.bound.only_at is None
        and len(numerator) + (0 if denominator is None else len(denominator)) <= _TYPESET_TERMS
    ):
        return mathml(curve.bound)
    text = str(curve.bound)
    cut = text if len(text) <= _LONGEST else f"{text[:_LONGEST]}… ({len(text)} characters; JSON has them all)"
    return f'<code class="form">{escape(cut)}</code>'
