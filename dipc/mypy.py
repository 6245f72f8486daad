"""A plugin for mypy, which makes `dipc.Reals["m"]` a list of floats and `dipc.Ints["m"]` a list of ints.

Its configuration is `plugins = dipc.mypy`. Without the plugin, mypy reads these types as `Literal["m"]`, the only
brackets in which it accepts a string. Files then pass as long as they do no arithmetic with the elements themselves.
"""

from __future__ import annotations

from collections.abc import Callable

from mypy.plugin import AnalyzeTypeContext, Plugin
from mypy.typeanal import TypeAnalyser
from mypy.types import Type

#: The types of the elements of the lists.
_ELEMENTS = {"Reals": "float", "Ints": "int"}


class MechanismTypes(Plugin):
    """The Python types of lists of inputs."""

    def get_type_analyze_hook(self, fullname: str) -> Callable[[AnalyzeTypeContext], Type] | None:
        """The hook for every type that mypy reads as Literal, which includes lists of inputs; None for other names."""
        return _list if fullname == "typing.Literal" else None


def _list(context: AnalyzeTypeContext) -> Type:
    """The type of the list whose name is written; a Literal keeps its own type."""
    api = context.api
    element = _ELEMENTS.get(context.type.name.rpartition(".")[2])
    if element is not None:
        return api.named_type("builtins.list", [api.named_type(f"builtins.{element}", [])])
    assert isinstance(api, TypeAnalyser)
    return api.analyze_literal_type(context.type)


def plugin(version: str) -> type[Plugin]:
    """Return the plugin class, as mypy requires."""
    del version
    return MechanismTypes
