"""The program of a certificate as a syntax tree of Programs.v, and a theorem for each row that Coq proves from it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from dipc.coq.signs import NotStatedError
from dipc.verifier.execution import goals, places_in
from dipc.verifier.functions import ONE, Closed
from dipc.verifier.noise import Family
from dipc.verifier.program import (
    Branch,
    Choice,
    Code,
    Halt,
    Instruction,
    Jump,
    Machine,
    Operation,
    Place,
    Sample,
    Scored,
    Store,
    Value,
)
from dipc.verifier.syntax import Literal

#: The module in which programs and their probabilities are defined.
PROGRAMS = "Programs.v"

#: The most instructions and ways through a program, and the most comparisons of noise on a way: closed forms of larger
#: programs may take Coq more than minutes.
MOST_INSTRUCTIONS, MOST_WAYS, MOST_COMPARISONS = 2_000, 10_000, 12

Term = str


@dataclass
class CoqProgram:
    """A translator of one program into Coq: its definition, its application to inputs, and events about its outputs.

    Each finite variable holds a rational number: a truth value is 1 or 0, and a word is its number in `words`.
    `machine` is the program as the checker reads it, and `name` its name in Coq. `noisy` has the slots of variables
    whose values may contain noise.
    """

    machine: Machine
    name: str
    #: The number of each word, counted over all domains.
    words: dict[str, int] = field(default_factory=dict)
    #: The real variables that may hold noise.
    noisy: set[int] = field(default_factory=set)

    def __post_init__(self) -> None:
        for slot in self.machine.slots:
            if isinstance(slot.type, frozenset):
                for word in sorted(value for value in slot.type if isinstance(value, str)):
                    self.words.setdefault(word, len(self.words))
        before = -1
        while len(self.noisy) > before:
            before = len(self.noisy)
            for one in self.machine.code:
                if isinstance(one, Sample) or (isinstance(one, Store) and self._has_noise(one.value)):
                    self.noisy.update(slot for slot in one.target.slots if self._is_real(slot))

    # --- names -----------------------------------------------------------------------------------

    def _name(self, slot: int) -> str:
        return f"v{slot}_{re.sub(r'[^A-Za-z0-9]+', '_', self.machine.slots[slot].name).strip('_')}"

    def _is_input(self, slot: int) -> bool:
        return self.machine.slots[slot].role == "input"

    def _is_real(self, slot: int) -> bool:
        return self.machine.slots[slot].type in ("real", "int") and not self._is_input(slot)

    def constant(self, value: Value) -> Term:
        """Return the Coq number for `value`, a truth value, a word or a number.

        A truth value is 1 or 0. A word is the name under which the file defines its number in `words`.
        """
        if isinstance(value, bool):
            return _rational(int(value))
        return self._word(value) if isinstance(value, str) else _rational(value)

    def _word(self, word: str) -> Term:
        return f"w{self.words[word]}_{re.sub(r'[^A-Za-z0-9]+', '_', word).strip('_')}"

    # --- the definition --------------------------------------------------------------------------

    def definition(self) -> list[str]:
        """Return the lines that define the program. Raises NotStatedError if Programs.v cannot express it."""
        machine = self.machine
        if machine.at is not None:
            raise NotStatedError("the program is read at one eps alone")
        if len(machine.code) > MOST_INSTRUCTIONS:
            raise NotStatedError(f"its program has more than {MOST_INSTRUCTIONS} instructions")
        variables = [n for n, slot in enumerate(machine.slots) if slot.role in ("var", "output")]
        lines = [f"Definition {self._word(word)} : Q := {place}." for word, place in self.words.items()]
        lines += [f"Definition {self._name(number)} := {number}%nat." for number in variables]
        body: list[Term] = []
        for number in variables:
            initial = machine.slots[number].initial
            if initial is not None and self._is_real(number):
                body.append(f"Assign {self._name(number)} (Num {self.constant(initial)})")
            elif initial is not None:
                body.append(f"Store {self._name(number)} (FNum {self.constant(initial)})")
        body += self._block(0, len(machine.code))
        self._require_few_ways()
        inputs = " ".join(map(self._name, machine.numbered("input")))
        parameters = f" ({inputs} : Q)" if inputs else ""
        lines.append(f"Definition {self.name}{parameters} : statement := {_block(body)}.")
        return lines

    def _require_few_ways(self) -> None:
        code = self.machine.code
        ways, comparisons = [1] * (len(code) + 1), [0] * (len(code) + 1)
        for here in reversed(range(len(code))):
            nexts = goals(here, code[here])
            match code[here]:
                case Choice(_, arms):
                    nexts *= len(arms)
                case Store(_, value) if _is_condition(value):
                    nexts *= 2
                case _:
                    pass
            if nexts:
                ways[here] = sum(ways[each] for each in nexts)
                comparisons[here] = max(comparisons[each] for each in nexts) + self._compares_noise(code[here])
        if ways[0] > MOST_WAYS or comparisons[0] > MOST_COMPARISONS:
            raise NotStatedError(
                f"its program has more than {MOST_WAYS} ways through it, "
                f"or {MOST_COMPARISONS} comparisons of noise on one"
            )

    def _compares_noise(self, instruction: Instruction) -> bool:
        match instruction:
            case Branch(condition, _):
                return self._has_noise(condition)
            case Store(_, value):
                return _is_condition(value) and self._has_noise(value)
            case _:
                return False

    def _block(self, start: int, end: int) -> list[Term]:
        code, body, here = self.machine.code, list[Term](), start
        while here < end:
            match code[here]:
                case Branch(condition, otherwise):
                    if not here < otherwise <= end:
                        raise NotStatedError("its program has a `while` loop")
                    last = code[otherwise - 1]
                    if otherwise - 1 > here and isinstance(last, Jump) and otherwise <= last.goal <= end:
                        then, other, after = (here + 1, otherwise - 1), (otherwise, last.goal), last.goal
                    else:
                        then, other, after = (here + 1, otherwise), (otherwise, otherwise), otherwise
                    yes, no = (_block(self._block(*part)) for part in (then, other))
                    body.append(f"If {self._condition(condition)}\n  ({yes})\n  ({no})")
                    here = after
                case Halt():
                    body.append("Exit")
                    here += 1
                case Jump():
                    raise NotStatedError("its program has a `while` loop")
                case instruction:
                    body.append(self._instruction(instruction))
                    here += 1
        return body

    def _instruction(self, instruction: Store | Sample | Choice | Scored) -> Term:
        slot = self._slot(instruction.target)
        name = self._name(slot)
        match instruction:
            case Store(_, value) if self._is_real(slot):
                return f"Assign {name} ({self._real(value)})"
            case Store(_, value):
                if _is_condition(value):
                    return f"If {self._condition(value)} (Store {name} (FNum 1)) (Store {name} (FNum 0))"
                return f"Store {name} ({self._finite(value)})"
            case Sample(_, family, rate, mean):
                if not isinstance(family, Family) or family not in _LAWS:
                    raise NotStatedError("its program draws noise that is neither Laplace nor exponential noise")
                if self._has_noise(mean):
                    raise NotStatedError("its program draws noise around noise")
                return f"Noise {_LAWS[family]} {name} {_rational(rate)} ({self._real(mean)})"
            case Choice(_, arms) if not self._is_real(slot):
                texts = [f"({self._finite(value)}, {_rational(_weight(weight))}%Q)" for value, weight in arms]
                return f"Choose {name} [{'; '.join(texts)}]"
            case Choice() | Scored():
                raise NotStatedError(
                    "its program draws a number with the exponential mechanism or a choice of real numbers"
                )

    def _slot(self, place: Place) -> int:
        if place.index is not None:
            raise NotStatedError("its program computes the index of an array")
        return place.slots[0]

    # --- expressions -----------------------------------------------------------------------------

    def _has_noise(self, code: Code) -> bool:
        return any(not self.noisy.isdisjoint(place.slots) for place in places_in([code]))

    def _reads_real(self, code: Code) -> bool:
        return any(self._is_real(self._slot(place)) for place in places_in([code]))

    def _real(self, code: Code) -> Term:
        """Return the real expression `code` in Coq, a sum of multiples of real variables and a number, such as 2*x + 1.

        At most one of the variables may contain noise, and its coefficient must be 1. Raises NotStatedError for other
        code.
        """
        if not self._reads_real(code):
            return f"Finite ({self._finite(code)})"
        match code:
            case Place():
                return f"Var {self._name(self._slot(code))}"
            case Operation(op, _) if op not in ("+", "-") and self._has_noise(code):
                raise NotStatedError("its program computes with noise other than by adding a number")
            case Operation(_, (first, second)) if self._has_noise(first) and self._has_noise(second):
                raise NotStatedError("its program adds noises")
            case Operation("-", (_, second)) if self._has_noise(second):
                raise NotStatedError("its program computes with noise other than by adding a number")
            case Operation("+", (first, second)):
                return f"Plus ({self._real(first)}) ({self._real(second)})"
            case Operation("-", (first, second)):
                return f"Plus ({self._real(first)}) (Times {_rational(-1)} ({self._real(second)}))"
            case Operation("neg", (inner,)):
                return f"Times {_rational(-1)} ({self._real(inner)})"
            case Operation("*", (Literal(Fraction() as factor), inner)) | Operation(
                "*", (inner, Literal(Fraction() as factor))
            ):
                return f"Times {_rational(factor)} ({self._real(inner)})"
            case Operation("/", (inner, Literal(Fraction() as divisor))) if divisor:
                return f"Times {_rational(1 / divisor)} ({self._real(inner)})"
            case _:
                raise NotStatedError("its program computes with real variables other than by sums and multiples")

    def _finite(self, code: Code) -> Term:
        match code:
            case Literal(value):
                return f"FNum {self.constant(value)}"
            case Place():
                slot = self._slot(code)
                if self._is_real(slot):
                    raise NotStatedError("its program computes a finite value from noise")
                return f"FNum {self._name(slot)}" if self._is_input(slot) else f"FVar {self._name(slot)}"
            case Operation("+" | "*" | "min" | "max" as op, arguments) if len(arguments) > 1:
                first, *rest = map(self._finite, arguments)
                for one in rest:
                    first = f"{_FINITE[op]} ({first}) ({one})"
                return first
            case Operation("-", (first_code, second_code)):
                return f"FPlus ({self._finite(first_code)}) ({_negative(self._finite(second_code))})"
            case Operation("neg", (inner,)):
                return _negative(self._finite(inner))
            case Operation("abs", (inner,)):
                text = self._finite(inner)
                return f"FMax ({text}) ({_negative(text)})"
            case Operation("/", (inner, Literal(Fraction() as divisor))) if divisor:
                return f"FTimes (FNum {_rational(1 / divisor)}) ({self._finite(inner)})"
            case _:
                raise NotStatedError("its program computes with finite values in a way that Programs.v does not have")

    def _condition(self, code: Code) -> Term:
        match code:
            case Literal(bool() as value):
                return f"(FGe (FNum {_rational(value)}) (FNum {_rational(1)}))"
            case Place():
                return f"(FGe ({self._finite(code)}) (FNum {_rational(1)}))"
            case Operation("not", (inner,)):
                return f"(Not {self._condition(inner)})"
            case Operation("and" | "or" as op, (first, second)):
                return f"({op.capitalize()} {self._condition(first)} {self._condition(second)})"
            case Operation(">=", (first, second)):
                return self._at_least(first, second)
            case Operation("<=", (first, second)):
                return self._at_least(second, first)
            case Operation("<", (first, second)):
                return f"(Not {self._at_least(first, second)})"
            case Operation(">", (first, second)):
                return f"(Not {self._at_least(second, first)})"
            case Operation("=", (first, second)):
                return f"(And {self._at_least(first, second)} {self._at_least(second, first)})"
            case Operation("!=", (first, second)):
                return f"(Not (And {self._at_least(first, second)} {self._at_least(second, first)}))"
            case _:
                raise NotStatedError("its program has a condition that Programs.v does not have")

    def _at_least(self, first: Code, second: Code) -> Term:
        if self._reads_real(first) or self._reads_real(second):
            return f"(Ge ({self._real(first)}) ({self._real(second)}))"
        return f"(FGe ({self._finite(first)}) ({self._finite(second)}))"

    # --- rows ------------------------------------------------------------------------------------

    def applied(self, inputs: Mapping[int, Value]) -> Term:
        """Return the Coq term of the program applied to `inputs`, the values of its inputs by slot."""
        values = " ".join(self.constant(inputs[slot]) for slot in self.machine.numbered("input"))
        return f"({self.name} {values})" if values else self.name

    def event(self, answers: Sequence[Mapping[int, Value]], gamma: Fraction) -> Term:
        """Return the Coq condition that the outputs are one of `answers`, which are values by slot.

        Numeric outputs may differ from an answer by at most `gamma`.
        """
        texts = [self._answer(answer, gamma) for answer in answers]
        return texts[0] if len(texts) == 1 else f"(any_of [{'; '.join(texts)}])"

    def _answer(self, answer: Mapping[int, Value], gamma: Fraction) -> Term:
        conditions = []
        for slot, value in answer.items():
            name = self._name(slot)
            if not self._is_real(slot):
                conditions.append(f"Is {name} {self.constant(value)}")
                continue
            assert isinstance(value, Fraction)
            low, high = _rational(value - gamma), _rational(value + gamma)
            match self.machine.distance.sides:
                case (1,):
                    conditions.append(f"Ge (Var {name}) (Num {low})")
                case (-1,):
                    conditions.append(f"Ge (Num {high}) (Var {name})")
                case _:
                    conditions.append(f"within {name} {low} {high}")
        return f"({conditions[0]})" if len(conditions) == 1 else f"(all_of [{'; '.join(conditions)}])"


_LAWS = {Family.LAPLACE: "Lap", Family.ONE_SIDED: "Expo"}
_FINITE = {"+": "FPlus", "*": "FTimes", "min": "FMin", "max": "FMax"}


def _rational(value: Fraction | int) -> Term:
    above, below = value.as_integer_ratio()
    text = str(above) if below == 1 else f"{above}#{below}"
    return text if text.isdigit() else f"({text})"


def _negative(text: Term) -> Term:
    return f"FTimes (FNum {_rational(-1)}) ({text})"


def _is_condition(code: Code) -> bool:
    return isinstance(code, Operation) and code.op in ("not", "and", "or", "=", "!=", "<", "<=", ">", ">=")


def _weight(weight: Closed) -> Fraction:
    above, below = weight
    if below == ONE and not above.keys() - {(0, Fraction(0))}:
        return Fraction(above.get((0, Fraction(0)), 0))
    raise NotStatedError("its program has a choice with weights that depend on eps")


def _block(body: Sequence[Term]) -> Term:
    if len(body) <= 1 and all("\n" not in item for item in body):
        return f"block [{''.join(body)}]"
    items = ";\n".join(f"  {item}".replace("\n", "\n  ") for item in body)
    return f"block [\n{items}]"
