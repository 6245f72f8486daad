"""Frozen classes: what `dataclasses` makes of the same fields, method by method."""

from __future__ import annotations

import copy
import pickle
from dataclasses import FrozenInstanceError, asdict, dataclass, field, fields, replace
from typing import Any, ClassVar

import pytest

from dipc.frozen import frozen


@frozen
class Ours:
    """Every kind of field."""

    kind: ClassVar[int] = 3
    one: int
    two: list[int] = field(default_factory=list)
    three: str = "x"
    cached: dict[str, int] = field(default_factory=dict, init=False, compare=False, repr=False)
    last: int = field(default=0, kw_only=True)
    unhashed: int = field(default=5, hash=False)


@dataclass(frozen=True, slots=True)
class Theirs:
    """The same."""

    kind: ClassVar[int] = 3
    one: int
    two: list[int] = field(default_factory=list)
    three: str = "x"
    cached: dict[str, int] = field(default_factory=dict, init=False, compare=False, repr=False)
    last: int = field(default=0, kw_only=True)
    unhashed: int = field(default=5, hash=False)


ARGUMENTS: list[tuple[tuple[Any, ...], dict[str, Any]]] = [
    ((1,), {}),
    ((1, (2,)), {}),
    ((1, (), "y"), {"last": 4}),
    ((1, (), "y", 6), {}),
    ((), {"one": 1, "unhashed": 7}),
]


@pytest.mark.parametrize(("positional", "named"), ARGUMENTS)
def test_it_is_the_dataclass_with_these_fields(positional: tuple[Any, ...], named: dict[str, Any]) -> None:
    ours, theirs = Ours(*positional, **named), Theirs(*positional, **named)
    assert repr(ours) == repr(theirs).replace("Theirs", "Ours")
    assert asdict(ours) == asdict(theirs)
    assert ours == Ours(*positional, **named)
    assert ours != theirs
    changed = replace(ours, one=9)
    assert (changed.one, changed.three, changed == ours) == (9, ours.three, False)
    for again in (copy.copy(ours), copy.deepcopy(ours), pickle.loads(pickle.dumps(ours))):
        assert again == ours
        assert repr(again) == repr(ours)
    assert Ours.__match_args__ == Theirs.__match_args__
    assert [each.name for each in fields(Ours)] == [each.name for each in fields(Theirs)]


def test_equality_and_hash_are_of_the_fields_that_are_compared() -> None:
    first, second = Ours(1, (), unhashed=1), Ours(1, (), unhashed=2)
    assert first != second
    assert hash(first) == hash(second)
    first.cached["seen"] = 1
    assert first == Ours(1, (), unhashed=1)
    assert Ours(1).two is not Ours(1).two


@pytest.mark.parametrize("positional", [(), (1, [], "y", 6, 7)])
def test_wrong_arguments_are_type_errors(positional: tuple[Any, ...]) -> None:
    for kind in (Ours, Theirs):
        with pytest.raises(TypeError):
            kind(*positional)


def test_nothing_is_assigned_or_deleted() -> None:
    ours: Any = Ours(1)
    for name in ("one", "other"):
        with pytest.raises(FrozenInstanceError):
            setattr(ours, name, 2)
    with pytest.raises(FrozenInstanceError):
        del ours.one
    assert not hasattr(ours, "__dict__")


@frozen
class Base:
    """A class that defines each method that would otherwise be generated."""

    one: int

    def __repr__(self) -> str:
        return "base"

    def __hash__(self) -> int:
        return 7

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Base)

    def __post_init__(self) -> None:
        if self.one < 0:
            raise ValueError(self.one)


@frozen(eq=False)
class Derived(Base):
    """One more field, and equal as its base is."""

    two: int = 2


def test_methods_of_the_class_stay() -> None:
    assert (repr(Base(1)), hash(Base(1)), Base(1) == Base(2)) == ("base", 7, True)
    with pytest.raises(ValueError, match="-1"):
        Base(-1)
    derived = Derived(1)
    assert (derived.one, derived.two, hash(derived), derived == Base(5)) == (1, 2, 7, True)
    match derived:
        case Derived(one, two):
            assert (one, two) == (1, 2)
