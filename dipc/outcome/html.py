"""Answers as pages: one file with its style, its script and its data, and a policy that allows nothing else."""

from __future__ import annotations

import io
import json
import math
import re
import shlex
import tokenize
from base64 import b64encode
from collections.abc import Collection, Iterable, Sequence
from contextlib import suppress
from fractions import Fraction
from hashlib import sha256
from html import escape
from importlib.resources import files
from itertools import islice
from keyword import iskeyword
from typing import Any, assert_never

from dipc.algebra.exppoly import ClosedForm, ordered_terms
from dipc.algebra.limits import Undecided
from dipc.certificate.data import Uncertified
from dipc.chain.explore import explore
from dipc.chain.state import same_value
from dipc.claims.given import CellPool
from dipc.claims.table import input_cells, output_cells
from dipc.decide.obligation import Verdict
from dipc.measure.measure import EnclosedForm
from dipc.outcome.certificates import certificate
from dipc.outcome.classes import class_fields
from dipc.outcome.curves import Curve, curves_of, sentence
from dipc.outcome.outcome import Fields, Grid, Line, Outcome, Part, ReportBlock, Tone, Verbatim
from dipc.outcome.program import Outcomes
from dipc.outcome.rows import worst_first
from dipc.program.program import Program
from dipc.questions.privacy.outcome import PrivacyReport
from dipc.questions.report import ClassResult, Report, RowResult
from dipc.text.core import Value
from dipc.text.printer import language_text
from dipc.text.words import tokens

#: The most rows of a table, and the most inequalities that are drawn and written out.
_ROWS = 500
_CURVES = 12

#: The CSS class of each tone, which sets its color.
_MOODS = {Tone.GOOD: "good", Tone.BAD: "bad", Tone.OPEN: "open"}


_NO_SCRIPT = "default-src 'none'; style-src 'unsafe-inline'"


def page(outcome: Outcome, command: Sequence[str], tool: str) -> str:
    """Return the HTML page of the answer `outcome`.

    `command` has the words of the command that was typed, and `tool` is the name and version of the program.
    """
    curves = curves_of(outcome, _CURVES)
    groups = _groups(outcome.parts())
    claim = groups.pop(0) if groups else ""
    title = "Input" if isinstance(outcome.result, Outcomes) else "Claim"
    other = "β" if curves and curves[0].labels[1].startswith("required") else "1 less the probability at u"
    proofs = None
    if isinstance(outcome.result, Report | PrivacyReport):
        with suppress(Uncertified):
            proofs = certificate(outcome, tool)
    subject = escape(f"{' '.join(command[:2])}: {outcome.program}")
    mood = _MOODS.get(outcome.tone, "")
    header = f'<header class="{mood}"><p>{subject}</p><h1>{escape(outcome.line)}</h1></header>\n'
    sections = [
        header + section(title, claim),
        *([section("Findings", "".join(groups))] if groups else []),
        closed_forms(curves, other),
        _table(outcome),
        _listing(outcome),
        evidence(command, tool, proofs),
    ]
    return document(outcome.line, sections, curves)


def _groups(blocks: Iterable[ReportBlock]) -> list[str]:
    groups = [""]
    for block in blocks:
        if isinstance(block, Sequence):
            groups.append("".join(map(_part, block)))
        else:
            groups[-1] += _part(block)
    return [group for group in groups if group]


def _part(part: Part) -> str:
    match part:
        case Line(text) if text.startswith("--"):
            return ""  # an option that a terminal can be given
        case Line(text, tone, indent):
            tag = "h3" if tone is Tone.HEAD and not indent else "p"
            return f"<{tag}>{_words(text)}</{tag}>\n"
        case Fields(pairs):
            return fields(pairs) if pairs else ""
        case Verbatim(lines):
            return f"<pre>{escape(chr(10).join(lines))}</pre>\n"
        case Grid(head, rows):
            return table(head, rows)
    assert_never(part)


