"""The theorems of a certificate that the checker has accepted, as one Coq file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

from dipc.coq.expressions import closed_expression, number
from dipc.coq.programs import PROGRAMS, CoqProgram
from dipc.coq.signs import CoqSum, NotStatedError, prove_positive, range_text, unit_of
from dipc.verifier.claims import Interval, read_intervals
from dipc.verifier.document import Document, program_in, theorem_of
from dipc.verifier.functions import ONE, Closed, Ring, read_closed, read_ring
from dipc.verifier.probability import Theorem
from dipc.verifier.reading import Budget, NotDerived, Question, Rejected, plain
from dipc.verifier.signs import sign_of_ring

#: The directory with the definitions and lemmas of each file.
_HOME = Path(__file__).resolve().parent

#: The definitions and lemmas at the beginning of each file.
PRELUDE = _HOME / "Prelude.v"

#: The most rows that are proved from the program.
MOST_ROWS = 1_000

#: The questions whose inequalities are written.
SUPPORTED = "certificates of `dipc check`, and of `dipc tighten` and `dipc solve` about accuracy"

CLAIMED = (
    "Coq checks, for each obligation of this certificate that is stated, that the written function is at least",
    "1 - beta for every eps of the claim (or fails at the stated eps). For each row with a theorem, Coq also checks",
    "that Pr is the probability that the program, a syntax tree, gives the right answer: an iterated integral. That",
    "the tree is that of the text, that the answer, alpha and beta are those of the row, and for other obligations",
    "that Pr is the probability, is not checked there.",
)


class UnsupportedError(Exception):
    """Raised for a certificate of a question without theorems for Coq; the message says which questions have them."""


@dataclass(frozen=True)
class CoqFile:
    """A Coq file, or a part of it: its `text`, and counts of what is stated in it.

    `obligations` counts the obligations of the certificate, and `stated` those of them that are theorems in the file.
    `open_verdicts` counts the rows and classes that claim something but rest on no obligation. Of the rows that rest on
    one, `proved_rows` have a theorem about the program itself, and `unproved_rows` do not.
    """

    text: str
    stated: int = 0
    obligations: int = 0
    open_verdicts: int = 0
    proved_rows: int = 0
    unproved_rows: int = 0

    @property
    def summary(self) -> str:
        """The numbers of theorems, and of obligations without a theorem, in words."""
        missing = self.obligations - self.stated
        words = f"{self.stated} theorem{'s' * (self.stated != 1)}"
        if missing:
            words += f"; {missing} of {self.obligations} obligations not stated"
        else:
            words += ", one for each obligation" if self.obligations else ", as there are no obligations"
        if self.proved_rows:
            rows = self.proved_rows + self.unproved_rows
            words += f"; the probabilities of {self.proved_rows} of {rows} rows proved from the program"
        return f"{words}; verdicts without an obligation: {self.open_verdicts}" if self.open_verdicts else words


def write_theorems(document: Document, budget: Budget) -> CoqFile:
    """Write the obligations of `document`, which the checker has accepted, as Coq theorems with their proofs.

    If no theorem can be written for an obligation, a comment that begins with `not stated:` takes its place. Charges
    its work to `budget`. Raises UnsupportedError for certificates about privacy, and Exhausted if the signs at single
    points take more than the budget permits.
    """
    if any(part.question not in (Question.ROWS, Question.ALL_INPUTS) for part in document.constituents):
        raise UnsupportedError(f"inequalities of privacy are not written; supported are {SUPPORTED}")
    blocks: list[str] = []
    stated = total = 0
    found: list[CoqFile] = []
    several = len(document.constituents) > 1
    kinds = [name for name, part in (("proved", document.proved), ("refuted", document.refuted)) if part is not None]
    for part, kind in zip(document.constituents, kinds or ["certificate"], strict=True):
        prefix = f"{kind}_o" if several else "o"
        context = _Context(part.data, read_intervals(part.data["claim"]["eps"]))
        if several:
            blocks.append(f"(* === {kind}: {_comment(part.program.name)} === *)")
        uses = _uses(part.data)
        known: dict[int, _Obligation] = {}
        for place, entry in enumerate(part.data["obligations"]):
            total += 1
            name = f"{prefix}{place}"
            heading = f"obligation {place}: {_comment(', '.join(uses.get(place, ['not used'])))}"
            obligation = _Obligation(name, entry, context, budget)
            try:
                lines = obligation.lines()
                stated += 1
                known[place] = obligation
            except NotStatedError as reason:
                blocks.append(f"(* {heading}\n   not stated: {_comment(str(reason))} *)")
            else:
                blocks.append("\n".join([f"(* {heading} *)", *lines]))
        found.append(_write_rows(part, f"{kind}_" if several else "", known, budget))
    open_verdicts = sum(_open_verdicts(part.data) for part in document.constituents)
    proved, unproved = sum(one.proved_rows for one in found), sum(one.unproved_rows for one in found)
    if proved:
        programs = (_HOME / PROGRAMS).read_text(encoding="utf-8").strip()
        blocks += [programs, "Import Programs."]
    blocks += [one.text for one in found if one.text]
    theorems = CoqFile("", stated, total, open_verdicts, proved, unproved)
    head = "\n   ".join(
        [
            f"{theorems.summary}.",
            *CLAIMED,
            *(f"Program {_comment(part.program.name)}, {_claim(part.data['claim'])}" for part in document.constituents),
        ]
    )
    text = "\n\n".join([f"(* {head} *)", PRELUDE.read_text(encoding="utf-8").strip(), *blocks])
    return replace(theorems, text=text + "\n")


def _open_verdicts(data: Mapping[str, Any]) -> int:
    verdicts = [one for row in data.get("rows", ()) for one in row.get("ranges") or (row,)]
    count = sum(one.get("obligation") is None and not one.get("vacuous") for one in verdicts)
    classes = [one for case in data.get("cases", ()) for one in case["classes"]]
    return count + sum("required" not in one and "witness" not in one and not one.get("empty") for one in classes)


def _claim(claim: Mapping[str, Any]) -> str:
    parts = [f"{name} = {claim[name]}" for name in ("alpha", "beta", "gamma") if claim.get(name) is not None]
    return _comment(", ".join([*parts, f"eps in {' or '.join(claim['eps'])}"]))


def _comment(text: str) -> str:
    safe = plain(text).replace('"', "'").replace("*)", "* )").replace("(*", "( *")
    return safe if len(safe) <= 1000 else safe[:1000] + " ..."


def _uses(data: Mapping[str, Any]) -> dict[int, list[str]]:
    uses: dict[int, list[str]] = {}

    def add(places: object, words: str) -> None:
        for place in places if isinstance(places, list) else [places]:
            if isinstance(place, int):
                uses.setdefault(place, []).append(words)

    for row in data.get("rows", ()):
        for one in (row, *row.get("ranges", ())):
            add(one.get("obligation"), f"row {row['row']}")
    for case in data.get("cases", ()):
        constants = "".join(f" with {name} = {value}" for name, value in case["constants"].items())
        for place, one in enumerate(case["classes"], start=1):
            for evidence in (one.get("required"), one.get("witness")):
                if isinstance(evidence, dict):
                    add(evidence.get("obligations"), f"class {place}{constants}")
                    add(evidence.get("obligation"), f"class {place}{constants}")
    numbers = data.get("numbers")
    if isinstance(numbers, dict) and isinstance(numbers.get("union"), dict):
        for one in numbers["union"].get("sums", ()):
            for inequality in one.get("inequalities", ()) if isinstance(one, dict) else ():
                add(inequality[1:], f"every other {numbers['parameter']}")
    return {place: list(dict.fromkeys(words)) for place, words in uses.items()}


# === rows ======================================================================================


def _write_rows(part: Document, prefix: str, known: Mapping[int, _Obligation], budget: Budget) -> CoqFile:
    """Write the program of the document `part`, and a theorem about each of its rows, if possible.

    The row's obligation must be in `known`, which has obligations by index. All names in the Coq text begin with
    `prefix`. The text says why a row has no theorem, unless its gamma is left open. Charges its work to `budget`.
    """
    rows = [row for row in part.data.get("rows", ()) if row.get("obligation") is not None]
    ranged = sum("ranges" in row for row in part.data.get("rows", ()))
    if not rows or part.table is None:
        return CoqFile("", unproved_rows=ranged)
    try:
        tree, machine, _ = program_in(part, budget)
        program = CoqProgram(machine, f"{prefix}program")
        definition = program.definition()
    except (NotStatedError, Rejected) as reason:
        why = f"(* No row is proved from the program: {_comment(str(reason))}. *)"
        return CoqFile(why, unproved_rows=len(rows) + ranged)
    theorem = theorem_of(part, tree, machine, budget)
    text = part.data["program"]["text"]
    shown = "\n".join(f"   {_comment(line)}".rstrip() for line in text.splitlines())
    head = [f"(* The program:\n\n{shown} *)", "\n".join(definition)]
    blocks: list[str] = []
    proved = 0
    for row in rows[:MOST_ROWS]:
        name = f"{prefix}row{row['row']}"
        try:
            lines = _row(name, row, program, theorem, known)
            proved += 1
        except (NotStatedError, NotDerived) as reason:
            blocks.append(f"(* {name} is not proved from the program: {_comment(str(reason))} *)")
        else:
            blocks.append("\n".join(lines))
    if len(rows) > MOST_ROWS:
        blocks.append(f"(* The other {len(rows) - MOST_ROWS} rows are not proved from the program. *)")
    written = "\n\n".join([*(head if proved else ()), *blocks])
    return CoqFile(written, proved_rows=proved, unproved_rows=len(rows) - proved + ranged)


def _row(
    name: str, row: Mapping[str, Any], program: CoqProgram, theorem: Theorem, known: Mapping[int, _Obligation]
) -> list[str]:
    """Return the theorem `name` about the probability of the right answer of `row`, proved with the row's obligation.

    `program` is the program in Coq, `theorem` the program as the checker reads it, and `known` has the obligations by
    index. If the obligation says only that 1 - beta <= 0, the theorem states the value of the probability instead.

    Raises NotDerived if the checker cannot derive the right answers of the row, and NotStatedError if the obligation of
    the row is not in `known`, or if the certificate states no probability.
    """
    obligation = known.get(row["obligation"])
    if obligation is None:
        raise NotStatedError("its obligation has no theorem")
    inputs, outputs = theorem.read(row["input"], row["output"])
    gamma = Fraction(row["gamma"])
    at, event = (
        program.applied(inputs),
        program.event(list(theorem.probabilities.near_answers(inputs, outputs, gamma)), gamma),
    )
    if row["probability"] == obligation.entry["probability"]:
        return obligation.from_program(name, at, event)
    if row["probability"] is None:
        raise NotStatedError("its probability is not stated")
    return _equation(name, at, event, obligation.context.probability(row["probability"]))


def _equation(name: str, program: str, event: str, value: Closed, written: str | None = None) -> list[str]:
    """Return a Coq statement `name`, with its proof: the probability of `event` under `program` is `value`.

    Without `written` it is a theorem, in which the closed form `value` is written out. With `written`, a Coq term equal
    to `value`, it is a lemma with this term on the right side. Raises NotStatedError if the closed form is a quotient.
    """
    if value[1] != ONE:
        raise NotStatedError("its probability is a quotient")
    form = closed_expression(value, "eps")
    unit = unit_of(q for _, q in value[0])
    kind, right = ("Theorem", form.text) if written is None else ("Lemma", written)
    return [
        f"{kind} {name} : forall eps, 0 < eps ->\n  Pr {program}\n    {event} eps\n  = {right}.",
        (
            f"Proof. intros eps E. apply (probability {unit.numerator} {unit.denominator} _ _ ({form.tree}) eps); "
            "[lia|lia|exact E|vm_compute; reflexivity]. Qed."
        ),
    ]


# === obligations ===============================================================================


@dataclass(frozen=True)
class _Factor:
    """A factor `function` of a numerator or denominator, with its `multiplicity`.

    `sign` is its sign as the certificate states it, or None. `hints` are the values of eps at which the certificate's
    proof of the sign cuts the interval.
    """

    function: Ring
    multiplicity: int
    sign: int | None
    hints: tuple[Fraction, ...]

    @staticmethod
    def read(entry: Mapping[str, Any]) -> _Factor:
        evidence = entry["evidence"]
        pieces = evidence if isinstance(evidence, list) else []
        ends = tuple(Fraction(piece["to"]) for piece in pieces if piece.get("to") not in (None, "inf"))
        sign = pieces[0]["sign"] if pieces else None
        return _Factor(read_ring(entry["function"]), entry["multiplicity"], sign, ends)


@dataclass(frozen=True)
class _Context:
    data: Mapping[str, Any]
    intervals: tuple[Interval, ...]

    def probability(self, place: int) -> Closed:
        value = self.data["probabilities"][place]
        if "value" not in value:
            raise NotStatedError("its probability is over normal noise, which has no closed form")
        return read_closed(value["value"])

    def beta(self, place: int) -> list[list[Closed]]:
        value = self.data["betas"][place]
        if "min" not in value:
            raise NotStatedError(value.get("reason") or "its beta contains erfc, which has no closed form")
        return [
            [read_closed(arm) for arm in (one["max"] if isinstance(one, dict) and "max" in one else [one])]
            for one in value["min"]
        ]

    def denominator(self, ring: Ring, interval: int) -> list[_Factor]:
        for entry in self.data["positive"]:
            if read_ring(entry["function"]) != ring:
                continue
            proof = entry["proof"]
            if proof is None:
                break
            if proof == "coefficients":
                return [_Factor(ring, 1, 1, ())]
            factors = proof["everywhere"] if "everywhere" in proof else proof["intervals"][interval]
            if factors is None:
                raise NotStatedError("a denominator is shown to be positive at one point alone")
            return [_Factor.read(factor) for factor in factors]
        raise NotStatedError("a denominator is not shown to be positive")


@dataclass
class _Obligation:
    name: str
    entry: Mapping[str, Any]
    context: _Context
    budget: Budget
    written: list[str] = field(default_factory=list)
    signs: dict[tuple[CoqSum, Interval], str] = field(default_factory=dict)
    count: int = 0

    def lines(self) -> list[str]:
        if "reason" in self.entry:
            raise NotStatedError(self.entry["reason"])
        self.value = self.context.probability(self.entry["probability"])
        self.arms = self.context.beta(self.entry["beta"])
        texts = self.entry.get("intervals")
        self.intervals = self.context.intervals if texts is None else read_intervals(texts)
        meaning = self.entry.get("variable", "eps")
        self.variable = "eps" if meaning == "eps" else "x"
        self.pr = closed_expression(self.value, self.variable)
        self.betas = [[closed_expression(arm, self.variable) for arm in arms] for arms in self.arms]
        if meaning != "eps":
            self.written.append(f"(* Here x stands for {_comment(str(meaning))}. *)")
        arms = [_fold("Rmax", [one.text for one in each]) for each in self.betas]
        self.written += [
            f"Definition {self.name}_Pr ({self.variable} : R) : R :=\n  {self.pr.text}.",
            f"Definition {self.name}_beta ({self.variable} : R) : R :=\n  {_fold('Rmin', arms)}.",
        ]
        if self.entry["verdict"] == "inaccurate":
            self._refuted()
        else:
            self._proved()
        return self.written

    # --- rows ------------------------------------------------------------------------------------

    def from_program(self, name: str, program: str, event: str) -> list[str]:
        """Return the theorem `name` about the probability of `event` under `program`, and a lemma before it.

        By the lemma, this probability is the one in the obligation. Raises NotStatedError if the probability is not a
        sum of powers of eps and of e^eps.
        """
        lines = _equation(f"{name}_Pr", program, event, self.value, f"{self.name}_Pr eps")
        pr = f"Pr {program}\n    {event}"
        if self.entry["verdict"] == "inaccurate":
            at = number(Fraction(self.entry["counterexample"]["eps"]))
            return [
                *lines,
                f"Theorem {name} : {pr} {at} < 1 - {self.name}_beta {at}.",
                f"Proof. rewrite {name}_Pr by lra. exact {self.name}. Qed.",
            ]
        ranges = [range_text(interval, "eps") for interval in self.intervals]
        where = ranges[0] if len(ranges) == 1 else " \\/ ".join(f"({one})" for one in ranges)
        return [
            *lines,
            f"Theorem {name} : forall eps, {where} -> 1 - {self.name}_beta eps <=\n  {pr} eps.",
            f"Proof. intros eps E. rewrite {name}_Pr by lra. exact ({self.name} eps E). Qed.",
        ]

    # --- refuted ---------------------------------------------------------------------------------

    def _refuted(self) -> None:
        counterexample = self.entry["counterexample"]
        at = number(Fraction(counterexample["eps"]))
        place = counterexample["argument"]
        path = ["apply min_right_fails"] * place
        path += ["apply min_left_fails"] if place < len(self.betas) - 1 else []
        path += ["repeat apply max_fails"]
        self.written += [
            f"Theorem {self.name} : {self.name}_Pr {at} < 1 - {self.name}_beta {at}.",
            f"Proof. unfold {self.name}_Pr, {self.name}_beta. {'; '.join(path)}; number. Qed.",
        ]

    # --- proved ----------------------------------------------------------------------------------

    def _proved(self) -> None:
        v, name = self.variable, self.name
        claim = f"1 - {name}_beta {v} <= {name}_Pr {v}"
        parts: list[str] = []
        for interval, whole in enumerate(self.intervals):
            part = name if len(self.intervals) == 1 else f"{name}_interval{interval}"
            script = self._interval_proof(interval, whole)
            kind = "Theorem" if part == name else "Lemma"
            self.written += [
                f"{kind} {part} : forall {v}, {range_text(whole, v)} -> {claim}.",
                "Proof.",
                *script,
                "Qed.",
            ]
            parts.append(part)
        if len(parts) > 1:
            where = " \\/ ".join(f"({range_text(one, v)})" for one in self.intervals)
            cases = "[E|" * (len(parts) - 1) + "E" + "]" * (len(parts) - 1)
            applied = "|".join(f"apply {part}" for part in parts)
            self.written += [
                f"Theorem {name} : forall {v}, {where} -> {claim}.",
                f"Proof. intros {v} {cases}; [{applied}]; exact E. Qed.",
            ]

    def _interval_proof(self, interval: int, whole: Interval) -> list[str]:
        """Return the lines of the Coq proof of the obligation on the range `whole` of its variable.

        `interval` is the index of this range among the obligation's intervals. Beta is a minimum of maxima, and the
        lines prove the obligation for each argument of the minimum in place of beta.
        """
        equal = whole.lower == whole.upper
        lines = [f"intros {self.variable} {'->' if equal else 'E'}. unfold {self.name}_beta."]
        for place, part in enumerate(self.entry["parts"]):
            if place < len(self.arms) - 1:
                lines.append("apply min_ok.")
            lines += self._part(interval, whole, place, part)
        return [f"  {line}" for line in lines]

    def _part(self, interval: int, whole: Interval, place: int, part: Mapping[str, Any]) -> list[str]:
        """Return the lines of the Coq proof for one argument of the minimum in beta, on the range `whole`.

        The bound beta is a minimum of maxima. `place` is the index of one of these maxima, and `part` the certificate's
        evidence for it. `interval` is the index of the range among the obligation's intervals. The evidence cuts the
        range into cells, and on each cell it suffices to prove the inequality with one argument of the maximum.
        """
        cells = part["cells"][interval]
        lines: list[str] = []
        lower, lower_closed = whole.lower, whole.lower_closed
        for number_of_cell, cell in enumerate(cells):
            upper = None if cell["to"] == "inf" else Fraction(cell["to"])
            last = number_of_cell == len(cells) - 1
            arm = cell["argument"]
            steps = ["apply max_right"] * arm + (["apply max_left"] if arm < len(self.arms[place]) - 1 else [])
            steps.append("apply slack")
            if whole.lower == whole.upper:
                steps += self._point(read_closed(part["functions"][arm]), whole.lower)
            else:
                lemma = f"{self.name}_{interval}_{place}_{number_of_cell}"
                here = Interval(lower, upper, lower_closed, whole.upper_closed if last else True)
                self._cell(lemma, interval, (place, arm), part["functions"][arm], cell["factors"], here)
                steps.append(f"apply {lemma}; lra")
            if last:
                lines.append(f"{'. '.join(steps)}.")
            elif upper is not None:
                lines.append(f"destruct (Rle_lt_dec {self.variable} {number(upper)}); [{'; '.join(steps)}|].")
                lower, lower_closed = upper, True
        return lines

    def _point(self, function: Closed, at: Fraction) -> list[str]:
        if function[0] and sign_of_ring(function[0], at, self.budget):
            return ["left", f"unfold {self.name}_Pr", "number"]
        return ["right", f"unfold {self.name}_Pr", "field; try (apply Rgt_not_eq; number)"]

    def _cell(
        self, lemma: str, interval: int, arm: tuple[int, int], stated: object, evidence: Any, where: Interval
    ) -> None:
        """Write a Coq lemma with the name `lemma`, which states that Pr + a - 1 >= 0 on `where`.

        Pr is the obligation's probability. Its beta is a minimum, whose arguments are maxima. `arm` is a pair of
        indices: of a maximum in the minimum, and of an argument a in this maximum. `where` is a part of the interval
        with the index `interval`. `stated` is the function Pr + a - 1 as the certificate writes it, and `evidence` has
        its factors with the proofs of their signs.
        """
        place, number_of_arm = arm
        value, beta, function = self.value, self.arms[place][number_of_arm], read_closed(stated)
        written = self.betas[place][number_of_arm]
        above = [_Factor.read(one) for one in evidence] if function[0] else []
        own = [value[1]] + ([beta[1]] if beta[1] != value[1] else [])
        own = [ring for ring in own if ring != ONE]
        below = [factor for ring in own for factor in self.context.denominator(ring, interval)]
        extra: list[_Factor] = []
        if [function[1]] != (own or [ONE]):
            extra = [_Factor(ONE, 1, 1, ())]
            if function[1] != ONE:
                extra = self.context.denominator(function[1], interval)
        rings = [*value, *beta, *(factor.function for factor in (*above, *below, *extra))]
        unit = unit_of(q for ring in rings for _, q in ring)
        scaled = replace(where, lower=where.lower * unit, upper=None if where.upper is None else where.upper * unit)
        lists, proofs = zip(
            self._factors(above, scaled, unit, strict=False),
            self._factors(below, scaled, unit, strict=True),
            self._factors(extra, scaled, unit, strict=True),
            strict=True,
        )
        v = self.variable
        tree = self.pr.slack(written)
        self.written += [
            f"Lemma {lemma} : forall {v}, {range_text(where, v)} -> 0 <= {self.name}_Pr {v} + ({written.text}) - 1.",
            "Proof.",
            f"  intros {v} E. apply (shows_ok {unit.numerator} {unit.denominator} ({tree})",
            *(f"    {text}" for text in lists),
            f"    {v}); [vm_compute; reflexivity|lra|refine {proofs[0]}|refine {proofs[1]}|refine {proofs[2]}]; lra.",
            "Qed.",
        ]

    def _factors(self, factors: Sequence[_Factor], where: Interval, unit: Fraction, *, strict: bool) -> tuple[str, str]:
        texts: list[str] = []
        proofs: list[str] = []
        for factor in factors:
            value = _signed(CoqSum.from_ring(factor.function, unit), factor, where)
            texts.append(f"({value}, {factor.multiplicity}%nat)")
            if value.is_positive or (not strict and not factor.multiplicity % 2):
                proofs.append("I")
            elif strict:
                proofs.append(f"({self._sign(value, where, factor, unit)} _ _)")
            elif value.is_line:
                proofs.append(f"({self._line(value, where)} _ _)")
            else:
                proofs.append(f"(Rlt_le _ _ ({self._sign(value, where, factor, unit)} _ _))")
        proof = "I"
        for one in reversed(proofs):
            proof = f"(conj {one} {proof})"
        return f"[{'; '.join(texts)}]", proof

    def _sign(self, value: CoqSum, where: Interval, factor: _Factor, unit: Fraction) -> str:
        known = self.signs.get((value, where))
        if known is None:
            known = self.signs[value, where] = f"{self.name}_s{len(self.signs)}"
            self.written += prove_positive(known, value, where, [hint * unit for hint in factor.hints])
        return known

    def _line(self, value: CoqSum, where: Interval) -> str:
        self.count += 1
        name = f"{self.name}_line{self.count}"
        self.written += [
            f"Lemma {name} : forall t, {range_text(where, 't')} -> 0 <= ev {value} t.",
            "Proof. intros t T. line. Qed.",
        ]
        return name


def _signed(value: CoqSum, factor: _Factor, where: Interval) -> CoqSum:
    """Return `value` or -`value`, whichever is positive on the range `where`.

    `value` is the function of `factor`. If it has a single term, its sign is that of the term. Otherwise it is the sign
    that the certificate states or, for a linear function, the sign at a point of the range. If no sign is found, return
    `value`.
    """
    sign = factor.sign
    if len(value.items) == 1:
        sign = value.items[0][1]
    elif sign is None and value.is_line:
        inner = where.lower + 1 if where.upper is None else (where.lower + where.upper) / 2
        sign = 1 if value.line_at(inner) >= 0 else -1
    return value if sign is None or sign > 0 else value.negated


def _fold(operator: str, texts: Sequence[str]) -> str:
    *rest, result = texts
    for text in reversed(rest):
        result = f"{operator} ({text}) ({result})"
    return result
