"""What was found about the privacy of a program, for people."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from dipc.privacy.outcome import PrivacyCounterexample, PrivacyReport, PrivacyVerdict
from dipc.report.claimed import program_text
from dipc.report.numbers import agreement, rational, shown
from dipc.report.page import Look, Page, Tone
from dipc.report.vectors import assignment_text
from dipc.report.words import count, interval_text

_TONES = {
    PrivacyVerdict.PRIVATE: Tone.GOOD,
    PrivacyVerdict.NOT_PRIVATE: Tone.BAD,
    PrivacyVerdict.UNDECIDED: Tone.OPEN,
}


@dataclass(frozen=True, slots=True)
class PrivacyStatement:
    """What was asked, in the user's own words: the file of the program, its constants, those given on the command line,
    and what says which inputs are adjacent."""

    path: str
    program: str
    constants: tuple[tuple[str, str], ...]
    definitions: tuple[str, ...]

    def about(self, adjacency: str, inputs: str, pairs: int | None) -> Iterable[tuple[str, str]]:
        """The fields that say what every question about privacy is about."""
        yield "program", program_text(f"{self.program} ({self.path})", self.constants)
        yield "inputs", "all real inputs" if pairs is None else inputs
        yield "adjacent", adjacency if pairs is None else f"{adjacency}: {count(pairs, 'ordered pair')}"

    def replay(self, values: Mapping[str, str | None], eps: Fraction) -> Iterable[str]:
        """Commands that compute the law at an input again, and run the program there."""
        given = ",".join(f"{name}={value}" for name, value in values.items())
        words = [self.path, *[word for text in self.definitions for word in ("-D", text)], "--input", given]
        for command in ("prob", "simulate"):
            yield shlex.join(["dipc", command, *words, "--eps", str(eps)])


def privacy_line(report: PrivacyReport) -> str:
    """The verdict in one sentence."""
    claim = report.claim
    level = claim.budget_text if claim.is_pure else f"({claim.budget_text}, {claim.delta})"
    pairs = "every pair of adjacent real inputs" if report.pairs is None else f"all {count(report.pairs, 'pair')}"
    where = interval_text(claim.eps_text)
    match report.verdict:
        case PrivacyVerdict.PRIVATE:
            return f"private: {level} for {pairs}, for every eps in {where}"
        case PrivacyVerdict.NOT_PRIVATE:
            return f"NOT PRIVATE: {level} fails for a pair at an eps"
        case PrivacyVerdict.UNDECIDED:
            return f"UNDECIDED: {level} is neither proved nor refuted for {pairs}"


def render_privacy(report: PrivacyReport, statement: PrivacyStatement, look: Look) -> str:
    """The whole report as text."""
    page = Page(look)
    page.line(privacy_line(report), _TONES[report.verdict])
    page.blank()
    claim = report.claim
    fields = [*statement.about(report.adjacency, report.about, report.pairs)]
    more = "" if claim.is_pure else f" + {claim.delta}"
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
        _counterexample(page, report.counterexample, statement)
    if report.verdict is PrivacyVerdict.UNDECIDED:
        page.blank()
        page.line("--limit NAME=N raises a limit; dipc check --help names them", Tone.FAINT)
    return page.text()


def _counterexample(page: Page, found: PrivacyCounterexample, statement: PrivacyStatement) -> None:
    page.blank()
    page.line("counterexample", Tone.HEAD)
    digits = agreement(found.probability, found.allowed)
    balls = {} if found.balls is None else found.balls
    inside = [f"{name} in [{low}, {high}]" for name, (low, high) in balls.items()]
    page.fields(
        [
            ("input u", assignment_text(found.input)),
            ("adjacent u'", assignment_text(found.adjacent)),
            ("output" if len(found.outputs) == 1 else "outputs", _outputs(found.outputs, inside)),
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