def table(head: Sequence[str], rows: Sequence[tuple[Tone | None, Sequence[str]]]) -> str:
    """Return an HTML table of `rows`, pairs of a tone and cells, below the names of the columns in `head`.

    The tone of a row sets its color; None leaves it plain. Columns without any text are left out. The verdict is moved
    to the second column, so that narrow screens show it.
    """
    kept = [at for at in range(len(head)) if not rows or any(cells[at] for _, cells in rows)]
    if "verdict" in head:
        kept.remove(verdict := head.index("verdict"))
        kept.insert(1, verdict)
    lines = ["<tr>" + "".join(f"<th>{escape(head[at])}</th>" for at in kept) + "</tr>"]
    for tone, cells in rows:
        mood = "" if tone is None else f' class="{_MOODS.get(tone, "")}"'
        texts = (escape(cells[at]).replace("\n", "<br>") for at in kept)
        lines.append(f"<tr{mood}>{''.join(f'<td>{text}</td>' for text in texts)}</tr>")
    return '<div class="wide"><table>\n' + "\n".join(lines) + "\n</table></div>\n"


def _table(outcome: Outcome) -> str:
    shown_table = None if outcome.table is None else outcome.table()
    if shown_table is None or not shown_table.title:
        return ""
    columns, rows = shown_table.columns, list(islice(shown_table.rows, _ROWS))
    if isinstance(outcome.result, Report) and columns[0] == "class":
        at = columns.index("input")
        columns = (*columns[:at], "inputs", "hardest input, for example", *columns[at + 1 :])
        described = (
            dict(class_fields(row))["inputs"] if isinstance(row, ClassResult) else "" for row in outcome.result.rows
        )
        rows = [(tone, (*cells[:at], text, *cells[at:])) for (tone, cells), text in zip(rows, described, strict=False)]
    rest = shown_table.count - _ROWS
    more = f"<p>and {rest} more; --format json has them all</p>\n" if rest > 0 else ""
    return section(shown_table.title, table(columns, rows) + more)


def _listing(outcome: Outcome) -> str:
    """Return the program of `outcome` as HTML; lines that lead to the output of the worst row are marked."""
    if outcome.question is None:
        return ""
    program: Program = outcome.question.program
    marked: Collection[int] = ()
    title = "Program"
    if isinstance(outcome.result, Report) and outcome.question.table is not None:
        for failing in worst_first(outcome.result.select(Verdict.INACCURATE), 1):
            with suppress(Undecided):
                marked = passed_lines(program, failing)
                title += f", with the lines on the way to row {failing.row}'s output" if marked else ""
    source = program.core.source
    pieces: Iterable[Iterable[tuple[str, str]]] = map(tokens, source.text.rstrip().splitlines())
    if source.program_text is not None:
        pieces = _python_lines(source.text)
    lines = [
        f"<mark>{_colored(line)}</mark>" if number in marked else _colored(line)
        for number, line in enumerate(pieces, 1)
    ]
    return section(title, "<pre>" + "\n".join(lines) + "</pre>\n")


def _colored(pieces: Iterable[tuple[str, str]]) -> str:
    return "".join(f'<span class="{kind}">{escape(piece)}</span>' if kind else escape(piece) for kind, piece in pieces)


def _python_lines(text: str) -> list[list[tuple[str, str]]]:
    """Return each line of the Python file `text` as a list of pairs: a kind and a piece of the line.

    The kind sets the color: "comment", "number", "keyword", "type" for a string, or "" for uncolored text.
    """
    lines = text.rstrip().split("\n")
    colored: list[list[tuple[int, int, str]]] = [[] for _ in lines]
    with suppress(tokenize.TokenError, SyntaxError):
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            kind = _PYTHON_KINDS.get(token.type, "keyword" if iskeyword(token.string) else "")
            for number in range(token.start[0], token.end[0] + 1) if kind else ():
                start = token.start[1] if number == token.start[0] else 0
                end = token.end[1] if number == token.end[0] else len(lines[number - 1])
                colored[number - 1].append((start, end, kind))
    result = []
    for line, spans in zip(lines, colored, strict=True):
        pieces, at = [], 0
        for start, end, kind in spans:
            pieces += [("", line[at:start]), (kind, line[start:end])]
            at = end
        result.append([*pieces, ("", line[at:])])
    return result


_PYTHON_KINDS = {tokenize.COMMENT: "comment", tokenize.NUMBER: "number", tokenize.STRING: "type"}


# --- the frame -------------------------------------------------------------------------------------


