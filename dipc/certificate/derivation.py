"""How each probability is made up, as data that `dipc.verifier.derivation` replays.

    derivations = Derivations(probabilities)
    number = derivations.add(inputs, outputs, gamma)    # of a row whose probability is known: cells as there
    derivations.data()                                  # for the certificate
    derivations.value(number)                           # the closed form

Everything is written once: rows with the same probability and the same way to it share one number. The schema stands
in `dipc.verifier.derivation`.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from dipc.algebra.closed_form import ClosedForm
from dipc.algebra.quotient import Closed, Quotient
from dipc.certificate.choices import affordable, numbers_of, written_chain
from dipc.certificate.normal_event import EventShape, NormalEvent, event_data, read_back
from dipc.certificate.terms import FunctionData
from dipc.exits.probability import Cells, ExitShare, Factor, Needs, Probabilities
from dipc.exits.reaching import ChoiceChain
from dipc.measure.event import Event
from dipc.tables.cells import Cell
from dipc.verifier.derivation import long_sums
from dipc.verifier.measure import Allowance, unreplayed

#: The steps that multiplying out one sum may take.
MOST_STEPS = 300_000

#: A share: the number of a chain of choices and of one of its ends, or None, and the numbers of the measures.
_Share = tuple[tuple[int, int] | None, tuple[int, ...]]


class Derivations:
    """The derivations of one table's probabilities."""

    def __init__(self, probabilities: Probabilities) -> None:
        self.probabilities = probabilities
        self.functions = FunctionData()
        self._allowance = Allowance()
        self._measures: list[dict[str, Any]] = []
        self._chains: list[dict[str, Any]] = []
        self._values: list[ClosedForm] = []
        self._shares: list[tuple[_Share, ...]] = []
        self._needs: dict[tuple[object, ...], Needs] = {}
        self._by_cells: dict[tuple[object, ...], int] = {}
        self._by_key: dict[tuple[object, ...], int] = {}
        self._shapes: dict[object, EventShape] = {}
        self._by_constants: dict[tuple[object, tuple[Fraction, ...]], int] = {}
        self._by_event: dict[NormalEvent, int] = {}
        self._by_chain: dict[ChoiceChain, tuple[int, dict[int, int]]] = {}
        self._by_text: dict[str, int] = {}
        self._by_shares: dict[tuple[_Share, ...], int] = {}

    def add(self, inputs: Sequence[Cell], outputs: Cells, gamma: Cell) -> int:
        """The number of the probability's derivation; raises as `Probabilities.probability` does."""
        probabilities = self.probabilities
        plan = probabilities.plan_key(inputs, outputs)
        needs = self._needs.get(plan)
        if needs is None:
            needs = self._needs[plan] = probabilities.needs(inputs, outputs)
        key = (
            plan,
            gamma,
            *[inputs[at] for at in needs.inputs],
            *[outputs[at] for at in needs.balls],
        )
        number = self._by_cells.get(key)
        if number is None:
            number = self._by_cells[key] = self._added(inputs, outputs, gamma)
        return number

    def _added(self, inputs: Sequence[Cell], outputs: Cells, gamma: Cell) -> int:
        value = self.probabilities.probability(inputs, outputs, gamma)
        shares = tuple(self._share(share) for share in self.probabilities.shares(inputs, outputs, gamma))
        known = self._by_shares.get(shares)
        if known is None:
            known = self._by_shares[shares] = len(self._values)
            self._values.append(value)
            self._shares.append(shares)
        return known

    def value(self, number: int) -> ClosedForm:
        """The probability with this number."""
        return self._values[number]

    def data(self) -> dict[str, Any]:
        """All that was added, as plain data."""
        data: dict[str, Any] = {
            "measures": self._measures,
            "choices": [affordable(chain) for chain in self._chains],
            "probabilities": [
                _shares_data(shares) | ({} if _is_measure(shares) else {"value": self.functions.of(value.value)})
                for shares, value in zip(self._shares, self._values, strict=True)
            ],
        }
        # Sums in the ring are no longer than their parts; those of quotients may be.
        quotients = [number for number, value in enumerate(self._values) if isinstance(value.value, Quotient)]
        if quotients:
            for number in long_sums(data, quotients, MOST_STEPS):
                data["probabilities"][number]["unreplayed"] = "the sum over the exits takes too many steps"
        return data

    def _share(self, share: ExitShare) -> _Share:
        measures = tuple(sorted(self._measure(factor) for factor in share.factors))
        if share.choices is None:
            return None, measures
        known = self._by_chain.get(share.choices)
        if known is None:
            numbers = numbers_of(share.choices)
            chain = written_chain(share.choices, numbers)
            number = self._by_text.setdefault(chain.text, len(self._chains))
            if number == len(self._chains):
                self._chains.append(chain.data)
            known = self._by_chain[share.choices] = number, numbers
        number, numbers = known
        end = numbers[share.node]
        weights = self._chains[number]["weights"]
        assert share.weight is not None
        weights[end - len(self._chains[number]["steps"])] = self.functions.of(share.weight)
        return (number, end), measures

    def _measure(self, factor: Factor) -> int:
        number = self._by_key.get(factor.key)
        if number is None:
            number = self._by_key[factor.key] = self._measure_of(factor.key[0], factor.event)
        return number

    def _measure_of(self, part: object, event: Event) -> int:
        shape = self._shapes.get(part)
        if shape is None:
            shape = self._shapes[part] = EventShape(event)
        constants = shape.constants(event)
        number = self._by_constants.get((part, constants))
        if number is None:
            normal = shape.normal(constants)
            number = self._by_event.get(normal)
            if number is None:
                number = self._by_event[normal] = len(self._measures)
                value = self.probabilities.measurer.event(event)
                self._measures.append(_record(normal, value, self.functions.of(value), self._allowance))
            self._by_constants[part, constants] = number
        return number


def _record(event: NormalEvent, value: Closed, data: Any, allowance: Allowance) -> dict[str, Any]:
    record = event_data(event) | {"value": data}
    terms = len(value.numerator) + len(value.denominator) if isinstance(value, Quotient) else len(value) + 1
    why = unreplayed(read_back(event), terms, allowance)
    return record if why is None else record | {"unreplayed": why}


def _is_measure(shares: tuple[_Share, ...]) -> bool:
    """Whether the probability is just one measure: its value stands there already."""
    return len(shares) == 1 and shares[0][0] is None and len(shares[0][1]) == 1


def _shares_data(shares: tuple[_Share, ...]) -> dict[str, Any]:
    return {"shares": [[None if end is None else list(end), list(measures)] for end, measures in shares]}
