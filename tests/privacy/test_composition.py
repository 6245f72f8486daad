"""Several independent runs: against the program that makes them all, and against binomial sums."""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Callable
from fractions import Fraction

import pytest

import dipc
from dipc.algebra.exppoly import Closed, ClosedForm, ExpPoly, Quotient, product
from dipc.algebra.limits import LimitReached, Limits, OutsideFragment
from dipc.certificate.data import Uncertified
from dipc.certificate.privacy import certify_privacy
from dipc.decide.engine import Engine
from dipc.questions.privacy import check
from dipc.questions.privacy.adjacency import Pairs
from dipc.questions.privacy.check import PrivacyQuestion
from dipc.questions.privacy.loss import LawTable
from dipc.questions.privacy.many_runs import UnlistedRuns
from dipc.questions.privacy.outcome import read_claim
from dipc.questions.privacy.runs import FactorBase, composed

F = Fraction


def doubled(text: str) -> str:
    """The program that makes two runs of its last statements, which are one output's."""
    head, body = text.split("|")
    again = body.replace("y <-", "z <-").replace("r <-", "s <-").replace("r >=", "s >=")
    return head.replace("output y", "output y, z").replace("var r", "var r, s") + body + again


#: Declarations, and a run.
PROGRAMS = {
    "response": "program p; input x : {0, 1}; output y : {0, 1};| y <- Exp(eps, v in {0, 1} : -abs(v - x));",
    "three values": "program p; input x : {0..2}; output y : {0..2};| y <- Exp(eps/2, v in {0..2} : -abs(v - x));",
    "noise": "program p; input x : {0..2}; output y : bool; var r : real;| r <- Lap(eps, x); y <- r >= 1;",
}
RESPONSE = PROGRAMS["response"].replace("|", "")


def question(text: str, runs: int = 1, adjacent: str = "linf:1", inputs: str | None = None) -> PrivacyQuestion:
    program = dipc.load(text)
    return PrivacyQuestion(program, adjacent, inputs, Engine(program.measurer, program.limits), runs=runs)


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("budget", ["0*eps", "eps/2", "eps"])
def test_two_runs_are_the_program_that_makes_both(name: str, budget: str) -> None:
    composed, whole = question(PROGRAMS[name].replace("|", ""), 2), question(doubled(PROGRAMS[name]))
    claim = read_claim(whole.program, budget, None, None)
    found, wanted = (asked.least_delta(claim, F(3, 2)) for asked in (composed, whole))
    assert found.at is not None
    assert wanted.at is not None
    assert found.at[1] == wanted.at[1]
    assert found.supremum == wanted.supremum
    assert composed.largest_loss(F(1)).value == whole.largest_loss(F(1)).value
    assert composed.constant(None).proved == whole.constant(None).proved
    renyi, other = (asked.divergence(3, F(1)).value for asked in (composed, whole))
    assert renyi is not None
    assert other is not None
    assert float(renyi[0]) == pytest.approx(float(other[0]), rel=1e-15)
    assert composed.decide(read_claim(whole.program, budget, "1/9", None)).verdict is (
        whole.decide(read_claim(whole.program, budget, "1/9", None)).verdict
    )


@pytest.mark.parametrize("runs", [1, 2, 10, 40])
def test_randomized_response(runs: int) -> None:
    """The loss of k answers that say so is (2k - runs)·eps."""
    eps, budget = 0.5, 1.5
    true = 1 / (1 + math.exp(-eps))
    delta = sum(
        math.comb(runs, k)
        * max(0.0, true**k * (1 - true) ** (runs - k) - math.exp(budget * eps) * true ** (runs - k) * (1 - true) ** k)
        for k in range(runs + 1)
    )
    asked = question(RESPONSE, runs)
    found = asked.least_delta(read_claim(asked.program, "3*eps/2", None, "[1/2, 1/2]"), F(1, 2)).at
    assert found is not None
    assert float(found[1][0]) == pytest.approx(delta, rel=1e-12)
    for more, verdict in ((1, "private"), (-1, "not private")):
        allowed = F(delta + more / 1000).limit_denominator(10**6)
        if allowed > 0:
            report = dipc.check_privacy(
                dipc.load(RESPONSE), "linf:1", budget="3*eps/2", delta=str(allowed), eps="1/2", compose=runs
            )
            assert report["verdict"] == verdict


