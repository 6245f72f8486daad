"""Random numbers: the only place where they come from."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dipc.simulation.columns import Positions


class Noise:
    """Independent draws of standard distributions from one stream, NumPy's PCG64: equal seeds, equal draws."""

    def __init__(self, seed: int) -> None:
        """`seed` is a natural number, of any size."""
        self._generator = np.random.Generator(np.random.PCG64(seed))

    def attend(self, runs: Positions) -> None:
        """What is drawn next is for these runs of the batch."""

    def laplace(self, size: int) -> NDArray[np.float64]:
        """Reals with density e^{-|x|}/2."""
        return self._generator.laplace(size=size)

    def exponential(self, size: int) -> NDArray[np.float64]:
        """Reals with density e^{-x} on [0, inf)."""
        return self._generator.standard_exponential(size)

    def discrete_laplace(self, rate: float, size: int) -> NDArray[np.int64]:
        """Integers i with mass (1-e^{-rate})/(1+e^{-rate})·e^{-rate·|i|}: differences of two geometric ones. The whole
        part of an exponential with that rate is geometric, Pr[>= k] = e^{-rate·k}."""
        pair = np.floor(self._generator.standard_exponential((2, size)) / rate)
        whole: NDArray[np.int64] = (pair[0] - pair[1]).astype(np.int64)
        return whole

    def uniform(self, size: int) -> NDArray[np.float64]:
        """Reals uniform on [0, 1)."""
        return self._generator.random(size)


class SharedNoise(Noise):
    """The same draws for the same runs of a batch whenever it is executed, whatever runs take part: so two inputs see
    the same noises for as long as the same statements are executed, in some run or other."""

    def __init__(self, seed: int, batch: int, size: int) -> None:
        """For one execution of the batch with this number, of so many runs."""
        self._generator = np.random.Generator(np.random.PCG64([seed, batch]))
        self._size = size
        self._runs: Positions = np.arange(size)

    def attend(self, runs: Positions) -> None:
        self._runs = runs

    def laplace(self, size: int) -> NDArray[np.float64]:
        assert size == len(self._runs)
        return super().laplace(self._size)[self._runs]

    def exponential(self, size: int) -> NDArray[np.float64]:
        assert size == len(self._runs)
        return super().exponential(self._size)[self._runs]

    def discrete_laplace(self, rate: float, size: int) -> NDArray[np.int64]:
        assert size == len(self._runs)
        return super().discrete_laplace(rate, self._size)[self._runs]

    def uniform(self, size: int) -> NDArray[np.float64]:
        assert size == len(self._runs)
        return super().uniform(self._size)[self._runs]