def document(title: str, sections: Iterable[str], curves: Sequence[Curve] = ()) -> str:
    """Return a page with the `title` and the `sections`, and a plot of `curves` after the first section.

    Without curves there is no plot. The page makes no request: its policy forbids every request, and runs only the
    script inside it.
    """
    first, *others = sections
    scripts = [_asset("uplot.min.js"), _asset("plot.js")] if curves else []
    hashes = " ".join(f"'sha256-{b64encode(sha256(script.encode()).digest()).decode()}'" for script in scripts)
    allowed = f"default-src 'none'; style-src 'unsafe-inline'; script-src {hashes}".rstrip()
    policy = f"{allowed if scripts else _NO_SCRIPT}; base-uri 'none'; form-action 'none'"
    style = _asset("style.css") + (_asset("uplot.min.css") if curves else "")
    return "".join(
        [
            '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n',
            f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n',
            '<meta name="viewport" content="width=device-width, initial-scale=1">\n',
            '<meta name="color-scheme" content="light dark">\n',
            f"<title>{escape(title)}</title>\n<style>\n{style}</style>\n</head>\n<body>\n<main>\n",
            first,
            _plot(curves) if curves else "",
            *others,
            "</main>\n",
            *(f"<script>{script}</script>\n" for script in scripts),
            "</body>\n</html>\n",
        ]
    )


def _asset(name: str) -> str:
    return (files("dipc.outcome") / "assets" / name).read_text(encoding="utf-8")


def fields(pairs: Iterable[tuple[str, str | None]]) -> str:
    """Return the labels and texts in `pairs` as HTML; a text without a label continues the text before."""
    texts = ((escape(label), _words((text or "").removeprefix("= "))) for label, text in pairs)
    rows = "".join(f"<dt>{label}</dt><dd>{text}</dd>\n" for label, text in texts)
    return f"<dl>\n{rows}</dl>\n"


_CODE = re.compile(r"`([^`]+)`")


def _words(text: str) -> str:
    return _CODE.sub(r"<code>\1</code>", escape(text))


def section(title: str, body: str) -> str:
    """Return a section of the page: its `title` as a heading, and the HTML `body`."""
    return f"<section><h2>{escape(title)}</h2>\n{body}</section>\n"


def evidence(command: Sequence[str], tool: str, certificate: str | None) -> str:
    """Return the last section: the `command` that asked, the `certificate` as a file to save, and the `tool`."""
    asked = f"<p>Asked by</p><pre>{escape(shlex.join(command))}</pre>\n"
    if certificate is not None:
        data = b64encode(certificate.encode()).decode()
        asked += (
            f'<p>The proofs: <a download="proof.json" href="data:application/json;base64,{data}">proof.json</a>, '
            "which a small program checks that trusts nothing:</p><pre>dipc verify proof.json</pre>\n"
        )
    return (
        section("Evidence", asked)
        + f"<footer>{escape(tool)}. Every digit of the text is proved; curves are drawn with some of them.</footer>\n"
    )


# --- the plot --------------------------------------------------------------------------------------


def _plot(curves: Sequence[Curve]) -> str:
    records = [_record(curve) for curve in curves]
    data = json.dumps(records, separators=(",", ":")).replace("<", "\\u003c")
    choices = "".join(
        f'<option value="{position}">{escape(record["name"])}</option>' for position, record in enumerate(records)
    )
    choice = (
        f'<label><select id="which" aria-label="what is drawn">{choices}</select></label>' if len(records) > 1 else ""
    )
    fails = '<span class="fail">fails</span> ' if any(curve.failing for curve in curves) else ""
    fails += '<span class="best">tight here</span> ' if any(curve.optima for curve in curves) else ""
    required = f'<span class="req">{escape(curves[0].limit[0])}</span> ' if curves[0].is_compared else ""
    picture = f"<noscript>{_picture(curves[0])}</noscript>"
    body = (
        f'<p class="key"><span class="pr">{escape(curves[0].probable[0])}</span> '
        f"{required}{fails}{choice}</p>\n"
        f'<div id="plot"></div>\n<p class="reading" id="reading" aria-live="off"></p>\n{picture}\n'
        f'<p class="caption">{escape(sentence(curves) or "")}</p>\n'
        f'<script type="application/json" id="curves">{data}</script>\n'
    )
    return section(f"Probability over {curves[0].axis}", body)


