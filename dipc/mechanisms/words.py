"""The words that a mechanism is written with: the types of its inputs, and its noise.

Editors and type checkers see ordinary types. dipc reads the source of a mechanism and never calls these functions; a
direct call raises an error that explains this.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NoReturn, TypeAlias, TypeVar

T = TypeVar("T")

#: All of them.
__all__ = (
    "Const",
    "Eps",
    "Finite",
    "Int",
    "Ints",
    "Real",
    "Reals",
    "choice",
    "discrete_gaussian",
    "discrete_laplace",
    "exp",
    "exponential_mechanism",
    "exponential_noise",
    "gaussian",
    "laplace",
    "metric",
    "truncated_laplace",
    "uniform",
)

if TYPE_CHECKING:
    # A text in brackets is a name to type checkers, except for Literal's: so they pass on `Reals["m"]` by themselves,
    # and with the plugin dipc/mypy.py they know that it is a list.
    from typing import Literal as Ints
    from typing import Literal as Reals

    Real: TypeAlias = float
    Int: TypeAlias = int
    Const: TypeAlias = Any
    Eps: TypeAlias = Any
    Finite: Any
else:

    class _TypeWord:
        """A name for a type, such as `Reals`; dipc reads its arguments in brackets from the source text."""

        def __init__(self, name: str) -> None:
            self._name = name

        def __getitem__(self, inside: object) -> _TypeWord:
            return self

        def __repr__(self) -> str:
            return f"dipc.{self._name}"

    Real, Reals, Int, Ints, Finite, Const, Eps = map(
        _TypeWord, ("Real", "Reals", "Int", "Ints", "Finite", "Const", "Eps")
    )


def laplace(mean: Any = 0, *, scale: Any = None, rate: Any = None) -> float:
    """Laplace noise around `mean`, with density e^{-|x|/scale}/(2·`scale`).

    Either `scale` is given, or `rate`, which is 1/scale.
    """
    _outside("laplace", mean, scale, rate)


def discrete_laplace(mean: Any = 0, *, scale: Any = None, rate: Any = None) -> int:
    """Discrete Laplace noise around the integer `mean`: the mass at distance k is proportional to e^{-k/scale}.

    Either `scale` is given, or `rate`, which is 1/scale.
    """
    _outside("discrete_laplace", mean, scale, rate)


def exponential_noise(*, scale: Any = None, rate: Any = None) -> float:
    """One-sided exponential noise, which is at least 0, with density e^{-x/scale}/`scale`.

    Either `scale` is given, or `rate`, which is 1/scale.
    """
    _outside("exponential_noise", scale, rate)


def gaussian(mean: Any = 0, *, sigma: Any) -> float:
    """Normal noise around `mean`, with the standard deviation `sigma`."""
    _outside("gaussian", mean, sigma)


def discrete_gaussian(mean: Any = 0, *, sigma: Any) -> int:
    """Discrete normal noise around the integer `mean`.

    The mass at distance k is proportional to e^{-k²/(2·`sigma`²)}.
    """
    _outside("discrete_gaussian", mean, sigma)


def uniform(mean: Any = 0, *, low: Any, high: Any) -> float:
    """Uniform noise around `mean`, with density 1/(high - low) from mean + `low` to mean + `high`."""
    _outside("uniform", mean, low, high)


def truncated_laplace(mean: Any = 0, *, low: Any, high: Any, scale: Any = None, rate: Any = None) -> float:
    """Laplace noise around `mean`, conditioned to lie between mean + `low` and mean + `high`.

    The density of the Laplace noise is e^{-|x|/scale}/(2·`scale`). Either `scale` is given, or `rate`, which is
    1/scale.
    """
    _outside("truncated_laplace", mean, low, high, scale, rate)


def choice(weights: Mapping[T, Any]) -> T:
    """Return one of the keys of `weights`; the value of each key is its probability.

    Probabilities may contain eps and exp(eps).
    """
    _outside("choice", weights)


def exponential_mechanism(candidates: Iterable[T], score: Callable[[T], Any] | Sequence[Any], *, rate: Any) -> T:
    """Return one v of `candidates`, with a probability proportional to e^{`rate`·score(v)}.

    `score` is a function, or the list of the scores of the candidates.
    """
    _outside("exponential_mechanism", candidates, score, rate)


def exp(exponent: Any) -> Any:
    """Return e to the power `exponent`, a multiple of eps, for the weights of `choice`."""
    _outside("exp", exponent)


def metric(
    *,
    input: str | None = None,  # noqa: A002 - the field of metric blocks
    output: str | None = None,
    apart: str | None = None,
    same: str | None = None,
    dd: str | None = None,
) -> Mapping[str, str]:
    """Return the distances of a claim, as in `claim=dict(metric=dipc.metric(input="l1", output="linf"))`.

    Each argument is a string, written as in the `metric` block of a program. `input` and `output` are the distances of
    inputs and of answers. `apart` is the condition under which inputs are infinitely far apart, `same` the one under
    which answers are equal. `dd` names the outputs that dd depends on.
    """
    given = {"input": input, "output": output, "apart": apart, "same": same, "dd": dd}
    return {name: text for name, text in given.items() if text is not None}


def _outside(name: str, *given: object) -> NoReturn:
    del given
    raise TypeError(
        f"dipc.{name} can only be used inside a mechanism: decorate the function around it with "
        "@dipc.mechanism, and call that"
    )
