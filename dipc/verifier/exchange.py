"""Rows that represent all of finitely many inputs (FORMAT.md, lemmas 4b, 4c and 4d).

Inputs that differ by an exchange of two values, with the same answer and the same probability, are decided once. The
certificate says which inputs may be exchanged at which answer. The checker compares each exchange with the paths of the
ideal, and with the exits of the program, run with its inputs left open. It also counts the inputs that the rows
represent, so that none is missing.

Finite inputs that may be exchanged at every answer are given once, as `alike`. `symmetry.py` shows that the program and
its ideal are unchanged.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from math import factorial, prod

from dipc.verifier import reading as read
from dipc.verifier.bounds import Bounds, Comparison
from dipc.verifier.execution import Affine
from dipc.verifier.functions import Closed, equal_closed
from dipc.verifier.ideal import OPEN, Ideal, Path
from dipc.verifier.linear import Guard
from dipc.verifier.multisets import Groups, places_of, require_places
from dipc.verifier.noise import Law
from dipc.verifier.probability import Theorem, cell_value
from dipc.verifier.program import Slot, Value, holds, typed
from dipc.verifier.reading import (
    ALL_INPUTS,
    DERIVATION_ENDS,
    Budget,
    NotDerived,
    Rejected,
    in_step,
    why_it_ends,
)

#: The values of the finite inputs of a row, and the path of the ideal there.
RowPath = tuple[tuple[Value, ...], Path]


@dataclass(frozen=True, slots=True)
class PathExchanges:
    """The exchanges of inputs that leave the answer unchanged on a path of the ideal, the path of the row `row`.

    Each of `blocks` is a group of inputs, by index, whose values may be exchanged. The inputs in `free`, also by index,
    make no difference on the path.
    """

    row: int
    blocks: Sequence[Sequence[int]]
    free: Sequence[int]

    @staticmethod
    def read(value: object) -> PathExchanges:
        """Read `value`, one of the `exchanges` of a document. Raises Rejected if it is malformed."""
        places = read.listed(read.natural)
        return PathExchanges(*read.fields(value, {"row": read.natural, "blocks": read.listed(places), "free": places}))

    @property
    def places(self) -> list[int]:
        """The indices of the inputs in `free` and in `blocks`."""
        return [*self.free, *places_of(self.blocks)]


@dataclass(frozen=True, slots=True)
class Product:
    """A set of inputs, which has every combination of one of the `values` for each input of the program.

    Rows represent all of them by `exchanges`, each on a path of the ideal, and by `alike`: groups of finite inputs, by
    index, which may be exchanged everywhere. `reason` is None if the certificate claims that the rows represent all
    inputs. Otherwise it says why the certificate does not.
    """

    values: Sequence[Sequence[str]]
    exchanges: Sequence[PathExchanges]
    reason: str | None
    alike: Sequence[Sequence[int]] = ()

    @staticmethod
    def read(value: object) -> Product:
        """Read `value`, the `product` of a document. Raises Rejected if it is malformed."""
        table = {"values": read.listed(read.listed(read.text)), "exchanges": read.items}
        groups = read.listed(read.listed(read.natural))
        values, exchanges, reason, alike = read.fields(value, table, {"reason": read.text, "alike": groups})
        if not all(values):
            raise Rejected("an input has no values")
        return Product(values, list(map(PathExchanges.read, exchanges)), reason, alike or ())

    def __str__(self) -> str:
        values = Counter(f"{{{', '.join(choices)}}}" for choices in self.values)
        of = " x ".join(f"{choices}^{count}" if count > 1 else choices for choices, count in values.items())
        return f"all inputs of {of}"

    def is_domain(self, slots: Sequence[Slot]) -> bool:
        """True if the product has as many values for each input as the domain of its slot in `slots`."""
        sizes = [2 if slot.type == "bool" else len(slot.type) if slot.type not in OPEN else None for slot in slots]
        return sizes == list(map(len, self.values))

    @property
    def size(self) -> int:
        """The number of inputs of the product."""
        return prod(map(len, self.values))

    def require(
        self, rows: Sequence[tuple[Sequence[str], Sequence[str | None]]], theorem: Theorem, *, dd: str
    ) -> str | None:
        """Return why it is taken on trust that `rows` represent all inputs of the product, or None if it is proved.

        A row represents inputs with equal right answer, probability and dd. Each of `rows` is a pair (cells of inputs,
        cells of outputs), and `theorem` is about the program. `dd` is the source of the distances. Raises Rejected if
        the rows do not represent all inputs, or if `dd` is not "ideal": a table says nothing about the dd of other
        inputs.
        """
        if dd != "ideal":
            raise Rejected("dd comes from a table, which says nothing about other inputs")
        if self.reason is not None:
            return self.reason
        if not isinstance(theorem.ideal, Ideal):
            return theorem.ideal or "the program has no `ideal`"
        unproved = theorem.exchangeable(self.alike)
        if unproved is not None:
            return unproved
        try:
            _ProductCheck(self, theorem, theorem.ideal, theorem.whole.part(ALL_INPUTS)).require(rows)
        except Rejected:
            raise
        except DERIVATION_ENDS as error:
            return why_it_ends(error)
        return None


@dataclass
class _ProductCheck:
    product: Product
    theorem: Theorem
    ideal: Ideal
    budget: Budget
    _values: list[list[Value]] = field(init=False)

    def __post_init__(self) -> None:
        if len(self._slots) != len(self.product.values):
            raise Rejected("it does not have values for each input")
        self._values = [
            [cell_value(slot, text) for text in choices]
            for slot, choices in zip(self._slots, self.product.values, strict=True)
        ]
        for slot, values in zip(self._slots, self._values, strict=True):
            if not all(holds(slot.type, value) for value in values) or len(set(typed(values))) < len(values):
                raise Rejected(f"some values of `{slot.name}` are outside its domain or occur twice")

    @property
    def _slots(self) -> list[Slot]:
        return self.theorem.machine.declared("input")

    def require(self, rows: Sequence[tuple[Sequence[str], Sequence[str | None]]]) -> None:
        """Raise Rejected or NotDerived unless `rows`, with the stated exchanges of inputs, represent all inputs.

        The inputs are all combinations of the values that the certificate lists for each input. Each combination must
        become the inputs of exactly one row by exchanges. Each of `rows` is a pair (cells of inputs, cells of outputs).
        """
        inputs: list[list[Value]] = []
        paths: list[RowPath] = []
        for number, (cells, outputs) in enumerate(rows, start=1):
            with in_step(f"row {number}"):
                self.budget.spend(20 + len(cells))
                values, stated = self.theorem.read(cells, outputs)
                inputs.append(list(values.values()))
                paths.append(self._row_path(inputs[-1], stated))
        exchanged: dict[RowPath, PathExchanges] = {}
        for one in self.product.exchanges:
            with in_step(f"exchanges of row {one.row}"):
                taken = paths[read.index(one.row - 1, inputs)]
                if taken in exchanged:
                    raise Rejected("the exchanges of a path are given twice")
                exchanged[taken] = one
                self._require_places(one)
                self._require_exchanges(one, *taken)
        seen: set[tuple[object, ...]] = set()
        count = 0
        others = {place for one in self.product.exchanges for place in one.places}
        require_places([*others, *places_of(self.product.alike)], len(self._slots))
        self._require_same_values(self.product.alike)
        for number, (given, taken) in enumerate(zip(inputs, paths, strict=True), start=1):
            with in_step(f"row {number}"):
                count += self._represented_count(given, exchanged.get(taken))
                key = typed(given)
                if key in seen:
                    raise Rejected("two rows represent the same inputs")
                seen.add(key)
        if count != prod(map(len, self.product.values)):
            raise Rejected("the rows do not represent all inputs")

    def _row_path(self, inputs: Sequence[Value], stated: Mapping[int, Value]) -> RowPath:
        own = self.ideal.answer(inputs)
        if [stated.get(slot) for slot in self.theorem.machine.numbered("output")] != list(own):
            raise Rejected("its answer differs from that of the `ideal`")
        return self.ideal.path_at(inputs)

    def _require_places(self, exchanged: PathExchanges) -> None:
        """Raise Rejected unless all inputs that `exchanged` names are real or int, and each is named once.

        The inputs of each block, whose values may be exchanged, must also have the same type and the same list of
        values.
        """
        require_places(exchanged.places, len(self._slots))
        if any(self._slots[place].type not in OPEN for place in exchanged.places):
            raise Rejected("only real and int inputs may be exchanged")
        self._require_same_values(exchanged.blocks)

    def _require_same_values(self, groups: Groups) -> None:
        for group in groups:
            for one, other in pairwise(group):
                if self._slots[one].type != self._slots[other].type or self._values[one] != self._values[other]:
                    raise Rejected("the inputs exchanged do not have the same type and values")

    def _represented_count(self, inputs: Sequence[Value], exchanged: PathExchanges | None) -> int:
        """Return the number of inputs that the row `inputs` represents.

        `exchanged` are the exchanges on the row's path of the ideal, if there are any. Raises Rejected if values that
        may be exchanged are not in order, or if an input that makes no difference does not have its first value.
        """
        try:
            places = [values.index(value) for value, values in zip(inputs, self._values, strict=True)]
        except ValueError:
            raise Rejected("it is not one of the inputs that the rows represent") from None
        free, blocks = ((), ()) if exchanged is None else (exchanged.free, exchanged.blocks)
        if any(places[place] for place in free):
            raise Rejected("an input that makes no difference does not have its first value")
        count = prod(len(self._values[place]) for place in free)
        for block in (*blocks, *self.product.alike):
            chosen = [places[place] for place in block]
            if chosen != sorted(chosen):
                raise Rejected("the values of exchangeable inputs are not in order")
            count *= factorial(len(chosen)) // prod(map(factorial, Counter(chosen).values()))
        return count

    # --- one answer -----------------------------------------------------------------------------------

    def _require_exchanges(self, exchanged: PathExchanges, finite: tuple[Value, ...], path: Path) -> None:
        """Raise Rejected unless each exchange of inputs in `exchanged` leaves dd and the probability unchanged.

        The exchanges are made on `path`, where the finite inputs have the values `finite`. Raises NotDerived if the
        distance of inputs cannot be compared.
        """
        if self.ideal.has_apart or self.ideal.machine.distance.same is not None:
            raise NotDerived(
                "exchanges are not covered if the `metric` block says how far apart inputs are, or which answers are "
                "the same"
            )
        slots = self.theorem.machine.numbered("input")
        regions = [frozenset((self._guards(path),)), *self._regions(path)]
        weights, laws = Bounds(self.theorem.machine, self.ideal, self.budget).exits_with(finite, path)
        for block in exchanged.blocks:
            for one, other in pairwise(block):
                names = {slots[one]: slots[other], slots[other]: slots[one]}
                same = all(
                    frozenset(frozenset(guard.renamed(names) for guard in guards) for guards in region) == region
                    for region in regions
                )
                if not same or not _are_exchanged(weights, laws, slots[one], slots[other], self.budget):
                    raise Rejected(f"the inputs {one} and {other} are not shown to be exchangeable")
        mentioned = {slot for region in regions for guards in region for guard in guards for slot, _ in guard.form}
        mentioned |= {slot for comparisons in weights for each in comparisons for slot, _ in each.inputs}
        for place in exchanged.free:
            if slots[place] in mentioned:
                raise Rejected(f"the answer depends on the input {place}, which is listed as making no difference")

    def _regions(self, path: Path) -> list[frozenset[frozenset[Guard]]]:
        """Return, for each combination of finite inputs, where the ideal has the answer of `path`.

        Each item of the list is a set with one element for each path of the ideal with this answer: the guards of that
        path. Outputs that do not matter for dd are not compared. Raises NotDerived if an answer is a function of the
        inputs.
        """
        if any(isinstance(value, Affine) for value in self.ideal.decisive_outputs(path.answer)):
            raise NotDerived("the answer of the `ideal` is a function of the inputs")
        told = typed(self.ideal.decisive_outputs(path.answer))
        regions = []
        for combination in self.ideal.combinations():
            alike = []
            for each in self.ideal.paths(combination):
                own = self.ideal.decisive_outputs(each.answer)
                if any(isinstance(value, Affine) for value in own):
                    raise NotDerived("the answer of the `ideal` is a function of the inputs")
                if typed(own) == told:
                    self.budget.spend(10 + 4 * len(each.guards))
                    alike.append(self._guards(each))
            regions.append(frozenset(alike))
        return regions

    def _guards(self, path: Path) -> frozenset[Guard]:
        places = dict(zip(self.ideal.machine.numbered("input"), self.theorem.machine.numbered("input"), strict=True))
        return frozenset(guard.renamed(places) for guard in path.guards)


def _are_exchanged(
    weights: Mapping[frozenset[Comparison], Closed], laws: Mapping[int, Law], one: int, other: int, budget: Budget
) -> bool:
    """True if an exchange of the inputs in the slots `one` and `other` maps all exits with one answer onto each other.

    The exits are sets of comparisons with their `weights`, and `laws` has the laws of the noises by index. The noises
    that are compared with the first input and not with the second are exchanged with those that are compared with the
    second and not with the first, in order. Charges its work to `budget`.
    """
    around: dict[int, set[int]] = {}
    for comparisons in weights:
        for each in comparisons:
            for noise, _ in each.noises:
                around.setdefault(noise, set()).update(slot for slot, _ in each.inputs)
    mine, theirs = (
        sorted(noise for noise, slots in around.items() if a in slots and b not in slots)
        for a, b in ((one, other), (other, one))
    )
    if [laws[noise] for noise in mine] != [laws[noise] for noise in theirs]:
        return False
    noises = dict(zip((*mine, *theirs), (*theirs, *mine), strict=True))
    inputs = {one: other, other: one}
    for comparisons, weight in weights.items():
        budget.spend(10 + 10 * len(comparisons))
        image = weights.get(frozenset(each.renamed(noises, inputs) for each in comparisons))
        if image is None or not equal_closed(weight, image, budget):
            return False
    # The exchange is its own inverse, so it maps the exits one to one, and onto all of them.
    return True