def test_losses_of_real_outputs_add_up() -> None:
    text = "program p; input q : real; output y : real; y <- Lap(eps, q);"
    found, single = question(text, 3, inputs="all").constant(None), question(text, inputs="all").constant(None)
    assert single.proved is not None
    assert (found.proved, found.refuted_below) == (3 * single.proved, 3 * single.proved)
    real = question(text, 2, inputs="q = 0..1")
    with pytest.raises(OutsideFragment, match="one program that releases all of them"):
        real.largest_loss(F(1))
    assert real.decide(read_claim(real.program, "eps", "1/9", None))["verdict"] != "private"


def test_what_has_no_composition() -> None:
    asked = question(RESPONSE, 3)
    report = asked.decide(read_claim(asked.program, "3*eps", None, None))
    assert report["verdict"] == "private"
    with pytest.raises(Uncertified, match="one program"):
        certify_privacy(asked, report)
    many = question(PROGRAMS["three values"].replace("|", ""), 10_000)
    with pytest.raises(LimitReached, match="10000 runs have"):
        many.largest_loss(F(1))
    with pytest.raises(ValueError, match="compose must be at least 1"):
        dipc.check_privacy(dipc.load(RESPONSE), "linf:1", compose=0)


@pytest.mark.parametrize("runs", [(1, 1), (1, 2)])
def test_many_pairs_are_about_all_of_the_programs(runs: tuple[int, int], monkeypatch: pytest.MonkeyPatch) -> None:
    """Shifts of the first program's noise alone were taken for those of all, where there are many pairs."""
    monkeypatch.setattr(check, "_MANY_PAIRS", 1)
    text = "program p; input x : {0..2}; output o : bool; var r : real; r <- Lap(%s, x); o <- r >= 1"
    rates, parts = (F(1, 8), F(2)), [dipc.load(text % rate) for rate in ("eps/8", "2*eps")]
    least = sum(rate * count for rate, count in zip(rates, runs, strict=True))
    for order in (1, -1):
        asked = dipc.compose(*parts[::order], adjacent="linf:1", runs=runs[::order])
        assert asked.check(f"{least}*eps").verdict == "private"
        assert asked.check(f"{least - F(1, 16)}*eps").verdict == "not private"
        found = asked.question.constant(None)
        assert found.proved == found.refuted_below == least


def test_what_has_no_composition_has_none_when_it_is_asked_again() -> None:
    """The laws of one run were kept where those of several are not known: the second question was about one run."""
    noisy = "program p; input x : {0, 1}; output o : bool; var r : real; r <- Gauss(1/eps, x); o <- r >= 1"
    for asked, reason in (
        (question(noisy, 2), "no closed form"),
        (question(PROGRAMS["three values"].replace("|", ""), 10_000), "10000 runs have"),
    ):
        for _ in range(2):
            report = asked.decide(read_claim(asked.program, "2*eps", "1/4", "1"))
            assert report.verdict == "undecided"
            assert reason in str(report.reason)
            with pytest.raises((LimitReached, OutsideFragment), match=reason):
                asked.largest_loss(F(1))


def test_composed_programs_have_a_meaning_at_the_eps_that_is_asked_about() -> None:
    """Each of them, wherever it stands: beyond 2 a weight is negative, and the loss was said to be 0 there."""
    weights = "choose { true : (2 + eps)/4, false : (2 - eps)/4 }"
    text = f"program p; input x : {{0, 1}}; output o : bool; o <- {weights}; if x = 1 then o <- not o end"
    some, every = dipc.load(text, eps="(0, 2)"), dipc.load(RESPONSE)
    for programs in ([some], [some, every], [every, some], [every, every, some]):
        together = dipc.compose(*programs, adjacent="linf:1")
        assert together.loss(1).value is not None
        assert together.check("9*eps", eps="(0, 1]").verdict == "private"
        for ask in (
            lambda asked: asked.loss(3),
            lambda asked: asked.delta("eps", 3),
            lambda asked: asked.budget("1/9", 3),
            lambda asked: asked.budget(0, 3),
            lambda asked: asked.renyi(2, 3),
            lambda asked: asked.profile(3),
            lambda asked: asked.check("9*eps", eps="[1, 3]"),
            lambda asked: asked.question.constant("[1, 3]"),
            lambda asked: asked.question.least_delta(read_claim(every, "eps", None, "[1, 3]")),
        ):
            with pytest.raises(dipc.DiagnosticError, match="is read only for eps in"):
                ask(together)


