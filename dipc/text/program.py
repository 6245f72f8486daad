"""The typed program from which the chain is built.

Its `metric` block defines the distances of two inputs, and of two answers.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction

from dipc.frozen import frozen
from dipc.sign.interval import Interval
from dipc.text import ast
from dipc.text.ast import BaseType, ClaimDecl, ClaimedInputs, IdealDecl
from dipc.text.core import (
    UNKNOWN,
    Concrete,
    Condition,
    Const,
    DomExpr,
    DomType,
    Instruction,
    ProgramCode,
    Slot,
    Typed,
    Unknown,
    ValueKind,
)
from dipc.text.diagnostic import SourceText, Span, bad_input, did_you_mean
from dipc.text.expressions import Elaborator
from dipc.text.precondition import Precondition
from dipc.text.scope import DeclaredConstant, DeclaredVariable, EnumeratedValue, Findings, Scope

DISPUTED = ("finite", "all")
INPUT_DISTANCES = ("linf", "l1", "discrete")
OUTPUT_DISTANCES = ("product", "discrete", "linf", "above", "below")

_NOWHERE = Span(0, 0)

#: The most conditions that a `for` in a metric can generate.
MOST_CONDITIONS = 10_000


@frozen
class FormulaSlot:
    """The meaning of a variable in a formula of the metric: the value of the program's variable in `slot`.

    A formula is about two inputs, or about two answers. A variable with a prime, such as `q'`, is `primed`: its value
    is that in the second of the two. Any other variable has its value in the first.
    """

    slot: int
    primed: bool


@frozen
class Formula:
    """Conditions over two inputs, or over an input and two answers.

    The `conditions` are over variables of their own, `slots`, and `places` has the meaning of each variable.
    """

    conditions: tuple[Condition, ...]
    slots: tuple[Slot, ...]
    places: tuple[FormulaSlot, ...]


@frozen
class Gap:
    """The expression `value` for the distance of two answers at an input, written at `span`.

    The expression is over variables of its own, `slots`, and `places` has the meaning of each variable. The expression
    is evaluated at a concrete input, where a real input is a rational number.
    """

    value: DomExpr
    slots: tuple[Slot, ...]
    places: tuple[FormulaSlot, ...]
    span: Span


@frozen
class CoreMetric:
    """The distances that a program declares, with defaults where it declares none; `span` is the block `metric`.

    - `input` is the name of the distance of inputs, such as "linf". Two inputs are infinitely far apart if one of the
      conditions `apart` holds.
    - `output` is the distance of answers: its name, such as "product", or an expression. Two answers are the same if
      all conditions `same` hold.
    - `apart` and `same` are None if the block does not define them.
    - `dd` tells which outputs make two answers different in dd(u): "all", or the "finite" ones alone. If no output is
      finite, "finite" means all.
    """

    span: Span = _NOWHERE
    input: str = "linf"
    apart: Formula | None = None
    output: str | Gap = "product"
    same: Formula | None = None
    dd: str = "finite"


def compile_metric(metric: ast.MetricDecl, shared: Scope, findings: Findings) -> CoreMetric:
    """Return `metric` with names of the program's scope `shared` resolved.

    Faulty fields are reported to `findings`, and left out.
    """
    result = CoreMetric(metric.span)
    for each in metric.fields:
        match each.name:
            case "input":
                result = replace(result, input=_named(each, INPUT_DISTANCES, findings) or result.input)
            case "output" if isinstance(each.value, ast.Name) and each.value.name in OUTPUT_DISTANCES:
                result = replace(result, output=each.value.name)
            case "output":
                gap = _gap(each, shared, findings)
                result = result if gap is None else replace(result, output=gap)
            case "apart":
                result = replace(result, apart=_formula(each, shared, findings))
            case "same":
                result = replace(result, same=_formula(each, shared, findings))
            case "dd":
                result = replace(result, dd=_named(each, DISPUTED, findings) or result.dd)
    return result


def _named(field: ast.MetricField, known: tuple[str, ...], findings: Findings) -> str | None:
    if isinstance(field.value, ast.Name) and field.value.name in known:
        return field.value.name
    close = did_you_mean(field.value.name, known) if isinstance(field.value, ast.Name) else []
    listed = ", ".join(known[:-1])
    findings.report(
        ProgramCode.BAD_METRIC,
        field.value.span,
        f"the distance between inputs must be {listed} or {known[-1]}",
        notes=(*close, "define other distances with `apart`"),
    )
    return None


def _gap(field: ast.MetricField, shared: Scope, findings: Findings) -> Gap | None:
    elaborator = _MetricElaborator(_scope(shared, "output", numbers=True), findings, "output")
    if isinstance(field.value, ast.Each):
        notes = ("write the distance as one number, for example `abs(q[out] - q[out'])`",)
        findings.report(
            ProgramCode.BAD_METRIC, field.value.span, "`for` is not allowed in a distance between answers", notes=notes
        )
        return None
    typed = elaborator.typed(field.value)
    if isinstance(typed, Concrete) and typed.kind is ValueKind.NUMBER:
        return Gap(typed.expr, tuple(elaborator.scope.slots), elaborator.places(shared), field.value.span)
    if not isinstance(typed, Unknown):
        listed = ", ".join(OUTPUT_DISTANCES)
        message = (
            f"the distance between answers must be a number, but `{findings.snippet(field.value.span)}` is not one"
        )
        notes = (f"write one of {listed}, or a number such as `abs(q[out] - q[out'])`",)
        findings.report(ProgramCode.BAD_METRIC, field.value.span, message, notes=notes)
    return None


def _formula(field: ast.MetricField, shared: Scope, findings: Findings) -> Formula | None:
    elaborator = _MetricElaborator(_scope(shared, field.name), findings, field.name)
    conditions = [condition for condition in elaborator.conditions(field.value) if not isinstance(condition, Unknown)]
    return Formula(tuple(conditions), tuple(elaborator.scope.slots), elaborator.places(shared))


def _scope(shared: Scope, field: str, *, numbers: bool = False) -> Scope:
    """Return the scope of the names that may occur in `field`, a field of the `metric` block.

    The scope has constants, domain values, inputs, and the variables that the field compares; these variables also
    occur with a prime. The field `apart` compares inputs, and every other field compares outputs. `shared` is the
    program's scope. If `numbers` is true, every real or int variable gets the domain {0} as a placeholder, so that an
    expression in the field may compute with it as with a finite value.
    """
    inner = Scope(shared.eps)
    inner.domains.update(shared.domains)
    for name, symbol in shared.symbols.items():
        if isinstance(symbol, DeclaredConstant | EnumeratedValue):
            inner.symbols[name] = symbol
        elif isinstance(symbol, DeclaredVariable) and symbol.role is not ast.Role.VAR:
            compared = (symbol.role is ast.Role.INPUT) is (field == "apart")
            if compared or symbol.role is ast.Role.INPUT:
                _adopt(symbol, name, inner, shared, numbers=numbers)
            if compared:
                _adopt(symbol, f"{name}'", inner, shared, numbers=numbers)
    return inner


def _adopt(variable: DeclaredVariable, name: str, inner: Scope, shared: Scope, *, numbers: bool) -> None:
    known = replace(inner.adopt(variable, shared), name=name)
    for slot in known.slots:
        text = inner.slots[slot].name.replace(variable.name, name, 1)
        inner.slots[slot] = replace(inner.slots[slot], name=text)
    if numbers and known.type in (BaseType.REAL, BaseType.INT):
        known = replace(known, type=DomType((Fraction(0),)))
    inner.symbols[name] = known


class _MetricElaborator(Elaborator):
    """The resolver of expressions in a metric, in which every variable is an input or an answer."""

    def __init__(self, scope: Scope, findings: Findings, field: str) -> None:
        super().__init__(scope, findings)
        self._field = field

    def places(self, shared: Scope) -> tuple[FormulaSlot, ...]:
        result: dict[int, FormulaSlot] = {}
        for name, symbol in self.scope.symbols.items():
            if isinstance(symbol, DeclaredVariable):
                original = shared.symbols[name.removesuffix("'")]
                assert isinstance(original, DeclaredVariable)
                for own, slot in zip(symbol.slots, original.slots, strict=True):
                    result[own] = FormulaSlot(slot, name.endswith("'"))
        return tuple(result[slot] for slot in range(len(self.scope.slots)))

    def conditions(self, value: ast.Expr | ast.Each) -> Iterator[Condition | Unknown]:
        if not isinstance(value, ast.Each):
            yield self.condition(value)
            return
        for number in self._range(value):
            self.locals[value.variable] = number
            yield from self.conditions(value.body)
        self.locals.pop(value.variable, None)

    def _range(self, each: ast.Each) -> list[Typed]:
        low, high = self.integer(each.low, "a bound of `for`"), self.integer(each.high, "a bound of `for`")
        free = self.check_local(each.variable, each.span, "the variable", may_hide_variables=False)
        if low is None or high is None or not free:
            return []
        if high - low >= MOST_CONDITIONS:
            notes = (f"at most {MOST_CONDITIONS} conditions can be given",)
            self.findings.report(
                ProgramCode.BAD_METRIC, each.span, "this `for` expands to too many conditions", notes=notes
            )
            return []
        result: list[Typed] = [
            Concrete(ValueKind.NUMBER, Const(Fraction(position))) for position in range(low, high + 1)
        ]
        return result or [UNKNOWN]

    def undeclared(self, name: str, span: Span, index: str = "") -> None:
        bare = name.removesuffix("'")
        if name == bare and index == "" and name in _RESERVED:
            super().undeclared(name, span, index)
            return
        known = [known for known, symbol in self.scope.symbols.items() if isinstance(symbol, DeclaredVariable)]
        if self._field == "apart":
            made_of = "`apart` compares an input q with another one, q'"
        else:
            made_of = f"`{self._field}` is about an input, the program's answer out and the exact answer out'"
        notes = (*did_you_mean(name, self.scope.symbols), made_of) if known else (made_of,)
        message = f"`{name}` is not allowed in `{self._field}`"
        self.findings.report(ProgramCode.BAD_METRIC, span, message, notes=notes, once=(self._field, name))


_RESERVED: Mapping[str, None] = dict.fromkeys(("min", "max", "abs", "exp"))


# --- The typed program, from which the chain is built -----------------------------------------------------------------


def kinds(slots: Iterable[Slot]) -> str:
    """Return the kinds of the real and int `slots`, "real", "int" or "real and int"; empty if there are none."""
    named = (("real", BaseType.REAL), ("int", BaseType.INT))
    types = [slot.type for slot in slots]
    return " and ".join(word for word, kind in named if any(each is kind for each in types))


@dataclass(frozen=True)
class CoreProgram:
    """A typed program: slots, and instructions over them.

    - `inputs` and `outputs` are indices into `slots`, in the order of declaration; array elements are by increasing
      index.
    - `loops` has the span of each `while`, by the label of its condition; without `while` it is empty. `domains` are
      the named domains.
    - `constants` has the values of all constants. `overrides` has the values that replace those of the text.
    - `only_at`, if not None, is the only eps at which the text means this program. `only_in`, if not empty, are the
      intervals of eps for which the weights of its choices are known to be probabilities.
    - `requires` is the precondition: only values that satisfy it are inputs of the program.
    - `selection` limits a question to some inputs of the program. Distances are still taken to all its inputs.
    """

    name: str
    source: SourceText
    constants: dict[str, Fraction]
    slots: tuple[Slot, ...]
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    instructions: tuple[Instruction, ...]
    loops: dict[int, Span]
    claim: ClaimDecl | None
    ideal: IdealDecl | None
    domains: dict[str, DomType] = field(default_factory=dict)
    metric: CoreMetric | None = None
    only_at: Fraction | None = None
    only_in: tuple[Interval, ...] = ()
    overrides: Mapping[str, Fraction] = field(default_factory=dict)
    requires: Precondition | None = None
    selection: Precondition | None = None

    @property
    def has_finite_outputs(self) -> bool:
        """Whether no output is real or int."""
        return not any(slot.is_symbolic for slot in self.output_slots)

    @property
    def has_real_outputs(self) -> bool:
        """Whether some output is real."""
        return any(slot.type is BaseType.REAL for slot in self.output_slots)

    @property
    def has_finite_inputs(self) -> bool:
        """Whether no input is real or int."""
        return not any(slot.is_symbolic for slot in self.input_slots)

    @property
    def has_open_inputs(self) -> bool:
        """Whether all inputs are real or int."""
        return all(slot.is_symbolic for slot in self.input_slots)

    @property
    def has_real_inputs(self) -> bool:
        """Whether all inputs are real."""
        return all(slot.type is BaseType.REAL for slot in self.input_slots)

    @property
    def input_slots(self) -> tuple[Slot, ...]:
        """The slots of the inputs, in their order."""
        return tuple([self.slots[index] for index in self.inputs])

    @property
    def output_slots(self) -> tuple[Slot, ...]:
        """The slots of the outputs, in their order."""
        return tuple([self.slots[index] for index in self.outputs])

    @property
    def input_kinds(self) -> str:
        """The kinds of the inputs that are not finite, "real", "int" or "real and int", or "finite" if all are."""
        return kinds(self.input_slots) or "finite"

    @property
    def required_text(self) -> str | None:
        """The condition that an input must satisfy, as its author wrote it; None if every input is allowed."""
        return None if self.requires is None or self.requires.stands_for_all else self.requires.shown

    @property
    def every_input(self) -> str:
        """The words in a headline for the inputs of a claim about all inputs, such as "every real input"."""
        allowed = "" if self.required_text is None else " that `requires` allows"
        selected = "" if self.selection is None else f" with {self.selection.text}"
        return f"every {self.input_kinds} input{allowed}{selected}"

    @property
    def has_product_distance(self) -> bool:
        """Whether an answer counts as right if and only if each output does, taken alone.

        A finite output must be equal to the right one, and a real or int output within gamma of it. If the metric
        counts errors on one `side` only, the output need not be within gamma on the other side.
        """
        metric = self.metric or CoreMetric()
        if metric.same is None and metric.output == "linf":
            # The largest gap of the real outputs is at most gamma if and only if each gap is.
            return all(slot.is_symbolic for slot in self.output_slots)
        return metric.same is None and (metric.output == "product" or self.side is not None)

    @property
    def side(self) -> str | None:
        """The only side on which real and int outputs count as too far off, `above` or `below`; None for both sides."""
        match None if self.metric is None else self.metric.output:
            case "above" | "below" as side:
                return side
        return None

    @property
    def claimed_inputs(self) -> str | None:
        """The inputs of the claim block, as text in the form of the option `--inputs`; None if it has none."""
        for field_ in () if self.claim is None else self.claim.fields:
            if isinstance(field_.value, ClaimedInputs):
                return self.source.text[field_.value.span.start : field_.value.span.end]
        return None

    @property
    def asked_eps(self) -> Fraction | str | None:
        """The eps for which the program was read: a number, or a string that lists intervals.

        None means that the program was read for every eps. Reading the text again for this eps gives the same program.
        """
        return ", ".join(map(str, self.only_in)) if self.only_in else self.only_at

    def require_meaning(self, eps: Fraction | Sequence[Interval]) -> None:
        """Raise DiagnosticError if `eps`, a number or intervals, has values for which the program was not read.

        Some texts are valid programs only for some values of eps. Such a text is read for these values alone.
        """
        ranges = [Interval(eps, eps, True, True)] if isinstance(eps, Fraction) else eps
        points = [each.lower for each in ranges if each.is_point]
        one = points[0] if len(points) == len(ranges) == 1 else None
        asked = "it is asked about other values of eps" if one is None else f"it is asked about eps = {one}"
        if self.only_at not in (None, one):
            message = f"`{self.name}` is read at eps = {self.only_at} only, but {asked}"
            note = "its constants and rates depend on eps: ask about one eps at a time"
            raise bad_input(ProgramCode.OTHER_EPS.value, message, note)
        if self.only_in and not all(any(own.covers(each) for own in self.only_in) for each in ranges):
            message = f"`{self.name}` is read only for eps in {self.asked_eps}, but {asked}"
            note = "at another eps its weights are not known to be probabilities"
            raise bad_input(ProgramCode.OTHER_EPS.value, message, note)
