"""Outcomes of questions about privacy: verdicts, losses, divergences and constants, as fields and lines of text."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, TypeAlias, assert_never

from dipc.algebra.numbers import exact_text, outward
from dipc.frozen import LazyModule, frozen
from dipc.outcome.outcome import ExitStatus, Fields, Grid, Outcome, ReportBlock, Tone, Verbatim, hint, section
from dipc.outcome.words import (
    DIGITS,
    agreement,
    all_of,
    assignment_text,
    cell_text,
    count,
    enclosed_text,
    every_one,
    everywhere_text,
    limit_hint,
    program_text,
    rational,
    shown,
    single,
)
from dipc.outcome.words import (
    exact as exactly,
)
from dipc.questions.privacy.check import PrivacyQuestion
from dipc.questions.privacy.constant import Constant
from dipc.questions.privacy.laws import LeastDelta
from dipc.questions.privacy.loss import WITHOUT_FORM, Divergences, Loss, Renyi, Rho
from dipc.questions.privacy.outcome import SCHEMA, Numbers, PrivacyCounterexample, PrivacyReport, PrivacyVerdict
from dipc.text.printer import language_text

if TYPE_CHECKING:
    from dipc.estimate import LossEstimate
    from dipc.questions.privacy import every_number
    from dipc.questions.privacy import profile as profiles
else:
    every_number = LazyModule("dipc.questions.privacy.every_number")
    profiles = LazyModule("dipc.questions.privacy.profile")


@frozen
class PrivacyStatement:
    """A question about privacy, as the heading of a report shows it.

    - `path` is the program's file, `program` its name, and `constants` are the names and values of its constants.
      `definitions` are the constants that the command line sets, as strings.
    - `numbers`, if the question is about every m, has the name and the least value of m.
    - `runs` is the number of independent runs whose outputs are observed together.
    - `theorems` are composition theorems, with the privacy budget of one run.
    - `digits` is the number of significant digits that an enclosure needs to count as an answer.
    """

    path: str
    program: str
    constants: tuple[tuple[str, str], ...]
    definitions: tuple[str, ...]
    numbers: Numbers | None = None
    runs: int = 1
    theorems: tuple[profiles.Theorems, Fraction] | None = None
    digits: int = DIGITS

    def question_fields(self, adjacency: str, inputs: str, pairs: int | None) -> Iterable[tuple[str, str]]:
        """Yield the labels and texts that describe a question about privacy.

        `adjacency` and `inputs` are strings that describe the adjacency and the inputs in question; `pairs` is the
        number of pairs of inputs, None if they are not counted.
        """
        yield "program", program_text(f"{self.program} ({self.path})", self.constants)
        yield "inputs", inputs
        if self.numbers is not None:
            yield "for every", f"integer {self.numbers.parameter} >= {self.numbers.least}"
        yield "adjacent", adjacency if pairs is None else f"{adjacency}: {count(pairs, 'ordered pair')}"
        if self.runs > 1:
            yield "runs", f"{self.runs} independent runs on one pair of inputs; an output is that of all runs together"

    def replay(self, values: Mapping[str, str | None], eps: Fraction, outputs: Sequence[str]) -> Iterable[str]:
        """Yield commands that compute the law at the input `values` again, and run the program there, at `eps`.

        `outputs` are the command-line options that select outputs.
        """
        given = ",".join(f"{name}={value}" for name, value in values.items())
        words = [self.path, *[word for text in self.definitions for word in ("-D", text)], "--input", given]
        for command in ("prob", "simulate"):
            yield shlex.join(["dipc", command, *words, "--eps", str(eps), *outputs])


_STANDINGS = {
    PrivacyVerdict.PRIVATE: ExitStatus.HOLDS,
    PrivacyVerdict.NOT_PRIVATE: ExitStatus.FAILS,
    PrivacyVerdict.UNDECIDED: ExitStatus.OPEN,
}


#: The answer to a question about privacy.
PrivacyAnswer: TypeAlias = (
    "PrivacyReport | Constant | Loss | LeastDelta | profiles.BudgetAt | profiles.Profile | Renyi | Divergences | Rho"
)


def _enclosures(answer: PrivacyAnswer) -> Iterator[tuple[Fraction, Fraction] | None]:
    match answer:
        case Constant():
            if answer.proved is not None and answer.refuted_below is not None:
                yield answer.refuted_below, answer.proved
        case Loss() | Renyi() | Rho() | profiles.BudgetAt():
            yield answer.value
        case LeastDelta():
            yield answer.supremum
        case Divergences():
            yield from (each.value for each in answer.orders)
        case profiles.Profile():
            yield from (point.delta for point in answer.points)


def _is_wide(value: tuple[Fraction, Fraction] | None, digits: int) -> bool:
    """Return True if fewer than `digits` digits of the enclosure `value` are certain, and it is not very narrow.

    A very narrow enclosure has a width of at most 10^(-2·`digits`). The result is False if `value` is None.
    """
    if value is None:
        return False
    low, high = value
    width = high - low
    return width * Fraction(10) ** (digits - 1) > max(abs(low), abs(high)) and width * Fraction(10) ** (2 * digits) > 1


def _is_open(answer: PrivacyAnswer, digits: int) -> bool:
    """Return True if a number in `answer` is not known, or is enclosed with fewer digits than `digits`."""
    if isinstance(answer, Constant) and not answer.exact and (answer.proved is None or answer.refuted_below is None):
        return True
    if isinstance(answer, LeastDelta) and answer.at is not None and _is_wide(answer.at[1], digits):
        return True
    return any(_is_wide(value, digits) for value in _enclosures(answer))


def privacy_line(answer: PrivacyAnswer, digits: int = DIGITS) -> str:
    """Return the result `answer` in one sentence; a number with fewer digits than `digits` is reported as undecided."""
    line = _known_line(answer, digits)
    return f"UNDECIDED: {line}" if not isinstance(answer, Constant) and _is_open(answer, digits) else line


def _known_line(answer: PrivacyAnswer, digits: int) -> str:
    match answer:
        case PrivacyReport():
            return _verdict_line(answer)
        case Constant():
            return _constant_line(answer, digits)
        case Loss():
            return f"largest loss {_enclosed(answer.value)} at eps = {answer.eps}"
        case LeastDelta():
            if (eps := single(answer.eps)) is not None:
                return f"least delta for {answer.budget}: {_enclosed(answer.supremum)} at eps = {eps}"
            how = {True: ", attained", False: ", not attained", None: ""}[answer.attained]
            where = everywhere_text(answer.eps, "over all eps")
            return f"least delta for {answer.budget}: supremum {_enclosed(answer.supremum)}{how}, {where}"
        case Renyi():
            return f"largest Rényi divergence of order {answer.order}: {_enclosed(answer.value)} at eps = {answer.eps}"
        case Divergences():
            first, last = answer.orders[0], answer.orders[-1]
            values = f"{_enclosed(first.value)} to {_enclosed(last.value)}"
            return f"largest Rényi divergences of orders {first.order} to {last.order}: {values} at eps = {first.eps}"
        case profiles.BudgetAt():
            line = f"least budget for delta {answer.delta}: {_enclosed(answer.value)} at eps = {answer.eps}"
            if answer.limit is None:
                return line
            return f"{line}, as delta is at least {_enclosed(answer.limit)} for every budget"
        case profiles.Profile():
            most = answer.points[-1]
            return (
                f"privacy profile at eps = {answer.eps}: delta falls from {_enclosed(answer.points[0].delta)} to "
                f"{_enclosed(most.delta)} at budget {rational(most.budget)}"
            )
        case Rho():
            where = everywhere_text(answer.eps)
            if answer.value is None:
                if answer.at_one is not None:
                    return f"least rho {_enclosed(answer.at_one)}*eps^2 at each eps: no rho suffices {where}"
                return f"no rho suffices {where}" + ("; give one eps, `--eps 1`" if single(answer.eps) is None else "")
            return f"least rho: {_enclosed(answer.value)}-zCDP, {where}"
    assert_never(answer)


def _enclosed(value: tuple[Fraction, Fraction] | None) -> str:
    if value is None:
        return "∞"
    if value[0] != value[1] and _is_wide(value, _FEW_DIGITS):
        return f"between {_decimal(value[0], 0)} and {_decimal(value[1], 1)}"
    return rational(value[0]) if value[0] == value[1] else enclosed_text(*value, DIGITS)


def _decimal(value: Fraction, side: int) -> str:
    """Return `value` as a decimal of `DIGITS` digits, rounded down if `side` is 0 and up if it is 1."""
    return exact_text(outward(value, value, DIGITS)[side])


#: An enclosure with fewer significant digits is shown by its ends.
_FEW_DIGITS = 3


def _constant_line(constant: Constant, digits: int) -> str:
    numbers = constant.numbers
    if numbers is not None and numbers.each is not None and numbers.exact:
        several = " for " in numbers.each or " where " in numbers.each
        times = "K*eps-private with this K" if several else _times_eps(numbers.each)
        known = f"{times}{_every(numbers)}, and no smaller constant suffices for any {numbers.parameter}"
        return f"constant {numbers.each}: {known}"
    if constant.proved is not None and constant.exact:
        every, suffices = _every(numbers), _suffices(numbers)
        return f"constant {constant.proved}: {_times_eps(constant.proved)}{every}, and no smaller constant {suffices}"
    if constant.exact:
        onwards = f" and any {numbers.parameter} >= {numbers.at}" if numbers is not None and numbers.onwards else ""
        return f"constant ∞: not K*eps-private for any K{onwards or _at_number(numbers)}"
    if numbers is None and constant.proved is not None and constant.refuted_below is not None:
        enclosure = constant.refuted_below, constant.proved
        if not _is_wide(enclosure, digits):
            return f"constant {_enclosed(enclosure)}: K*eps-private for every larger K, and for no smaller one"
    proved = "none is proved" if constant.proved is None else f"{rational(constant.proved)} is proved"
    if numbers is not None and numbers.each is not None:
        proved = f"{numbers.each} is proved"
        if numbers.attained is not None:
            ends = sorted({numbers.least, numbers.attained})
            known = f"{_times_eps(numbers.each)}{_every(numbers)}, and no smaller constant suffices"
            return f"constant {numbers.each}: {known} for {numbers.parameter} = {'..'.join(map(str, ends))}"
    if constant.refuted_below is None:
        below = "all are refuted"
    else:
        least = constant.refuted_below
        below = f"all below {rational(least)} are refuted" if least else "none is refuted"
    if numbers is not None and numbers.below is not None:
        below = f"all below {numbers.below} are refuted for {numbers.parameter} >= {numbers.at}"
        return f"constant{_every(numbers)}: {proved}, {below}"
    return f"constant{_every(constant.numbers)}: {proved}, {below}{_at_number(constant.numbers)}"


def _times_eps(constant: object) -> str:
    return "eps-private" if str(constant) == "1" else f"{constant}*eps-private"


def _every(numbers: Numbers | None) -> str:
    return "" if numbers is None else f" for every {numbers.parameter} >= {numbers.least}"


def _at_number(numbers: Numbers | None) -> str:
    return "" if numbers is None or numbers.at is None else f", at {numbers.parameter} = {numbers.at}"


def _suffices(numbers: Numbers | None) -> str:
    if numbers is None:
        return "suffices"
    if numbers.at == numbers.least and not numbers.onwards:
        return f"suffices, as {numbers.parameter} = {numbers.at} shows"
    return f"suffices for {numbers.parameter} {'>=' if numbers.onwards else '='} {numbers.at}"


def _verdict_line(report: PrivacyReport) -> str:
    claim = report.claim
    level = f"budget {claim.budget_text}" + ("" if claim.is_pure else f" with delta {language_text(claim.delta_text)}")
    inputs = report.about.removeprefix("all ")
    pairs = f"every pair of adjacent {inputs}" if report.pairs is None else every_one(report.pairs, "pair")
    everywhere = everywhere_text(claim.eps_text)
    match report.verdict:
        case PrivacyVerdict.PRIVATE:
            vacuously = "vacuously (delta ≥ 1), " if report.vacuous else ""
            return f"private: {level} suffices for {pairs}{_every(report.numbers)}, {vacuously}{everywhere}"
        case PrivacyVerdict.NOT_PRIVATE:
            return f"NOT PRIVATE: {level} is too small{_at_number(report.numbers)}{_failing_pair(report)}"
        case PrivacyVerdict.UNDECIDED:
            return f"UNDECIDED: {level} is neither proved nor refuted for {pairs}{_every(report.numbers)}"


#: The most characters of the two inputs in the first line.
_LONGEST_PAIR = 60


def _failing_pair(report: PrivacyReport) -> str:
    found = report.counterexample
    if found is None:
        return ""
    one, two = assignment_text(found.input), assignment_text(found.adjacent)
    inputs = f"the inputs {one} and {two}" if len(one + two) <= _LONGEST_PAIR else "two adjacent inputs"
    return f"{'' if report.numbers is None else ','} for {inputs} at eps = {exactly(found.eps)}"


def outcome(
    question: PrivacyQuestion | every_number.EveryNumber,
    answer: PrivacyAnswer,
    statement: PrivacyStatement,
    estimate: LossEstimate | None = None,
) -> Outcome:
    """Return the outcome for one program: the `answer` to `question`, whose heading is `statement`.

    `estimate`, if given, is an estimate of the loss from samples.
    """
    runs, standing = statement.runs, _exit_status(answer, statement.digits)
    toned = isinstance(answer, PrivacyReport) or (standing is ExitStatus.OPEN and not isinstance(answer, Constant))
    return Outcome(
        program=statement.program,
        line=privacy_line(answer, statement.digits) + ("" if runs == 1 else f", for {runs} runs"),
        standing=standing,
        tone=standing.tone if toned else Tone.HEAD,
        parts=lambda: _answer_parts(answer, statement, estimate),
        record=lambda: _record(answer, estimate, statement.digits) | ({} if runs == 1 else {"runs": runs}),
        result=answer,
        question=question,
    )


def family(answers: Sequence[tuple[Mapping[str, Fraction], PrivacyAnswer, LossEstimate | None]]) -> Outcome:
    """Return the outcome for a family of programs: a line for each of `answers`, and the status of the worst.

    Each answer comes with the constants of its program and, if there is one, an estimate of the loss from samples.
    """
    named = [({name: str(value) for name, value in given.items()}, one, known) for given, one, known in answers]
    return Outcome(
        program="",
        line="",
        standing=max((_exit_status(answer) for _, answer, _ in answers), key=lambda status: status.value),
        parts=lambda: section(
            None, *[(assignment_text(names), _member_line(one, known)) for names, one, known in named]
        ),
        record=lambda: {
            "schema": SCHEMA,
            "members": [{"constants": names, **_record(one, known)} for names, one, known in named],
        },
    )


def _member_line(answer: PrivacyAnswer, estimate: LossEstimate | None) -> str:
    if estimate is None:
        return privacy_line(answer)
    low, high = estimate.intervals["hoeffding"]
    return f"{privacy_line(answer)}; estimated in [{low:.6g}, {high:.6g}] from {estimate.hits.runs} runs"


def _record(answer: PrivacyAnswer, estimate: LossEstimate | None, digits: int = DIGITS) -> dict[str, Any]:
    known = answer.as_json()
    if not isinstance(answer, PrivacyReport | Constant) and _is_open(answer, digits):
        known["verdict"] = str(PrivacyVerdict.UNDECIDED)
    return known if estimate is None else {**known, "estimate": estimate.as_json()}


def _exit_status(answer: PrivacyAnswer, digits: int = DIGITS) -> ExitStatus:
    if isinstance(answer, PrivacyReport):
        return _STANDINGS[answer.verdict]
    return ExitStatus.OPEN if _is_open(answer, digits) else ExitStatus.HOLDS


_METHODS = {
    "hoeffding": "Hoeffding",
    "clt": "central limit theorem",
    "m-clt": "the same, with the same noise at both",
}

_ADVANCED = "by Dwork and Roth, Theorem 3.20"


def _answer_parts(
    answer: PrivacyAnswer, statement: PrivacyStatement, estimate: LossEstimate | None
) -> Iterator[ReportBlock]:
    about = statement.question_fields(answer.adjacency, answer.about, answer.pairs)
    match answer:
        case PrivacyReport():
            yield from _report(answer, statement)
        case Constant():
            yield section(None, *about, ("eps", all_of(answer.eps)), ("reason", answer.reason))
            if answer.at is not None:
                balls = [
                    f"{name} in [{low}, {high}]"
                    for name, (low, high) in answer.at.balls.items()
                    if answer.at.output.get(f"{name}_given") != "false"
                ]
                ends, example = answer.refuted_below, answer.example
                fails = f"{exact_text(example[0])} fails at eps = {rational(example[1])}" if example else None
                yield section(
                    "no constant suffices" if ends is None else f"less than {ends} fails for",
                    *shown(answer.at, _PAIR),
                    _outputs([answer.at.output], balls),
                    ("for example", fails),
                )
        case Loss():
            yield section(None, *about)
            unformed = "without closed form, as the noise is Gaussian"
            loss = unformed if answer.text == WITHOUT_FORM else language_text(answer.text)
            fields = [*shown(answer, _PAIR), _outputs([answer.output]), ("loss", loss)]
            if estimate is not None:
                runs = f"{estimate.hits.runs} runs at each input, seed {estimate.seed}"
                fields += [("exact loss", _enclosed(answer.value)), ("estimate", f"{estimate.value:.6g} from {runs}")]
                fields += [
                    (_METHODS[name], f"[{low:.6g}, {high:.6g}] with confidence {estimate.confidence:g}")
                    for name, (low, high) in estimate.intervals.items()
                ]
            yield section(None, *fields)
        case Renyi():
            yield section(None, *about)
            factor = "D" if answer.order == 2 else f"{answer.order - 1}*D"
            moment = None if answer.moment is None else language_text(answer.moment)
            yield section(None, *shown(answer, _PAIR))
            yield Fields([(f"exp({factor})", moment)])
        case Rho():
            yield section(None, *about, ("eps", all_of(answer.eps)))
            yield section(None, *shown(answer, _PAIR))
        case LeastDelta():
            yield section(None, *about, ("budget", answer.budget), ("eps", all_of(answer.eps)))
            yield from _least_delta(answer, statement.theorems)
        case Divergences():
            yield section(None, *about, ("eps", str(answer.orders[0].eps)))
            orders = (
                (
                    str(one.order),
                    _enclosed(one.value),
                    " against ".join(map(assignment_text, (one.input, one.adjacent))),
                )
                for one in answer.orders
            )
            yield [Grid(("order", "divergence", "at"), tuple((None, cells) for cells in orders), frozenset({0}))]
        case profiles.BudgetAt():
            yield section(None, *about, *shown(answer, "delta eps"))
            if answer.value is not None and answer.value[0]:
                low, high = (end / answer.eps for end in answer.value)
                yield Fields([("as K*eps", f"{_enclosed((low, high))}*eps")])
            if (theorems := answer.theorems) is not None:
                basic = f"{exactly(theorems.basic)}, with delta 0: {theorems.runs} times the loss of one run"
                advanced = f"{theorems.advanced(answer.delta):.10g}, {_ADVANCED}"
                yield section(None, ("basic", basic), ("advanced", advanced))
        case profiles.Profile():
            yield section(None, *about, *shown(answer, "eps reason"))
            points = ((None, (exactly(point.budget), _enclosed(point.delta))) for point in answer.points)
            yield [Grid(("budget", "least delta"), tuple(points))]
        case _:
            assert_never(answer)


#: The fields with the two inputs of a pair.
_PAIR = "input_u=input adjacent_u'=adjacent"


def _outputs(outputs: Sequence[Mapping[str, str | None]], balls: Sequence[str] = ()) -> tuple[str, str]:
    """Return the label and the text of a field with `outputs`.

    `balls` are the texts of the intervals around real and int outputs.
    """
    texts = ["; ".join(assignment_text(output) for output in outputs if output), *balls]
    return "output" if len(outputs) == 1 else "outputs", ", ".join(text for text in texts if text)


def _least_delta(least: LeastDelta, beside: tuple[profiles.Theorems, Fraction] | None) -> Iterator[ReportBlock]:
    for piece in least.pieces or ():
        upper = "∞" if piece.upper.high is None else cell_text(piece.upper.low, piece.upper.high)
        lower, where = cell_text(piece.lower.low, piece.lower.high or piece.lower.low), piece.where
        yield section(f"eps from {lower} to {upper}", ("delta", language_text(piece.delta)))
        if where is not None:
            yield Fields([*shown(where, _PAIR), _outputs(where.outputs)])
    yield hint("it has no closed forms, or too many to be listed" if least.pieces is None else None)
    place = {"0+": "next to 0", "inf": "towards ∞"}.get(str(least.place), "every eps")
    if not isinstance(least.place, str):
        place = cell_text(*least.place)
    if _is_wide(least.supremum, _FEW_DIGITS):
        place = f"{place}, where it is at least {_decimal(least.supremum[0], 0)}"
    fields = [("supremum", _enclosed(least.supremum)), ("at eps", place)]
    if least.at is not None:
        eps, value, form = least.at
        fields.append((f"at {eps}", _enclosed(value) + ("" if form is None else f" = {language_text(form)}")))
        if beside is not None:
            theorems, budget = beside
            nothing = "nothing" if budget < theorems.basic else "delta 0"
            fields.append(("basic", f"{nothing}: {theorems.runs} runs have the budget {exactly(theorems.basic)}"))
            fields.append(("advanced", f"delta {theorems.advanced_delta(budget):.10g}, {_ADVANCED}"))
    yield section(None, *fields)


def _report(report: PrivacyReport, statement: PrivacyStatement) -> Iterator[ReportBlock]:
    claim, numbers = report.claim, report.numbers
    more = "" if claim.is_pure else f" + {language_text(claim.delta_text)}"
    bound = f"exp({claim.budget_text})*Pr[P(u') in S]{more}"
    yield section(
        None,
        *statement.question_fields(report.adjacency, report.about, report.pairs),
        ("claim", f"Pr[P(u) in S] ≤ {bound}, for every set S of outputs"),
        ("eps", all_of(claim.eps_text)),
        ("decided", count(report.obligations, "obligation") if report.obligations else None),
        ("proof", report.proof),
        ("reason", report.reason),
    )
    if report.counterexample is not None:
        if numbers is not None and numbers.at is not None:
            definitions = (*statement.definitions, f"{numbers.parameter}={numbers.at}")
            statement = replace(statement, definitions=definitions)
        yield from _counterexample(report.counterexample, statement)
    yield hint(limit_hint([report.reason]))


def _counterexample(found: PrivacyCounterexample, statement: PrivacyStatement) -> Iterator[ReportBlock]:
    digits = agreement(found.probability, found.allowed)
    balls = [f"{name} in [{low}, {high}]" for name, (low, high) in (found.balls or {}).items()]
    yield section(
        "counterexample",
        *shown(found, _PAIR),
        _outputs(found.outputs, balls),
        ("eps", rational(found.eps)),
        ("probability", enclosed_text(*found.probability, digits)),
        ("allowed", enclosed_text(*found.allowed, digits)),
    )
    outputs = _output_options(found)
    if outputs is not None:
        yield hint("to see it again")
        for values in (found.input, found.adjacent):
            yield Verbatim(f"  {line}" for line in statement.replay(values, found.eps, outputs))


#: Half the length of the interval that stands for a half-line of outputs in the commands.
_FAR = Fraction(10**6)


def _output_options(counterexample: PrivacyCounterexample) -> Sequence[str] | None:
    """Return the options with which `dipc prob` and `dipc simulate` show the outputs of `counterexample`.

    The result is empty for finite outputs, which both commands list without options. It is None if no options select
    these outputs, such as intervals of different lengths.
    """
    if len(counterexample.outputs) > 1:
        return ()
    (output,) = counterexample.outputs
    ends = {name: _ends(text) for name, text in output.items() if text is not None and text[:1] in "(["}
    ends |= counterexample.balls or {}
    if not ends:
        return ()
    radii = {(high - low) / 2 for low, high in ends.values()}
    if len(radii) > 1 or any("*" in name for name in ends):
        return None
    middles = {name: str((low + high) / 2) for name, (low, high) in ends.items()}
    values = {name: text for name, text in {**output, **middles}.items() if text is not None}
    return "--output", ",".join(f"{name}={text}" for name, text in values.items()), "--gamma", str(radii.pop())


def _ends(text: str) -> tuple[Fraction, Fraction]:
    """Return both ends of the interval `text`, which has one infinite end, such as `(-inf, 1/2]`.

    The infinite end is replaced by a number that is far from the other end.
    """
    low, high = text.strip("()[]").split(", ")
    if low == "-inf":
        return Fraction(high) - 2 * _FAR, Fraction(high)
    return Fraction(low), Fraction(low) + 2 * _FAR
