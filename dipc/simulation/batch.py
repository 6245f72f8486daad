"""The memory of a batch of runs: the value of every variable in every run."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dipc.lang.core import Value
from dipc.simulation.columns import Column, Positions, Undefined, distinct
from dipc.simulation.forms import Draw, Form, Number
from dipc.simulation.scope import Scope, SimulatedVariable

_NOWHERE = -1


class OutsideDomain(Exception):
    """A variable cannot hold the `value` that it would get in the run at `position`."""

    def __init__(self, position: int, value: Value) -> None:
        super().__init__(position, value)
        self.position = position
        self.value = value


class CodedColumn:
    """One scalar or array element: a code into `values` for each run, -1 where it has no value yet."""

    def __init__(self, variable: SimulatedVariable, offset: int, size: int) -> None:
        self.variable = variable
        self.name = variable.element_name(offset)
        # The table of a domain is shared and complete; other tables grow with what is written.
        self.values: list[Any] = [] if variable.domain is None else variable.domain.values
        self._places: dict[Any, int] = {} if variable.domain is None else variable.domain.places
        self.codes: Positions = np.full(size, _NOWHERE, dtype=np.intp)
        self._complete = False

    def read(self, runs: Positions) -> Column[Any]:
        """The values in `runs`. Raises Undefined where there is none."""
        codes = self.codes[runs]
        if not self._complete and (codes < 0).any():
            raise Undefined(int(np.argmax(codes < 0)))
        return Column(self.values, codes)

    def peek(self) -> Column[Any]:
        """The values in all runs, None where there is none."""
        return Column([*self.values, None], np.where(self.codes < 0, len(self.values), self.codes))

    def write(self, runs: Positions, column: Column[Any]) -> None:
        """Make `column` the values in `runs`, which increase. Raises OutsideDomain for what it cannot hold."""
        whole = len(runs) == len(self.codes)
        domain = self.variable.domain
        if whole and domain is None:
            # Nothing of the old values remains, and what was drawn for them can be forgotten.
            self.values, self._places = [], {}
        present, places = distinct(column.codes, len(column.values))
        codes = np.empty(len(present), dtype=np.intp)
        for number, at in enumerate(present.tolist()):
            value = column.values[at]
            code = self._places.get(value)
            if code is None:
                if domain is not None:
                    raise OutsideDomain(int(np.argmax(places == number)), value)
                code = self._places[value] = len(self.values)
                self.values.append(value)
            codes[number] = code
        if whole:
            self.codes = codes[places]
            self._complete = True
        else:
            self.codes[runs] = codes[places]


class Batch:
    """The state of `size` runs of one program. All runs start alive."""

    def __init__(self, scope: Scope, size: int, inputs: Mapping[str, Value]) -> None:
        """`inputs` are the values of the inputs, by the names of scalars and elements."""
        self.size = size
        self.alive = np.ones(size, dtype=np.bool_)
        self._draws = 0
        self._cells = {
            name: [CodedColumn(variable, offset, size) for offset in range(variable.size)]
            for name, variable in scope.variables.items()
        }
        everyone = np.arange(size)
        for cells in self._cells.values():
            for cell in cells:
                value = inputs.get(cell.name, cell.variable.initial)
                if value is not None:
                    cell.write(everyone, Column((value,), np.zeros(size, dtype=np.intp)))

    def cell(self, variable: SimulatedVariable, offset: int) -> CodedColumn:
        """The memory of one element."""
        return self._cells[variable.name][offset]

    def draw(self, runs: Positions, values: NDArray[Any]) -> Number:
        """The number that was drawn, one of `values` for each of `runs`."""
        everywhere = np.zeros(self.size, dtype=values.dtype)
        everywhere[runs] = values
        self._draws += 1
        return Form(Fraction(0), ((Draw(self._draws, everywhere), Fraction(1)),))
