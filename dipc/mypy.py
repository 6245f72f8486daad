"""A plugin for mypy: to it `dipc.Reals["m"]` is a list of floats, `dipc.Ints["m"]` one of ints.

In its configuration: `plugins = dipc.mypy`. Without it these are `Literal["m"]` to mypy, the only brackets in which it
takes a text for a text: files pass as long as they do no arithmetic with the elements themselves.
"""

from __future__ import annotations

from collections.abc import Callable

from mypy.plugin import AnalyzeTypeContext, Plugin
from mypy.typeanal import TypeAnalyser
from mypy.types import Type

#: What the elements of the lists are.
_ELEMENTS = {"Reals": "float", "Ints": "int"}


class MechanismTypes(Plugin):
    """What the words for lists of inputs are to Python."""

    def get_type_analyze_hook(self, fullname: str) -> Callable[[AnalyzeTypeContext], Type] | None:
        """For everything that mypy knows as Literal, these words among it; None for other names."""
        return _list if fullname == "typing.Literal" else None


def _list(context: AnalyzeTypeContext) -> Type:
    """The type of the list, by the name that it is written with; a Literal is what it is without the plugin."""
    api = context.api
    element = _ELEMENTS.get(context.type.name.rpartition(".")[2])
    if element is not None:
        return api.named_type("builtins.list", [api.named_type(f"builtins.{element}", [])])
    assert isinstance(api, TypeAnalyser)
    return api.analyze_literal_type(context.type)


def plugin(version: str) -> type[Plugin]:
    """Where mypy begins."""
    del version
    return MechanismTypes
