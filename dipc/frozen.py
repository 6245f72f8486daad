"""Frozen dataclasses whose methods are shared, and modules that load when they are first used, for a quick start.

`dataclasses` compiles six functions for each frozen class with slots, and creates the class twice, which would take
half of the time to start. Here `dataclasses` only finds the fields, and only `__init__` is compiled. All classes share
the code of the other methods, which read the fields through a getter that is written in C. The result is a dataclass
for `fields`, `replace`, `asdict` and patterns.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import MISSING, Field, FrozenInstanceError, dataclass, field, fields
from importlib import import_module
from operator import attrgetter
from typing import Any, TypeVar, dataclass_transform, overload

_T = TypeVar("_T")


@overload
def frozen(cls: type[_T], /) -> type[_T]: ...
@overload
def frozen(*, eq: bool = True, kw_only: bool = False) -> Callable[[type[_T]], type[_T]]: ...


@dataclass_transform(frozen_default=True, eq_default=True, field_specifiers=(field,))
def frozen(
    cls: type[_T] | None = None, /, *, eq: bool = True, kw_only: bool = False
) -> type[_T] | Callable[[type[_T]], type[_T]]:
    """Make `cls` a frozen dataclass with slots, as `dataclass(frozen=True, slots=True, eq=eq, kw_only=kw_only)` does.

    Instances are equal if their classes and all compared fields are equal. Methods that the class itself defines, such
    as `__eq__`, are not replaced. Fields without a default come first, as for dataclasses. A subclass of a class made
    by `frozen` must be made by `frozen`, too: `dataclass` refuses the mixture.
    """

    def made(given: type[_T]) -> type[_T]:
        return _frozen(given, eq=eq, kw_only=kw_only)

    return made if cls is None else made(cls)


def _frozen(given: type[_T], *, eq: bool, kw_only: bool) -> type[_T]:
    own = given.__dict__
    has_hash = own.get("__hash__") is not None
    # Subclasses keep a representation, too.
    has_eq, has_repr = "__eq__" in own, given.__repr__ not in {object.__repr__, _repr}
    if given.__doc__ is None:
        given.__doc__ = given.__name__  # Without a docstring, `dataclass` computes a signature, which is slow.
    # `dataclass` returns another class, which has slots.
    made: Any = dataclass(init=False, repr=False, eq=False, slots=True, kw_only=kw_only)(given)
    all_fields = fields(made)
    made.__init__ = _init(made, all_fields)
    made.__setattr__ = _assign
    made.__delattr__ = _delete
    made.__getstate__ = _getstate
    made.__setstate__ = _setstate
    if not has_repr:
        made.__repr__ = _repr
    if eq:
        values = _getter([each.name for each in all_fields if each.compare])
        if not has_eq:
            made.__eq__ = _equality(values)
        if not has_hash:
            made.__hash__ = _hashing(_getter([e.name for e in all_fields if (e.compare if e.hash is None else e.hash)]))
    result: type[_T] = made
    return result


def _init(made: Any, all_fields: tuple[Field[Any], ...]) -> Any:
    """Return the constructor of the class `made`, which sets its fields `all_fields` directly, through the slots."""
    names: dict[str, Any] = {"_MISSING": MISSING}
    parameters, keywords, body = list[str](), list[str](), list[str]()
    for each in all_fields:
        name = each.name
        names[f"_set_{name}"] = getattr(made, name).__set__
        value = name
        if each.default_factory is not MISSING:
            names[f"_new_{name}"] = each.default_factory
            value = f"_new_{name}() if {name} is _MISSING else {name}" if each.init else f"_new_{name}()"
            parameter = f"{name}=_MISSING"
        elif each.default is not MISSING:
            names[f"_default_{name}"] = each.default
            value = name if each.init else f"_default_{name}"
            parameter = f"{name}=_default_{name}"
        else:
            parameter = name
        if each.init:
            (keywords if each.kw_only else parameters).append(parameter)
        elif each.default_factory is MISSING and each.default is MISSING:
            continue
        body.append(f"_set_{name}(self, {value})")
    if hasattr(made, "__post_init__"):
        body.append("self.__post_init__()")
    signature = ", ".join(["self", *parameters, *(["*", *keywords] if keywords else [])])
    exec(f"def __init__({signature}):\n " + "\n ".join(body or ["pass"]), names)  # noqa: S102 - as in `dataclasses`
    init = names["__init__"]
    init.__qualname__ = f"{made.__qualname__}.__init__"
    init.__module__ = made.__module__
    init.__annotations__ = {each.name: each.type for each in all_fields if each.init} | {"return": None}
    return init


def _getter(names: list[str]) -> Callable[[Any], tuple[Any, ...]]:
    if len(names) > 1:
        return attrgetter(*names)
    if not names:
        return lambda _: ()
    (name,) = names
    return lambda instance: (getattr(instance, name),)


def _equality(values: Callable[[Any], tuple[Any, ...]]) -> Any:
    def equal(self: Any, other: object) -> Any:
        if other.__class__ is self.__class__:
            return values(self) == values(other)
        return NotImplemented

    return equal


def _hashing(values: Callable[[Any], tuple[Any, ...]]) -> Any:
    def hashed(self: Any) -> int:
        return hash(values(self))

    return hashed


def _repr(self: Any) -> str:
    values = ", ".join([f"{each.name}={getattr(self, each.name)!r}" for each in fields(self) if each.repr])
    return f"{self.__class__.__qualname__}({values})"


def _assign(_self: Any, name: str, _value: object) -> None:
    raise FrozenInstanceError(f"cannot assign to field {name!r}")


def _delete(_self: Any, name: str) -> None:
    raise FrozenInstanceError(f"cannot delete field {name!r}")


def _getstate(self: Any) -> list[Any]:
    return [getattr(self, each.name) for each in fields(self)]


def _setstate(self: Any, state: list[Any]) -> None:
    for each, value in zip(fields(self), state, strict=True):
        object.__setattr__(self, each.name, value)


class LazyModule:
    """A module that is loaded when one of its attributes is first used.

    An ordinary import under TYPE_CHECKING beside it serves the type checker, and shows the dependency.
    """

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Any:
        return getattr(sys.modules.get(self._name) or import_module(self._name), name)
