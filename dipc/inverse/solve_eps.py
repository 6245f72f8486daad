"""The least eps at which a program is accurate with a given beta, and all others."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from dipc.algebra.limits import Limits, Undecided
from dipc.claim.intervals import intervals_text
from dipc.inverse.holding import Comparison, Stretch, cuts, failing_regions, outside, span_between, stretches
from dipc.inverse.obligations import Obligation, Obligations, Unknown
from dipc.inverse.solution import EpsSolution, Status
from dipc.sign import Interval


def solve_eps(obligations: Obligations, digits: int) -> EpsSolution:
    """The exact set of eps, of those asked about, at which every row that claims something holds.

    Rows whose probability or sign is past a limit leave the answer undecided, unless the others exclude every eps.
    """
    limits = obligations.program.limits
    unknown = list(obligations.unknown)
    intervals = obligations.claim.intervals
    failing: list[list[tuple[Stretch, Obligation]]] = [[] for _ in intervals]
    for obligation in obligations.distinct:
        try:
            found = [failing_regions(obligation.probability, obligation.beta, part, limits) for part in intervals]
        except Undecided as undecided:
            unknown.append(Unknown(undecided.reason, obligation.rows))
            continue
        for part, regions in zip(failing, found, strict=True):
            part += [(stretch, obligation) for stretch in stretches(regions)]
    held = [
        outside([stretch for stretch, _ in part], interval, limits)
        for part, interval in zip(failing, intervals, strict=True)
    ]
    holds = [stretch for part in held for stretch in part]
    rows = _preventing(failing, intervals, holds, limits)
    if unknown and holds:
        status, remark, rows = Status.UNDECIDED, unknown[0].reason, unknown[0].rows
    elif holds:
        status, remark = Status.SOLVED, ""
    else:
        status = Status.NONE
        remark = "no row fails at every eps, but at every eps some row does" if len(rows) > 1 else ""
    return EpsSolution(
        program=obligations.program.name,
        table=obligations.table,
        eps=intervals_text(intervals),
        digits=digits,
        status=status,
        rows=rows,
        remark=remark,
        holds=tuple(span_between(a, b, digits, limits) for a, b in holds),
        everywhere=status is Status.SOLVED and not any(failing),
        from_there_on=status is Status.SOLVED and _to_the_end(held, intervals),
    )


def _to_the_end(held: Sequence[list[Stretch]], intervals: Sequence[Interval]) -> bool:
    """Whether no eps that is asked about is missing after the least that holds."""
    parts = [(stretches, cuts(interval)) for stretches, interval in zip(held, intervals, strict=True)]
    while parts and not parts[0][0]:
        del parts[0]
    (first, whole), *later = parts
    return len(first) == 1 and first[0][1] == whole[1] and all(found == [all_of_it] for found, all_of_it in later)


def _preventing(
    failing: Sequence[list[tuple[Stretch, Obligation]]],
    intervals: Sequence[Interval],
    holds: Sequence[Stretch],
    limits: Limits,
) -> tuple[int, ...]:
    """The rows that fail right before the least eps; where there is none, rows that exclude all eps together."""
    every = [entry for part in failing for entry in part]
    found: Iterable[Obligation]
    if holds:
        comparison = Comparison(limits)
        found = [obligation for (_, upper), obligation in every if comparison(upper, holds[0][0]) == 0]
    else:
        found = {obligation: None for _, obligation in every}
        for alone in found:
            own = [[stretch for stretch, owner in part if owner is alone] for part in failing]
            # One row that fails throughout says it best.
            if not any(outside(part, interval, limits) for part, interval in zip(own, intervals, strict=True)):
                found = [alone]
                break
    return tuple(sorted({number for obligation in found for number in obligation.rows}))
