"""Programs run with exact noise: `dipc run` and `program.run`."""

from __future__ import annotations

import csv
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TextIO, overload

from dipc.algebra.numbers import exact_eps, exact_grid
from dipc.claims.given import CellPool
from dipc.claims.table import input_cells
from dipc.execution.tree import Answered, Drawn, Tree
from dipc.noise.lazy import RandomBits
from dipc.program.program import Program, ProgramGiven, within
from dipc.text.core import RealType, Value, show_value
from dipc.text.diagnostic import Diagnostic, DiagnosticError, listing

#: Random events of one run; more are taken for a run that never ends.
_MOST_EVENTS = 1_000_000

#: Runs between two reports of progress.
_TOGETHER = 1_000

#: Called with the runs done and all runs.
Progress = Callable[[int, int], None]

#: The values of all outputs, in their order; None where one was never assigned.
Answer = tuple[Value | None, ...]


@dataclass(frozen=True)
class Runs(Sequence[Mapping[str, Value | None]]):
    """Independent runs of a program at one input and one eps: a sequence of outputs by name, None where one was never
    assigned. They have exactly the law that the program's proofs are about; real outputs are rounded down to multiples
    of `grid`. With a `seed` they can be foretold, and are private to nobody."""

    program: Program
    input: Mapping[str, Value]
    eps: Fraction
    grid: Fraction | None
    seed: int | None
    answers: tuple[Answer, ...]
    random_bits: int

    def __len__(self) -> int:
        return len(self.answers)

    @overload
    def __getitem__(self, at: int) -> Mapping[str, Value | None]: ...
    @overload
    def __getitem__(self, at: slice) -> Sequence[Mapping[str, Value | None]]: ...
    def __getitem__(self, at: int | slice) -> Mapping[str, Value | None] | Sequence[Mapping[str, Value | None]]:
        names = self.program.outputs
        if isinstance(at, slice):
            return [dict(zip(names, answer, strict=True)) for answer in self.answers[at]]
        return dict(zip(names, self.answers[at], strict=True))

    def write_samples(self, stream: TextIO) -> None:
        """Write the outputs as `dipc conform --samples` reads them. Raises DiagnosticError for runs that left an output
        without a value."""
        empty = [name for name, *column in zip(self.program.outputs, *self.answers, strict=True) if None in column]
        if empty:
            message = f"no samples are written: some run assigns nothing to {listing(empty)}"
            raise DiagnosticError(Diagnostic("E1703", message, notes=("declare it with an initial value",)))
        rows = csv.writer(stream, lineterminator="\n")
        rows.writerow(self.program.outputs)
        rows.writerows([show_value(value) for value in answer if value is not None] for answer in self.answers)


def run(
    program: ProgramGiven,
    input: Mapping[str, object],  # noqa: A002 - the contract's name
    eps: Fraction | int | str,
    n: int = 1,
    *,
    grid: Fraction | int | str | None = None,
    seed: int | None = None,
) -> Runs:
    """Run the program n times with exact noise, from the operating system's random bits, or for tests those of a
    `seed`. Nothing is rounded before it is compared: comparisons and choices are those of the ideal program. Real
    outputs are rounded down to multiples of `grid`.

    What is not covered: how long a run takes and how many random bits it draws depend on the data.

    Raises DiagnosticError for inputs that do not fit, for a program with real outputs without a grid and for what goes
    wrong in some run, TypeError for floats, ValueError for numbers that make no sense, Undecided past a limit.
    """
    if n < 0:
        raise ValueError(f"the number of runs is at least 0, not {n}")
    execution = Execution.of(within(program, eps=eps), input, eps, grid=grid, seed=seed)
    return execution.runs(n)


def executed(
    program: Program,
    values: Mapping[str, Value],
    eps: Fraction,
    n: int,
    *,
    grid: Fraction | None = None,
    seed: int | None = None,
    progress: Progress | None = None,
) -> Runs:
    """What `run` gives, from a value for every input. Raises as it does."""
    return Execution(program, values, eps, grid, seed).runs(n, progress)


class Execution:
    """Runs of a program at one input and one eps, one after another; what they find out about the program is kept."""

    def __init__(
        self, program: Program, values: Mapping[str, Value], eps: Fraction, grid: Fraction | None, seed: int | None
    ) -> None:
        """Raises DiagnosticError for a program that means something at another eps, or has no grid and needs one."""
        program.core.require_meaning(eps)
        require_grid(program, grid)
        self.bits = RandomBits(seed)
        self._program = program
        self._given = dict(values), eps, grid, seed
        self._grid = grid
        self._tree = Tree(program, list(values.values()), eps)

    @classmethod
    def of(
        cls,
        program: Program,
        input: Mapping[str, object],  # noqa: A002 - the contract's name
        eps: Fraction | int | str,
        *,
        grid: Fraction | int | str | None = None,
        seed: int | None = None,
    ) -> Execution:
        """That of values as `run` takes them. Raises as it does."""
        point = exact_eps(eps)
        cells = zip(program.inputs, input_cells(program.core, input, CellPool()), strict=True)
        values = {name: cell.value for name, cell in cells if cell.value is not None}
        return cls(program, values, point, None if grid is None else exact_grid(grid), seed)

    def runs(self, n: int, progress: Progress | None = None) -> Runs:
        """So many runs more."""
        before = self.bits.drawn
        answers: list[Answer] = []
        for done in range(n):
            if progress is not None and done % _TOGETHER == 0:
                progress(done, n)
            answers.append(self.answer())
        return Runs(self._program, *self._given, tuple(answers), self.bits.drawn - before)

    def answer(self) -> Answer:
        """The values of all outputs, after one more run. Raises DiagnosticError for what goes wrong in it."""
        drawn: Drawn = {}
        event = self._tree.first()
        for _ in range(_MOST_EVENTS):
            if isinstance(event, Answered):
                return event.outputs(drawn, self.bits, self._grid)
            event = event.after(drawn, self.bits)
        message = f"a run of `{self._program.name}` has not ended after {_MOST_EVENTS} random events"
        raise DiagnosticError(Diagnostic("E1702", message, notes=("`dipc prob` says whether a loop goes on forever",)))

    def once(self) -> dict[str, Value | None]:
        """The same by name."""
        return dict(zip(self._program.outputs, self.answer(), strict=True))


def require_grid(program: Program, grid: Fraction | None) -> None:
    """Raise DiagnosticError (E1701) for a program with real outputs and no grid."""
    core = program.core
    reals = [core.slots[slot] for slot in core.outputs if isinstance(core.slots[slot].type, RealType)]
    if grid is None and reals:
        names = listing(slot.name for slot in reals)
        message = f"{names} {'is' if len(reals) == 1 else 'are'} real, and no grid is given to round down to"
        notes = (
            "the ideal number has no end of digits: name a grid, such as --grid 2^-20, or grid='1/1048576' in Python",
            "rounding it is post-processing, which keeps privacy; an answer within gamma is then within gamma + grid",
        )
        raise DiagnosticError(Diagnostic("E1701", message, core.source.excerpt(reals[0].span), notes=notes))
