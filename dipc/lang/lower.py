"""From the tree of a program to its instructions: every name resolved, every rule checked, every loop unrolled."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction

from dipc.diagnostics.source import Source, Span
from dipc.lang import ast
from dipc.lang.assigned import report_unassigned
from dipc.lang.claims import check_claims
from dipc.lang.codes import Code
from dipc.lang.constants import compute_constants, register
from dipc.lang.core import Instruction
from dipc.lang.core_program import CoreProgram
from dipc.lang.domains import declare_domains
from dipc.lang.expressions import Elaborator
from dipc.lang.findings import Findings
from dipc.lang.fitting import Fitting
from dipc.lang.metric import CoreMetric, compile_metric, single_metric
from dipc.lang.scope import Constant, DeclaredVariable, EnumeratedValue, FixedEps, Foreign, Scope
from dipc.lang.statements import Statements
from dipc.lang.variables import declare_variables


def lower(
    program: ast.Program,
    source: Source,
    overrides: Mapping[str, Fraction] | None = None,
    eps: Fraction | None = None,
) -> CoreProgram:
    """The typed program, with `overrides` in the place of its constants (-D name=value), and `eps` for what has a
    meaning at one eps only: then the program is `only_at` it.

    Raises DiagnosticError with everything that is wrong with the program, in the order of the text.
    """
    findings = Findings(source)
    scope = _declared(program, overrides or {}, findings, eps)
    core = _main(program, scope, findings)
    if core.ideal is not None:
        _ideal(program, core, scope, findings)
    findings.raise_if_any()
    core = replace(core, given=dict(overrides or {}))
    return replace(core, only_at=scope.eps.value) if scope.eps.used else core


def lower_ideal(
    program: ast.Program,
    source: Source,
    overrides: Mapping[str, Fraction] | None = None,
    eps: Fraction | None = None,
) -> CoreProgram | None:
    """The `ideal` block as a program of its own; None when there is none.

    Its inputs and outputs are those of the mechanism in the same order, though in other slots. It draws nothing at
    random. Raises DiagnosticError as `lower` does.
    """
    findings = Findings(source)
    scope = _declared(program, overrides or {}, findings, eps)
    core = _main(program, scope, findings)
    ideal = None if core.ideal is None else _ideal(program, core, scope, findings)
    findings.raise_if_any()
    return ideal


def _declared(
    program: ast.Program, overrides: Mapping[str, Fraction], findings: Findings, eps: Fraction | None
) -> Scope:
    """All names of the program; constants first, so that domains, bounds and types may use every one of them."""
    scope = Scope(FixedEps(eps))
    elaborator = Elaborator(scope, findings, declaring=True)
    register(program.declarations, scope, findings)
    compute_constants(program.declarations, overrides, elaborator)
    declare_domains(program.declarations, elaborator)
    declare_variables(program.declarations, elaborator, Fitting(elaborator))
    return scope


def _main(program: ast.Program, scope: Scope, findings: Findings) -> CoreProgram:
    elaborator = Elaborator(scope, findings)
    claim = check_claims(program.declarations, elaborator)
    instructions, loops = _body(program.body, elaborator, program.span, deterministic=False)
    outputs = _of_role(scope, ast.Role.OUTPUT)
    if not any(
        isinstance(known, DeclaredVariable) and known.role is ast.Role.OUTPUT for known in scope.symbols.values()
    ):
        notes = ("declare what the mechanism answers: `output out : real;`",)
        findings.report(Code.NO_OUTPUT, program.span, f"the program `{program.name}` has no output", notes=notes)
    return CoreProgram(
        program.name,
        findings.source,
        scope.constants(),
        tuple(scope.slots),
        _of_role(scope, ast.Role.INPUT),
        outputs,
        instructions,
        loops,
        claim,
        _single_ideal(program, findings),
        domains={name: domain.type for name, domain in scope.domains.items() if domain.type is not None},
        metric=_metric(program, scope, findings),
    )


def _body(
    body: tuple[ast.Statement, ...], elaborator: Elaborator, whole: Span, *, deterministic: bool
) -> tuple[tuple[Instruction, ...], dict[int, Span]]:
    statements = Statements(elaborator, Fitting(elaborator), deterministic=deterministic)
    instructions = statements.lower(body, Span(whole.end, whole.end))
    if statements.complete:
        report_unassigned(instructions, elaborator.scope.slots, elaborator.findings)
    return instructions, statements.loops


def _of_role(scope: Scope, role: ast.Role) -> tuple[int, ...]:
    return tuple(slot.index for slot in scope.slots if slot.role is role)


def _single_ideal(program: ast.Program, findings: Findings) -> ast.IdealDecl | None:
    ideals = [declaration for declaration in program.declarations if isinstance(declaration, ast.IdealDecl)]
    for again in ideals[1:]:
        findings.report(
            Code.BAD_IDEAL,
            again.span,
            "a program has one ideal",
            notes=("leave all but one out",),
            secondary=((ideals[0].span, "the first ideal"),),
        )
    return ideals[0] if ideals else None


def _metric(program: ast.Program, scope: Scope, findings: Findings) -> CoreMetric | None:
    metric = single_metric(program, findings)
    return None if metric is None else compile_metric(metric, scope, findings)


def _ideal(program: ast.Program, core: CoreProgram, shared: Scope, findings: Findings) -> CoreProgram:
    ideal = core.ideal
    assert ideal is not None
    scope = _shared(shared)
    for declaration in ideal.declarations:
        if declaration.role is not ast.Role.VAR:
            message = f"the ideal declares an {declaration.role.value}"
            notes = ("it has the inputs and outputs of the program; only `var` may stand here",)
            findings.report(Code.BAD_IDEAL, declaration.span, message, notes=notes)
    own = tuple(declaration for declaration in ideal.declarations if declaration.role is ast.Role.VAR)
    register(own, scope, findings)
    declaring = Elaborator(scope, findings, declaring=True)
    declare_variables(own, declaring, Fitting(declaring))
    instructions, loops = _body(ideal.body, Elaborator(scope, findings), ideal.span, deterministic=True)
    return CoreProgram(
        program.name,
        findings.source,
        core.constants,
        tuple(scope.slots),
        _of_role(scope, ast.Role.INPUT),
        _of_role(scope, ast.Role.OUTPUT),
        instructions,
        loops,
        None,
        None,
    )


def _shared(scope: Scope) -> Scope:
    """What an ideal sees: constants, domains, inputs and outputs, these in slots of their own."""
    inner = Scope(scope.eps)
    inner.domains.update(scope.domains)
    for name, symbol in scope.symbols.items():
        match symbol:
            case Constant() | EnumeratedValue() | Foreign():
                inner.symbols[name] = symbol
            case DeclaredVariable(role=ast.Role.VAR):
                inner.symbols[name] = Foreign(name, symbol.span)
            case DeclaredVariable():
                inner.symbols[name] = inner.adopt(symbol, scope)
    return inner
