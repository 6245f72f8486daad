"""Rows that represent all of finitely many inputs: an exchange that the checker accepts makes no difference."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import Any

import pytest

import dipc
from dipc.certificate.answers import Solved
from dipc.verifier.document import check_text
from dipc.verifier.exchange import PathExchanges, Product
from dipc.verifier.ideal import Ideal as Derived
from dipc.verifier.probability import Theorem
from dipc.verifier.reading import Rejected, Unreadable
from tests.verifier import samples
from tests.verifier.test_theorem import theorem

Document = dict[str, Any]


# --- random programs ---------------------------------------------------------------------------------


class Writer:
    """Programs about a few queries, some of which are treated alike."""

    def __init__(self, draw: random.Random) -> None:
        self.draw = draw
        self.queries = draw.randint(2, 3)
        self.whole = draw.random() < 0.2
        self.kind = "int" if self.whole else "real"
        self.noise = "DLap" if self.whole else "Lap"
        self.values = sorted(draw.sample(range(-2, 3), draw.randint(2, 3)))

    def inputs(self, text: str) -> list[str]:
        """The inputs to ask about."""
        queries = f"q in {{{', '.join(map(str, self.values))}}}"
        return [queries, "flag in {true, false}"] if "flag" in text else [queries]

    def each(self, choices: Sequence[object]) -> list[object]:
        """One choice for each query, mostly the same."""
        usual = self.draw.choice(choices)
        return [usual if self.draw.random() < 0.8 else self.draw.choice(choices) for _ in range(self.queries)]

    def program(self) -> str:
        return self.draw.choice((self.sparse, self.counted, self.largest, self.weighed, self.released))()

    def _text(self, outputs: str, ideal: str, body: str, variables: str = "") -> str:
        flag = "input flag : bool; " if "flag" in body + ideal else ""
        norm = self.draw.choice(("linf", "linf", "l1", "discrete"))
        return (
            f"program p; {flag}input q[1..{self.queries}] : {self.kind}; {outputs}; var r, s, t : {self.kind};"
            f" {variables} metric {{ input: {norm}; }}"
            f" claim {{ alpha: dd; gamma: {self.gamma}; beta: 2*exp(-alpha*eps/8); }}"
            f" ideal {{ {variables} {ideal} }} {body}"
        )

    gamma = "0"

    def sparse(self) -> str:
        rates, thresholds, weights = self.each((1, 1, 2)), self.each((0, 0, 1)), self.each((1, 1, 2))
        outputs = "; ".join(f"output o{i} : {{0..2}} = 0" for i in range(1, self.queries + 1))
        fresh = self.draw.random() < 0.5
        stop = "exit" if self.draw.random() < 0.7 else "t <- 0"
        body, ideal = ["t <- 0", f"s <- {self.noise}(eps/2, 0)"], []
        for i, (rate, threshold, weight) in enumerate(zip(rates, thresholds, weights, strict=True), start=1):
            if fresh:
                body.append(f"s <- {self.noise}(eps/2, 0)")
            body.append(f"r <- {self.noise}({rate}*eps/4, {weight}*q[{i}])")
            body.append(f"if r - s >= {threshold} then o{i} <- 1; {stop} else o{i} <- 2 end")
            ending = "exit" if stop == "exit" else f"o{i} <- 1"
            ideal.append(f"if {weight}*q[{i}] >= {threshold} then o{i} <- 1; {ending} else o{i} <- 2 end")
        return self._text(outputs, "; ".join(ideal), "; ".join(body))

    def counted(self) -> str:
        rates, thresholds = self.each((1, 1, 2)), self.each((0, 0, 1))
        body, ideal = ["n <- 0"], ["n <- 0"]
        for i, (rate, threshold) in enumerate(zip(rates, thresholds, strict=True), start=1):
            flag = " and flag" if i == 1 and self.draw.random() < 0.2 else ""
            body.append(f"r <- {self.noise}({rate}*eps/2, q[{i}]); if r >= {threshold}{flag} then n <- n + 1 end")
            ideal.append(f"if q[{i}] >= {threshold}{flag} then n <- n + 1 end")
        n = f"var n : {{0..{self.queries}}};"
        body.append("o <- n")
        ideal.append("o <- n")
        return self._text(f"output o : {{0..{self.queries}}}", "; ".join(ideal), "; ".join(body), n)

    def largest(self) -> str:
        rates, weights = self.each((1, 1, 1, 2)), self.each((1, 1, 1, 2))
        body, ideal = [f"o <- 1; s <- {self.noise}({rates[0]}*eps/2, {weights[0]}*q[1])"], ["o <- 1"]
        for i in range(2, self.queries + 1):
            body.append(f"r <- {self.noise}({rates[i - 1]}*eps/2, {weights[i - 1]}*q[{i}])")
            body.append(f"if r > s then o <- {i}; s <- r end")
            others = " and ".join(f"{weights[i - 1]}*q[{i}] > {weights[j - 1]}*q[{j}]" for j in range(1, i))
            ideal.append(f"if {others} then o <- {i} end")
        return self._text(f"output o : {{1..{self.queries}}}", "; ".join(ideal), "; ".join(body))

    def weighed(self) -> str:
        weights = self.each((1, 1, -1, 2, 0))
        total = " + ".join(f"{weight}*q[{i}]" for i, weight in enumerate(weights, start=1))
        other = self.draw.choice((total, total, "q[1]"))
        body = f"r <- {self.noise}(eps, {total}); if r >= 1 then o <- 1 else o <- 0 end"
        return self._text("output o : {0, 1}", f"if {other} >= 1 then o <- 1 else o <- 0 end", body)

    def released(self) -> str:
        """The release of a number beside a sign."""
        self.gamma = self.draw.choice(("0", "1/2", "1")) if not self.whole else "1"
        total = " + ".join(f"{weight}*q[{i}]" for i, weight in enumerate(self.each((1, 1, 2)), start=1))
        own = self.draw.choice((total, "q[1]", "0"))
        body = (
            f"x <- {self.noise}(eps, {own}); r <- {self.noise}(eps/2, {total}); if r >= 1 then o <- 1 else o <- 0 end"
        )
        ideal = f"x <- {own}; if {total} >= 1 then o <- 1 else o <- 0 end"
        return self._text(f"output o : {{0, 1}}; output x : {self.kind}", ideal, body)


def programs(seed: object, count: int) -> Iterator[tuple[Writer, str]]:
    for number in range(count):
        writer = Writer(random.Random(f"{seed} {number}"))
        yield writer, writer.program()


def inputs_by_result(report: dipc.Report) -> Counter[tuple[object, ...]]:
    """The number of inputs for each dd, verdict and probability."""
    counts: Counter[tuple[object, ...]] = Counter()
    for row in report.rows:
        counts[row.alpha, row.verdict, str(row.closed_form)] += row.count or 1
    return counts


@pytest.mark.parametrize("seed", range(10))
def test_what_rows_stand_for_is_what_each_input_says(seed: int) -> None:
    """Two hundred programs, decided with classes and input by input, have the same results."""
    fewer = 0
    for writer, text in programs(seed, 20):
        program, inputs = dipc.load(text), writer.inputs(text)
        report = dipc.check(program, inputs=inputs, classes=True, keep_proofs=True)
        accepted = check_text(dipc.certify(report))
        every = dipc.check(program, inputs=inputs, classes=False)
        assert accepted.complete, (accepted.trusted, accepted.open_rows, text)
        assert accepted.verdict == every.verdict, text
        assert inputs_by_result(report) == inputs_by_result(every), text
        assert "all inputs of" in accepted.claim
        fewer += len(report.rows) < len(every.rows)
    assert fewer >= 8, fewer


# --- what may not be exchanged ------------------------------------------------------------------------


@dataclass(frozen=True)
class AllInputs:
    """All inputs of a program, with the path that each takes, its dd and its probability."""

    theorem: Theorem
    values: list[list[str]]
    rows: list[tuple[list[str], list[str]]]
    paths: list[object]
    says: list[tuple[object, ...]]

    @staticmethod
    def decide(writer: Writer, text: str) -> AllInputs:
        program = dipc.load(text)
        report = dipc.check(program, inputs=writer.inputs(text), classes=False)
        derived = theorem(program)
        assert isinstance(derived.ideal, Derived)
        # It asks the same of every input.
        derived.ideal.budget.answers = Solved()
        rows = [(list(row.input.values()), list(row.output.values())) for row in report.rows]
        return AllInputs(
            derived,
            [list(dict.fromkeys(column)) for column in zip(*(given for given, _ in rows), strict=True)],
            rows,
            [derived.ideal.path_at([*derived.read(*row)[0].values()]) for row in rows],
            [(row.alpha, str(row.closed_form)) for row in report.rows],
        )

    def places(self, number: int) -> list[int]:
        """The places of the input's values."""
        return [values.index(value) for value, values in zip(self.rows[number][0], self.values, strict=True)]