def _record(curve: Curve) -> dict[str, Any]:
    counterexample = curve.counterexample
    return {
        "name": curve.name,
        "variable": curve.axis,
        "bound": curve.probable[0],
        "required": curve.limit[0],
        "x": [_short(x) for x in curve.xs],
        "pr": [_short(y) for y in curve.probable[1]],
        "req": [_short(y) for y in curve.limit[1]],
        "failing": [interval.as_json() for interval in curve.failing],
        "shaded": [
            [float(piece.start.low), None if piece.end.infinite else float(piece.end.low)] for piece in curve.failing
        ],
        "point": None
        if counterexample is None
        else [
            float(counterexample.eps),
            *(
                float(side[0])
                for side in (counterexample.probability, counterexample.required)[:: -1 if curve.is_limit else 1]
            ),
        ],
        "worst": [
            float(piece.worst.eps[0])
            for piece in curve.failing
            if piece.worst is not None and piece.worst.eps is not None and piece.worst.attained
        ],
        "optima": curve.optima,
    }


def _short(value: float | None) -> float | None:
    return None if value is None else float(f"{value:.5g}")


def _picture(curve: Curve) -> str:
    width, height = 640.0, 280.0
    low, high = math.log(curve.xs[0]), math.log(curve.xs[-1])
    span = high - low or 1.0

    def x(eps: float) -> float:
        return (math.log(min(max(eps, curve.xs[0]), curve.xs[-1])) - low) / span * width

    def path(values: Sequence[float | None], name: str) -> str:
        points = [
            f"{x(eps):.1f},{height - min(max(value, 0.0), 1.0) * height:.1f}"
            for eps, value in zip(curve.xs, values, strict=True)
            if value is not None
        ]
        return f'<polyline class="{name}" points="{" ".join(points)}"/>'

    shades = "".join(
        f'<rect class="fail" x="{x(float(piece.start.low)):.1f}" y="0" height="{height:.0f}" '
        f'width="{(width if piece.end.infinite else x(float(piece.end.low))) - x(float(piece.start.low)):.1f}"/>'
        for piece in curve.failing
    )
    best = "".join(f'<path class="best" d="M{x(best_at):.1f} 0v{height:.0f}"/>' for best_at in curve.optima)
    title = f"from {curve.xs[0]:.4g} to {curve.xs[-1]:.4g}, logarithmic"
    return (
        f'<svg viewBox="0 -4 {width:.0f} {height + 24:.0f}" role="img" aria-label="Pr and 1 - beta">{shades}'
        f"{best}{path(curve.probable[1], 'pr')}{path(curve.limit[1], 'req')}"
        f'<text x="0" y="{height + 16:.0f}">{escape(curve.axis)} {title}</text></svg>'
    )


# --- closed forms in MathML ------------------------------------------------------------------------


_Term = tuple[int, Fraction, Fraction]


def mathml(form: ClosedForm, variable: str = "eps") -> str:
    """Return `form`, a function of `variable`, as a `math` element; eps is shown as ε."""
    numerator, denominator = form.numerator_and_denominator()
    symbol = f"<mi>{'ε' if variable == 'eps' else variable}</mi>"
    body = _sum(numerator.terms(), symbol)
    if denominator is not None:
        body = _fraction(body, _sum(denominator.terms(), symbol))
    text = re.sub(r"\beps\b", variable, language_text(form))
    return f'<math display="block" alttext="{escape(text)}"><mrow>{body}</mrow></math>'


def _sum(terms: Iterable[_Term], symbol: str) -> str:
    texts: list[str] = []
    for k, q, c in ordered_terms(terms):
        if texts or c < 0:
            texts.append(f"<mo>{'−' if c < 0 else '+'}</mo>")
        texts.append(_monomial(k, q, abs(c), symbol))
    return "".join(texts) or "<mn>0</mn>"