def random_law(chance: random.Random) -> tuple[str, Callable[[int, float], list[float]]]:
    """A program with an answer of two or three values, and its probabilities at an input and an eps."""
    count = chance.choice((2, 3))
    if chance.random() < 0.5:
        scores = [[chance.randint(-2, 2) for _ in range(count)] for _ in (0, 1)]
        rate = chance.choice((F(1, 2), F(1)))
        branches = [
            f"y <- choose {{ {', '.join(f'{v} : exp({rate * s}*eps)/({total})' for v, s in enumerate(row))} }}"
            for row in scores
            for total in [" + ".join(f"exp({rate * s}*eps)" for s in row)]
        ]

        def law(x: int, eps: float) -> list[float]:
            weights = [math.exp(float(rate) * s * eps) for s in scores[x]]
            return [weight / sum(weights) for weight in weights]

    else:
        whole = [[chance.randint(1, 5) for _ in range(count)] for _ in (0, 1)]
        branches = [
            f"y <- choose {{ {', '.join(f'{v} : {w}/{sum(row)}' for v, w in enumerate(row))} }}" for row in whole
        ]

        def law(x: int, eps: float) -> list[float]:
            return [w / sum(whole[x]) for w in whole[x]]

    body = f"if x = 0 then {branches[0]} else {branches[1]} end"
    return f"program p; input x : {{0, 1}}; output y : {{0..{count - 1}}}; {body}", law


def compared(seed: int) -> None:
    """Two random programs, each run some times, against all their outputs one by one."""
    chance = random.Random(f"composition {seed}")
    parts = [(*random_law(chance), chance.randint(1, 3)) for _ in range(2)]
    eps, factor, order = (
        chance.choice((F(1, 2), F(1), F(2))),
        chance.choice((F(0), F(1, 2), F(2))),
        chance.choice((2, 3)),
    )
    both = []
    for x in (0, 1):
        laws = [law(x, float(eps)) for _, law, runs in parts for _ in range(runs)]
        both.append([math.prod(each) for each in itertools.product(*laws)])
    pairs = [(both[0], both[1]), (both[1], both[0])]
    asked = dipc.compose(
        *(dipc.load(text) for text, _, _ in parts), adjacent="linf:1", runs=tuple(r for _, _, r in parts)
    )
    loss = asked.loss(eps).value
    assert loss is not None
    assert float(loss[0]) == pytest.approx(
        max(math.log(p / q) for one, two in pairs for p, q in zip(one, two, strict=True)), abs=1e-9
    )
    scale = math.exp(float(factor * eps))
    wanted = max(sum(max(0.0, p - scale * q) for p, q in zip(one, two, strict=True)) for one, two in pairs)
    low, _ = asked.delta(f"{factor}*eps", eps)
    assert float(low) == pytest.approx(wanted, abs=1e-9)
    moment = max(sum(p**order / q ** (order - 1) for p, q in zip(one, two, strict=True)) for one, two in pairs)
    divergence = asked.renyi(order, eps).value
    assert divergence is not None
    assert float(divergence[0]) == pytest.approx(math.log(moment) / (order - 1), abs=1e-9)
    for more, verdict in ((F(1, 10**6), "private"), (-F(1, 10**6), "not private")):
        allowed = F(wanted).limit_denominator(10**9) + more
        if allowed > 0:
            assert asked.check(f"{factor}*eps", str(allowed), eps=f"[{eps}, {eps}]").verdict == verdict
    budget = asked.budget(F(wanted).limit_denominator(10**9) + F(1, 10**6), eps).value
    assert budget is not None
    assert float(budget[0]) <= float(factor * eps) + 1e-9


@pytest.mark.parametrize("seed", range(20))
def test_random_compositions(seed: int) -> None:
    compared(seed)


