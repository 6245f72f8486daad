"""The declarations of a program: constants, domains and variables, by name."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction

from dipc.diagnostics.source import Source
from dipc.lang import ast
from dipc.lang.core import Value


@dataclass(frozen=True, slots=True, eq=False)
class Domain:
    """A finite domain: its values in order, and the place of each."""

    values: list[Value]
    places: dict[Value, int]


@dataclass(frozen=True, slots=True, eq=False)
class SimulatedVariable:
    """A scalar (`low` None) or an array of `size` elements from index `low` on. `domain` None: bool, int or real, and
    `base` says which."""

    name: str
    role: ast.Role
    low: int | None
    size: int
    domain: Domain | None
    base: ast.BaseType | None
    initial: Value | None

    @property
    def finite(self) -> bool:
        """Whether it has finitely many values, so that those can be counted."""
        return self.base not in (ast.BaseType.INT, ast.BaseType.REAL)

    def element_name(self, offset: int) -> str:
        """The name of an element as people write it."""
        return self.name if self.low is None else f"{self.name}[{self.low + offset}]"


@dataclass(slots=True)
class Scope:
    """What the names of a program stand for, as far as its declarations have been read."""

    source: Source
    constants: dict[str, Fraction] = field(default_factory=dict)
    domains: dict[str, Domain] = field(default_factory=dict)
    variables: dict[str, SimulatedVariable] = field(default_factory=dict)

    def of_role(self, role: ast.Role) -> list[tuple[str, SimulatedVariable, int]]:
        """All scalars and array elements of a role, in order: name, variable, offset."""
        return [
            (variable.element_name(offset), variable, offset)
            for variable in self.variables.values()
            if variable.role is role
            for offset in range(variable.size)
        ]