def _monomial(k: int, q: Fraction, c: Fraction, symbol: str) -> str:
    factors = []
    if c != 1 or (k == 0 and q == 0):
        above, below = f"<mn>{c.numerator}</mn>", f"<mn>{c.denominator}</mn>"
        factors.append(above if c.denominator == 1 else _fraction(above, below))
    if k:
        factors.append(symbol if k == 1 else f"<msup>{symbol}<mn>{k}</mn></msup>")
    if q:
        times = "" if abs(q.numerator) == 1 else f"<mn>{abs(q.numerator)}</mn>"
        over = "" if q.denominator == 1 else f"<mo>/</mo><mn>{q.denominator}</mn>"
        sign = "<mo>−</mo>" if q < 0 else ""
        factors.append(f"<msup><mi>e</mi><mrow>{sign}{times}{symbol}{over}</mrow></msup>")
    return "<mo>&#8290;</mo>".join(factors)


def _fraction(above: str, below: str) -> str:
    return f"<mfrac><mrow>{above}</mrow><mrow>{below}</mrow></mfrac>"


# --- the functions behind a picture ----------------------------------------------------------------


#: The most terms of a closed form that is typeset, and the length of the longest text that is written out.
_TYPESET_TERMS = 40
_LONGEST = 4_000


def closed_forms(curves: Sequence[Curve], other: str = "β") -> str:
    """Return a section with the formulas of each of `curves`: its bound and, if it is compared with one, its beta.

    `other` is the label of the second formula, such as β for the allowed probability of failure.
    """
    sections = []
    for curve in curves:
        if isinstance(curve.bound, EnclosedForm):
            form = f"<p>{escape(curve.bound.reason)}: it is enclosed</p>"
        else:
            form = typeset(curve.bound, curve.symbol)
        body = f"<p>{escape(curve.labels[0])}, a function of {escape(curve.axis)}</p>{form}"
        if curve.is_compared:
            required = re.sub(r"\beps\b", curve.symbol, language_text(curve.beta))
            body += f'<p>{escape(other)}</p><code class="form">{escape(required)}</code>'
        sections.append(f"<details><summary>{escape(curve.name)}</summary>{body}</details>\n")
    return section("Closed forms", "".join(sections)) if sections else ""


def typeset(form: ClosedForm, variable: str = "eps") -> str:
    """Return `form`, a function of `variable`, as mathematics, or as text if that would be long."""
    numerator, denominator = form.numerator_and_denominator()
    if form.only_at is None and len(numerator) + (0 if denominator is None else len(denominator)) <= _TYPESET_TERMS:
        return mathml(form, variable)
    text = re.sub(r"\beps\b", variable, language_text(form))
    cut = text if len(text) <= _LONGEST else f"{text[:_LONGEST]}… ({len(text)} characters; JSON has them all)"
    return f'<code class="form">{escape(cut)}</code>'


# --- the lines on the way to an output -------------------------------------------------------------


def passed_lines(program: Program, row: RowResult) -> frozenset[int]:
    """Return the numbers, from 1, of the lines of `program` with an instruction on some path to the answer of `row`.

    The paths start at the finite inputs of `row` and end with its finite outputs. Raises Undecided if a limit is
    exceeded.
    """
    import networkx as nx

    core, pool = program.core, CellPool()
    finite = _finite(program, core.inputs, input_cells(core, row.input, pool))
    wanted = _finite(program, core.outputs, output_cells(core, row.output, pool))
    possible = program.choices.require_weights().possible
    chain = explore(program.flow, finite, wanted, program.limits, observed=list(wanted), possible=possible)
    ends = [
        exit_state.node
        for exit_state in chain.exits
        if all(same_value(exit_state.outputs[s], v) for s, v in wanted.items())
    ]
    nodes = set(ends).union(*(nx.ancestors(chain.graph, end) for end in ends))
    labels = {chain.states[node].label for node in nodes}
    source, instructions = core.source, core.instructions
    spans = [instructions[label].span for label in labels if label < len(instructions)]
    return frozenset(source.excerpt(span).line for span in spans)


def _finite(program: Program, slots: tuple[int, ...], cells: object) -> dict[int, Value]:
    assert isinstance(cells, tuple | list)
    return {
        slot: cell.value
        for slot, cell in zip(slots, cells, strict=True)
        if cell is not None and cell.value is not None and not program.core.slots[slot].is_symbolic
    }
