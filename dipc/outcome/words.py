"""Numbers, inputs, outputs and counts in words, the same in every report: every digit shown is proved.

A question is described in the words of the options, the table and the claim block.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from fractions import Fraction
from itertools import compress
from pathlib import Path
from typing import TYPE_CHECKING

from dipc.algebra.numbers import decimal, exact_text, magnitude, round_down, round_up
from dipc.algebra.record import field_values
from dipc.claims.claim import FREE, claim_expression
from dipc.claims.table import Table
from dipc.decide.obligation import EndPoint, EpsSpan, Verdict
from dipc.decide.scope import ClaimScope
from dipc.frozen import LazyModule, frozen
from dipc.options import Options
from dipc.outcome.outcome import GLUE, ExitStatus, Tone
from dipc.program.inputs import specifications
from dipc.program.program import Program
from dipc.text.ast import ClaimedInputs
from dipc.text.core import Value, show_value
from dipc.text.declarations import computed_from
from dipc.text.parser import parse
from dipc.text.printer import language_text, print_expression
from dipc.text.program import CoreProgram, kinds

if TYPE_CHECKING:
    from dipc.inverse.question import Question
    from dipc.program import metric as metrics
    from dipc.questions.report import Report, RowResult
else:
    metrics = LazyModule("dipc.program.metric")

#: The significant digits that a text shows, unless more are needed to distinguish two numbers.
DIGITS = 10

#: The most characters of an exact rational that is written as p/q.
_LONGEST_FRACTION = 24


def enclosed_text(low: Fraction, high: Fraction, digits: int = DIGITS) -> str:
    """Return the text of a number between `low` and `high`: its leading digits, at most `digits`, followed by `…`.

    The absolute value of the number is at least the shown one, and exceeds it by less than one unit of the last digit.
    If the two ends have less than three digits in common, the text is `0.9 ± 1e-20`. An exact decimal number is written
    exactly.
    """
    if low == high:
        return exact(low, digits)
    for count in range(_with_whole_part(low, digits), 2, -1):
        leading = _common_digits(low, high, count)
        if leading is not None and count > magnitude(leading):
            return f"{decimal_padded(leading, count)}…"
    middle = (low + high) / 2
    # A decimal number of approximately `digits` digits nearest to the middle.
    middle = truncated(2 * middle - truncated(middle, digits), digits) if middle else middle
    return f"{decimal(middle)} ± {decimal(round_up(max(high - middle, middle - low), 1))}"


def exact(value: Fraction, digits: int = DIGITS) -> str:
    """Return the exactly known `value` as a decimal of at most `digits` digits, with `…` if digits were cut off."""
    digits = _with_whole_part(value, digits)
    cut = truncated(value, digits)
    return decimal(cut) if cut == value else f"{decimal_padded(cut, digits)}…"


def cell_text(low: Fraction, high: Fraction, most: int | None = None) -> str:
    """Return the known digits of a number between `low` and `high`, followed by `…`.

    The two ends differ by one unit of the last known digit. An exact number (low == high) is written with its decimal,
    such as `17/10 = 1.7`. `most` is the greatest number of digits that are shown; by default all are. If the ends of a
    wider enclosure differ in the digits to be shown, the text is `0.125 ± 1e-30`.
    """
    if low == high:
        return rational(low)
    known = magnitude(low) - magnitude(high - low) + 1
    shown = known if most is None else min(known, _with_whole_part(low, most))
    leading = truncated(low, shown)
    if low > 0 and high > leading + Fraction(10) ** (magnitude(low) - shown + 1):
        return enclosed_text(low, high, shown)
    return f"{decimal_padded(leading, shown)}…"


def rational(value: Fraction, digits: int = DIGITS) -> str:
    """Return the exact `value` with its decimal of at most `digits` digits: `17/10 = 1.7`, `3`, `1/3 = 0.3333333333…`.

    A fraction that is too long to read is written once: as a decimal if that is exact, else as a fraction.
    """
    if value.denominator == 1:
        return str(value)
    if len(str(value)) <= _LONGEST_FRACTION:
        return f"{value} = {exact(value, digits)}"
    text = exact_text(value)
    return str(value) if "e" in text else text


def _with_whole_part(value: Fraction, digits: int) -> int:
    """Return `digits`, or more if all digits of `value` before the decimal point need more."""
    return max(digits, magnitude(value) + 1) if value else digits


def truncated(value: Fraction, digits: int) -> Fraction:
    """Return `value` cut off after `digits` significant digits, towards zero."""
    return round_up(value, digits) if value < 0 else round_down(value, digits)


def agreement(first: tuple[Fraction, Fraction], second: tuple[Fraction, Fraction]) -> int:
    """Return the number of digits with which the disjoint enclosures `first` and `second` are shown as different.

    It is 3 more than the number of digits that tells them apart, but not less than DIGITS, the usual number of digits.
    """
    gap = max(second[0] - first[1], first[0] - second[1])
    size = max(abs(end) for end in (*first, *second))
    if gap <= 0 or not size:
        return DIGITS
    return max(DIGITS, magnitude(size) - magnitude(gap) + 3)


def decimal_padded(value: Fraction, digits: int) -> str:
    """Return the decimal number `value` with `digits` significant digits, zeros included."""
    text = decimal(value)
    if not value or "e" in text:
        return text
    have = len(text.lstrip("-").replace(".", "").lstrip("0"))
    if "." not in text:
        whole = len(text.lstrip("-"))
        return text if whole >= digits else f"{text}.{'0' * (digits - whole)}"
    return text + "0" * (digits - have)


def _common_digits(low: Fraction, high: Fraction, digits: int) -> Fraction | None:
    if low <= 0 <= high:
        return None
    cut = truncated(low, digits)
    return cut if cut == truncated(high, digits) else None


# --- fields of records ---------------------------------------------------------------------------


def shown(record: object, fields: str) -> list[tuple[str, str | None]]:
    """Return pairs of a label and a text, one for each field of `record` that the list `fields` names.

    `fields` is a string of names separated by spaces, in the notation that `Record` uses for JSON. An item `label=path`
    is the attribute `path`, shown with this label. The character `_` in a label is shown as a space.
    """
    return [(key.replace("_", " "), value_text(value)) for key, value in field_values(record, fields)]


def value_text(value: object) -> str | None:
    """Return the text of `value`, the field of a record; None for None.

    An exact number is followed by its decimal, and an enclosure is shown by its proved digits. Inputs and outputs are
    lists of assignments.
    """
    match value:
        case None | str():
            return value
        case Fraction():
            return rational(value)
        case (Fraction() as low, Fraction() as high):
            return enclosed_text(low, high)
        case Mapping():
            return assignment_text(value)
    return language_text(value)


# --- inputs and outputs ----------------------------------------------------------------------------


_ELEMENT = re.compile(r"(.+)\[(-?[0-9]+)\]")

#: The text of an output that was never assigned.
UNASSIGNED = "unassigned"

#: A name with its index, and one value; or, with the index None, a scalar or a whole array with all its values.
Group = tuple[str, int | None, tuple[str, ...]]


def assignment_text(values: Mapping[str, str | None]) -> str:
    """Return all of `values` in order: `x = 3, q = (-1, 1)`.

    Arrays given whole from index 1 are written as a vector, other elements by name. None is an unassigned value, and an
    empty mapping is `nothing`.
    """
    return ", ".join(_text(*group) for group in groups(values)) or "nothing"


def place_of_runs(
    constants: Mapping[str, Fraction], given: Mapping[str, Value], eps: Fraction
) -> list[tuple[str, str]]:
    """Return the labels and texts of the `constants`, the input `given` and the `eps` of runs."""
    known = {"constants": {name: str(value) for name, value in constants.items()}}
    known["input"] = {name: show_value(value) for name, value in given.items()}
    return [*((name, assignment_text(values)) for name, values in known.items() if values), ("eps", rational(eps))]


def groups(values: Mapping[str, str | None]) -> Iterator[Group]:
    """Yield (name, index, values) for the variables and array elements in `values`, in order.

    An array of at least two elements is one item if all of its elements are given, beginning with index 1: its index is
    None, and its values are those of all elements. Every other element is an item with its index and one value. For a
    variable that is not an element, the index is None.
    """
    array: str | None = None
    elements: list[tuple[int, str]] = []
    for name, given in values.items():
        value = UNASSIGNED if given is None else given
        match = _ELEMENT.fullmatch(name)
        if match is None or match[1] != array:
            yield from _array(array, elements)
            array, elements = None, []
        if match is None:
            yield name, None, (value,)
        else:
            array = match[1]
            elements.append((int(match[2]), value))
    yield from _array(array, elements)


def _array(name: str | None, elements: list[tuple[int, str]]) -> Iterable[Group]:
    if name is None:
        return
    if len(elements) > 1 and [index for index, _ in elements] == list(range(1, len(elements) + 1)):
        yield name, None, tuple(value for _, value in elements)
    else:
        yield from ((name, index, (value,)) for index, value in elements)


def _text(name: str, index: int | None, values: tuple[str, ...]) -> str:
    text = values[0] if len(values) == 1 else f"({', '.join(values)})"
    return f"{name} = {text}" if index is None else f"{name}[{index}] = {text}"


# --- numbers of things -----------------------------------------------------------------------------


#: The most numbers of rows in a list.
LISTED = 12

TONES = {Verdict.ACCURATE: Tone.GOOD, Verdict.INACCURATE: Tone.BAD, Verdict.UNDECIDED: Tone.OPEN}

STANDINGS = {
    Verdict.ACCURATE: ExitStatus.HOLDS,
    Verdict.INACCURATE: ExitStatus.FAILS,
    Verdict.UNDECIDED: ExitStatus.OPEN,
}


def plural(what: str) -> str:
    """Return the plural of the noun `what`: "rows", "classes"."""
    return f"{what}es" if what.endswith("s") else f"{what}s"


def count(number: int, what: str) -> str:
    """Return `number` with the noun `what`: `1 row`, `3 rows`, `2 classes`."""
    return f"{number} {what if number == 1 else plural(what)}"


def all_or_both(number: int) -> str:
    """Return `both` for the `number` 2, else `all`."""
    return "both" if number == 2 else "all"


def every_one(number: int, what: str) -> str:
    """Return all of `number` things with the noun `what`: `1 row`, `both rows`, `all 3 rows`."""
    return count(number, what) if number < 2 else f"{all_counted(number)} {plural(what)}"


def all_counted(number: int) -> str:
    """Return the word or words before a noun that mean all of `number` >= 2 things: `both`, `all 3`."""
    return "both" if number == 2 else f"all {number}"


def s(number: int) -> str:
    """Return the ending of a verb in the present tense after `number` subjects: `s` for one, else nothing."""
    return "s" if number == 1 else ""


def product_letter(names: Container[str]) -> str:
    """Return the letter for a product of eps such as alpha*eps: `t`, or another letter if `names` contains `t`."""
    return next(letter for letter in ("t", "s", "u", "v", "w", "z", "tau") if letter not in names)


def numbered(word: str, numbers: Sequence[int], most: int = LISTED) -> str:
    """Return `word` with `numbers`: `row 3`, or `classes 1, 2, 5` with the first `most` of them."""
    if len(numbers) == 1:
        return f"{word} {numbers[0]}"
    text = ", ".join(map(str, numbers[:most]))
    return f"{plural(word)} {text}{', …' if len(numbers) > most else ''}"


def without_closed_form(row: RowResult) -> str:
    """Return why the probability of `row` has no closed form."""
    if row.vacuous or row.verdict is Verdict.UNDECIDED:
        return "was not reached"
    return "has no closed form, or one with too many terms to write out; it was decided by Taylor polynomials"


def near_sign(stated: Mapping[str, str | None]) -> str:
    """Return the relation of dd to alpha, `<` or `≤`, at inputs that are too near to other answers for the claim.

    `stated` has the texts of alpha and beta, None for one that differs from row to row. If beta mentions alpha, or
    alpha mentions dd, the claim also holds for every smaller alpha. It then covers inputs with dd = alpha, so that the
    result is `<`.
    """
    words = (("alpha", "dd"), ("beta", "alpha"))
    return "<" if any(re.search(rf"\b{word}\b", stated.get(name) or "") for name, word in words) else "≤"


def near_sign_of(question: Question) -> str:
    """Return the relation of dd to alpha, `<` or `≤`, at inputs that the claim of the inverse `question` excludes."""
    core, options = question.program.core, question.options
    known = {name: claim_expression(core, name, getattr(options, name)) for name in ("alpha", "beta")}
    return near_sign({name: None if part is None else print_expression(part.tree) for name, part in known.items()})


def vacuous_why(report: Report) -> str:
    """Return why rows of `report` hold vacuously: `dd ≤ alpha`."""
    counts = report.counts
    near = f"dd {near_sign(report.stated)} alpha"
    why = ((counts.near_rows, near), (counts.above_one, "beta ≥ 1"), (counts.unconstrained, "no output is stated"))
    return " or ".join(text for number, text in why if number) or "beta ≥ 1"


def vacuous_text(report: Report, *, of_them: bool = False) -> str:
    """Return how many rows of `report` hold vacuously, such as `13 of them vacuously (beta ≥ 1)`.

    It may also be `all of them vacuously (dd ≤ alpha)`. Without `of_them` the text is `13 hold vacuously (…)`.
    """
    counts, why = report.counts, vacuous_why(report)
    if not of_them:
        return f"{counts.vacuous} hold{s(counts.vacuous)} vacuously ({why})"
    if counts.vacuous == counts.rows:
        return f"vacuously ({why})" if counts.rows == 1 else f"{all_or_both(counts.rows)} of them vacuously ({why})"
    return f"{counts.vacuous} of them vacuously ({why})"


def says_nothing(scopes: Mapping[str, ClaimScope], sign: str = "≤") -> str | None:
    """Return why the claim of a report is vacuous, `dd ≤ alpha` or `beta ≥ 1`; None if it is not vacuous.

    `scopes` has, for each variable, the values where the claim is not vacuous. If it is empty, every input is too near
    to inputs with another answer: dd has the relation `sign` to alpha.
    """
    if not scopes:
        return f"dd {sign} alpha"
    return "beta ≥ 1" if all(says.is_vacuous for says in scopes.values()) else None


def limit_hint(reasons: Iterable[str | None]) -> str | None:
    """Return the advice to raise the limits that `reasons` mention; None if they mention none."""
    limits = dict.fromkeys(name for reason in reasons if reason for name in re.findall(r"\(limit `(\w+)`\)", reason))
    if not limits:
        return None
    return f"a larger limit goes on: {', '.join(f'--limit {name}=N' for name in limits)}"


#: The label of the field with the eps for which a claim is not vacuous.
NON_VACUOUS = "non-vacuous"


def no_input(sign: str) -> str:
    """Return the text for a claim about no input: at every input dd has the relation `sign` to alpha."""
    return f"for no input: dd {sign} alpha everywhere"


def saying_text(scopes: Mapping[str, ClaimScope], eps: str, beta: str = "beta") -> str | None:
    """Return a text with the values of each variable, a key of `scopes`, where the claim is not vacuous.

    An example is `for eps > 14.3340757…, where beta < 1`. The result is None if the claim is vacuous for all values.
    `eps` is the text of the intervals of eps in the question, and `beta` the text of the function that is at least 1
    where the claim is vacuous.
    """
    texts = []
    for variable, says in scopes.items():
        if says.reason is not None:
            texts.append(f"not known: {says.reason}")
        elif not says.where:
            nothing = f"nothing where only {variable} counts" if len(scopes) > 1 else f"for no {variable}"
            texts.append(f"{nothing}: {beta} ≥ 1{'' if len(scopes) > 1 else ' everywhere'}")
        elif variable != "eps" or not _is_everything(says.where, eps):
            text = " ∪ ".join(_range_text(interval, variable) for interval in says.where)
            texts += [] if text == _EVERYWHERE else [f"for {text}, where {beta} < 1"]
    return "; ".join(texts) or None


_EVERYWHERE = "everywhere"


def _is_everything(where: Sequence[EpsSpan], eps: str) -> bool:
    text = ", ".join(
        f"{'[' if failing.start.included else '('}{failing.start.text or failing.start.low}, "
        f"{'inf' if failing.end.high is None else failing.end.text or failing.end.high}"
        f"{']' if failing.end.included else ')'}"
        for failing in where
        if all(end.exact or end.infinite or end.text is not None for end in (failing.start, failing.end))
    )
    return text == eps


def _range_text(failing: EpsSpan, variable: str) -> str:
    start, end = failing.start, failing.end
    low = "" if start.high == 0 else f"{number_text(start)} {'≤' if start.included else '<'} "
    if end.infinite:
        return f"{variable} {'≥' if start.included else '>'} {number_text(start)}" if low else _EVERYWHERE
    if number_text(start) == number_text(end) and start.included and end.included:
        return f"{variable} = {number_text(start)}"
    return f"{low}{variable} {'≤' if end.included else '<'} {number_text(end)}"


def number_text(point: EndPoint) -> str:
    """Return `point`, the finite end of an interval, as text with its proved digits."""
    assert point.high is not None
    if point.text is not None:
        return point.text
    if not point.exact:
        return enclosed_text(point.low, point.high)
    return str(point.low) if len(str(point.low)) <= 12 else exact(point.low)


def union_text(texts: Iterable[str], most: int) -> str:
    """Return the union of the intervals `texts` as text; after `most` intervals, say how many more there are."""
    listed = list(texts)
    more = [] if len(listed) <= most else [f"{len(listed) - most} more intervals"]
    return " ∪ ".join([*listed[:most], *more])


def interval_text(eps: str) -> str:
    """Return the intervals `eps`, a text, with `inf` written as `∞`: `(0, ∞)`."""
    return eps.replace("inf", "∞")


def single(eps: str) -> str | None:
    """Return the text of the number if the intervals `eps` are a single number, else None."""
    inside = eps.strip("[]")
    size = (len(inside) - len(", ")) // 2
    return inside[:size] if size > 0 and inside == f"{inside[:size]}, {inside[:size]}" else None


def everywhere_text(eps: str, every: str = "for every eps") -> str:
    """Return where a claim about the intervals `eps` is made: `for every eps in (0, ∞)`, or `at eps = 1/2`.

    `every` is the text before intervals.
    """
    one = single(eps)
    return f"{every} in {interval_text(eps)}" if one is None else f"at eps = {one}"


def all_of(eps: str) -> str:
    """Return the intervals `eps` as a noun: `all of (0, ∞)`, or `1/2` if they are one number."""
    one = single(eps)
    return f"all of {interval_text(eps)}" if one is None else one


@frozen
class Statement:
    """A question in the user's own words, for the heading of a report.

    `path` is the program's file, `table` the name of the table, and `stated` has the texts of alpha, beta and gamma.
    Without a table the question is about all inputs; `numbers` is then the constant m of a question about every m, with
    its least value. `error` is the quantity whose expectation is claimed to be at most beta, if the claim is about one.
    """

    core: CoreProgram = field(repr=False)
    path: Path
    stated: Mapping[str, str]
    table: str | None = None
    numbers: tuple[str, int] | None = None
    error: str | None = None


def subject_fields(
    statement: Statement, eps: str, *, required: str = "1 - beta", asked: str | None = None
) -> Iterable[tuple[str, str | None]]:
    """Yield the labels and texts that say what a report about `statement` is about.

    `eps` are the intervals as text; `required` is the lower bound claimed for the probability, and `asked` the part of
    the claim to solve for.
    """
    core, numbers = statement.core, statement.numbers
    left_open: tuple[str, ...] = ()
    if numbers is not None:
        left_open = (numbers[0], *computed_from(parse(core.source).declarations, core.overrides, numbers[0]))
    constants = [(name, str(value)) for name, value in core.constants.items() if name not in left_open]
    yield "program", program_text(f"{core.name} ({statement.path})", constants)
    whose = "for every input u"
    if statement.table is not None:
        yield "table", statement.table
        whose += " of the table"
    else:
        which = f" with {core.selection.text}" if core.selection is not None else ""
        yield "inputs", f"all {core.input_kinds} inputs{which}, by the answers of `ideal`"
        yield "for every", None if numbers is None else f"integer {numbers[0]} >= {numbers[1]}"
    yield "requires", core.required_text
    if statement.error is not None:
        yield "claim", f"E[{statement.error}] ≤ {required.removeprefix('1 - ').replace('beta', 'error')}, {whose}"
        yield "error", "asked for" if asked == "beta" else statement.stated["beta"]
    else:
        yield "claim", f"Pr[{_event_text(core)}] ≥ {required}, {whose}"
        for name, text in statement.stated.items():
            yield name, "asked for" if asked == name else text
            if name == "alpha":
                yield "dd", _disputed_text(core)
    yield "eps", f"asked for, in {interval_text(eps)}" if asked == "eps" else all_of(eps)


def program_text(program: str, constants: Sequence[tuple[str, str]]) -> str:
    """Return the name `program` with the values of its `constants`."""
    assignments = ", ".join(f"{name}{GLUE}={GLUE}{value}" for name, value in constants)
    return program + (f" with {assignments}" if assignments else "")


def _event_text(core: CoreProgram) -> str:
    """Return, as text, the event whose probability a claim about `core` bounds, such as `output = det(u)`."""
    if not core.has_product_distance:
        return "distance of output and det(u) ≤ gamma"
    near = kinds(core.output_slots)
    side = "within gamma of" if core.side is None else f"at most gamma {core.side}"
    return f"{near} outputs {side} det(u), others equal" if near else "output = det(u)"


@frozen
class UserQuestion:
    """A question as the user put it: the paths of the program and of the table, and the options.

    `definitions` of constants and `limits` are strings, as the user typed them.
    """

    program_path: Path
    options: Options
    table: Path | None = None
    definitions: tuple[str, ...] = ()
    limits: tuple[str, ...] = ()

    def command(self, name: str = "check", *more: str) -> tuple[str, ...]:
        """Return the words of the command `name` that asks this question; `more` are further options."""
        words = ["dipc", name, str(self.program_path), *([] if self.table is None else [str(self.table)])]
        inputs = specifications(self.options.inputs) or []
        options = [("--inputs", text) for text in inputs]
        options += [] if self.options.for_all is None else [("--for-all", self.options.for_all)]
        options += [("-D", text) for text in self.definitions]
        options += [(f"--{name_of}", str(text)) for name_of, text in self.options.claim_parts.items()]
        options += [("--limit", text) for text in self.limits]
        return (*words, *more, *(word for option in options for word in option))

    def about_rows(self, program: Program, table: Table) -> Statement:
        """Return the heading of a question about the rows of `table`, which belongs to `program`."""
        given = self.options.claim_parts
        given = given | {"beta": given["error"]} if "error" in given else given
        stated = {
            name: _claim_text(name, given.get(name), program, table, given.get("beta"))
            for name in ("alpha", "beta", "gamma")
        }
        return Statement(program.core, self.program_path, stated, table.name, error=program.expected_quantity)

    def about_every_input(
        self, program: Program, stated: Mapping[str, str | None], numbers: tuple[str, int] | None
    ) -> Statement:
        """Return the heading of a question about every real and int input of `program`.

        `stated` has the texts of alpha, beta and gamma. `numbers` is the constant m of a question about every m, with
        its least value; None otherwise.
        """
        alpha, beta, gamma = (stated[name] or "" for name in ("alpha", "beta", "gamma"))
        alpha = {"0": ABOUT_EVERY_INPUT, "dd": "dd(u), whatever its value"}.get(alpha, alpha)
        parts = {"alpha": alpha, "beta": beta, "gamma": "every gamma > 0" if gamma == FREE else gamma}
        return Statement(program.core, self.program_path, parts, numbers=numbers)


#: The text of alpha for a claim with alpha 0.
ABOUT_EVERY_INPUT = "0: about every input"


def _disputed_text(core: CoreProgram) -> str | None:
    """Return a text that explains dd for `core`, if some of its outputs are finite and others are real or int.

    Two right answers are different for dd only if they differ in certain outputs, which the text names. The result is
    None for other programs, and for a program without `ideal`.
    """
    numbers = [slot.is_symbolic for slot in core.output_slots]
    if core.ideal is None or all(numbers) or not any(numbers):
        return None
    disputed = metrics.Metric(core).disputed
    if all(disputed):
        return "the distance to inputs with another answer in any output"
    named = compress(core.outputs, disputed)
    names = " or ".join(dict.fromkeys(core.slots[slot].name.partition("[")[0] for slot in named))
    return f"the distance to inputs with another answer in {names} (numbers are near or not, by gamma alone)"


def _claim_text(name: str, option: object, program: Program, table: Table, beta: object = None) -> str:
    """Return the text of alpha, beta or gamma, called `name`, in a claim about `program`.

    The text comes from a column of `table`, else from `option`, the value given on the command line, and else from the
    program's claim block. `beta` is the command line's value of beta.
    """
    if name in table.columns:
        return f"the table's column `{name}`"
    claim = program.core.claim
    stated = None if option is None else str(option)
    if stated is None and claim is not None:
        field_ = next((claimed for claimed in claim.fields if claimed.name == name), None)
        if field_ is not None and not isinstance(field_.value, tuple | ClaimedInputs):
            stated = print_expression(field_.value)
    if stated is None:
        stated = "dd" if name == "alpha" and "dd" in table.columns else "0"
    if name == "alpha" and "dd" in table.columns:
        where = "computed from the program's ideal" if "dd" in table.computed else "the table's column `dd`"
        if stated in ("dd", "0"):
            return f"dd(u), {where}" if stated == "dd" else ABOUT_EVERY_INPUT
        equal = "dd" in stated or re.search(r"\balpha\b", _claim_text("beta", beta, program, table))
        return f"{stated}; nothing is claimed where dd {'<' if equal else '≤'} alpha"
    return stated
