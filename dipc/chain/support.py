"""What the chain cannot execute yet, said before anything runs."""

from __future__ import annotations

from dipc.chain.codes import Code
from dipc.chain.fault import Fault
from dipc.diagnostics.diagnostic import Diagnostic, DiagnosticError
from dipc.diagnostics.source import Span
from dipc.syntax.core import (
    CoreProgram,
    Family,
    Instruction,
    IntType,
    SampleChoice,
    SampleExponential,
    SampleNoise,
)

SUPPORTED = (
    "executed today: bool and finite-domain computation, `Lap` noise with a mean that is not random, "
    "comparisons of at most two noises, `if`, `for` and `exit`"
)


def refuse_unsupported(program: CoreProgram) -> None:
    """Returns when the chain executes every instruction; else raises DiagnosticError, naming all that it does not.

    Two refusals depend on the path and come from the chain itself: a random mean and a comparison of many noises.
    """
    found: list[Diagnostic] = []
    seen: set[Span] = set()

    def refuse(fault: Fault) -> None:
        # A `for` is unrolled: one statement of the text may be many instructions.
        if fault.span not in seen:
            seen.add(fault.span)
            found.extend(fault.diagnosed(program.source, SUPPORTED).diagnostics)

    for slot in program.slots:
        if isinstance(slot.type, IntType):
            name = slot.name.partition("[")[0]
            refuse(
                Fault(Code.INT_VARIABLE, f"`{name}`: int variables are not executed yet", slot.span, "an int variable")
            )
    for span in program.loops.values():
        refuse(Fault(Code.WHILE, "`while` is not executed yet", span, "an unbounded loop", "use a bounded `for`"))
    for instruction in program.instructions:
        fault = unsupported(instruction)
        if fault is not None:
            refuse(fault)
    if found:
        raise DiagnosticError(*found)


def unsupported(instruction: Instruction) -> Fault | None:
    """Why an instruction is refused, None when it is executed."""
    match instruction:
        case SampleNoise(family=Family.DISCRETE_LAPLACE, span=span):
            return Fault(Code.DISCRETE_LAPLACE, "discrete Laplace noise is not executed yet", span, "`DLap`")
        case SampleNoise(family=Family.ONE_SIDED, span=span):
            return Fault(Code.ONE_SIDED_NOISE, "one-sided exponential noise is not executed yet", span, "`Expo`")
        case SampleExponential(span=span):
            return Fault(Code.EXPONENTIAL_MECHANISM, "the exponential mechanism is not executed yet", span, "`Exp`")
        case SampleChoice(span=span):
            return Fault(Code.CHOICE, "a user-defined distribution is not executed yet", span, "`choose`")
        case _:
            return None


def random_mean(span: Span) -> Fault:
    """The refusal of a noise whose mean depends on noise."""
    return Fault(
        Code.RANDOM_MEAN,
        "noise around a random mean is not executed yet",
        span,
        "the mean depends on noise",
        "the mean may depend on inputs, constants and finite-domain variables",
    )


def too_many_noises(count: int, span: Span) -> Fault:
    """The refusal of a comparison that depends on many noises."""
    return Fault(
        Code.MANY_NOISES_COMPARED,
        f"a comparison of {count} noises is not executed yet",
        span,
        f"the two sides together depend on {count} noises",
        "a comparison may depend on at most two noises",
    )


def too_many_noises_in_output(name: str, count: int, span: Span) -> Fault:
    """The refusal to ask for an output that depends on many noises."""
    return Fault(
        Code.MANY_NOISES_IN_OUTPUT,
        f"the output `{name}` is a combination of {count} noises, which is not measured yet",
        span,
        f"its value depends on {count} noises",
        "a real output may depend on at most two noises",
    )