_E = ExpPoly.term(1, 0, F(1))
#: Laws at two inputs, one list of probabilities each.
LAWS: dict[str, list[list[Closed]]] = {
    "response": [
        [Quotient(_E, 1 + _E), Quotient(ExpPoly.ONE, 1 + _E)],
        [Quotient(ExpPoly.ONE, 1 + _E), Quotient(_E, 1 + _E)],
    ],
    "rational": [
        [ExpPoly.constant(F(1, 4)), ExpPoly.constant(F(3, 4))],
        [ExpPoly.constant(F(1, 2)), ExpPoly.constant(F(1, 2))],
    ],
    "impossible": [
        [ExpPoly.ZERO, ExpPoly.ONE],
        [ExpPoly.term(F(1, 2), 0, F(-1, 2)), 1 - ExpPoly.term(F(1, 2), 0, F(-1, 2))],
    ],
    "powers of eps": [
        [Quotient(ExpPoly.term(1, 1), 1 + ExpPoly.term(1, 1)), Quotient(ExpPoly.ONE, 1 + ExpPoly.term(1, 1))],
        [Quotient(ExpPoly.ONE, 2 + ExpPoly.term(1, 1)), Quotient(1 + ExpPoly.term(1, 1), 2 + ExpPoly.term(1, 1))],
    ],
    "shared factors": [
        [Quotient(_E * _E, (1 + _E) * (1 + _E)), Quotient(1 + 2 * _E, (1 + _E) * (1 + _E))],
        [Quotient(1 + 2 * _E, (1 + _E) * (1 + _E)), Quotient(_E * _E, (1 + _E) * (1 + _E))],
    ],
    "three": [
        [Quotient(ExpPoly.ONE, 1 + 2 * _E), Quotient(_E, 1 + 2 * _E), Quotient(_E, 1 + 2 * _E)],
        [Quotient(_E, 1 + 2 * _E), Quotient(ExpPoly.ONE, 1 + 2 * _E), Quotient(_E, 1 + 2 * _E)],
    ],
}


@pytest.mark.parametrize("name", LAWS)
@pytest.mark.parametrize("runs", [2, 3, 5])
def test_an_answer_of_all_runs_is_the_product_of_its_runs(name: str, runs: int) -> None:
    """Multiplied out it is the product in lowest terms, and equal functions have one number."""
    laws = LAWS[name]
    functions = list(dict.fromkeys(p for law in laws for p in law))
    rows = tuple(tuple(1 + functions.index(p) for p in law) for law in laws)
    table = LawTable(
        ("y",),
        tuple((F(v),) for v in range(len(laws[0]))),
        (ClosedForm(ExpPoly.ZERO), *map(ClosedForm, functions)),
        rows,
    )
    if name == "impossible":
        zero = 1 + functions.index(ExpPoly.ZERO)
        table = LawTable(
            table.names, table.answers, table.forms, tuple(tuple(0 if n == zero else n for n in row) for row in rows)
        )
    found = composed(table, runs, Limits())
    seen: dict[Closed, int] = {}
    for law, row in zip(laws, found.rows, strict=True):
        for (answer,), number in zip(found.answers, row, strict=True):
            times = [0] * len(law)
            for part in str(answer).split(", "):
                count, value = part.split(" of ")
                times[int(value[-2])] = int(count)
            orders = math.factorial(runs) // math.prod(map(math.factorial, times))
            wanted = product([p for p, k in zip(law, times, strict=True) for _ in range(k)]) * orders
            form = found.forms[number]
            assert isinstance(form, ClosedForm)
            low, high = form.enclosure(F(1, 3), 20)
            under, over = wanted.enclosure(F(1, 3), 40)
            assert low <= under <= over <= high
            assert (high - low) * 10**20 <= high
            assert form.value == wanted
            assert str(form) == str(ClosedForm(wanted))
            assert seen.setdefault(wanted, number) == number


