"""The whole certificate: its parts, its question, and pairs of certificates that enclose a least number.

The checker derives every step again, and names the first wrong one.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from dipc.verifier import reading as read
from dipc.verifier.claims import Claim, Interval, mentions, read_intervals, the_one_eps
from dipc.verifier.clipped import limited
from dipc.verifier.exchange import Product
from dipc.verifier.functions import ONE
from dipc.verifier.implication import Follows
from dipc.verifier.inputs import check_inputs, varying_constants
from dipc.verifier.obligations import Decided, Positive, check_obligations, read_context
from dipc.verifier.privacy import PrivacyClaim, adjacency, check_privacy, claim_text, pairs_text
from dipc.verifier.probability import Theorem, cell_value, program_of, satisfies
from dipc.verifier.program import Machine, holds
from dipc.verifier.reading import (
    ALL_INPUTS,
    DERIVATION_ENDS,
    SCHEMA,
    Answers,
    Budget,
    Exhausted,
    NotDerived,
    Question,
    Rejected,
    Unreadable,
    WrongAnswer,
    in_step,
    must_be_derived,
    plain,
    why_it_ends,
)
from dipc.verifier.rows import Rows
from dipc.verifier.shifts import Alignment, delta_suffices, require_private
from dipc.verifier.statement import (
    Answer,
    Both,
    Expected,
    OfAccuracy,
    OfAllPairs,
    OfInputs,
    OfPairs,
    OfRows,
    Statement,
    Subject,
    is_about_privacy,
    one_line,
)
from dipc.verifier.syntax import Apply, Program, read_expression

# === outcome ===================================================================================


@dataclass(frozen=True)
class Accepted:
    """The result for a certificate whose every step was derived again.

    - `statement` is the theorem, and `claim` the text of its claim. `program` is the name of its program. `varying` are
      the constants for which the claim covers several values; `constants` has the names and values of all others.
    - `counts` has the number of cases with each verdict. The cases are rows, classes of inputs, pairs, or paths of the
      program, and `what` is the noun for one of them, such as "row".
    - `obligations` is the number of obligations, of which `derived_obligations` were proved again. For `charted` of
      them, all refuted, the exact set of failing eps was also proved.
    - `open_rows` has the number of each case whose verdict has no proof, with the reason. `trusted` are the parts taken
      on trust, in words.
    - `facts` are lines about the files that were compared. `compared` are lines about what was not compared, which the
      report prints after "not compared". `derived` is a line about the derivation of probabilities.
    - `answer` says whether the `expected` claim follows; None if no claim is expected. `differs` is the reason why the
      claim of the program's claim block does not follow; None if it does, or if it was not compared.
    """

    statement: Statement
    counts: dict[str, int]
    claim: str
    obligations: int = 0
    derived_obligations: int = 0
    charted: int = 0
    open_rows: tuple[tuple[int, str], ...] = ()
    trusted: tuple[str, ...] = ()
    program: str = ""
    constants: tuple[tuple[str, str], ...] = ()
    facts: tuple[str, ...] = ()
    compared: tuple[str, ...] = ()
    derived: str | None = None
    what: str = "row"
    varying: frozenset[str] = frozenset()
    expected: Expected | None = None
    answer: Answer | None = None
    differs: str | None = None

    @property
    def verdict(self) -> str:
        """The verdict of the theorem."""
        return self.statement.verdict

    def resting_on(self, decided: Sequence[Decided]) -> Accepted:
        """Return this result with the counts of the obligations in `decided`."""
        derived = sum(entry.open is None for entry in decided)
        charted = sum(entry.charted for entry in decided)
        return replace(self, obligations=len(decided), derived_obligations=derived, charted=charted)

    def compared_with(self, expected: Expected, budget: Budget) -> Accepted:
        """Return this result with an `answer`: whether the theorem implies the `expected` claim.

        Charges its work to `budget`. Raises UnusableArgument if a part of the claim is unreadable.
        """
        expected.require_expressions(budget)
        try:
            answer = self.statement.follows(expected, budget)
        except Exhausted as error:
            answer = Follows.OPEN, why_it_ends(error)
        return replace(self, expected=expected, answer=answer)

    def compared_with_block(self, block: Mapping[str, str], budget: Budget) -> Accepted:
        """Return this result, with the reason in `differs` if the program's own claim does not follow from it.

        `block` is the claim block of the program, as strings by the name of the field. Charges its work to `budget`.
        """
        if not block or not isinstance(self.statement, OfAccuracy) or self.verdict == "undecided":
            return self
        answer, why = self.compared_with(Expected(block=block, own=True), budget).answer or (Follows.YES, "")
        if answer is Follows.YES:
            return self
        stated = ", ".join(f"{name}: {text}" for name, text in block.items())
        verb = "proved" if self.verdict == "accurate" else "refuted"
        return replace(self, differs=f"the claim block of the program is not what was {verb} ({stated}): {why}")

    @property
    def exit_code(self) -> int:
        """The exit code 0, 1 or 3.

        It is 1 if the expected claim does not follow. It is 3 if the verdict is `undecided`, if something was taken on
        trust or has no proof, or if it is undecided whether the expected claim follows. Otherwise it is 0.
        """
        if self.answer is not None and self.answer[0] is Follows.NO:
            return 1
        is_open = self.answer is not None and self.answer[0] is Follows.OPEN
        return 0 if self.complete and self.verdict != "undecided" and not is_open else 3

    def headline(self) -> list[str]:
        """Return the lines that `--quiet` prints: the theorem, and the expected claim if it is not met."""
        lines = list(self.lines())
        return lines[: 2 if self.answer is not None and self.answer[0] is not Follows.YES else 1]

    @property
    def complete(self) -> bool:
        """True if every verdict except `undecided` has a proof, and nothing was taken on trust."""
        return not self.open_rows and not self.trusted

    def lines(self) -> Iterator[str]:
        """Return the report as lines of text."""
        return map(plain, self._lines())

    def _lines(self) -> Iterator[str]:
        rows = self.counts["rows"]
        theorem = f"{self.statement.kind}: {self.statement.sentence}"
        if self.complete:
            yield theorem
        else:
            missing = [f"{len(self.open_rows)} of {_count(rows, self.what)} without a proof"] if self.open_rows else []
            trust = [f"on trust: {'; '.join(self.trusted)}"] if self.trusted else []
            yield f"accepted in part: {', '.join([*missing, *trust])}; but for that, {theorem}"
        if self.answer is not None:
            answer, why = self.answer
            words = {Follows.YES: "met", Follows.NO: "not met", Follows.OPEN: "not decided whether it is met"}[answer]
            assert self.expected is not None, "the expected claim has an answer"
            asked = self.expected.words(about_privacy=is_about_privacy(self.statement))
            yield f"{words}: {asked}{f': {why}' if why else ''}"
        given = ", ".join(f"{name} = {value}" for name, value in self.constants)
        yield f"  program      {self.program}{f' with {given}' if given else ''}"
        yield f"  claim        {self.claim}"
        kinds = [f"{count} {kind}" for kind, count in self.counts.items() if count and kind not in ("rows", "vacuous")]
        vacuous = f" ({self.counts['vacuous']} of them vacuously)" if self.counts["vacuous"] else ""
        yield f"  {_plural(self.what):<11}  {_count(rows, self.what)}: {', '.join(kinds)}{vacuous}"
        charted = f"; for {self.charted} it is also proved exactly where they fail" if self.charted else ""
        derived = "each" if self.derived_obligations == self.obligations else f"{self.derived_obligations} of them"
        yield f"  obligations  {self.obligations}, {derived} derived again{charted}"
        if self.derived is not None:
            yield f"  derivation   {self.derived}"
        if self.differs is not None:
            yield f"  differs      {self.differs}"
        for fact in self.facts:
            yield f"  compared     {fact}"
        for number, reason in self.open_rows[:20]:
            yield f"  not certified: {self.what} {number}: {reason}"
        if len(self.open_rows) > 20:
            yield f"  not certified: {len(self.open_rows) - 20} more {_plural(self.what)}"
        for note in self.compared:
            yield f"  not compared: {note}"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun if number == 1 else _plural(noun)}"


def _plural(noun: str) -> str:
    return f"{noun}es" if noun.endswith("s") else f"{noun}s"


# === least =====================================================================================

#: The number sought: the factor of beta, a part of a claim about accuracy, or the budget of one about privacy.
_SOUGHT = ("factor", "gamma", "eps", "budget")

#: The fields of a row that identify it; the others follow from the claim.
_OF_A_ROW = ("input", "output", "own", "dd")

_Data = Mapping[str, Any]

_object = read.by_name(read.anything)


def check_bracket(data: _Data, proved: _Data | None, refuted: _Data | None) -> str:
    """Return in words what the documents `proved` and `refuted` imply about the number that the question `data` seeks.

    The question seeks a least number. Both documents must be about one program and one set of inputs. `proved` must
    have the claim of the question with some number, and `refuted` the claim with a smaller number. One of the documents
    may be None. Raises Rejected if they do not fit together.
    """
    sought = read.one_of(*_SOUGHT)(data["sought"])
    low, high = read.tuple_of(read.nullable(read.rational), read.nullable(read.rational))(data["enclosed"])
    if (low is None) != (refuted is None) or (high is None) != (proved is None):
        raise Rejected(
            "`enclosed` must have a lower end if and only if there is a refutation, and an upper end if and only if "
            "there is a proof"
        )
    if low is not None and high is not None and not low < high:
        raise Rejected("the number refuted is not less than the number proved")
    known = [(one, value) for one, value in ((proved, high), (refuted, low)) if one is not None]
    # The constant m and its least value, if the proof is about privacy for every m.
    of_privacy = proved is not None and "adjacent" in proved and "numbers" in proved
    left_open = _of_numbers(proved["numbers"]) if proved is not None and of_privacy else None
    about = [_subject_data(one, "beta" if sought == "factor" else sought, left_open) for one, _ in known]
    if any(one != about[0] for one in about):
        raise Rejected("the two documents are about different programs or inputs")
    for one, value in known:
        is_proof = one is proved
        if one["verdict"] not in (("accurate", "private") if is_proof else ("inaccurate", "not private")):
            raise Rejected(
                f"the document with the {'proof' if is_proof else 'refutation'} has the verdict "
                f"{str(one['verdict'])[:40]}"
            )
        number = data["enclosed"][is_proof]
        if one["claim"] != _claim_at(sought, _object(data["claim"]), number, is_proof=is_proof):
            raise Rejected(f"the claim of a document is not the question's claim with {sought} = {value}")
    if sought == "budget" and proved is not None and refuted is not None:
        _check_pair(proved, refuted)
    ends, unit = ((high, "suffices"), (low, "does not")), "*eps" if sought == "budget" else ""
    return ", ".join(f"{sought} {number}{unit} {does}" for number, does in ends if number is not None)


def _of_numbers(value: object) -> tuple[str, int]:
    parameter, least = read.fields(value, {"parameter": read.text, "least": read.integer})
    return parameter, least


def _check_pair(proved: _Data, refuted: _Data) -> None:
    """Raise Rejected unless the proof `proved` is also about the pair of inputs in the refutation `refuted`.

    A proof without `pairs` is about all adjacent pairs.
    """
    if "pairs" not in proved:
        return
    groups = proved.get("alike", [])
    chosen = _pairs(refuted, groups)
    if len(chosen) != 1 or chosen[0] not in _pairs(proved, groups):
        raise Rejected("the refutation is about a pair that the proof does not cover")


def _pairs(data: _Data, groups: Sequence[Sequence[int]]) -> list[list[list[str]]]:
    """Return the pairs of inputs in the document `data`, about privacy, with the values as strings.

    `groups` are groups of inputs, by index, that may be exchanged; the values within each group are sorted.
    """
    inputs = [list(cells) for cells in data["inputs"]]
    for cells in inputs:
        for group in groups:
            for place, cell in zip(group, sorted(cells[place] for place in group), strict=True):
                cells[place] = cell
    return [[inputs[place] for place in each] for each in data["pairs"]]


def _subject_data(one: _Data, sought: str, left_open: tuple[str, int] | None) -> tuple[object, ...]:
    """Return the fields of the document `one` other than its claim: its program, and its inputs or adjacency.

    Two documents are about the same program and inputs if this function returns equal fields for both. `sought` is the
    part of the claim that the question seeks. If one of the documents is a proof for every m, `left_open` is (m, its
    least value), and the result leaves out the value of m. Otherwise `left_open` is None, and all constants are in the
    result. Raises Rejected if the document is about an m below the least value, or if a row has its own value for
    `sought`.
    """
    if left_open is not None:
        constants = dict(one["program"]["constants"])
        if left_open[0] not in constants:
            raise Rejected("the two documents are about different programs or inputs")
        number = read.rational(constants.pop(left_open[0]))
        if "numbers" not in one and number < left_open[1]:
            raise Rejected("the refutation is about a number of queries that the proof does not cover")
        return {**one["program"], "constants": constants}, one["adjacent"]
    if "rows" in one:
        if any((row.get("own") or {}).get(sought) is not None for row in one["rows"]):
            raise Rejected(f"{sought} is the number to find, so the rows must not have their own {sought}")
        return (
            one["program"],
            one["table"],
            one.get("product"),
            [{name: row.get(name) for name in _OF_A_ROW} for row in one["rows"]],
        )
    if "numbers" in one:
        numbers = one["numbers"]
        about = None if numbers is None else [numbers[key] for key in ("parameter", "least")]
        return one["program"], about, [sorted(names) for _, names in varying_constants(one)]
    # A refutation of privacy has only one of the pairs.
    return one["program"], one["adjacent"]


def _claim_at(sought: str, asked: _Data, number: str, *, is_proof: bool) -> _Data:
    """Return the claim `asked` with `number` as the value of `sought`, the part of the claim that was to be found.

    The part is gamma, the budget, eps or a factor of beta. The claim for a factor has beta multiplied by `number`.

    `is_proof` tells whether the claim was proved or refuted. If eps is sought, a proof is about all eps in `asked` that
    are at least `number`, and a refutation about `number` alone. Raises Rejected if `asked` already has a value for the
    part, or if it does not include the eps of a refutation.
    """
    match sought:
        case "factor":
            with must_be_derived():
                read_expression(read.text(asked["beta"]), Budget())  # so that the parentheses are around all of it
            return {**asked, "beta": f"{number}*({asked['beta']})"}
        case "gamma" | "budget":
            if asked[sought] is not None:
                raise Rejected(f"{sought} is the number to find, so the claim cannot fix it")
            return {**asked, sought: number}
        case _:
            value = read.rational(number)
            eps = read_intervals(asked["eps"])
            if is_proof:
                left = [
                    interval if interval.lower >= value else replace(interval, lower=value, lower_closed=True)
                    for interval in eps
                    if interval.upper is None or interval.upper > value or value in interval
                ]
                return {**asked, "eps": list(map(str, left))}
            if not any(value in interval for interval in eps):
                raise Rejected("the refutation is at an eps that the question does not ask about")
            return {**asked, "eps": [f"[{number}, {number}]"]}


# === check =====================================================================================

_ALWAYS = ("schema", "question", "tool", "claim", "digest")

_SHARED = (*_ALWAYS, "program", "verdict", "obligations", "betas", "probabilities", "positive")

_ENDS = ("proved", "refuted")

#: The fields of documents about each question.
_PARTS = {
    Question.ROWS: (*_SHARED, "table", "rows", "answers"),
    Question.ALL_INPUTS: (*_SHARED, "numbers", "cases", "answers"),
    Question.PAIRS: (
        *(*_SHARED, "adjacent", "inputs", "outputs"),
        *("laws", "pairs", "couples", "excess", "sets", "refuted"),
    ),
    Question.ALL_PAIRS: (*_ALWAYS, "program", "adjacent", "verdict", "shifts"),
    Question.ALL_PAIRS_EVERY_NUMBER: (*_ALWAYS, "program", "adjacent", "numbers", "verdict", "answers"),
    Question.LEAST: (*_ALWAYS, "sought", "enclosed", "proved", "refuted"),
}

#: The fields of a claim about accuracy, and of one about privacy.
_ACCURACY_CLAIM: tuple[str, ...] = ("alpha", "beta", "gamma", "eps")
_PRIVACY_CLAIM: tuple[str, ...] = ("budget", "delta", "eps")

#: The schemas of older versions, whose files are refused: they did not state the whole theorem.
_OLDER = tuple(f"dipc.certificate/{number}" for number in range(1, 4))

#: The fields that a document may have in addition.
_OPTIONAL = {
    Question.ROWS: ("product", "requires"),
    Question.ALL_INPUTS: ("requires", "clipped"),
    Question.ALL_PAIRS: ("requires",),
    Question.PAIRS: ("requires", "alike"),
}

_HASH = re.compile(r"[0-9a-f]{64}", re.ASCII)

#: The names of constants; reserved names have a meaning of their own in a claim or a table.
_NAME = re.compile(r"[A-Za-z_Α-ΡΣ-Ωα-δζ-ω][A-Za-z0-9_Α-ΡΣ-Ωα-δζ-ω]*")
_COLUMNS = ("alpha", "beta", "gamma", "dd")
_RESERVED = frozenset((*_COLUMNS, "α", "β", "γ", "eps", "exp", "min", "max", "abs", "inf"))

#: The part on trust about a program with an `ideal`, whose answers and dd were not derived.
DISTANCE = "that the answers and dd of {count} of {rows} rows are those of the `ideal`: {reason}"

#: The theorem is about the program and rows in the certificate; only a comparison shows that they are yours.
WORDS = {
    "program": "that its program is yours (`--program` does)",
    "rows": "that its rows are those of your table (`--table` does)",
}

#: No file has the inputs of a certificate of privacy, so that they cannot be compared.
INPUTS_MEANT = "that its inputs are all that you care about"


@dataclass(frozen=True)
class Source:
    """The program that a certificate is about: its text and its constants.

    The program is read at the eps `at`, or at every eps if `at` is None.
    """

    name: str
    text: str
    sha256: str
    constants: dict[str, Fraction]
    at: Fraction | None

    @staticmethod
    def read(value: object) -> Source:
        """Read `value`, the `program` of a document. Raises Rejected for other values."""
        source = Source(
            *read.fields(
                value,
                {"name": read.text, "text": read.text, "sha256": _sha256, "constants": read.by_name(read.rational)},
                {"only_at": read.rational},
            )
        )
        for name in source.constants:
            if not _NAME.fullmatch(name) or name in _RESERVED:
                raise Rejected(f"`{name[:40]}` cannot be the name of a constant")
        return source


@dataclass(frozen=True)
class Table:
    """The table that a certificate states: its `name`, its hash, its columns and its number of rows.

    `inputs` and `outputs` are the names of columns. `dd` is "given" if the table gives the distances to disagreement,
    and "ideal" if they are computed from the program's `ideal`.
    """

    name: str
    sha256: str | None
    rows: int
    inputs: list[str]
    outputs: list[str]
    dd: str

    @staticmethod
    def read(value: object) -> Table:
        """Read `value`, the `table` of a document. Raises Rejected for other values."""
        table = Table(
            *read.fields(
                value,
                {
                    "name": read.text,
                    "sha256": read.nullable(_sha256),
                    "rows": read.natural,
                    "inputs": read.listed(read.text),
                    "outputs": read.listed(read.text),
                    "dd": read.one_of("given", "ideal"),
                },
            )
        )
        columns = [*table.inputs, *table.outputs, *_COLUMNS]
        if len(set(columns)) < len(columns):
            raise Rejected("two of its columns have the same name")
        return table


def _sha256(value: object) -> str:
    if _HASH.fullmatch(read.text(value)) is None:
        raise Rejected("a SHA-256 digest must have 64 hexadecimal digits")
    return read.text(value)


@dataclass(frozen=True)
class Document:
    """A certificate as data. Only its digest and its fields have been checked; its contents are not trusted.

    - `data` is its JSON object, `size` the number of characters of its text, and `question` the kind of its question.
    - `program` and `table` are the program and the table that the certificate states.
    - A certificate about a least number consists of a proof, `proved`, and a refutation, `refuted`, one of which may be
      missing. Its `program` and `table` are those of the proof and the refutation.
    """

    question: Question
    data: Mapping[str, Any]
    program: Source
    #: None unless the document is about the rows of a table.
    table: Table | None
    size: int
    proved: Document | None = None
    refuted: Document | None = None

    @property
    def constituents(self) -> tuple[Document, ...]:
        """The proof and the refutation in a certificate about a least number; otherwise this document alone."""
        return tuple(one for one in (self.proved, self.refuted) if one is not None) or (self,)


def read_document(source: str) -> Document:
    """Return the certificate whose text is `source`.

    Raises Unreadable for a text that is not a certificate or has another version of the format. Raises Rejected for a
    corrupted certificate.
    """
    return _document(read.parse(source), len(source))


def _document(data: object, size: int, *, whole: bool = True) -> Document:
    """Return the document of the parsed JSON `data`.

    If `whole` is true, `data` is a complete certificate. Otherwise `data` is one half of a certificate about a least
    number: its proof or its refutation. `size` is the length of the text. Raises Unreadable if the data has another
    format, Rejected if the digest is wrong.
    """
    if not isinstance(data, dict) or not isinstance(data.get("schema"), str):
        raise Unreadable("it is not a certificate of dipc: it has no `schema`")
    if data["schema"] in _OLDER:
        raise Unreadable(
            f"it was made by an older version of dipc: its schema is `{data['schema']}`, but this checker reads "
            f"`{SCHEMA}`; check again with `--certificate FILE`"
        )
    if data["schema"] != SCHEMA:
        raise Unreadable(f"its schema is `{data['schema'][:60]}`, but this checker reads `{SCHEMA}`")
    question = data.get("question")
    if question not in list(Question) or (question == Question.LEAST and not whole):
        raise Unreadable("this checker does not know its `question`")
    with in_step("certificate"):
        parts, optional = _PARTS[Question(question)], _OPTIONAL.get(Question(question), ())
        read.fields(data, dict.fromkeys(parts, read.anything), dict.fromkeys(optional, read.anything))
    try:
        computed = digest({name: value for name, value in data.items() if name != "digest"})
    except RecursionError:
        raise Unreadable("it is nested too deeply") from None
    if data["digest"] != computed:
        raise Rejected("the certificate was changed after it was written: its digest does not match", "digest")
    return document_of(data, size)


def document_of(data: Mapping[str, Any], size: int = 0) -> Document:
    """Return the document of the parsed `data`, without checking its digest.

    `size` is the number of characters of its text. Raises Rejected if one of its fields is malformed, or if a
    certificate about a least number has neither a proof nor a refutation.
    """
    question = Question(data["question"])
    for name, reader in (("tool", read.text), ("claim", _object)):
        with in_step(name):
            reader(data[name])
    _require_claim(question, data)
    if question is Question.LEAST:
        documents = [None if data[name] is None else _document(data[name], size, whole=False) for name in _ENDS]
        first = next((one for one in documents if one is not None), None)
        if first is None:
            raise Rejected("it contains neither a proof nor a refutation", "certificate")
        return Document(question, data, first.program, first.table, size, *documents)
    with in_step("program"):
        program = Source.read(data["program"])
    with in_step("table"):
        table = Table.read(data["table"]) if question is Question.ROWS else None
    return Document(question, data, program, table, size)


def _require_claim(question: Question, data: Mapping[str, Any]) -> None:
    match question:
        case Question.ROWS | Question.ALL_INPUTS:
            wanted = _ACCURACY_CLAIM
        case Question.LEAST:
            wanted = _PRIVACY_CLAIM if data["sought"] == "budget" else _ACCURACY_CLAIM
        case _:
            wanted = _PRIVACY_CLAIM
    for name in wanted:
        if name not in data["claim"]:
            raise Unreadable(f"its `claim` has no `{name}`")
    for name in data["claim"]:
        if name not in wanted:
            raise Unreadable(f"its `claim` has `{plain(name)[:40]}`, which is not known here")


def digest(rest: Mapping[str, Any]) -> str:
    """Return the SHA-256 of the fields `rest` as JSON: in ASCII, without spaces, the names of every object sorted."""
    canonical = json.dumps(rest, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return hashlib.sha256(canonical.encode("ascii")).hexdigest()


def check_document(
    document: Document, budget: Budget, facts: Mapping[str, str] | None = None, expected: Expected | None = None
) -> Accepted:
    """Check every step of `document`, and return what it proves. Raises Rejected naming the first wrong step.

    Charges its work to `budget`. `facts` are lines for the report, by topic: "program", "constants", "rows" or "dd".
    Each says that this part of `document` was compared with a file of the user. If a claim is `expected`, the result
    says whether it is met.
    """
    with in_step("answers"):
        budget.answers = Answers(_object(document.data.get("answers", {})))
    try:
        accepted = checked(document, budget, facts or {})
    except WrongAnswer as error:
        raise Rejected(error.why, *error.steps) from None
    return accepted if expected is None else accepted.compared_with(expected, budget)


def program_in(document: Document, budget: Budget) -> tuple[Program, Machine, tuple[Interval, ...]]:
    """Return the syntax tree and the machine of the program of `document`, and the claim's intervals of eps.

    Charges its work to `budget`. Raises Rejected if the text is not the stated program or the intervals are malformed.
    Also raises Rejected if the program is read at one eps and the claim is about others.
    """
    source = document.program
    with in_step("claim"):
        intervals = read_intervals(document.data["claim"].get("eps"))
    with in_step("program"):
        if source.at is not None and source.at != the_one_eps(intervals):
            raise Rejected(f"the program is read at eps = {source.at}, but the claim is about other values of eps")
        tree, machine = program_of(source.text, source.sha256, source.name, source.constants, source.at, budget)
    return tree, machine, intervals


def checked(document: Document, budget: Budget, facts: Mapping[str, str]) -> Accepted:
    """Check `document`, whatever its question is, and return what it proves. Raises Rejected if the check fails.

    Charges its work to `budget`. `facts` are lines of the report about what was compared before, by topic.
    """
    if document.question is Question.LEAST:
        return _check_least(document, budget, facts)
    with in_step("certificate"):
        # Reading numbers takes time in proportion to the text.
        budget.spend(document.size // 8)
    tree, machine, intervals = program_in(document, budget)
    _require_condition(document, tree, machine, budget)
    about = _subject(document, tree)
    match document.question:
        case Question.ROWS:
            accepted = _check_rows(document, tree, machine, about, budget, compared="dd" in facts)
        case Question.ALL_INPUTS:
            accepted = _check_inputs(document, tree, about, budget)
        case Question.PAIRS:
            accepted = _check_privacy(document, tree, intervals, about, budget)
        case _:
            accepted = _check_aligned(document, tree, machine, intervals, about, budget)
    # Constants are shown as they are written, since Python does not write every number.
    given = document.data["program"]["constants"]
    return replace(
        accepted,
        program=document.program.name,
        constants=tuple((name, value) for name, value in given.items() if name not in accepted.varying),
        facts=tuple(dict.fromkeys(facts.values())),
        compared=tuple(words for words in accepted.compared if words not in map(WORDS.get, facts)),
    )


_CONDITION: read.Table = {"condition": read.text, "point": read.by_name(read.text)}


def _require_condition(document: Document, tree: Program, machine: Machine, budget: Budget) -> None:
    """Raise Rejected unless `document` states the `requires` of its program `tree`, and an input that satisfies it.

    `machine` is the program in instructions, and the work is charged to `budget`. A document about a program without
    `requires` must not state one. A program with `requires` cannot have a claim about every m, nor rows that represent
    other inputs by exchanges.
    """
    with in_step("requires"):
        stated = document.data.get("requires")
        if not tree.requires:
            if stated is not None:
                raise Rejected("the certificate states a `requires`, but the program has none")
            return
        if stated is None:
            raise Rejected("the program has a `requires` that the certificate does not state")
        condition, point = read.fields(stated, _CONDITION)
        with must_be_derived():
            read_again = read_expression(condition, budget)
        whole = tree.requires[0]
        for other in tree.requires[1:]:
            whole = Apply("and", (whole, other))
        if read_again != whole:
            raise Rejected("its condition is not that of the program")
        if document.data.get("numbers") is not None or document.data.get("product") is not None:
            raise Rejected("a document of this kind cannot be about a program with `requires`")
        slots = machine.declared("input")
        if set(point) != {slot.name for slot in slots}:
            raise Rejected("its point does not have a value for each input of the program")
        values = {
            number: cell_value(machine.slots[number], point[machine.slots[number].name])
            for number in machine.numbered("input")
        }
        if not all(holds(machine.slots[number].type, value) for number, value in values.items()):
            raise Rejected("its point has a value outside its domain")
        with must_be_derived():
            if not satisfies(machine, values, budget):
                raise Rejected("its point does not satisfy the condition")


def _subject(document: Document, tree: Program) -> Subject:
    given = document.data["program"]["constants"]
    declared = [name for name, _ in tree.constants]
    order = [*(name for name in declared if name in given), *(name for name in given if name not in declared)]
    source = document.program
    constants = tuple((name, given[name]) for name in order)
    return Subject(source.name, constants, source.sha256, source.at, tree.required)


def _check_rows(
    document: Document, tree: Program, machine: Machine, about: Subject, budget: Budget, *, compared: bool
) -> Accepted:
    data = document.data
    table = document.table
    assert table is not None, "the table was read"
    claim = Claim.read(data["claim"], document.program.constants)
    positive = Positive(data["positive"], budget, claim.intervals)
    theorem = theorem_of(document, tree, machine, budget)
    context = read_context(data, claim.intervals, positive)
    decided = check_obligations(data["obligations"], context, budget)
    product, why = None, None
    if "product" in data:
        with in_step("product"):
            product = Product.read(data["product"])
            theorem.exchangeable(product.alike)
    rows = Rows(claim, context, decided, len(table.inputs), len(table.outputs), theorem, table.dd == "ideal")
    rows.check(data["rows"], budget)
    counts = rows.tally.counts
    if table.rows != counts["rows"]:
        raise Rejected(f"the number of rows is {counts['rows']}, but its `table` says {table.rows}", "rows")
    rows.tally.require(data["verdict"], "rows")
    if product is not None:
        with in_step("product"):
            if any(rows.own.values()):
                raise Rejected("rows that represent other inputs cannot have their own claim")
            why = product.require([(row["input"], row["output"]) for row in data["rows"]], theorem, dd=table.dd)
    meant = "" if product is None else f"; {product}"
    whole = None
    if product is not None:
        slots = machine.declared("input")
        whole = str(product), product.size, product.is_domain(slots)
    return Accepted(
        statement=OfRows(
            data["verdict"], about, claim, budget, rows.checked, theorem, whole, theorem.is_compared_with_ideal
        ),
        counts=counts,
        claim=f"{_claim_text(data['claim'], rows.own, counts['rows'])}{meant}",
        open_rows=tuple(rows.tally.open),
        trusted=(
            *_trusted(theorem, compared=compared),
            *(f"{what} (rows: {count})" for what, count in sorted(rows.ranged.items())),
            *(() if why is None else (f"that the rows stand for {product}: {why}",)),
        ),
        compared=(WORDS["program"], *(() if product is not None else (WORDS["rows"],))),
        derived=_count_of(theorem),
    ).resting_on(decided)


def _check_inputs(document: Document, tree: Program, about: Subject, budget: Budget) -> Accepted:
    data = document.data
    positive = Positive(data["positive"], budget)
    examined = tree if data.get("clipped") is None else _limited(document, tree)
    found = check_inputs(data, examined, document.program.constants, positive, budget)
    counts, numbers = found.tally.counts, data["numbers"]
    found.tally.require(data["verdict"], "classes")
    named = None if numbers is None else (numbers["parameter"], numbers["least"])
    every = "" if named is None else f", for every {named[0]} >= {named[1]}"
    subject = about.leaving_open(found.varying)
    return Accepted(
        statement=OfInputs(data["verdict"], subject, found.claim, budget, _kinds(tree), named, found),
        counts=counts,
        claim=f"{_claim_text(data['claim'], {}, 1)}; every {_kinds(tree)} input{every}",
        open_rows=tuple(found.tally.open),
        trusted=found.trusted,
        compared=(WORDS["program"],),
        what="class",
        varying=found.varying,
    ).resting_on(found.obligations)


_RANGES = read.by_name(read.tuple_of(read.nullable(read.rational), read.nullable(read.rational)))


def depends_on_distances(claim: Mapping[str, str | None]) -> bool:
    """True if alpha is not 0 in `claim`, or if its beta or gamma mentions alpha or dd.

    `claim` has the texts of alpha, beta and gamma, where None is a gamma that is not stated.
    """
    texts = [text for text in (claim["beta"], claim["gamma"]) if text is not None]
    return claim["alpha"] != "0" or any(mentions(text, name) for text in texts for name in ("dd", "alpha"))


def _limited(document: Document, tree: Program) -> Program:
    """Return the program `tree` without clamps of inputs, but with inputs limited to the ranges in `document`.

    By the lemma of clipped claims (FORMAT.md), a claim about all inputs of the result implies the claim about all
    inputs of `tree`, if the claim does not depend on distances of inputs. Raises Rejected for other claims, and for
    ranges that are not those of the clamps.
    """
    claim = document.data["claim"]
    with in_step("clipped"):
        if document.data["numbers"] is not None:
            raise Rejected("a claim for every number of queries cannot be about clipped inputs")
        if depends_on_distances(claim):
            raise Rejected("the claim depends on distances between inputs, and clipping changes these distances")
        stated = _RANGES(document.data["clipped"])
        with must_be_derived():
            box = limited(tree, document.program.constants)
        if stated != box.ranges:
            raise Rejected("its ranges differ from those to which the program clips its inputs")
    return box.tree


def _check_privacy(
    document: Document, tree: Program, intervals: Sequence[Interval], about: Subject, budget: Budget
) -> Accepted:
    data = document.data
    claim = PrivacyClaim.read(data["claim"])
    with in_step("program"), must_be_derived():
        # Privacy does not depend on distances of outputs.
        theorem = Theorem.from_tree(replace(tree, metric=(), ideal=None), document.program.constants, budget)
    context = read_context(data, intervals, Positive(data["positive"], budget))
    decided = check_obligations(data["obligations"], context, budget)
    pairs = check_privacy(data, claim, theorem, context, decided, budget)
    with in_step("alike"):
        unproved = theorem.exchangeable(pairs.groups)
    count = len(pairs.ordered)
    return Accepted(
        statement=OfPairs(data["verdict"], about, claim, intervals, theorem.machine, data["adjacent"], pairs),
        counts={"rows": count, data["verdict"]: count, "undecided": 0, "vacuous": 0},
        claim=claim_text(data["claim"], pairs_text(data)),
        open_rows=pairs.missing,
        trusted=(
            *_trusted(theorem, compared=True, what="outputs at inputs"),
            *(() if unproved is None else (f"that the inputs stand for all orders of their values: {unproved}",)),
        ),
        compared=(WORDS["program"], *(() if data["verdict"] == "not private" else (INPUTS_MEANT,))),
        derived=_count_of(theorem),
        what="pair",
    ).resting_on(decided)


def _check_aligned(
    document: Document,
    tree: Program,
    machine: Machine,
    intervals: Sequence[Interval],
    about: Subject,
    budget: Budget,
) -> Accepted:
    """Check `document`, about privacy for all adjacent real inputs, and return what it proves.

    The document is about one m or about every m. `tree` is the program, `machine` the program in instructions, and
    `intervals` are those of eps. `about` describes the program in the theorem. Charges its work to `budget`. Raises
    Rejected if the claim, the adjacency, the number m or a shift is wrong, or if the verdict is not "private".
    """
    data = document.data
    constants = document.program.constants
    claim = PrivacyClaim.read(data["claim"])
    above, below = claim.delta
    if below != ONE:
        raise Rejected("its delta must not have a denominator", "claim")
    # Otherwise delta is proved to be >= 0 below, together with the lower bound that it must have.
    is_positive = all(c >= 0 for c in above.values())
    if data["verdict"] != "private":
        raise Rejected("a document about all pairs must be a proof: a refutation must be about one pair", "verdict")
    with in_step("adjacent"):
        distance, reach = adjacency(data["adjacent"])
    numbers = None
    if document.question is Question.ALL_PAIRS_EVERY_NUMBER:
        with in_step("numbers"):
            numbers = _of_numbers(data["numbers"])
            if numbers[0] not in constants:
                raise Rejected(f"the program has no constant `{numbers[0][:40]}` for the number of queries")
    trusted, exits = f"that {claim.budget}*eps bounds the loss: ", 0
    cost: Fraction | None = None
    alignment, with_delta = None, False
    part = budget.part(ALL_INPUTS)
    try:
        if numbers is None:
            alignment = Alignment.from_program(tree, machine, constants, (distance, reach), part)
            exits = len(alignment.exits)
            trusted += "the certificate has no shifts"
        else:
            exits = require_private(tree, numbers, constants, (distance, reach), claim.budget, part)
            cost = claim.budget
    except DERIVATION_ENDS as error:
        trusted += why_it_ends(error)
    if alignment is not None and data["shifts"] is not None:
        try:
            cost = alignment.cost(data["shifts"], budget)
            trusted = f"that {claim.budget}*eps bounds the loss: the shifts cost {cost}*eps"
        except NotDerived as error:
            trusted = f"that {claim.budget}*eps bounds the loss: {error}"
        if cost is not None and cost > claim.budget and alignment.shifts_one_noise(data["shifts"]):
            uppers = [interval.upper for interval in intervals]
            with_delta = delta_suffices(above, cost - claim.budget, uppers)
    if not (is_positive or with_delta):
        raise Rejected("its delta is not shown to be at least 0", "claim")
    proved = with_delta or (cost is not None and cost <= claim.budget)
    every = "" if numbers is None else f", every {numbers[0]} >= {numbers[1]}"
    return Accepted(
        statement=OfAllPairs(
            "private",
            about.leaving_open(frozenset(() if numbers is None else numbers[:1])),
            claim,
            intervals,
            machine,
            (distance, reach),
            numbers,
            None if numbers is None else constants[numbers[0]],
        ),
        counts={"rows": exits, "private": exits if proved else 0, "undecided": 0, "vacuous": 0},
        obligations=exits,
        derived_obligations=exits if proved else 0,
        claim=claim_text(data["claim"], f"every pair of real inputs adjacent by {distance}:{reach}{every}"),
        trusted=() if proved else (trusted,),
        compared=(WORDS["program"],),
        what="exit" if numbers is None else "way",
        varying=frozenset(() if numbers is None else numbers[:1]),
    )


def _check_least(document: Document, budget: Budget, facts: Mapping[str, str]) -> Accepted:
    accepted = [check_document(end, budget, facts) for end in document.constituents]
    data = {
        name: None if end is None else end.data
        for name, end in zip(_ENDS, (document.proved, document.refuted), strict=True)
    }
    with in_step("the least number"):
        verdict = check_bracket(document.data, data["proved"], data["refuted"])
    shared = {name for name, _ in accepted[0].constants}
    statements = iter([one.statement for one in accepted])
    ends = [None if end is None else next(statements) for end in (document.proved, document.refuted)]
    return replace(
        accepted[0],
        statement=Both(verdict, *ends),
        obligations=sum(one.obligations for one in accepted),
        derived_obligations=sum(one.derived_obligations for one in accepted),
        charted=sum(one.charted for one in accepted),
        claim="; ".join(
            ", ".join([one.claim, *(f"{name} = {value}" for name, value in one.constants if name not in shared)])
            for one in accepted
        ),
        open_rows=tuple(row for one in accepted for row in one.open_rows),
        trusted=tuple(dict.fromkeys(words for one in accepted for words in one.trusted)),
        derived="; ".join(one.derived for one in accepted if one.derived is not None) or None,
    )


def check_text(source: str, budget: Budget | None = None) -> Accepted:
    """Check the certificate of which `source` is the text, with the work charged to `budget`.

    Raises Rejected, naming the step, Unreadable, or Exhausted.
    """
    with within_bounds():
        return check_document(read_document(source), budget or Budget())


@contextmanager
def within_bounds() -> Iterator[None]:
    """Raise Exhausted if the `with` block recurses too deeply, fills the memory, or writes too long a number."""
    try:
        yield
    except (RecursionError, MemoryError) as error:
        raise Exhausted(why_it_ends(error), "certificate") from None
    except ValueError as error:
        # Python does not write integers of more digits than `sys.get_int_max_str_digits`.
        if not str(error).startswith("Exceeds the limit"):
            raise
        raise Exhausted("a number has too many digits to be written", "certificate") from None


def theorem_of(document: Document, tree: Program, machine: Machine, budget: Budget) -> Theorem:
    """Return the theorem about the program with the syntax tree `tree`, for the table of `document`.

    `machine` is the compiled program. Charges its work to `budget`. Raises Rejected if the columns of the table are not
    those of the program.
    """
    assert document.table is not None, "the table was read"
    theorem = Theorem.from_tree(tree, document.program.constants, budget, machine=machine)
    theorem.require_columns(document.table.inputs, document.table.outputs)
    return theorem


def _count_of(theorem: Theorem) -> str:
    return (
        f"{theorem.derived} of {theorem.derived + theorem.reasons.total()} probabilities, from the text of the program"
    )


def _kinds(tree: Program) -> str:
    types = [each.type for each in tree.variables if each.role == "input"]
    return " and ".join(kind for kind in ("real", "int") if kind in types)


def _trusted(theorem: Theorem, *, compared: bool, what: str = "rows") -> tuple[str, ...]:
    """Return, in words, the parts of `theorem` that were taken on trust: probabilities and distances not derived.

    `what` is the noun for the cases that are counted, such as "rows". Distances are left out if they were `compared`
    with a table that gives them.
    """
    reasons: list[str] = []
    for reason, count in sorted(theorem.reasons.items()):
        rows = theorem.derived + theorem.reasons.total()
        reasons.append(f"the probabilities of {count} of {rows} {what}, which this checker could not derive: {reason}")
    for reason, count in () if compared else sorted(theorem.distances.items()):
        rows = theorem.measured + theorem.distances.total()
        reasons.append(DISTANCE.format(count=count, rows=rows, reason=reason))
    return tuple(reasons)


def _claim_text(claim: Mapping[str, Any], own: Mapping[str, int], rows: int) -> str:
    used = [name for name in ("alpha", "beta", "gamma") if not rows or own.get(name) != rows]
    texts = [f"{name} = {one_line(str(claim[name]))}" for name in used if claim[name] is not None]
    stated = ", ".join([*texts, f"eps in {' or '.join(claim['eps'])}"])
    others = [f"{count} with {name}" for name, count in own.items() if count]
    return f"{stated}; rows have their own: {', '.join(others)}" if others else stated
