"""The answer of `dipc check --inputs all`: the proofs about every input, and the inputs that refute the claim."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, assert_never

from dipc.claims.claim import FREE, intervals_text
from dipc.decide.engine import Engine
from dipc.decide.obligation import Verdict
from dipc.outcome.outcome import Line, Outcome, Part, ReportBlock, hint, section
from dipc.outcome.rows import accuracy, scope_text, shortfall
from dipc.outcome.words import (
    NON_VACUOUS,
    Statement,
    UserQuestion,
    all_or_both,
    assignment_text,
    count,
    everywhere_text,
    interval_text,
    limit_hint,
    near_sign,
    product_letter,
    s,
    subject_fields,
    vacuous_text,
    vacuous_why,
    without_closed_form,
)
from dipc.questions.report import NO_UNION_BOUND, ClassNote, ClassResult, Method, Report, RowResult
from dipc.questions.source import Source
from dipc.text.printer import language_text

if TYPE_CHECKING:
    from dipc.inverse.solve import WrittenForm

#: The words with which a claim leaves a distance open.
_OPEN = {"alpha": "dd", "gamma": FREE}

#: The most classes of one verdict that are described; the others are counted.
SHOWN_CLASSES = 4

#: The most inequalities of one class that are written out, and the length of the longest closed form.
_SHOWN_FACETS = 8
_LONGEST = 160


def class_verdict_line(report: Report) -> str:
    """Return the result of `report`, which is about all inputs, in one sentence."""
    counts = report.counts
    if report.numbers is not None:
        return _numbers_line(report)
    classes = count(counts.rows, "class")
    some = all_or_both(counts.rows) if counts.vacuous == counts.rows else counts.vacuous
    number = f"{some} of them " if counts.rows > 1 else ""
    of_them = f", {number}vacuously, as {vacuous_why(report)}" if counts.vacuous else ""
    everywhere = f"{report.every_input} ({classes}{of_them}), {_quantified(report)}"
    vacuous = f", {vacuous_text(report)}" if counts.vacuous else ""
    match report.verdict:
        case Verdict.ACCURATE:
            return f"accurate: {everywhere}"
        case Verdict.INACCURATE:
            tail = f", {counts.undecided} undecided" if counts.undecided else ""
            return f"INACCURATE: {counts.inaccurate} of {classes} of inputs fail{s(counts.inaccurate)}{tail}{vacuous}"
        case Verdict.UNDECIDED:
            rest = "; the claim holds on the others" if counts.accurate else ""
            return f"UNDECIDED: {counts.undecided} of {classes} of inputs{rest}{vacuous}"
    assert_never(report.verdict)


def _numbers_line(report: Report) -> str:
    counts = report.counts
    match report.verdict:
        case Verdict.ACCURATE:
            everything = f"every {report.numbers}, {report.every_input}, {_quantified(report)}"
            if counts.vacuous == counts.rows:
                return f"accurate: {everything}, vacuously ({vacuous_why(report)})"
            some = f"; {counts.vacuous} of {count(counts.rows, 'case')} vacuously, as {vacuous_why(report)}"
            classes = (row for row in report.rows if isinstance(row, ClassResult))
            notes = [one.note for row in classes for one in (row, *row.rows)]
            totals = any(note.method is Method.TOTALS for note in notes)
            proof = "a proof for all values of the totals" if totals else "a union-bound proof"
            return f"accurate: {everything} ({proof}{some if counts.vacuous else ''})"
        case Verdict.INACCURATE:
            return f"INACCURATE: the claim does not hold for every {report.numbers}"
        case Verdict.UNDECIDED:
            return f"UNDECIDED: whether the claim holds for every {report.numbers}"
    assert_never(report.verdict)


def outcome(
    source: Source,
    engine: Engine,
    report: Report,
    asked: UserQuestion,
    forms: tuple[RowResult, Sequence[WrittenForm]] | None = None,
    times: bool = False,
) -> Outcome:
    """Return the answer to a question about every real and int input.

    `source` lists the classes of inputs, `engine` has decided them, and `report` has the results. `asked` is the
    question as the user put it. `forms`, if given, is a class with its probabilities, which are then written out as
    formulas. If `times` is true, the report ends with the time and the amount of work.
    """
    statement = asked.about_every_input(source.program, source.stated, source.numbers)

    def page() -> Iterator[ReportBlock]:
        yield from _report_parts(report, statement)
        if forms is not None:
            yield _written_out(_letter(report), *forms)
        if times:
            effort = report.effort
            work = f"{count(effort.measures, 'integral')}, {count(effort.obligations, 'sign decision')}"
            yield section(None, ("time", f"{effort.seconds:.2f} s"), ("work", work))

    return accuracy(source, engine, report, class_verdict_line(report), page, "class")


def _report_parts(report: Report, statement: Statement) -> Iterator[ReportBlock]:
    rows = [row for row in report.rows if isinstance(row, ClassResult)]
    notes = [row.note for row in rows]
    methods = Counter(note.method for note in notes)
    yield section(
        None,
        *subject_fields(statement, report.eps),
        (NON_VACUOUS, scope_text(report)),
        (
            "classes" if statement.numbers is None else "cases",
            "; ".join(f"{methods[method]} {text}" for method, text in _METHODS.items() if method in methods),
        ),
    )
    if statement.numbers is not None:
        proved = [row.note for row in rows if row.verdict is Verdict.ACCURATE]
        yield section(None, *[(", ".join(note.conditions), _METHODS[note.method]) for note in proved])
        rows = [row for row in rows if row.verdict is not Verdict.ACCURATE]
    yield from findings(rows, _letter(report), near_sign(report.stated))
    reasons = [row.reason for row in rows if row.verdict is Verdict.UNDECIDED]
    shaped = any(reason is not None and reason.startswith(NO_UNION_BOUND) for reason in reasons)
    yield hint(_SHAPES if shaped and statement.numbers is not None else None)
    yield hint(limit_hint(reasons))


#: The programs that are covered for every number of queries.
_SHAPES = (
    "--for-all follows two kinds of loops over all queries: `for i in 1..m do … end`, or `for x in q` in Python. The "
    "first kind compares each noisy query with what was drawn before the loop, and may exit, also with the index, or "
    "with yes, as the answer. The second kind keeps the greatest or the least noisy value and its index, as "
    "`noisy.index(max(noisy))` does in Python"
)


def _letter(report: Report) -> str:
    return product_letter({*report.constants, *(name for row in report.rows[:1] for name in row.input)})


def findings(rows: Sequence[ClassResult], letter: str = "t", sign: str = "≤") -> Iterator[ReportBlock]:
    """Yield a block of text for each of the classes `rows`: failing ones first, and those that hold last.

    Of many classes with the same verdict, only the first few have a block. `letter` is the name of the variable in
    formulas, a product of alpha or gamma with eps. `sign`, `<` or `≤`, is the relation of dd to alpha at inputs for
    which nothing is claimed.
    """
    for verdict in (Verdict.INACCURATE, Verdict.UNDECIDED, Verdict.ACCURATE):
        alike = [row for row in rows if row.verdict is verdict]
        yield from (_finding(row, letter, sign) for row in alike[:SHOWN_CLASSES])
        if len(alike) > SHOWN_CLASSES:
            more = count(len(alike) - SHOWN_CLASSES, "more class")
            yield [Line(f"{more} {verdict}; --format json has them all")]
    yield hint(_CLIPPING if any(_is_clipped(row.note) for row in rows) else None)


#: The reason why classes within the ranges to which a program clips its inputs are about every input.
_CLIPPING = (
    "the program clips its inputs: an input outside of these classes has the same probabilities as the input that it "
    "is clipped to"
)


def _is_clipped(note: ClassNote) -> bool:
    return note.core.requires is not None and note.core.requires.stands_for_all


def _finding(row: ClassResult, letter: str, sign: str) -> Sequence[Part]:
    match row.verdict:
        case Verdict.INACCURATE:
            fields = [("input", assignment_text(row.input)), ("alpha", row.alpha)]
            gamma = ("gamma", row.gamma if row.gamma != "0" else None)
            found = shortfall(row, _LONGEST, ", at this input")
            return section(f"class {row.row} fails", *class_fields(row), *fields, gamma, *found)
        case Verdict.UNDECIDED:
            reason = ("reason", row.reason or "no reason was given")
            return section(f"class {row.row} is undecided", *class_fields(row), reason, label_width=len("probability"))
        case Verdict.ACCURATE:
            return _proved(letter, sign, row)
    assert_never(row.verdict)


def _quantified(report: Report) -> str:
    eps = everywhere_text(report.eps, "every eps")
    distances = ", ".join(f"every {name}" for name, is_open in _OPEN.items() if report.claim.get(name) == is_open)
    if not distances:
        return eps
    return f"{distances}{' and ' if eps.startswith('every') else ' '}{eps}"


_METHODS = {
    Method.CORNER: "proved exactly, by the hardest input",
    Method.BOUND: "proved by a lower bound of its probabilities",
    Method.UNION: "proved by a union bound over single comparisons",
    Method.INPUTS: "proved exactly, input by input",
    Method.TOTALS: "proved at all values of the totals that the program reads",
    Method.EMPTY: "no input that far from other answers",
    Method.WITNESS: "refuted by an input",
    Method.NOTHING: "vacuous, as beta ≥ 1",
    Method.NONE: "undecided",
}


def class_fields(row: RowResult) -> Iterable[tuple[str, str]]:
    """Yield pairs of a label and a text: the conditions on the inputs of the class `row`, and their right answer.

    If the class represents other classes, another pair has the number of classes.
    """
    assert isinstance(row, ClassResult)
    facets = row.note.conditions
    rest = f" and {len(facets) - _SHOWN_FACETS} more" if len(facets) > _SHOWN_FACETS else ""
    yield "inputs", (", ".join(facets[:_SHOWN_FACETS]) + rest) if facets else "all"
    if row.note.answer:
        yield "answer", assignment_text(row.note.answer)
    if row.count is not None:
        yield "alike", f"{row.count} classes that are the same up to an exchange of inputs"


def _proved(letter: str, sign: str, row: ClassResult) -> Sequence[Part]:
    note = row.note
    why = f" vacuously, as {f'dd {sign} alpha' if row.says is None else 'beta ≥ 1'}" if row.vacuous else ""
    pairs = [*class_fields(row)]
    if note.corner and note.exact:
        pairs.append(("hardest at", assignment_text(note.corner)))
    if note.probability is not None and note.beta is not None:
        product = note.variable != "eps"
        variable = letter if product else "eps"
        pairs.append(("probability", f"{'=' if note.exact else '≥'} {_form(note.probability, variable)}"))
        lesser = ", and the claim allows at least as much" if note.lesser else ""
        pairs.append(("beta", _form(note.beta, variable) + lesser))
        if product:
            values = interval_text(intervals_text(note.intervals))
            pairs.append(("for every", f"{letter} = {note.variable} in {values}"))
    return section(f"class {row.row} holds{why}", *pairs, label_width=len("probability"))


def _written_out(letter: str, row: RowResult, forms: Sequence[WrittenForm]) -> Sequence[Part]:
    pairs = list(class_fields(row))
    for form in forms:
        text = re.sub(r"\beps\b", "eps" if form.variable == "eps" else letter, language_text(form.text))
        variable = "" if form.variable == "eps" else f", {letter} = {form.variable}"
        pairs.append(("probability", f"{'' if form.exact else 'at least '}{text}{variable}"))
    if not forms:
        pairs.append(("probability", without_closed_form(row)))
    return section(f"class {row.row} in closed form: {row.verdict}", *pairs, label_width=len("probability"))


def _form(text: str, variable: str) -> str:
    shown_text = re.sub(r"\beps\b", variable, language_text(text))
    return shown_text if len(text) <= _LONGEST else f"a form of {len(text)} characters; --format json has it"
