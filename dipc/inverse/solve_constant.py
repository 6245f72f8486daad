"""Find the values of a constant of the program for which the claim holds: on a grid, or where they begin or end.

Values of a grid are decided one by one. Without a grid the result is between a value for which the claim is proved and
one for which it is refuted.

**Lemma.** Let the outputs be inputs plus independent normal noises. Let the constant s occur only in standard
deviations, as a factor s^p with p > 0. Then the deviations grow with s, so that μ of `dipc.questions.privacy.gaussian`
decreases, and delta with it: a claim about privacy holds for every s beyond some number. Other lemmas precede
`is_threshold`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import field, replace
from fractions import Fraction
from itertools import product

from dipc.algebra.limits import LimitReached, OutsideFragment, Undecided
from dipc.algebra.numbers import NotExact, decimal, parse_rational
from dipc.algebra.record import Record
from dipc.chain.chain import ExitState
from dipc.chain.state import Affine, centered, finite_values
from dipc.claims.given import value_of
from dipc.claims.table import TableGiven
from dipc.decide.obligation import Verdict
from dipc.frozen import frozen
from dipc.inverse.question import read_question
from dipc.inverse.search import narrow
from dipc.options import Options
from dipc.program.ideal import Ideal
from dipc.program.program import Program, load_source
from dipc.questions.privacy.adjacency import Pairs, parse_adjacency, read_pairs
from dipc.questions.privacy.check import PrivacyQuestion
from dipc.questions.privacy.gaussian import GaussianMechanism
from dipc.questions.privacy.outcome import PrivacyVerdict, read_claim
from dipc.questions.question import answer, error_asked, errors, question_of
from dipc.text.ast import (
    BaseType,
    BaseTypeExpr,
    Binary,
    BinaryOp,
    Call,
    ConstDecl,
    Declarator,
    Expr,
    Name,
    NoiseExpr,
    Role,
    VariableDecl,
    mentions,
    occurrences,
    walk,
)
from dipc.text.ast import ProgramTree as Tree
from dipc.text.core import Value
from dipc.text.diagnostic import DiagnosticError, SourceText, bad_input
from dipc.text.parser import parse
from dipc.text.printer import print_program

#: The most values of a grid, the greatest power of ten that is tried without a grid, and the default number of digits.
_MOST, _MOST_POWER, DIGITS = 10_000, 12, 10


def read_grid(text: str, program: Program) -> tuple[str, tuple[Fraction, ...]]:
    """Parse a `text` such as "T in 1..100", "T in 0..2 by 1/4", "T in {1/2, 3}", or the name of a constant alone.

    Return (name of the constant, its values in increasing order, none for a name alone). The constant is one of
    `program`. Raises DiagnosticError for any other text.
    """
    name, given, rest = (piece.strip() for piece in text.partition(" in"))
    if name not in program.constants:
        known = ", ".join(program.constants) or "none"
        notes = (f"the constants are {known}", "or ask for eps, alpha, beta, gamma or error")
        raise bad_input("E1025", f"it is not possible to solve for `{name}`", *notes)
    values = _values(rest)
    if given and not values:
        message = f"`--for {name}` does not say which values of `{name}` to look at"
        known_forms = [f'write for example --for "{name} in {some}"' for some in ("1..100", "0..2 by 1/4", "{1, 2}")]
        raise bad_input("E1029", message, *known_forms)
    return name, values


def _values(text: str) -> tuple[Fraction, ...]:
    try:
        if (listed := re.fullmatch(r"\{(.*)\}", text)) is not None:
            return tuple(sorted({parse_rational(number.strip()) for number in listed[1].split(",")}))
        if (ranged := re.fullmatch(r"(\S+?)\s*\.\.\s*(\S+)(?:\s+by\s+(\S+))?", text)) is not None:
            low, high, step = (parse_rational(number or "1") for number in ranged.groups())
            if step > 0 and low <= high and (high - low) / step <= _MOST:
                return tuple([low + n * step for n in range(int((high - low) / step) + 1)])
    except NotExact:
        pass
    return ()


_VERDICTS = {
    PrivacyVerdict.PRIVATE: Verdict.ACCURATE,
    PrivacyVerdict.NOT_PRIVATE: Verdict.INACCURATE,
    PrivacyVerdict.UNDECIDED: Verdict.UNDECIDED,
}


@frozen
class ConstantEdge:
    """Two neighboring decimals of a constant: the claim is proved with one and refuted with the other.

    The decimals (`ends`) differ by one unit of their last digit. The claim is proved for the greater one if `begins`,
    else for the smaller one. `monotone` says that the truth of the claim is proved to change at no other value of the
    constant.
    """

    ends: tuple[Fraction, Fraction]
    begins: bool
    monotone: bool


@frozen
class ConstantSolution(Record):
    """The `verdicts` of a claim for values of the constant `name`, or the place at which the verdict changes (`edge`).

    - `refused` has the values with which the program is invalid, each with the reason.
    - `claim` has the parts of the claim as strings, such as {"beta": "1/20"}; `eps` is the text of its intervals.
    - `edge` is set if the search for a place found one. If the search failed, `reason` says why.
    - `interrupted`: Ctrl-C came first, and some values have no verdict.
    """

    FIELDS = (
        "schema program for=name claim eps status least greatest values=verdicts refused grid monotone=edge.monotone? "
        "reason+"
    )

    schema = "dipc.solve/1"

    program: str
    name: str
    verdicts: Mapping[Fraction, Verdict]
    refused: Mapping[Fraction, str] = field(default_factory=dict)
    claim: Mapping[str, str | None] = field(default_factory=dict)
    eps: str = ""
    interrupted: bool = False
    #: Without a grid, the place where the values with a proved claim begin or end.
    edge: ConstantEdge | None = None
    #: The reason why that place is not known.
    reason: str = ""

    @property
    def holds(self) -> tuple[Fraction, ...]:
        """The values for which the claim is proved, increasing."""
        return tuple([value for value, verdict in self.verdicts.items() if verdict is Verdict.ACCURATE])

    @property
    def undecided(self) -> tuple[Fraction, ...]:
        """The values for which the claim is undecided."""
        return tuple([value for value, verdict in self.verdicts.items() if verdict is Verdict.UNDECIDED])

    @property
    def least(self) -> Fraction | tuple[Fraction, Fraction] | None:
        """The least value for which the claim is proved, or two decimals between which the proved values begin.

        None if the claim is proved for no value, or if the search found a place where the proved values end.
        """
        if self.edge is not None:
            return self.edge.ends if self.edge.begins else None
        return self.holds[0] if self.holds else None

    @property
    def greatest(self) -> Fraction | tuple[Fraction, Fraction] | None:
        """The greatest value for which the claim is proved, or two decimals between which the proved values end.

        None if the claim is proved for no value, or if the search found a place where the proved values begin.
        """
        if self.edge is not None:
            return None if self.edge.begins else self.edge.ends
        return self.holds[-1] if self.holds else None

    @property
    def grid(self) -> bool:
        """True if the user listed the values, False if a search chose them."""
        return self.edge is None and not self.reason

    @property
    def status(self) -> str:
        """The status: "solved" if the claim is proved for some value, "none" if it is refuted for all values.

        The status is "undecided" in all other cases, and if the search for an edge ended with a `reason`.
        """
        if self.reason:
            return "undecided"
        return "solved" if self.holds else "undecided" if self.undecided else "none"


class _Decided:
    """The verdicts of one claim about a program, for values of one of its constants; each is decided once and kept.

    The claim is about privacy if the options have `adjacent`, else about accuracy or an expected error.
    """

    def __init__(self, program: Program, table: TableGiven | None, name: str, options: Options) -> None:
        self._program, self._table, self._name, self._options = program, table, name, options
        self.verdicts: dict[Fraction, Verdict] = {}
        self.refused: dict[Fraction, str] = {}
        self.claim: Mapping[str, str | None] = {}
        self.eps = ""
        self.mistake: DiagnosticError | None = None

    def verdict(self, value: Fraction) -> Verdict | None:
        """The verdict of the claim if the constant is `value`; None if the program is then invalid."""
        if value not in self.verdicts and value not in self.refused:
            try:
                self.verdicts[value] = self._verdict(value)
            except DiagnosticError as error:
                self.mistake = error
                self.refused[value] = error.diagnostics[0].message
        return self.verdicts.get(value)

    def _verdict(self, value: Fraction) -> Verdict:
        one, options = self._program.with_constants({self._name: value}), self._options
        with ExitStack() as stack:
            engine = options.engine(stack, one)
            if options.error is not None:
                about = error_asked(one, self._table, options)
                expected = errors(about, engine, replace(options, progress=None))
                self.claim, self.eps = {"error": about.claimed}, expected.eps
                assert expected.verdict is not None, "the claim is about an expected error"
                return expected.verdict
            if options.adjacent is None:
                source = question_of(one, self._table, replace(options, progress=None))
                report = answer(source, engine)
                self.claim, self.eps = dict(source.stated), report.eps
                return report.verdict
            wanted = read_claim(one, options.budget, options.delta, options.eps, enclosed=True)
            delta = "0" if options.delta is None else str(options.delta)
            self.claim = {"budget": str(options.budget or "eps"), "delta": delta, "adjacent": options.adjacent}
            self.eps = wanted.eps_text
            return _VERDICTS[PrivacyQuestion(one, options.adjacent, options.inputs, engine).decide(wanted).verdict]

    def holds(self, value: Fraction) -> bool:
        """Whether the claim is proved for `value`. Raises Undecided if it is neither proved nor refuted."""
        verdict = self.verdict(value)
        if verdict in (None, Verdict.UNDECIDED):
            reason = self.refused.get(value, "the claim is undecided")
            raise OutsideFragment(f"with {self._name} = {decimal(value)}: {reason}")
        return verdict is Verdict.ACCURATE

    def solution(self, edge: ConstantEdge | None = None, reason: str = "", *, interrupted: bool) -> ConstantSolution:
        verdicts = dict(sorted(self.verdicts.items()))
        about = self._program.name, self._name, verdicts, self.refused, self.claim, self.eps
        return ConstantSolution(*about, interrupted, edge, reason)


def solve_constant(program: Program, table: TableGiven | None, wanted: str, options: Options) -> ConstantSolution:
    """Decide the claim for each value of a grid, or find a value of a constant at which its verdict changes.

    `wanted` names a constant of `program`, and may give the grid, as `read_grid` reads it. Without a grid the result
    has two neighboring decimals (`edge`), one with a proved and one with a refuted claim. Only positive values are then
    tried. The inputs are those of `table`, or of `options` without a table. The claim is about privacy if `options`
    have `adjacent`. On Ctrl-C the result has the verdicts so far. Raises DiagnosticError if the program or claim is
    invalid for all values.
    """
    name, grid = read_grid(wanted, program)
    decided = _Decided(program, table, name, options)
    edge, reason, interrupted = None, "", False
    try:
        if not grid:
            monotone = _is_monotone(program, name, options) or is_threshold(program, table, name, options)
            edge = _edge(decided, options.digits or DIGITS, monotone=monotone)
        else:
            for number, value in enumerate(grid):
                decided.verdict(value)
                if options.progress is not None:
                    options.progress(number + 1, len(grid))
    except Undecided as undecided:
        reason = undecided.reason
    except KeyboardInterrupt:
        interrupted = True
    if decided.mistake is not None and not decided.verdicts and not interrupted:
        raise decided.mistake
    return decided.solution(edge, reason, interrupted=interrupted)


def _edge(decided: _Decided, digits: int, *, monotone: bool) -> ConstantEdge | None:
    """Search for two neighboring decimals, to `digits` digits, of which one has a proved claim and one a refuted claim.

    The search starts from powers of ten, whose verdicts `decided` finds. The result is None if the claim fails for all
    of them. `monotone` becomes a field of the result. Raises Undecided if some verdict is undecided, or if the claim
    holds for all powers of ten.
    """
    first = decided.holds(Fraction(1))
    powers = (Fraction(10) ** (sign * k) for k in range(1, _MOST_POWER + 1) for sign in (1, -1))
    there = next((power for power in powers if decided.holds(power) is not first), None)
    if there is None:
        if first:
            raise OutsideFragment(
                f"no end was found: the claim holds for all powers of ten from 10^-{_MOST_POWER} to 10^{_MOST_POWER}"
            )
        return None
    # One is ten times the other, and the claim holds for exactly one of them.
    low, high = sorted((there, there / 10 if there > 1 else there * 10))
    begins = decided.holds(high)
    return ConstantEdge(narrow(lambda value: decided.holds(value) is begins, low, high, digits), begins, monotone)


def _is_monotone(program: Program, name: str, options: Options) -> bool:
    """True if `program` is a Gaussian mechanism in which the constant `name` only scales standard deviations.

    A claim about its privacy, as in `options`, then changes at most once as the constant grows. False if the claim in
    `options` is not about privacy, or mentions the constant.
    """
    try:
        if GaussianMechanism.from_program(program) is None:
            return False
    except Undecided:
        return False
    if options.adjacent is None or options.mention(name):
        return False
    tree = parse(program.core.source)
    noises = [node for node in walk(tree) if isinstance(node, NoiseExpr) and node.law.by_deviation]
    rates = [noise.rate for noise in noises if noise.rate is not None]
    within = sum(occurrences(rate, name) for rate in rates)
    return within == occurrences(tree, name) and all(
        _is_positive_power(rate, name) for rate in rates if mentions(rate, name)
    )


def _is_positive_power(expr: Expr, name: str) -> bool:
    match expr:
        case Name():
            return expr.name == name
        case Binary(op=BinaryOp.MULTIPLY, left=left, right=right):
            return all(_is_positive_power(side, name) for side in (left, right) if mentions(side, name))
        case Binary(op=BinaryOp.DIVIDE, left=left, right=right):
            return _is_positive_power(left, name) and not mentions(right, name)
        case Call(function="sqrt", arguments=(inner,)):
            return _is_positive_power(inner, name)
    return False


# --- Claims that are monotone in a constant ---------------------------------------------------------------------------
#
# A threshold is a constant that noise is compared with.
#
# **Lemma (accuracy).** *Treat the constant T as one more real input. Suppose that the constraints of all exits with the
# answers det(u), over centered noises, have nonnegative coefficients of T, or that those of all exits with other
# answers have nonpositive ones. Then for each input Pr[answer] never decreases as T grows.* Proof: events grow with
# their slacks, exits exclude each other, and neither weights of choices nor the answer nor its claim depend on T. ∎
#
# **Lemma (privacy).** *Let there be finitely many inputs with finite outputs. Suppose that for all adjacent u, u' and
# each output o, either Pr[o; u] does not increase and Pr[o; u'] does not decrease with T, or Pr[o; u'] = 1. Then the
# least delta never increases with T.* Proof: it is the greatest of the sums of max(0, Pr[o; u] - e^budget·Pr[o; u']),
# and each summand does not increase, or is 0. ∎
#
# With all signs reversed, both are monotone in the other direction. So a claim to which a lemma applies holds from some
# T on, or up to some T.

#: The most combinations of finite inputs.
_MOST_COMBINATIONS = 1000

#: The outputs of an exit, in their order: `_NOISE` for a continuous one, None for one that is not assigned. Among
#: wanted outputs None is one that may have any value.
_Output = tuple[object, ...]
_NOISE = "noise"

#: Finite inputs, in their order, with the wanted outputs.
_Wanted = tuple[tuple[Value, ...], _Output]

#: All exits for some inputs, with the sign of the change of their slacks with T; None if slacks change in both
#: directions.
_Exits = Sequence[tuple[_Output, int | None]]


def is_threshold(program: Program, table: TableGiven | None, name: str, options: Options) -> bool:
    """True if it is proved that the verdict of the claim changes at most once as the constant `name` grows.

    The constant is one of `program`. The claim is about the inputs of `table`, or of `options` without a table. It is
    about privacy if `options` have `adjacent`.
    """
    tree = parse(program.core.source)
    if (
        occurrences(tree.body, name) != occurrences(tree, name)
        or options.error is not None
        or options.mention(name)
        or (tree.ideal is not None and tree.ideal.noiseless)
    ):
        return False
    inputs = program.core.input_slots
    try:
        opened = _OpenConstant(program, tree, name)
        if options.adjacent is None:
            wanted = _required_outputs(program, table, name, options)
            return wanted is not None and opened.is_monotone(wanted)
        pairs = read_pairs(program, parse_adjacency(options.adjacent, program.core), options.inputs, program.limits)
        return (
            isinstance(pairs, Pairs)
            and all(not slot.is_symbolic for slot in inputs)
            and opened.has_monotone_excess(pairs)
        )
    except (DiagnosticError, Undecided):
        return False


def _required_outputs(program: Program, table: TableGiven | None, name: str, options: Options) -> list[_Wanted] | None:
    """The finite inputs of all rows or regions, each with the outputs that the claim requires there.

    The result has pairs (finite inputs, outputs), with None in place of each real or int output. The claim is that of
    `program`, `table` and `options`. The result is None if a `metric` defines distances of answers, if a row's own
    claim mentions the constant `name`, or if the question is about every value of some constant. Raises Undecided and
    DiagnosticError.
    """
    question = read_question(program, table, options)
    core = program.core
    if question.parameter is not None or not core.has_product_distance:
        return None
    inputs = [index for index, slot in enumerate(core.inputs) if not core.slots[slot].is_symbolic]

    def wanted(values: Sequence[object]) -> _Output:
        return tuple(
            [None if core.slots[slot].is_symbolic else value for slot, value in zip(core.outputs, values, strict=True)]
        )

    if question.table is not None:
        own = [cell for row in question.table.rows for cell in (row.alpha, row.beta, row.gamma) if cell is not None]
        if any(re.search(rf"\b{name}\b", cell.text) for cell in own):
            return None
        return [
            (
                tuple([value_of(row.inputs[index]) for index in inputs]),
                wanted([None if cell is None else cell.value for cell in row.outputs]),
            )
            for row in question.table.rows
        ]
    ideal = Ideal(program)
    return [
        (tuple(finite.values()), wanted(region.answer))
        for finite in _combinations(program)
        for region in ideal.regions(finite)
    ]


def _combinations(program: Program) -> Iterator[Mapping[int, Value]]:
    core = program.core
    slots = [slot for slot in core.inputs if not core.slots[slot].is_symbolic]
    for number, values in enumerate(product(*[finite_values(core.slots[slot]) for slot in slots])):
        if number >= _MOST_COMBINATIONS:
            raise LimitReached(None, f"the finite inputs have more than {_MOST_COMBINATIONS} combinations")
        yield dict(zip(slots, values, strict=True))


class _OpenConstant:
    """A program in which one constant, T, has become a real input, to see how probabilities change as T grows."""

    def __init__(self, program: Program, tree: Tree, name: str) -> None:
        declarations = [
            replace(each, bindings=tuple([(bound, value) for bound, value in each.bindings if bound != name]))
            if isinstance(each, ConstDecl)
            else each
            for each in tree.declarations
            if not (isinstance(each, ConstDecl) and [bound for bound, _ in each.bindings] == [name])
        ]
        declarations.append(
            VariableDecl(Role.INPUT, (Declarator(name, None, None),), BaseTypeExpr(BaseType.REAL), None)
        )
        text = print_program(replace(tree, declarations=tuple(declarations)))
        given = {each: value for each, value in program.core.overrides.items() if each != name}
        core = load_source(SourceText("<a constant as an input>", text), given, program.core.asked_eps).core
        self._program = Program(core, program.limits)
        self._slot = next(slot for slot in core.inputs if core.slots[slot].name == name)
        self._known: dict[tuple[Value, ...], _Exits] = {}

    def _exits(self, inputs: Sequence[Value]) -> _Exits:
        key = tuple(inputs)
        if key not in self._known:
            core = self._program.core
            slots = [slot for slot in core.inputs if not core.slots[slot].is_symbolic]
            given = dict(zip(slots, key, strict=True))
            states = self._program.exits(given).states
            outputs = [[state.outputs[slot] for slot in core.outputs] for state in states]
            self._known[key] = [
                (tuple([_NOISE if isinstance(value, Affine) and value.noises else value for value in values]), sign)
                for values, sign in zip(outputs, map(self._sign, states), strict=True)
            ]
        return self._known[key]

    def _sign(self, state: ExitState) -> int | None:
        means = {noise.id: noise.mean for noise in state.noises}

        def coefficient(form: Affine) -> Fraction:
            return dict(centered(form, means).inputs).get(self._slot, Fraction(0))

        if any(isinstance(value, Affine) and coefficient(value) for value in state.outputs.values()):
            return None
        moves = [coefficient(item.form) for item in (*state.constraints.items, *state.guards.items)]
        signs = {(move > 0) - (move < 0) for move in moves if move}
        return None if len(signs) > 1 else next(iter(signs), 0)

    def is_monotone(self, wanted: Iterable[_Wanted]) -> bool:
        """True if it is proved that no probability decreases as the constant grows, or that none increases.

        `wanted` has pairs (finite inputs, outputs); each probability is that of the outputs at these inputs.
        """
        known = [(self._exits(inputs), outputs) for inputs, outputs in wanted]
        return any(
            all(
                _slacks_are_monotone(each, sign, outputs) or _slacks_are_monotone(each, -sign, outputs, others=True)
                for each, outputs in known
            )
            for sign in (1, -1)
        )

    def has_monotone_excess(self, pairs: Pairs) -> bool:
        """True if the excess of each output at each of the `pairs` grows with the constant, or if each excess falls.

        The `pairs` are adjacent inputs u and u'. The excess of an output o is max(0, Pr[o; u] - e^budget·Pr[o; u']). A
        constant excess counts as growing and as falling. Raises Undecided.
        """
        known = [self._exits(each) for each in pairs.inputs]
        return any(all(_excess_is_monotone(known[i], known[j], sign) for i, j in pairs.ordered) for sign in (1, -1))


def _excess_is_monotone(one: _Exits, other: _Exits, sign: int) -> bool:
    """True if it is proved for each output o that max(0, Pr[o; u] - e^budget·Pr[o; u']) is monotone in the constant T.

    The function must not decrease if `sign` is 1, and not increase if `sign` is -1. `one` has the exits at the input u,
    and `other` those at u'.
    """
    return all(
        (_slacks_are_monotone(one, sign, output) and _slacks_are_monotone(other, -sign, output))
        or all(_fits(given, output) for given, _ in other)
        for output in dict.fromkeys(output for output, _ in one)
    )


def _slacks_are_monotone(exits: _Exits, sign: int, outputs: _Output, *, others: bool = False) -> bool:
    """True if no slack decreases (`sign` 1) or increases (`sign` -1) with the constant T, in all exits with `outputs`.

    A slack is the part of a constraint without noise. `exits` are all exits at some inputs. If `others`, only the exits
    with outputs other than `outputs` are examined.
    """
    return all(moved in (0, sign) for given, moved in exits if _fits(given, outputs) is not others)


def _fits(given: _Output, wanted: _Output) -> bool:
    return all(value is None or value == other for other, value in zip(given, wanted, strict=True))