#: Blocks of places that are exchanged, and places that make no difference.
Structure = tuple[list[list[int]], list[int]]


def structure(draw: random.Random, asked: AllInputs) -> Structure:
    """A random structure."""
    places = [k for k, values in enumerate(asked.values) if values[0] not in ("true", "false") or draw.random() < 0.1]
    draw.shuffle(places)
    free = [places.pop() for _ in range(draw.choice((0, 0, 1))) if len(places) > 1]
    size = draw.choice((0, 2, 2, 3))
    return [[*sorted(places[:size])]] if size <= len(places) and size else [], free


def in_order(places: list[int], blocks: list[list[int]], free: list[int]) -> tuple[int, ...]:
    """The input with its exchangeable values in order."""
    moved = [0 if k in free else place for k, place in enumerate(places)]
    for block in blocks:
        for k, place in zip(block, sorted(places[k] for k in block), strict=True):
            moved[k] = place
    return tuple(moved)


@pytest.mark.parametrize("seed", range(8))
def test_no_exchange_is_let_through_that_changes_anything(seed: int) -> None:
    """Random structures for each path of the ideal, with exactly the rows that they leave.

    An accepted structure is right about every input's dd and probability, as the engine finds them one by one.
    """
    draw = random.Random(f"exchanges {seed}")
    counts: Counter[str] = Counter()
    for writer, text in programs(f"asked {seed}", 12):
        asked = AllInputs.decide(writer, text)
        for _ in range(12):
            by_path: dict[object, Structure] = {path: structure(draw, asked) for path in dict.fromkeys(asked.paths)}
            ordered = [in_order(asked.places(k), *by_path[path]) for k, path in enumerate(asked.paths)]
            kept = [k for k, own in enumerate(ordered) if tuple(asked.places(k)) == own]
            first = {asked.paths[k]: number for number, k in reversed([*enumerate(kept, start=1)])}
            exchanges = [PathExchanges(number, *by_path[path]) for path, number in first.items()]
            try:
                why = Product(asked.values, exchanges, None).require(
                    [asked.rows[k] for k in kept], asked.theorem, dd="ideal"
                )
            except Rejected:
                counts["rejected"] += 1
                continue
            assert why is None, (why, text)
            counts["accepted"] += 1
            counts["fewer"] += len(kept) < len(asked.rows)
            says = {ordered[k]: asked.says[k] for k in kept}
            for k, own in enumerate(ordered):
                assert own in says, (exchanges, text)
                assert says[own] == asked.says[k], (exchanges, text)
    assert counts["rejected"] > 20, counts
    assert counts["fewer"] > 0, counts


