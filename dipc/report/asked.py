"""What was asked, in options as text: the question that it is, and its words."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dipc.exits.program import Program
    from dipc.ideal.table import Progress
    from dipc.inverse.question import Question
    from dipc.lang.core_program import CoreProgram
    from dipc.obligations.engine import Engine
    from dipc.report.claimed import Statement
    from dipc.sources.every_input.scaling import ClassClaim
    from dipc.tables.table import Table


@dataclass(frozen=True, slots=True)
class Asked:
    """What is said of a question as text, besides the program and its constants: options of a command, or fields of a
    claim in a file. `program_path` is where the program came from."""

    program_path: Path
    inputs: tuple[str, ...]
    for_all: str | None
    claim: Mapping[str, Any]

    def question(
        self, program: Program, table: Path | None, engine: Engine | None = None, progress: Progress | None = None
    ) -> Question:
        """The question about this program. Raises DiagnosticError."""
        from dipc.claim.options import ClaimOptions
        from dipc.inverse.question import asked

        options = ClaimOptions(**self.claim)
        inputs = self.inputs or None
        return asked(program, table, options, inputs=inputs, for_all=self.for_all, engine=engine, progress=progress)

    def command(
        self,
        table: Path | None,
        definitions: Iterable[str] = (),
        limits: Iterable[str] = (),
        name: str = "check",
    ) -> tuple[str, ...]:
        """The words of the command of this name that asks it; `definitions` and `limits` as its options take them."""
        options = [("--inputs", text) for text in self.inputs]
        options += [] if self.for_all is None else [("--for-all", self.for_all)]
        options += [("-D", text) for text in definitions]
        options += [(f"--{name}", str(part)) for name, part in self.claim.items() if part is not None]
        options += [("--limit", text) for text in limits]
        words = ["dipc", name, str(self.program_path), *([] if table is None else [str(table)])]
        return (*words, *(word for option in options for word in option))

    def asks(self, question: Question) -> Statement:
        """What is asked, in the words of the options, the table and the program's claim block."""
        numbers = None if question.parameter is None else (question.parameter, question.first())
        asked = replace(self, claim={**self.claim, "beta": question.options.beta or self.claim["beta"]})
        return asked.statement(question.program, question.table, numbers)

    def statement(self, program: Program, table: Table | None, numbers: tuple[str, int] | None = None) -> Statement:
        """The same about a table, or every real input; `numbers`: a constant that is left open, and its least value."""
        return self._about_every_input(program, numbers) if table is None else self._about_rows(program, table)

    def _about_rows(self, program: Program, table: Table) -> Statement:
        from dipc.metric.nearness import Nearness
        from dipc.report.claimed import Statement

        core = program.core
        alpha, beta, gamma = (_said(name, self.claim[name], program, table) for name in ("alpha", "beta", "gamma"))
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

    def _about_every_input(self, program: Program, numbers: tuple[str, int] | None) -> Statement:
        from dipc.claim.options import ClaimOptions
        from dipc.claim.transcendental import enclosed_claim
        from dipc.lang.constants import computed_from
        from dipc.lang.parser import parse
        from dipc.lang.printer import print_expression
        from dipc.metric.nearness import Nearness
        from dipc.report.claimed import Statement
        from dipc.sources.every_input.scaling import ClassClaim

        core, given = program.core, self.claim
        options = ClaimOptions(**given)
        left_open: tuple[str, ...] = ()
        if numbers is not None:
            left_open = (numbers[0], *computed_from(parse(core.source).declarations, core.given, numbers[0]))
        between = enclosed_claim(core, options, left_open=left_open)
        options, said = (options, {}) if between is None else (between.stronger, between.said)
        beta = options.beta if options.beta is not None or _states_beta(core) else "0"
        claim = ClassClaim(program, beta, options.alpha, options.gamma, options.eps, together=True)
        return Statement(
            program=f"{core.name} ({self.program_path})",
            table=None,
            constants=tuple((name, str(value)) for name, value in core.constants.items() if name not in left_open),
            alpha=said.get("alpha", claim.alpha_text),
            beta=said.get("beta", print_expression(claim.beta.tree)),
            gamma=said.get("gamma", "0" if claim.gamma is None else print_expression(claim.gamma.tree)),
            near=near_outputs(core),
            distance=not Nearness(core).plain,
            distances=_left_open(claim),
            numbers=None if numbers is None else f"{numbers[0]} >= {numbers[1]}",
            inputs=_kinds(core, core.inputs),
        )


def _states_beta(core: CoreProgram) -> bool:
    return core.claim is not None and any(field.name == "beta" for field in core.claim.fields)


def _left_open(claim: ClassClaim) -> tuple[str, ...]:
    """The distances that are left open."""
    if claim.both_open:
        return ("alpha", "gamma")
    return (claim.open().scale.value,) if claim.is_open else ()


def near_outputs(core: CoreProgram) -> str:
    """The types of the outputs that are compared within gamma, as a report names them; empty where there are none."""
    return _kinds(core, core.outputs)


def _kinds(core: CoreProgram, slots: Iterable[int]) -> str:
    """The types of those of the slots that are real or int."""
    from dipc.lang.core import IntType, RealType

    types = [core.slots[slot].type for slot in slots]
    kinds = (("real", RealType), ("int", IntType))
    return " and ".join(word for word, kind in kinds if any(isinstance(found, kind) for found in types))


def _said(name: str, option: str | None, program: Program, table: Table) -> str:
    """What the claim says of `name`, by the order of precedence."""
    from dipc.lang.ast import ClaimedInputs
    from dipc.lang.printer import print_expression

    if name in table.columns:
        return f"the table's column `{name}`"
    claim = program.core.claim
    stated = option
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
