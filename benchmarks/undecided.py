"""How many claims about every real input stay undecided, and why: random programs, counted.

Each program has two real inputs and an `ideal`; trees of comparisons, with noise and without, coins whose weights
depend on the inputs, real outputs with noise and without. The inputs of a grid are decided one by one, as rows of a
table are. If an input of the grid contradicts the verdict about all inputs, the verdict is wrong. If it refutes an
undecided claim, the search missed a violator.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

import click

import dipc
from benchmarks.printing import Table
from dipc import Verdict

#: The inputs that are decided one by one.
GRID = "x = {-7/2, -1, 0, 1/2, 1, 3}, y = {-2, 0, 1}"

_FORMS = ("x", "y", "x + y", "x - y", "2*x - y", "-x", "x - 3*y")
_THRESHOLDS = ("0", "1", "-1", "1/2")
_COMPARISONS = (">=", ">", "<", "<=")
_RATES = ("eps", "eps/2", "2*eps")
_COINS = (
    ("exp(eps)/(1 + exp(eps))", "1/(1 + exp(eps))"),
    ("3/4", "1/4"),
    ("1 - exp(-eps)/2", "exp(-eps)/2"),
    ("1/2", "1/2"),
)
_BETAS = (
    *("1/2", "1/3", "exp(-alpha*eps/2)", "exp(-alpha*eps)", "2*exp(-alpha*eps/4)"),
    *("exp(-eps)", "1/(1 + exp(eps))", "1/2*exp(-alpha*eps)"),
)
_REAL_BETAS = ("1/2", "exp(-eps/2)", "exp(-eps)", "2*exp(-eps)")

KINDS = ("coin", "tree", "deterministic", "mixed", "real")


@dataclass(frozen=True, slots=True)
class RandomClaim:
    """A program with its claim, and what kind it is."""

    seed: int
    kind: str
    text: str


def random_claim(seed: int) -> RandomClaim:
    """Return the claim with this `seed`: always the same."""
    chance = random.Random(seed)  # noqa: S311 - no secret
    kind = chance.choice(KINDS)
    return RandomClaim(seed, kind, _with_real_output(chance) if kind == "real" else _with_finite_output(chance, kind))


def _with_real_output(chance: random.Random) -> str:
    form = chance.choice(_FORMS)
    given = form if chance.random() < 0.6 else form + chance.choice((" + 1", " + x/10", " - y"))
    output = f"Lap({chance.choice(_RATES)}, {given})" if chance.random() < 0.6 else given
    claim = f"alpha: 0; beta: {chance.choice(_REAL_BETAS)}; gamma: {chance.choice(('0', '1', '5', '1/2'))}"
    return (
        f"program p; input x, y : real; output o : real; ideal {{ o <- {form} }} claim {{ {claim} }}\no <- {output}\n"
    )


def _with_finite_output(chance: random.Random, kind: str) -> str:
    """Return a random program of this `kind`, drawn from `chance`, whose ideal is a tree of comparisons.

    The program has noise in some of the comparisons and a coin at the end, as its kind is. Sometimes it has another
    threshold or another answer than the ideal.
    """
    draws: list[str] = []

    def tree(depth: int) -> tuple[str, str]:
        if depth == 0 or chance.random() < 0.15:
            right = chance.choice("01")
            return f"b <- {right}", f"b <- {right if chance.random() < 0.93 else chance.choice('01')}"
        form, comparison, at = chance.choice(_FORMS), chance.choice(_COMPARISONS), chance.choice(_THRESHOLDS)
        there = at if chance.random() < 0.9 else chance.choice(_THRESHOLDS)
        compared = form
        if kind in ("tree", "mixed") and chance.random() < 0.7:
            compared = f"n{len(draws)}"
            draws.append(f"{compared} <- Lap({chance.choice(_RATES)}, {form});")
        yes, no = tree(depth - 1), tree(depth - 1)
        return (
            f"if {form} {comparison} {at} then {yes[0]} else {no[0]} end",
            f"if {compared} {comparison} {there} then {yes[1]} else {no[1]} end",
        )

    ideal, body = tree(2)
    last = "o <- b" if kind in ("tree", "deterministic") else _coin(chance)
    if kind == "mixed" and chance.random() < 0.4:
        where = f"{chance.choice(_FORMS)} {chance.choice(_COMPARISONS)} {chance.choice(_THRESHOLDS)}"
        last = f"if {where} then {last} else {_coin(chance)} end"
    names = f"var {', '.join(f'n{place}' for place in range(len(draws)))} : real; " if draws else ""
    claim = f"alpha: {chance.choice(('dd', 'dd', '0', '1'))}; beta: {chance.choice(_BETAS)}; gamma: 0"
    return (
        f"program p; domain B = {{0, 1}}; input x, y : real; output o : B; var b : B = 0; {names}\n"
        f"ideal {{ var b : B = 0; {ideal}; o <- b }} claim {{ {claim} }}\n{' '.join(draws)} {body}; {last}\n"
    )


def _coin(chance: random.Random) -> str:
    kept, turned = chance.choice(_COINS)
    return f"o <- choose {{ b : {kept}, 1 - b : {turned} }}"


@dataclass(frozen=True, slots=True)
class Outcome:
    """The verdict on one claim.

    `reasons` are those of its undecided classes, which a refuted claim may have, too. `refuted` is true if an input of
    the grid refutes the claim.
    """

    claim: RandomClaim
    verdict: Verdict
    reasons: tuple[str, ...]
    refuted: bool

    @property
    def wrong(self) -> bool:
        """Whether an input of the grid contradicts the verdict."""
        return self.verdict is Verdict.ACCURATE and self.refuted


def run(claims: Iterable[RandomClaim], grid: Callable[[RandomClaim], str] = lambda _: GRID) -> Iterator[Outcome]:
    """Yield the outcome of each of `claims`, in order; `grid` gives the inputs that are decided one by one."""
    for claim in claims:
        program = dipc.load(claim.text)
        report = dipc.check(program, inputs="all")
        # What is refuted has been refuted by an input already, decided in the same way.
        refuted = report.verdict is not Verdict.INACCURATE and (
            dipc.check(program, inputs=grid(claim)).verdict is Verdict.INACCURATE
        )
        reasons = tuple(row.reason or "" for row in report.rows if row.verdict is Verdict.UNDECIDED)
        yield Outcome(claim, report.verdict, reasons, refuted)


def show(outcomes: list[Outcome], kinds: Sequence[str] = KINDS) -> None:
    """Print the verdicts of `outcomes` by kind, how often each reason is given, and numbers of programs.

    The reasons are those of undecided claims. The numbers are of programs of these `kinds` whose claims are undecided
    or wrongly decided.
    """
    columns = (*map(str, Verdict), "undecided, but refuted on the grid", "wrong")
    table = Table(f"Claims about every input: {len(outcomes)} random programs", ("kind", *columns), columns)
    for kind in (*kinds, "all"):
        of = [outcome for outcome in outcomes if kind in (outcome.claim.kind, "all")]
        counts = [sum(outcome.verdict is verdict for outcome in of) for verdict in Verdict]
        missed = sum(outcome.verdict is Verdict.UNDECIDED and outcome.refuted for outcome in of)
        table.add(kind, *map(str, (*counts, missed, sum(outcome.wrong for outcome in of))))
    table.show()
    for reason, count in Counter(reason for outcome in outcomes for reason in outcome.reasons).most_common():
        click.echo(f"{count} undecided classes (of refuted claims, too): {reason}")
    for outcome in outcomes:
        if outcome.wrong or outcome.verdict is Verdict.UNDECIDED:
            click.echo(f"{'WRONG' if outcome.wrong else outcome.verdict}, number {outcome.claim.seed}:")
            click.echo(outcome.claim.text)