# --- forgeries ------------------------------------------------------------------------------------------


@cache
def sparse() -> str:
    program = dipc.load(samples.ROOT / "benchmarks" / "sparse.dip", m=4, c=2)
    return dipc.certify(dipc.check(program, inputs="q = -1..1", classes=True, keep_proofs=True))


def without_rows(data: Document, gone: Callable[[Document], bool]) -> None:
    """Leave out some rows, and renumber the others."""
    kept = [row for row in data["rows"] if not gone(row)]
    places = {row["row"]: number for number, row in enumerate(kept, start=1)}
    for number, row in enumerate(kept, start=1):
        row["row"] = number
    data["rows"], data["table"]["rows"] = kept, len(kept)
    for one in data["product"]["exchanges"]:
        one["row"] = places.get(one["row"], 1)


def _exchange(data: Document, number: int, **parts: Any) -> None:
    data["product"]["exchanges"][number] |= parts


def _values(data: Document, place: int, values: list[str]) -> None:
    data["product"]["values"][place] = values


def _all_in_one(data: Document) -> None:
    for one in data["product"]["exchanges"]:
        one |= {"blocks": [[1, 2, 3]], "free": [4]}
    without_rows(data, lambda row: [int(cell) for cell in row["input"][1:4]] != sorted(map(int, row["input"][1:4])))


