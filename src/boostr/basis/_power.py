"""Powers of time."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from boostr._kernels.moments import power_cumulative_moments, power_intensity_moments
from boostr._kernels.solve import FULL, SINGLE
from boostr._typing import FloatArray
from boostr.basis.base import ClockedEvents, Loss
from boostr.exceptions import InvalidParameterError

__all__ = ["PowerBasis"]


@dataclass(frozen=True, slots=True)
class PowerBasis:
    """Leaf functions that are sums of powers of time, ``sum of beta_e * s**e``.

    On the operational clock exponent 1 is proportional to the average individual; larger
    exponents let a leaf wear out faster than the others, or slower. Powers extrapolate.

    Parameters
    ----------
    exponents : tuple of float, default=(1.0, 1.5)
        The exponents to choose from. The intensity loss needs all of them above 1/2, since
        the square of the rate of ``s**0.5`` has no finite integral at zero.
    joint : bool, default=True
        Whether a leaf may use all exponents together, or only the one that suits it best.
        Powers resemble each other, so that picking one at a time needs several times as
        many trees to bend a curve.

    Examples
    --------
    >>> import numpy as np
    >>> PowerBasis((1.0, 2.0)).evaluate(np.array([0.0, 3.0]))
    array([[0., 0.],
           [3., 9.]])
    """

    exponents: tuple[float, ...] = (1.0, 1.5)
    joint: bool = True

    def __post_init__(self) -> None:
        values = np.asarray(self.exponents, dtype=np.float64)
        if values.ndim != 1 or values.size == 0 or not np.all(np.isfinite(values)):
            raise InvalidParameterError(
                "The exponents of a PowerBasis must be finite numbers, got "
                f"{self.exponents}.\n\nHint: PowerBasis((1.0, 1.5))"
            )
        if np.any(values <= 0) or np.unique(values).size < values.size:
            raise InvalidParameterError(
                "The exponents of a PowerBasis must be positive and different, got "
                f"{self.exponents}.\n\nHint: a cumulative count begins at zero and rises, "
                "so leave out exponents of zero and below."
            )

    @property
    def n_terms(self) -> int:
        """Number of exponents."""
        return len(self.exponents)

    @property
    def solver(self) -> int:
        """All exponents of a leaf together, or one of them."""
        return FULL if self.joint else SINGLE

    @property
    def breaks(self) -> FloatArray:
        """None: powers have one form."""
        return np.empty(0)

    def place(self, events: ClockedEvents, loss: Loss) -> PowerBasis:
        """Check that the exponents suit the loss; powers have no knots."""
        return self.check(loss)

    def check(self, loss: Loss) -> PowerBasis:
        """Return the basis if its exponents suit the loss."""
        low = [exponent for exponent in self.exponents if exponent <= 0.5]
        if loss == "intensity" and low:
            raise InvalidParameterError(
                f"The intensity loss needs exponents above 1/2, got {low}: the rate of "
                "s**e is e * s**(e - 1), and its square has an infinite integral at zero "
                'for e <= 1/2.\n\nHint: drop those exponents, or use loss="cumulative".'
            )
        return self

    def evaluate(self, times: FloatArray) -> FloatArray:
        """Return ``s**e`` for all exponents."""
        return _raise(times, np.array(self.exponents))

    def rates(self, times: FloatArray) -> FloatArray:
        """Return ``e * s**(e - 1)`` for all exponents."""
        exponents = np.array(self.exponents)
        with np.errstate(divide="ignore"):
            powers = _raise(times, exponents - 1.0)
        return exponents * powers

    def integrals(self, times: FloatArray, order: int) -> FloatArray:
        """Return ``s**e``, integrated ``order`` times from zero."""
        exponents = np.array(self.exponents)
        scale = np.ones_like(exponents)
        for step in range(1, order + 1):
            scale /= exponents + step
        return scale * _raise(times, exponents + order)

    def moments(self, events: ClockedEvents, loss: Loss) -> tuple[FloatArray, FloatArray]:
        """Return b and the lower triangles of H of all individuals."""
        linear = np.empty((len(events), self.n_terms))
        quadratic = np.empty((len(events), self.n_terms * (self.n_terms + 1) // 2))
        compute = (
            power_intensity_moments if loss == "intensity" else power_cumulative_moments
        )
        compute(
            len(events),
            np.array(self.exponents),
            events.window_start,
            events.window_stop,
            events.window_offsets,
            events.times,
            events.costs,
            events.event_offsets,
            linear,
            quadratic,
        )
        return linear, quadratic


def _raise(times: FloatArray, exponents: FloatArray) -> FloatArray:
    """Return powers of times, (n_times, n_exponents), by columns: some powers are easy."""
    times = np.asarray(times, dtype=np.float64)
    powers = np.empty((len(times), len(exponents)))
    for column, exponent in enumerate(exponents):
        powers[:, column] = times**exponent
    return powers
