"""The answer of `dipc interval`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction

from dipc.algebra.numbers import decimal
from dipc.inverse.question import GammaSolution, Status
from dipc.inverse.solve import Intervals, Side
from dipc.outcome.outcome import GAP, Fields, Line, Outcome, Part, Tone
from dipc.outcome.solve import STANDINGS
from dipc.outcome.tighten import about_question
from dipc.outcome.words import Asked, about, everywhere_text, numbered, rational

_TITLES = {Side.BOTH: "with both ends", Side.LOWER: "with a lower end", Side.UPPER: "with an upper end"}


def outcome(found: Intervals, asked: Asked) -> Outcome:
    """The answer: intervals, none, or open."""
    standing = STANDINGS[found.status]
    first = next(iter(found.solutions.values()))
    return Outcome(
        program=found.program,
        line=headline(found),
        standing=standing,
        tone=standing.tone,
        parts=lambda: _parts(found, asked),
        record=found.as_json,
        warnings=first.warnings,
        interrupted="interrupted\n" if any(each.interrupted for each in found.solutions.values()) else None,
        # A certificate is of one solution, and about the program as it is written.
        result=first if [*found.solutions] == [Side.BOTH] else found,
        question=first.question if [*found.solutions] == [Side.BOTH] else None,
    )


def headline(found: Intervals) -> str:
    """The whole answer in one sentence."""
    side, solution = next(iter(found.solutions.items()))
    chance = f"with probability at least {_percent(found)} {everywhere_text(solution.eps)}"
    if solution.status is not Status.SOLVED:
        word = "NO INTERVAL" if solution.status is Status.NONE else "UNDECIDED: no interval is known"
        return f"{word} that the exact answer is in {chance}"
    return f"{_released(found)}: {_interval(side, solution)} has the exact answer {chance}"


def _released(found: Intervals) -> str:
    if len(found.outputs) == 1:
        return f"round the release r = {found.outputs[0]}"
    return f"round each release r of {len(found.outputs)}, together"


def _percent(found: Intervals) -> str:
    return f"{decimal(100 * found.confidence)} %" if _is_short(found) else str(found.confidence)


def _is_short(found: Intervals) -> bool:
    return 10**8 % (100 * found.confidence).denominator == 0


def _interval(side: Side, solution: GammaSolution) -> str:
    reach = _reach(solution)
    low = "(-∞" if side is Side.UPPER else f"[r - {reach}"
    return f"{low}, {'∞)' if side is Side.LOWER else f'r + {reach}]'}"


def _reach(solution: GammaSolution) -> str:
    if solution.product is not None:
        return f"{decimal(solution.product[1])}/eps"
    assert solution.value is not None
    return rational(solution.value[1]) if solution.exact else decimal(solution.value[1])


def _parts(found: Intervals, asked: Asked) -> Iterator[Part]:
    first = next(iter(found.solutions.values()))
    options = first.question.options
    claimed = replace(asked, options=replace(asked.options, alpha=options.alpha, beta=options.beta))
    said = dict(about(about_question(claimed, first.question), first.eps, asked="gamma"))
    yield GAP
    yield Fields(
        [
            *((name, text) for name, text in said.items() if name in ("program", "table", "inputs", "alpha", "eps")),
            ("confidence", f"{_percent(found)}{'' if len(found.outputs) == 1 else ', all outputs at once'}"),
            ("outputs", ", ".join(found.outputs)),
        ]
    )
    for side, solution in found.solutions.items():
        yield GAP
        yield Line(_TITLES[side], Tone.HEAD)
        yield Fields(_fields(side, solution))


def _fields(side: Side, solution: GammaSolution) -> Iterator[tuple[str, str]]:
    if solution.status is not Status.SOLVED:
        yield ("reason" if solution.status is Status.UNDECIDED else "none", solution.remark)
        return
    yield "interval", _interval(side, solution)
    if solution.exact:
        yield "proved", "no smaller one is enough"
    else:
        low = solution.product[0] if solution.product is not None else solution.value[0] if solution.value else 0
        yield "proved", f"{decimal(Fraction(low))} is too small"
    if solution.rows:
        yield "needed by", numbered(solution.question.word, solution.rows)