def _all_free(data: Document) -> None:
    for one in data["product"]["exchanges"]:
        one["free"] = sorted([*one["free"], *(place for block in one["blocks"] for place in block)])
        one["blocks"] = []
    without_rows(data, lambda row: {"1"} & set(row["input"][1:]) != set())


def _swapped(data: Document) -> None:
    row = next(row for row in data["rows"] if row["input"][1] != row["input"][2])
    row["input"][1:3] = row["input"][2:0:-1]


def _twice(data: Document) -> None:
    """Replace the last row by a copy of another."""
    data["rows"][-1] = {**data["rows"][-2], "row": len(data["rows"])}


def _own(data: Document) -> None:
    data["rows"][0]["own"] = {"beta": data["claim"]["beta"]}


def _other_answer(data: Document) -> None:
    data["rows"][0]["output"] = data["rows"][-1]["output"]


def _other_dd(data: Document) -> None:
    data["rows"][0]["dd"] = str(Fraction(data["rows"][0]["dd"]) + 1)


def _permuted(data: Document) -> None:
    data["product"]["values"][1] = data["product"]["values"][1][::-1]


def _all_permuted(data: Document) -> None:
    data["product"]["values"] = [values[::-1] for values in data["product"]["values"]]


FORGERIES: dict[str, Callable[[Document], object]] = {
    "a query with another weight in the block": _all_in_one,
    "what matters is free": _all_free,
    "a query that matters is free": lambda data: _exchange(data, 0, free=[3, 4]),
    "the block is larger": lambda data: _exchange(data, 0, blocks=[[1, 2, 3]]),
    "the block has the free one": lambda data: _exchange(data, 0, blocks=[[1, 2, 4]], free=[]),
    "the block is another": lambda data: _exchange(data, 0, blocks=[[1, 3]]),
    "the block has the flag": lambda data: _exchange(data, 0, blocks=[[0, 1]]),
    "the flag is free": lambda data: _exchange(data, 0, free=[0, 4]),
    "the block has an input twice": lambda data: _exchange(data, 0, blocks=[[1, 1]]),
    "two blocks have an input": lambda data: _exchange(data, 0, blocks=[[1, 2], [2, 1]]),
    "an input is free twice": lambda data: _exchange(data, 0, free=[4, 4]),
    "an input in a block is free": lambda data: _exchange(data, 0, free=[1, 4]),
    "an input that is none": lambda data: _exchange(data, 0, blocks=[[1, 5]]),
    "a free input that is none": lambda data: _exchange(data, 0, free=[4, 5]),
    "a negative place": lambda data: _exchange(data, 0, free=[-1]),
    "no blocks": lambda data: _exchange(data, 0, blocks=[]),
    "nothing is free": lambda data: _exchange(data, 0, free=[]),
    "a path twice": lambda data: data["product"]["exchanges"].append(data["product"]["exchanges"][0]),
    "a path less": lambda data: data["product"]["exchanges"].pop(),
    "no exchanges": lambda data: data["product"].update(exchanges=[]),
    "of a row that is none": lambda data: _exchange(data, 0, row=10**6),
    "of the row before the first": lambda data: _exchange(data, 0, row=0),
    "of a row of another path": lambda data: _exchange(data, 0, row=data["product"]["exchanges"][1]["row"]),
    "one row less": lambda data: without_rows(data, lambda row: row["row"] == 2),
    "the last row less": lambda data: without_rows(data, lambda row: row["row"] == len(data["rows"])),
    "half of the rows": lambda data: without_rows(data, lambda row: row["row"] % 2 == 0),
    "no flag": lambda data: without_rows(data, lambda row: row["input"][0] == "true"),
    "a row twice": _twice,
    "a row that is not in order": _swapped,
    "a row with another answer": _other_answer,
    "a row with another dd": _other_dd,
    "a row with a claim of its own": _own,
    "dd of a table": lambda data: data["table"].update(dd="given"),
    "a value more": lambda data: _values(data, 1, ["-1", "0", "1", "2"]),
    "a value more of all": lambda data: data["product"].update(
        values=[data["product"]["values"][0], *[["-1", "0", "1", "2"]] * 4]
    ),
    "a value less": lambda data: _values(data, 1, ["-1", "0"]),
    "a value twice": lambda data: _values(data, 4, ["-1", "0", "0"]),
    "a value twice, written otherwise": lambda data: _values(data, 4, ["-1", "0", "0.0"]),
    "another value": lambda data: _values(data, 1, ["-1", "0", "2"]),
    "values of one in another order": _permuted,
    "values of all in another order": _all_permuted,
    "no values": lambda data: _values(data, 1, []),
    "a value that is none": lambda data: _values(data, 1, ["-1", "0", "one"]),
    "a value of the flag that is none": lambda data: _values(data, 0, ["true", "1"]),
    "an input less": lambda data: data["product"]["values"].pop(),
    "an input more": lambda data: data["product"]["values"].append(["0"]),
    "no inputs": lambda data: data["product"].update(values=[]),
    "another part": lambda data: data["product"].update(count=162),
}


