"""The mechanisms: which library, which program says what it promises, at which input, and how it is run.

What draws is imported where it runs: in a process of its own, since a library may end it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

#: A sample after the other.
Draw = Callable[[], object]


@dataclass(frozen=True, slots=True)
class Mechanism:
    """A mechanism of a library, with the program that describes it.

    `program` is a file beside this one, without its suffix. `conforms` is the expected result of the comparison; None
    for a mechanism that is expected to end its process. `make` gives the function that draws.
    """

    name: str
    library: str
    program: str
    input: Mapping[str, object]
    conforms: bool | None
    make: Callable[[], Draw]
    eps: Fraction = Fraction(1)
    samples: int = 10_000
    outputs: Sequence[str] = ("y",)

    @property
    def path(self) -> Path:
        """The file of the program."""
        return Path(__file__).parent / f"{self.program}.dip"

    def drawn(self) -> Iterator[dict[str, object]]:
        """Yield `samples` outputs, each a mapping by name."""
        draw = self.make()
        for _ in range(self.samples):
            found = draw()
            values = found if isinstance(found, tuple) else (found,)
            yield dict(zip(self.outputs, map(_exact, values), strict=True))


def _exact(value: object) -> object:
    if isinstance(value, bool | str):
        return value
    number: Any = value
    return Fraction(float(number)) if float(number) != int(number) else int(number)


def _opendp() -> Any:
    import opendp.prelude as dp

    dp.enable_features("contrib", "idealized-numerics", "honest-but-curious")
    return dp


def _of_opendp(build: Callable[[Any], Any], argument: object) -> Callable[[], Draw]:
    def make() -> Draw:
        measurement = build(_opendp())
        return lambda: measurement(argument)

    return make


def _of_diffprivlib(name: str, argument: object = None, **options: object) -> Callable[[], Draw]:
    def make() -> Draw:
        from diffprivlib import mechanisms

        mechanism = getattr(mechanisms, name)(**options)
        return mechanism.randomise if argument is None else lambda: mechanism.randomise(argument)

    return make


def _laplace(dp: Any, kind: type, vector: bool = False) -> Any:
    atom = dp.atom_domain(T=float, nan=False) if kind is float else dp.atom_domain(T=int)
    if vector:
        return dp.m.make_laplace(dp.vector_domain(atom), dp.l1_distance(T=kind), scale=1.0)
    return dp.m.make_laplace(atom, dp.absolute_distance(T=kind), scale=1.0)


def _pair() -> Draw:
    measurement = _laplace(_opendp(), float, vector=True)
    return lambda: tuple(measurement([0.0, 1.0]))


def _integers_as_reals() -> Draw:
    measurement = _laplace(_opendp(), int)
    return lambda: float(measurement(0))


def _position(build: Callable[[Any], Any]) -> Callable[[], Draw]:
    """Return a maker of draws of the position of the largest of 0, 1 and 2, counted from 1.

    `build` makes the library's mechanism.
    """

    def make() -> Draw:
        measurement = build(_opendp())
        return lambda: measurement([0, 1, 2]) + 1

    return make


def _noisy_max(dp: Any) -> Any:
    return dp.m.make_noisy_max(
        dp.vector_domain(dp.atom_domain(T=int)), dp.linf_distance(T=int), dp.max_divergence(), scale=1.0
    )


def _gumbel(dp: Any) -> Any:
    return dp.m.make_report_noisy_max_gumbel(
        dp.vector_domain(dp.atom_domain(T=int)), dp.linf_distance(T=int), scale=1.0
    )


def _threshold() -> Draw:
    """Whether a key with a count of 1 is released."""
    dp = _opendp()
    domain = dp.map_domain(dp.atom_domain(T=str), dp.atom_domain(T=int))
    metric = dp.l01inf_distance(dp.absolute_distance(T=int))
    measurement = dp.m.make_laplace_threshold(domain, metric, scale=1.0, threshold=5)
    return lambda: bool(measurement({"key": 1}))


def _canonical_noise() -> Draw:
    dp = _opendp()
    atom = dp.atom_domain(T=float, nan=False)
    measurement = dp.m.make_canonical_noise(atom, dp.absolute_distance(T=float), d_in=1.0, d_out=(1.0, 0.0))
    return lambda: measurement(0.0)


def _gaussian(dp: Any, kind: type = float) -> Any:
    atom = dp.atom_domain(T=float, nan=False) if kind is float else dp.atom_domain(T=int)
    return dp.m.make_gaussian(atom, dp.absolute_distance(T=kind), scale=1.0)


_UTILITY: dict[str, object] = {"u": [0, 1, 2]}
_QUERIES: dict[str, object] = {"q": [0, 1, 2]}
_CHOSEN = {"utility": [0, 1, 2], "candidates": [1, 2, 3], "epsilon": 1, "sensitivity": 1}
_BOUNDED = {"epsilon": 1, "sensitivity": 1, "lower": 0, "upper": 4}

MECHANISMS = (
    Mechanism(
        "make_laplace, floats", "opendp", "laplace", {"x": 0}, True, _of_opendp(lambda d: _laplace(d, float), 0.0)
    ),
    Mechanism(
        "make_laplace, two floats", "opendp", "laplace_vector", {"x": [0, 1]}, True, _pair, outputs=("y[1]", "y[2]")
    ),
    Mechanism(
        "make_laplace, ints", "opendp", "discrete_laplace", {"x": 0}, True, _of_opendp(lambda d: _laplace(d, int), 0)
    ),
    Mechanism("make_gaussian, floats", "opendp", "gaussian", {"x": 0}, True, _of_opendp(_gaussian, 0.0)),
    Mechanism(
        "make_gaussian, ints", "opendp", "discrete_gaussian", {"x": 0}, True, _of_opendp(lambda d: _gaussian(d, int), 0)
    ),
    Mechanism(
        "make_geometric, bounds (0, 4)",
        "opendp",
        "truncated_geometric",
        {"x": 2},
        True,
        _of_opendp(
            lambda d: d.m.make_geometric(d.atom_domain(T=int), d.absolute_distance(T=int), scale=1.0, bounds=(0, 4)),
            2,
        ),
    ),
    Mechanism(
        "make_randomized_response_bool",
        "opendp",
        "kept_three_quarters",
        {"x": True},
        True,
        _of_opendp(lambda d: d.m.make_randomized_response_bool(0.75), True),
    ),
    Mechanism(
        "make_randomized_response, 3 answers",
        "opendp",
        "kept_half",
        {"x": 1},
        True,
        _of_opendp(lambda d: d.m.make_randomized_response([0, 1, 2], 0.5), 1),
    ),
    Mechanism("make_noisy_max, pure", "opendp", "noisy_max_exponential", _QUERIES, True, _position(_noisy_max)),
    # The name says Gumbel noise, which gives the exponential mechanism; the paper cited is about exponential noise.
    Mechanism("make_report_noisy_max_gumbel, as named", "opendp", "exponential", _UTILITY, False, _position(_gumbel)),
    Mechanism(
        "make_report_noisy_max_gumbel, as cited", "opendp", "noisy_max_exponential", _QUERIES, True, _position(_gumbel)
    ),
    Mechanism("make_laplace_threshold, > 5", "opendp", "released_above", {}, False, _threshold, outputs=("released",)),
    Mechanism("make_laplace_threshold, >= 5", "opendp", "released_from", {}, True, _threshold, outputs=("released",)),
    Mechanism("make_canonical_noise, delta = 0", "opendp", "laplace", {"x": 0}, None, _canonical_noise, samples=1),
    Mechanism(
        "Laplace", "diffprivlib", "laplace", {"x": 0}, True, _of_diffprivlib("Laplace", 0.0, epsilon=1, sensitivity=1)
    ),
    Mechanism(
        "Gaussian",
        "diffprivlib",
        "gaussian_classic",
        {"x": 0},
        True,
        _of_diffprivlib("Gaussian", 0.0, epsilon=1, delta=1e-5, sensitivity=1),
    ),
    Mechanism(
        "GaussianAnalytic",
        "diffprivlib",
        "gaussian_analytic",
        {"x": 0},
        True,
        _of_diffprivlib("GaussianAnalytic", 0.0, epsilon=1, delta=1e-5, sensitivity=1),
    ),
    Mechanism(
        "GaussianAnalytic, as calibrated before",
        "diffprivlib",
        "gaussian_classic",
        {"x": 0},
        False,
        _of_diffprivlib("GaussianAnalytic", 0.0, epsilon=1, delta=1e-5, sensitivity=1),
    ),
    Mechanism(
        "GaussianDiscrete",
        "diffprivlib",
        "discrete_gaussian_analytic",
        {"x": 0},
        True,
        _of_diffprivlib("GaussianDiscrete", 0, epsilon=1, delta=1e-5, sensitivity=1),
    ),
    Mechanism(
        "Geometric",
        "diffprivlib",
        "discrete_laplace",
        {"x": 0},
        True,
        _of_diffprivlib("Geometric", 0, epsilon=1, sensitivity=1),
    ),
    Mechanism(
        "GeometricTruncated",
        "diffprivlib",
        "truncated_geometric",
        {"x": 2},
        True,
        _of_diffprivlib("GeometricTruncated", 2, **_BOUNDED),
    ),
    Mechanism(
        "LaplaceTruncated",
        "diffprivlib",
        "truncated_laplace",
        {"x": 2},
        True,
        _of_diffprivlib("LaplaceTruncated", 2.0, **_BOUNDED),
    ),
    Mechanism(
        "Binary",
        "diffprivlib",
        "randomized_response",
        {"x": True},
        True,
        _of_diffprivlib("Binary", "true", epsilon=1, value0="false", value1="true"),
    ),
    Mechanism(
        "Exponential", "diffprivlib", "exponential_half", _UTILITY, True, _of_diffprivlib("Exponential", **_CHOSEN)
    ),
    Mechanism(
        "PermuteAndFlip",
        "diffprivlib",
        "noisy_max_exponential_half",
        _QUERIES,
        True,
        _of_diffprivlib("PermuteAndFlip", **_CHOSEN),
    ),
    Mechanism("control: integers are no reals", "opendp", "laplace", {"x": 0}, False, _integers_as_reals),
    Mechanism(
        "control: eps is not twice eps",
        "opendp",
        "discrete_laplace",
        {"x": 0},
        False,
        _of_opendp(lambda d: _laplace(d, int), 0),
        eps=Fraction(2),
    ),
)
