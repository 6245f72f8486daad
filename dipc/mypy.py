"""A plugin for mypy, which makes `dipc.Reals["m"]` a list of floats and `dipc.Ints["m"]` a list of ints.

To use it, write `plugins = dipc.mypy` in mypy's configuration. Without the plugin, mypy reads these types as
`Literal["m"]`, the only brackets in which it accepts a string. Files then pass if they do no arithmetic with the
elements themselves.
"""

from __future__ import annotations

from collections.abc import Callable

from mypy.plugin import AnalyzeTypeContext, Plugin
from mypy.typeanal import TypeAnalyser
from mypy.types import Type

#: The types of the elements of the lists.
_ELEMENTS = {"Reals": "float", "Ints": "int"}


class MechanismTypes(Plugin):
    """The plugin that makes `dipc.Reals["m"]` a list of floats for mypy, and other lists of inputs likewise."""

    def get_type_analyze_hook(self, fullname: str) -> Callable[[AnalyzeTypeContext], Type] | None:
        """Return the function that analyzes a type called `fullname` if that is `typing.Literal`, else None.

        Mypy reads lists of inputs, such as `dipc.Reals["m"]`, as types of this name.
        """
        return _list if fullname == "typing.Literal" else None


def _list(context: AnalyzeTypeContext) -> Type:
    """Return the list type if the type in `context` is `Reals` or `Ints`; for a real Literal, return its own type."""
    api = context.api
    element = _ELEMENTS.get(context.type.name.rpartition(".")[2])
    if element is not None:
        return api.named_type("builtins.list", [api.named_type(f"builtins.{element}", [])])
    assert isinstance(api, TypeAnalyser)
    return api.analyze_literal_type(context.type)


def plugin(version: str) -> type[Plugin]:
    """Return the plugin class for every `version` of mypy, as mypy requires."""
    del version
    return MechanismTypes
