"""What every report says of its question: the program, what it is asked about, and the claim."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from dipc.report.page import GLUE
from dipc.report.words import interval_text, single


@dataclass(frozen=True, slots=True)
class Statement:
    """What was asked, in the user's own words: `program` and `table` as they were named, the constants, and the parts
    of the claim with where each was said. `near` names the types of the outputs compared within gamma: "real and int",
    empty where there are none; `distance` says whether the `metric` block has its own distance of answers.

    Without a table it is about all inputs: `distances` are those that are left open then, of `alpha` and `gamma`, and
    `numbers` the values of a constant that is left open, such as `m >= 1`; `inputs` names the
    types of those that are not finite, as `near` does.
    """

    program: str
    table: str | None
    constants: tuple[tuple[str, str], ...]
    alpha: str
    beta: str
    gamma: str
    near: str
    distance: bool = False
    distances: tuple[str, ...] = ()
    numbers: str | None = None
    inputs: str = "real"


def about(
    statement: Statement, eps: str, *, required: str = "1 - beta", asked: str | None = None
) -> Iterable[tuple[str, str]]:
    """The fields of a report that say what it is about. `eps` are the intervals as text; `required` is what the
    probability is claimed to be at least, and `asked` the part of the claim that is asked for."""
    yield "program", program_text(statement.program, statement.constants)
    whose = "for every input u"
    if statement.table is not None:
        yield "table", statement.table
        whose += " of the table"
    else:
        yield "inputs", f"all {statement.inputs} inputs, by the answers of `ideal`"
        if statement.numbers is not None:
            yield "for every", f"integer {statement.numbers}"
    yield "claim", f"Pr[{event_text(statement.near, statement.distance)}] ≥ {required}, {whose}"
    said = {"alpha": statement.alpha, "beta": statement.beta, "gamma": statement.gamma}
    if statement.table is None:
        said["alpha"] = "dd(u), whatever it is" if statement.alpha == "dd" else statement.alpha
        said["gamma"] = "every gamma > 0" if "gamma" in statement.distances else statement.gamma
    for name, text in said.items():
        yield name, "asked for" if asked == name else text
    one = single(eps)
    if asked == "eps":
        yield "eps", f"asked for, in {interval_text(eps)}"
    else:
        yield "eps", f"all of {interval_text(eps)}" if one is None else one


def program_text(program: str, constants: Sequence[tuple[str, str]]) -> str:
    """The program with the values of its constants."""
    said = ", ".join(f"{name}{GLUE}={GLUE}{value}" for name, value in constants)
    return program + (f" with {said}" if said else "")


def event_text(near: str, distance: bool = False) -> str:
    """What is claimed to be likely. `near` names the types of the outputs compared within gamma, empty where there are
    none; `distance` says that the program's `metric` block has its own distance of answers."""
    if distance:
        return "distance of output and det(u) ≤ gamma"
    return f"{near} outputs within gamma of det(u), others equal" if near else "output = det(u)"
