"""The records of answers: every field they name exists, and is written as the record says."""

from __future__ import annotations

import inspect
import pkgutil
import re
import sys
from fractions import Fraction
from importlib import import_module

import pytest

import dipc
from dipc.algebra.record import Record, json_object
from dipc.frozen import frozen

_OPTIONAL = ("dipc.editors", "dipc.mypy", "dipc.suite.pytest", "dipc.coq", "dipc.verifier", "dipc.__main__")


def records() -> list[type[Record]]:
    """All records of the package."""
    for module in pkgutil.walk_packages(dipc.__path__, "dipc."):
        if not module.name.startswith(_OPTIONAL):
            import_module(module.name)
    found, new = set[type[Record]](), {Record}
    while new:
        found |= new
        new = {below for each in new for below in each.__subclasses__()} - found
    # `dataclass` makes a class with slots of each class, which stays for a while.
    real = [each for each in found if getattr(sys.modules[each.__module__], each.__name__, None) is each]
    return sorted((each for each in real if each.__module__.startswith("dipc.")), key=lambda each: each.__qualname__)


@pytest.mark.parametrize("record", records(), ids=lambda each: each.__qualname__)
def test_every_field_is_an_attribute(record: type[Record]) -> None:
    """A renamed attribute is noticed here, as the type checker does not read the names."""
    known = {name for base in record.__mro__ for name in inspect.get_annotations(base)}
    texts = [text for name, text in vars(record).items() if name.isupper() and isinstance(text, str)]
    fields, inner = " ".join(texts), re.compile(r"(=[\w.]+)[-?+]?\([^()]*\)")
    while inner.search(fields):
        fields = inner.sub(r"\1", fields)
    for word in fields.split():
        if re.search(r"\($", word):
            continue
        path = re.sub(r"^.*\(", "", word).rstrip(")?+-").partition(":")[0]
        name = path.rpartition("=")[2].removeprefix("*").partition(".")[0]
        assert name in known or hasattr(record, name), f"{record.__qualname__} has no `{name}`"


@frozen
class _Place(Record):
    FIELDS = "at"

    at: Fraction


@frozen
class _Answer(Record):
    FIELDS = (
        "said=place.at place sure+ unsure=sure- many? low:ends exact:cell wide:shortened ?(most=many sure) each?(many) "
        "value(low:ends text=name:nonempty) limit=many:limit *place about"
    )

    name: str
    place: _Place | None
    sure: bool
    many: int | None
    low: tuple[Fraction, Fraction] | None
    about: dict[str, tuple[int, ...]]

    @property
    def exact(self) -> tuple[Fraction, Fraction]:
        return Fraction(1, 4), Fraction(1, 4)

    @property
    def wide(self) -> tuple[Fraction, Fraction]:
        return Fraction(1, 3), Fraction(34, 100)


def test_the_fields_are_written_in_their_order() -> None:
    answer = _Answer("so", _Place(Fraction(1, 2)), True, 0, (Fraction(1, 4), Fraction(1, 3)), {"x": (1, 2)})
    assert list(answer.as_json().items()) == [
        ("said", "1/2"),
        ("place", {"at": "1/2"}),
        ("sure", True),
        ("many", 0),
        ("low", ["0.25", "1/3"]),
        ("exact", ["1/4", "1/4"]),
        ("wide", ["0.33333", "0.34"]),
        ("most", 0),
        ("each", {"many": 0}),
        ("value", {"low": ["0.25", "1/3"], "text": "so"}),
        ("limit", "0"),
        ("at", "1/2"),
        ("about", {"x": [1, 2]}),
    ]
    assert answer["many"] == 0


def test_what_is_not_there_is_left_out() -> None:
    answer = _Answer("", None, False, None, None, {})
    assert answer.as_json() == {
        "said": None,
        "place": None,
        "unsure": False,
        "low": ["inf", "inf"],
        "exact": ["1/4", "1/4"],
        "wide": ["0.33333", "0.34"],
        "value": {"low": ["inf", "inf"], "text": None},
        "limit": "inf",
        "about": {},
    }
    assert json_object(answer, "many name") == {"many": None, "name": ""}
