"""What was found about the privacy of a program, for people."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import assert_never

from dipc.estimate.loss import LossEstimate
from dipc.privacy.constant import Constant
from dipc.privacy.least_delta import LeastDelta
from dipc.privacy.loss import Loss
from dipc.privacy.outcome import Numbers, PrivacyCounterexample, PrivacyReport, PrivacyVerdict
from dipc.privacy.renyi import Renyi
from dipc.report.claimed import program_text
from dipc.report.numbers import DIGITS, agreement, cell_text, rational, shown
from dipc.report.page import Look, Page, Tone
from dipc.report.vectors import assignment_text
from dipc.report.words import count, everywhere_text, interval_text

_TONES = {
    PrivacyVerdict.PRIVATE: Tone.GOOD,
    PrivacyVerdict.NOT_PRIVATE: Tone.BAD,
    PrivacyVerdict.UNDECIDED: Tone.OPEN,
}


@dataclass(frozen=True, slots=True)
class PrivacyStatement:
    """What was asked, in the user's own words: the file of the program, its constants, those given on the command line,
    and the values of a constant that is left open."""

    path: str
    program: str
    constants: tuple[tuple[str, str], ...]
    definitions: tuple[str, ...]
    numbers: Numbers | None = None

    def about(self, adjacency: str, inputs: str, pairs: int | None) -> Iterable[tuple[str, str]]:
        """The fields that say what every question about privacy is about."""
        yield "program", program_text(f"{self.program} ({self.path})", self.constants)
        yield "inputs", "all real inputs" if pairs is None else inputs
        if self.numbers is not None:
            yield "for every", f"integer {self.numbers.parameter} >= {self.numbers.least}"
        yield "adjacent", adjacency if pairs is None else f"{adjacency}: {count(pairs, 'ordered pair')}"

    def replay(self, values: Mapping[str, str | None], eps: Fraction) -> Iterable[str]:
        """Commands that compute the law at an input again, and run the program there."""
        given = ",".join(f"{name}={value}" for name, value in values.items())
        words = [self.path, *[word for text in self.definitions for word in ("-D", text)], "--input", given]
        for command in ("prob", "simulate"):
            yield shlex.join(["dipc", command, *words, "--eps", str(eps)])


#: What a question about privacy comes to.
Found = PrivacyReport | Constant | Loss | LeastDelta | Renyi


def privacy_line(found: Found) -> str:
    """The result in one sentence."""
    match found:
        case PrivacyReport():
            return _verdict_line(found)
        case Constant():
            return _constant_line(found)
        case Loss():
            return f"largest loss {_enclosed(found.value)} at eps = {found.eps}"
        case LeastDelta():
            how = "attained" if found.attained else "not attained"
            return f"least delta for {found.budget}: supremum {_enclosed(found.supremum)}, {how}"
        case Renyi():
            return f"largest Rényi divergence of order {found.order}: {_enclosed(found.value)} at eps = {found.eps}"
    assert_never(found)


def _enclosed(value: tuple[Fraction, Fraction] | None) -> str:
    if value is None:
        return "∞"
    return rational(value[0]) if value[0] == value[1] else shown(*value, DIGITS)


def _constant_line(found: Constant) -> str:
    if found.proved is not None and found.exact:
        every, does = _every(found.numbers), _does(found.numbers)
        return f"constant {found.proved}: {found.proved}*eps-private{every}, and no smaller constant {does}"
    if found.exact:
        return f"constant ∞: K*eps-private for no K{_at(found.numbers)}"
    proved = "none is proved" if found.proved is None else f"{rational(found.proved)} is proved"
    below = (
        "all are refuted" if found.refuted_below is None else f"all below {rational(found.refuted_below)} are refuted"
    )
    return f"constant{_every(found.numbers)}: {proved}, {below}{_at(found.numbers)}"


def _every(numbers: Numbers | None) -> str:
    return "" if numbers is None else f" for every {numbers.parameter} >= {numbers.least}"


def _at(numbers: Numbers | None) -> str:
    return "" if numbers is None or numbers.at is None else f", at {numbers.parameter} = {numbers.at}"


def _does(numbers: Numbers | None) -> str:
    if numbers is None:
        return "will do"
    return f"does for {numbers.parameter} {'>=' if numbers.onwards else '='} {numbers.at}"


def _verdict_line(report: PrivacyReport) -> str:
    claim = report.claim
    level = claim.budget_text if claim.is_pure else f"({claim.budget_text}, {claim.delta_text})"
    pairs = "every pair of adjacent real inputs" if report.pairs is None else f"all {count(report.pairs, 'pair')}"
    everywhere = everywhere_text(claim.eps_text)
    match report.verdict:
        case PrivacyVerdict.PRIVATE:
            return f"private: {level} for {pairs}{_every(report.numbers)}, {everywhere}"
        case PrivacyVerdict.NOT_PRIVATE:
            return f"NOT PRIVATE: {level} fails for a pair at an eps{_at(report.numbers)}"
        case PrivacyVerdict.UNDECIDED:
            return f"UNDECIDED: {level} is neither proved nor refuted for {pairs}{_every(report.numbers)}"


def render_family(answers: Iterable[tuple[str, Found, LossEstimate | None]]) -> str:
    """A line for each program of a family, by its constants."""
    rows = [(named, privacy_line(found), known) for named, found, known in answers]
    page = Page(Look())
    page.fields(
        [(named, line + ("" if known is None else f"; {_estimate_line(known)}")) for named, line, known in rows]
    )
    return page.text()


def _estimate_line(estimate: LossEstimate) -> str:
    low, high = estimate.intervals["hoeffding"]
    return f"estimated in [{low:.6g}, {high:.6g}] from {estimate.hits.runs} runs"


_METHODS = {
    "hoeffding": "Hoeffding",
    "clt": "central limit theorem",
    "m-clt": "the same, with the same noises at both",
}


def _estimated(estimate: LossEstimate) -> Iterable[tuple[str, str]]:
    """The estimate and its intervals, below the exact loss."""
    yield "estimate", f"{estimate.value:.6g} from {estimate.hits.runs} runs at each input, seed {estimate.seed}"
    for name, (low, high) in estimate.intervals.items():
        yield _METHODS[name], f"[{low:.6g}, {high:.6g}] with confidence {estimate.confidence:g}"


def render_privacy(found: Found, statement: PrivacyStatement, look: Look, estimate: LossEstimate | None = None) -> str:
    """The whole report as text; `estimate` is that of a loss."""
    page = Page(look)
    tone = _TONES[found.verdict] if isinstance(found, PrivacyReport) else Tone.HEAD
    page.line(privacy_line(found), tone)
    page.blank()
    about = statement.about(found.adjacency, found.about, found.pairs)
    match found:
        case PrivacyReport():
            _report(page, found, statement)
        case Constant():
            page.fields([*about, ("eps", f"all of {interval_text(found.eps)}"), *_reason(found.reason)])
            if found.at is not None:
                balls = [f"{name} in [{low}, {high}]" for name, (low, high) in found.at.balls.items()]
                ends = found.refuted_below
                page.blank()
                page.line("no constant will do" if ends is None else f"less than {ends} fails for", Tone.HEAD)
                page.fields(_place(found.at.input, found.at.adjacent, [found.at.output], balls))
        case Loss():
            page.fields(about)
            page.blank()
            exact = [("exact loss", _enclosed(found.value))] if estimate is not None else []
            estimated = [] if estimate is None else _estimated(estimate)
            place = _place(found.input, found.adjacent, [found.output], [])
            page.fields([*place, ("loss", found.text), *exact, *estimated])
        case Renyi():
            page.fields(about)
            page.blank()
            page.fields([("input u", assignment_text(found.input)), ("adjacent u'", assignment_text(found.adjacent))])
            if found.moment is not None:
                factor = "D" if found.order == 2 else f"{found.order - 1}*D"
                page.fields([(f"exp({factor})", str(found.moment))])
        case LeastDelta():
            page.fields([*about, ("budget", found.budget), ("eps", f"all of {interval_text(found.eps)}")])
            _least_delta(page, found)
        case _:
            assert_never(found)
    return page.text()


def _reason(reason: str | None) -> Iterable[tuple[str, str]]:
    return [] if reason is None else [("reason", reason)]


def _place(
    one: Mapping[str, str | None],
    two: Mapping[str, str | None],
    outputs: Sequence[Mapping[str, str | None]],
    balls: Sequence[str],
) -> list[tuple[str, str]]:
    """The fields that say where something is."""
    return [
        ("input u", assignment_text(one)),
        ("adjacent u'", assignment_text(two)),
        ("output" if len(outputs) == 1 else "outputs", _outputs(outputs, balls)),
    ]


def _least_delta(page: Page, found: LeastDelta) -> None:
    for piece in found.pieces or ():
        page.blank()
        upper = "∞" if piece.upper.high is None else cell_text(piece.upper.low, piece.upper.high)
        page.line(f"eps from {cell_text(piece.lower.low, piece.lower.high or piece.lower.low)} to {upper}", Tone.HEAD)
        page.fields([("delta", str(piece.delta))])
        if piece.where is not None:
            page.fields(_place(piece.where.input, piece.where.adjacent, piece.where.outputs, []))
    if found.pieces is None:
        page.blank()
        page.line("its closed forms are too many to be listed", Tone.FAINT)
    page.blank()
    place = {"0+": "next to 0", "inf": "towards ∞"}.get(str(found.place), "every eps")
    if not isinstance(found.place, str):
        place = cell_text(*found.place)
    fields = [("supremum", _enclosed(found.supremum)), ("at eps", place)]
    if found.at is not None:
        eps, value, form = found.at
        fields.append((f"at {eps}", f"{_enclosed(value)} = {form}"))
    page.fields(fields)


def _report(page: Page, report: PrivacyReport, statement: PrivacyStatement) -> None:
    claim = report.claim
    fields = [*statement.about(report.adjacency, report.about, report.pairs)]
    more = "" if claim.is_pure else f" + {claim.delta_text}"
    bound = f"exp({claim.budget_text})*Pr[P(u') in S]{more}"
    fields.append(("claim", f"Pr[P(u) in S] ≤ {bound}, for every set S of outputs"))
    fields.append(("eps", f"all of {interval_text(claim.eps_text)}"))
    if report.obligations:
        fields.append(("decided", count(report.obligations, "obligation")))
    if report.proof is not None:
        fields.append(("proof", report.proof))
    if report.reason is not None:
        fields.append(("reason", report.reason))
    page.fields(fields)
    if report.counterexample is not None:
        numbers = report.numbers
        if numbers is not None and numbers.at is not None:
            definitions = (*statement.definitions, f"{numbers.parameter}={numbers.at}")
            statement = replace(statement, definitions=definitions)
        _counterexample(page, report.counterexample, statement)
    if report.verdict is PrivacyVerdict.UNDECIDED:
        page.blank()
        page.line("--limit NAME=N raises a limit; dipc check --help names them", Tone.FAINT)


def _counterexample(page: Page, found: PrivacyCounterexample, statement: PrivacyStatement) -> None:
    page.blank()
    page.line("counterexample", Tone.HEAD)
    digits = agreement(found.probability, found.allowed)
    balls = {} if found.balls is None else found.balls
    inside = [f"{name} in [{low}, {high}]" for name, (low, high) in balls.items()]
    page.fields(
        [
            *_place(found.input, found.adjacent, found.outputs, inside),
            ("eps", rational(found.eps)),
            ("probability", shown(*found.probability, digits)),
            ("allowed", shown(*found.allowed, digits)),
        ]
    )
    page.blank()
    page.line("to see it again", Tone.FAINT)
    for values in (found.input, found.adjacent):
        page.verbatim(f"  {line}" for line in statement.replay(values, found.eps))


def _outputs(outputs: Sequence[Mapping[str, str | None]], inside: Sequence[str]) -> str:
    said = ["; ".join(assignment_text(output) for output in outputs if output), *inside]
    return ", ".join(part for part in said if part)