@pytest.mark.parametrize("question_at_one_eps", ["budget", "delta"])
def test_work_for_many_runs_grows_with_their_number(question_at_one_eps: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Products of functions of eps grow with the square of the runs, values of an answer with the runs."""
    work = {"functions": 0, "values": 0}

    def counted(kind: str, of: type, name: str) -> None:
        method = getattr(of, name)

        def counting(*args: object) -> object:
            work[kind] += 1
            return method(*args)

        monkeypatch.setattr(of, name, counting)

    counted("functions", ExpPoly, "__mul__")
    counted("functions", Quotient, "__mul__")
    counted("values", FactorBase, "enclosure")
    costs = []
    for runs in (50, 100, 200):
        work.update(functions=0, values=0)
        asked = dipc.compose(dipc.load(RESPONSE), adjacent="linf:1", runs=runs)
        if question_at_one_eps == "budget":
            asked.budget(F(1, 10**6), F(1, 10))
        else:
            asked.delta(f"{runs // 4}*eps", F(1, 10))
        costs.append(dict(work))
    assert costs[0]["functions"] == costs[1]["functions"] == costs[2]["functions"]
    assert costs[2]["values"] <= 2.1 * costs[1]["values"] <= 2.1 * 2.1 * costs[0]["values"]


#: Weights of a program's outputs at two inputs.
WEIGHTS = {
    "two losses": "choose { 0 : 1/3, 1 : 2/3 } | choose { 0 : 1/2, 1 : 1/2 }",
    "of randomized response": (
        "choose { 0 : exp(eps)/(1+exp(eps)), 1 : 1/(1+exp(eps)) } | "
        "choose { 0 : 1/(1+exp(eps)), 1 : exp(eps)/(1+exp(eps)) }"
    ),
    "three multiples": "choose { 0 : 4/7, 1 : 2/7, 2 : 1/7 } | choose { 0 : 1/7, 1 : 2/7, 2 : 4/7 }",
    "multiples of different logarithms": (
        "choose { 0 : 1/6, 1 : 1/3, 2 : 1/2 } | choose { 0 : 1/2, 1 : 1/6, 2 : 1/3 }"
    ),
    "no common unit": "choose { 0 : 1/2, 1 : 3/10, 2 : 1/5 } | choose { 0 : 1/5, 1 : 1/2, 2 : 3/10 }",
    "an infinite loss": "choose { 0 : 99/100, 1 : 1/200, 2 : 1/200 } | choose { 0 : 1/2, 1 : 1/2 }",
    "infinite losses alone": "choose { 0 : 1/3, 1 : 2/3 } | choose { 2 : 1 }",
    "a weight without a sign": "choose { 0 : (2-eps)/4, 1 : (2+eps)/4 } | choose { 0 : 1/2, 1 : 1/2 }",
}
#: Those whose losses are exactly on a grid.
EXACT = {
    "two losses",
    "of randomized response",
    "three multiples",
    "an infinite loss",
    "infinite losses alone",
    "a weight without a sign",
}


def weighted(name: str) -> dipc.Program:
    zero, one = WEIGHTS[name].split(" | ")
    return dipc.load(
        f"program p; input x : {{0, 1}}; output y : {{0..2}}; if x = 0 then y <- {zero} else y <- {one} end",
        eps="(0, 1]",
    )


@pytest.mark.parametrize(
    "names", [(name,) for name in WEIGHTS] + [("two losses", "no common unit"), ("three multiples", "two losses")]
)
@pytest.mark.parametrize("runs", [2, 9])
def test_enclosures_without_a_list_of_answers_hold_those_with_one(names: tuple[str, ...], runs: int) -> None:
    programs, eps = [weighted(name) for name in names], F(1, 2)
    asked = dipc.compose(*programs, adjacent="linf:1", runs=runs if len(names) == 1 else (runs, 3))
    question = asked.question
    assert isinstance(question.pairs, Pairs)
    reached = LimitReached("answers", "too many")
    laws = UnlistedRuns(question.subject, question._tables(question.pairs), question.pairs, reached)
    close = F(1, 10**9) if EXACT.issuperset(names) and len(names) == 1 else F(1, 20)
    for budget in (F(0), F(1), F(3), F(8)):
        wanted = question.delta_at(budget, eps)
        found = laws.delta_at(budget, eps, 20)
        assert found[0] <= wanted[1]
        assert wanted[0] <= found[1]
        assert found[1] - found[0] <= close
    for delta in (F(1, 10**6), F(1, 50), F(1, 3), F(99, 100)):
        least, enclosed = question.laws().budget(delta, eps, 12), laws.budget(delta, eps, 12)
        assert (least is None) == (enclosed is None)
        if least is not None and enclosed is not None:
            assert enclosed[0] <= least[1]
            assert least[0] <= enclosed[1]
            assert enclosed[1] - enclosed[0] <= close * max(1, enclosed[1])


@pytest.mark.parametrize(("name", "is_exact"), [("of randomized response", True), ("no common unit", False)])
def test_more_runs_than_answers_can_be_listed(name: str, is_exact: bool) -> None:
    """The verdict of an enclosure with few digits is undecided, and it has both ends."""
    asked = dipc.compose(weighted(name), adjacent="linf:1", runs=100_000)
    found = asked.budget(F(1, 10**6), F(1, 10)).value
    assert found is not None
    assert 0 < found[0] < found[1]
    assert (found[1] - found[0] <= F(1, 10**9) * found[1]) == is_exact
    text = f"[{F(1, 10)}, {F(1, 10)}]"
    assert asked.check(f"{found[1] * 10}*eps", "1/1000000", eps=text).verdict == "private"
    below = asked.check(f"{found[0] * 10 * F(9, 10)}*eps", "1/1000000", eps=text)
    assert below.verdict == "undecided"
    assert "no counterexample is named" in str(below.reason)
    assert "100000 runs have" in str(asked.check("eps", "1/1000000", eps="(0, 1]").reason)
