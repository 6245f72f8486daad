"""Reports whose rows stand for classes of inputs, in words that count inputs."""

from __future__ import annotations

from dipc.obligations.verdict import Verdict
from dipc.report.words import count, plural, vacuous_text
from dipc.sources.outcome import RowResult
from dipc.sources.report import Report


def members(report: Report, verdict: Verdict) -> int:
    """How many inputs the classes with this verdict have together."""
    return sum(row.count or 0 for row in report.select(verdict))


def class_verdict_line(report: Report, everywhere: str) -> str:
    """The result about all inputs of all classes in one sentence; `everywhere` says for which eps."""
    counts = report.counts
    inputs = report.inputs or 0
    classes = count(counts.rows, "class")
    accurate = members(report, Verdict.ACCURATE)
    undecided = members(report, Verdict.UNDECIDED)
    inaccurate = members(report, Verdict.INACCURATE)
    vacuous = f", {vacuous_text(counts)} of the classes" if counts.vacuous else ""
    match report.verdict:
        case Verdict.ACCURATE:
            of_them = f", {vacuous_text(counts, of_them=True)}" if counts.vacuous else ""
            return f"accurate: {_inputs(inputs, whole=True)} in {classes}{of_them}, {everywhere}"
        case Verdict.INACCURATE:
            tail = f", {undecided} undecided" if undecided else ""
            fail = "fails" if inaccurate == 1 else "fail"
            if inaccurate == inputs > 1:
                return f"INACCURATE: {_inputs(inputs, whole=True)} {fail}, in {classes}"
            where = f"in {counts.inaccurate} of {classes}{tail}{vacuous}"
            return f"INACCURATE: {inaccurate} of {_inputs(inputs)} {fail}, {where}"
        case Verdict.UNDECIDED:
            hold = "holds" if accurate == 1 else "hold"
            rest = f"; the other {accurate} {hold} {everywhere}" if accurate else ""
            return f"UNDECIDED: {undecided} of {_inputs(inputs)}, in {counts.undecided} of {classes}{rest}{vacuous}"


def row_word(row: RowResult, number: int = 1) -> str:
    """What so many rows such as this one are called: `rows`, or `classes` where they stand for these."""
    word = "row" if row.count is None else "class"
    return word if number == 1 else plural(word)


def row_name(row: RowResult) -> str:
    """`row 3`, or `class 3` where the row stands for one."""
    return f"{row_word(row)} {row.row}"


def class_size(row: RowResult) -> str:
    """How many inputs a class has, in words that follow its first one."""
    others = (row.count or 1) - 1
    return f"and {others} more that {'differs' if others == 1 else 'differ'} in nothing that matters" if others else ""


def _inputs(number: int, whole: bool = False) -> str:
    return f"{'all ' if whole and number > 1 else ''}{count(number, 'input')}"
