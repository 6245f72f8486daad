"""What was asked, in the words of the options, the table and the claim block."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from dipc.claims.table import Table
from dipc.options import Options
from dipc.outcome.text import GLUE
from dipc.outcome.words import interval_text, single
from dipc.program.inputs import specifications
from dipc.program.nearness import Nearness
from dipc.program.program import Program
from dipc.text.ast import ClaimedInputs
from dipc.text.core import IntType, RealType
from dipc.text.printer import print_expression
from dipc.text.program import CoreProgram


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


@dataclass(frozen=True, slots=True)
class Asked:
    """A question as it was put: about the program at this path, and the table at that one, with these options; the
    `definitions` of constants and the `limits` as texts."""

    program_path: Path
    options: Options
    table: Path | None = None
    definitions: tuple[str, ...] = ()
    limits: tuple[str, ...] = ()

    def command(self, name: str = "check", *more: str) -> tuple[str, ...]:
        """The words of the command of this name that asks it; `more` are options of its own."""
        words = ["dipc", name, str(self.program_path), *([] if self.table is None else [str(self.table)])]
        inputs = specifications(self.options.inputs) or []
        said = [("--inputs", text) for text in inputs]
        said += [] if self.options.for_all is None else [("--for-all", self.options.for_all)]
        said += [("-D", text) for text in self.definitions]
        said += [(f"--{part}", str(text)) for part, text in self.options.parts.items()]
        said += [("--limit", text) for text in self.limits]
        return (*words, *more, *(word for option in said for word in option))

    def about_rows(self, program: Program, table: Table) -> Statement:
        """What was asked about a table."""
        core = program.core
        alpha, beta, gamma = (_said(name, self.options.parts.get(name), program, table) for name in CLAIM_PARTS)
        return Statement(
            program=f"{core.name} ({self.program_path})",
            table=table.name,
            constants=tuple((name, str(value)) for name, value in core.constants.items()),
            alpha=alpha,
            beta=beta,
            gamma=gamma,
            near=near_outputs(core),
            distance=not Nearness(core).plain,
        )


#: The parts of a claim about accuracy that a table may have columns for.
CLAIM_PARTS = ("alpha", "beta", "gamma")


def near_outputs(core: CoreProgram) -> str:
    """The types of the outputs that are compared within gamma, as a report names them; empty where there are none."""
    return kinds(core, core.outputs)


def kinds(core: CoreProgram, slots: Iterable[int]) -> str:
    """The types of those of the slots that are real or int."""
    types = [core.slots[slot].type for slot in slots]
    named = (("real", RealType), ("int", IntType))
    return " and ".join(word for word, kind in named if any(isinstance(found, kind) for found in types))


def _said(name: str, option: object, program: Program, table: Table) -> str:
    """What the claim says of `name`, by the order of precedence."""
    if name in table.columns:
        return f"the table's column `{name}`"
    claim = program.core.claim
    stated = None if option is None else str(option)
    if stated is None and claim is not None:
        found = next((part for part in claim.fields if part.name == name), None)
        if found is not None and not isinstance(found.value, tuple | ClaimedInputs):
            stated = print_expression(found.value)
    if stated is None:
        stated = "dd" if name == "alpha" and "dd" in table.columns else "0"
    if name == "alpha" and "dd" in table.columns:
        where = "computed from the program's ideal" if "dd" in table.computed else "the table's column `dd`"
        return f"dd(u), {where}" if stated == "dd" else f"{stated}; nothing is claimed where dd < alpha"
    return stated