def refused(data: Document) -> bool:
    try:
        check_text(samples.resealed(data))
    except (Rejected, Unreadable):
        return True
    return False


@pytest.mark.parametrize("name", FORGERIES)
def test_forged_classes_are_refused(name: str) -> None:
    data = samples.document(samples.marked())
    FORGERIES[name](data)
    assert refused(data)


def test_the_classes_that_are_forged_are_accepted_as_they_are() -> None:
    for text in (samples.marked(), sparse()):
        assert check_text(text).complete
        assert not refused(samples.document(text))


def test_rows_stand_for_others_with_the_answer_of_the_ideal() -> None:
    asked = AllInputs.decide(Writer(random.Random(0)), Writer(random.Random(0)).program())
    given, own = asked.rows[0]
    other = next(output for _, output in asked.rows if output != own)
    with pytest.raises(Rejected, match="its answer differs from that of the `ideal`"):
        Product(asked.values, [], None).require([(given, other), *asked.rows[1:]], asked.theorem, dd="ideal")
    assert Product(asked.values, [], None).require(asked.rows, asked.theorem, dd="ideal") is None


def test_what_is_not_shown_of_classes_is_said() -> None:
    """A reason replaces the proof, and is printed in the first line."""
    data = samples.document(samples.marked())
    data["product"] |= {"exchanges": [], "reason": "nobody looked"}
    accepted = check_text(samples.resealed(data))
    assert not accepted.complete
    assert "nobody looked" in next(accepted.lines())


@pytest.mark.parametrize("seed", range(6))
def test_classes_forged_at_random_are_refused(seed: int) -> None:
    """Moving places between blocks, or leaving out rows, changes the number of inputs that rows represent."""
    draw = random.Random(f"forged {seed}")
    for _ in range(10):
        data = samples.document(sparse())
        product = data["product"]
        for _ in range(draw.randint(1, 3)):
            one = draw.choice(product["exchanges"])
            place = draw.randrange(4)
            one["blocks"] = [[k for k in block if k != place] for block in one["blocks"]]
            one["free"] = [k for k in one["free"] if k != place]
            if draw.random() < 0.5:
                one["free"] = sorted([*one["free"], place])
            else:
                one["blocks"] = [*one["blocks"][1:], sorted([*(one["blocks"] or [[]])[0], place])]
        if draw.random() < 0.5:
            row = draw.choice(data["rows"])["row"]
            without_rows(data, lambda each: each["row"] == row)  # noqa: B023 - it is called at once
        before = samples.document(sparse())["product"]
        normal = [
            [(sorted(b for b in one["blocks"] if len(b) > 1), one["free"]) for one in each["exchanges"]]
            for each in (before, product)
        ]
        same_rows = len(data["rows"]) == len(samples.document(sparse())["rows"])
        assert refused(data) or (normal[0] == normal[1] and same_rows), product["exchanges"]
