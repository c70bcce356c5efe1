"""Sufficient statistics: the last place in training that sees events and time."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from boostr._kernels.solve import FULL, GROUPED
from boostr._kernels.threads import run_in_parts
from boostr._typing import FloatArray, PositionArray
from boostr.basis import (
    Clock,
    ClockedEvents,
    ClockedPaths,
    FittedBasis,
    FittedSensorBasis,
    Loss,
)
from boostr.basis.base import exposed_moments
from boostr.data import RecurrentEvents, Trajectories
from boostr.data.events.exposure import exposed_windows
from boostr.data.flat import offsets_of
from boostr.exceptions import InvalidEventsError

__all__ = [
    "SufficientStats",
    "compute_suffstats",
    "pseudo_individual",
    "put_on_clock",
    "put_paths_on_clock",
]

_BLOCK = 16_000  # times that are read off the clock together


@dataclass(frozen=True, slots=True, eq=False)
class SufficientStats:
    """The loss of ``n`` individuals as quadratics in their coefficients.

    The loss of individual ``i`` with coefficients ``theta`` is
    ``1/2 theta' H_i theta - linear[i] @ theta`` plus a constant; weights are included.
    """

    linear: FloatArray  # (n, n_terms)
    quadratic: (
        FloatArray  # (n, n_terms) diagonal, or (n, n_terms (n_terms + 1) / 2) triangle
    )

    @property
    def n_terms(self) -> int:
        """Number of coefficients of an individual."""
        return self.linear.shape[1]

    def diagonal(self) -> FloatArray:
        """Return the diagonals of H, (n, n_terms)."""
        if self.quadratic.shape[1] == self.n_terms:
            return self.quadratic
        rows = np.arange(self.n_terms)
        return np.ascontiguousarray(self.quadratic[:, rows * (rows + 3) // 2])

    def multiply(self, theta: FloatArray, rows: PositionArray) -> FloatArray:
        """Return H_i theta_i for some individuals, (len(rows), n_terms)."""
        quadratic = self.quadratic[rows]
        if quadratic.shape[1] == self.n_terms:
            return np.asarray(quadratic * theta)
        full = np.empty((len(rows), self.n_terms, self.n_terms))
        lower = np.tril_indices(self.n_terms)
        full[:, lower[0], lower[1]] = quadratic
        full[:, lower[1], lower[0]] = quadratic
        return np.einsum("itu,iu->it", full, theta)

    def restrict(self, term: int) -> SufficientStats:
        """Return the statistics of one term alone."""
        return SufficientStats(
            np.ascontiguousarray(self.linear[:, [term]]),
            np.ascontiguousarray(self.diagonal()[:, [term]]),
        )

    def curvature(self, solver: int) -> FloatArray:
        """Return what a leaf problem reads of H."""
        return self.quadratic if solver in {FULL, GROUPED} else self.diagonal()


def put_on_clock(
    events: RecurrentEvents,
    clock: Clock,
    sensors: Trajectories | None = None,
    end: float | None = None,
) -> ClockedEvents:
    """Return the histories with all times read off the clock.

    ``end`` is the last end of follow-up where these are not all individuals.
    """
    end = float(events.window_stop.max()) if end is None else end
    start, stop, offsets = events.window_start, events.window_stop, events.window_offsets
    factors, amounts, exposure = None, None, events.exposure
    if exposure is not None and exposure.is_constant:
        amounts = exposure.values
    elif exposure is not None:
        windows = exposed_windows(events)
        start, stop, factors = windows.start, windows.stop, windows.factor
        offsets = offsets_of(np.bincount(windows.owner, minlength=len(events)))
    return ClockedEvents(
        window_start=_read(clock, start),
        window_stop=_read(clock, stop),
        window_offsets=offsets,
        times=_read(clock, events.times),
        costs=events.costs,
        event_offsets=events.event_offsets,
        horizon=float(clock.read(np.array([end]))[0]),
        paths=None if sensors is None else put_paths_on_clock(sensors, clock),
        window_exposure=factors,
        amounts=amounts,
    )


def put_paths_on_clock(sensors: Trajectories, clock: Clock) -> ClockedPaths:
    """Return sensor paths with all times read off the clock."""
    begins = _read(clock, sensors.begin_times())
    return ClockedPaths(
        begins, sensors.values, sensors.offsets, sensors.names, sensors.categories
    )


def _read(clock: Clock, times: FloatArray) -> FloatArray:
    """Read times off a clock in blocks, since it needs several times their memory."""
    read = np.empty(len(times))

    def read_block(own: slice) -> None:
        read[own] = clock.read(times[own])

    run_in_parts(len(times), max(1, -(-len(times) // _BLOCK)), read_block)
    return read


def compute_suffstats(
    events: ClockedEvents,
    basis: FittedBasis | FittedSensorBasis,
    loss: Loss,
    weights: FloatArray | None = None,
) -> SufficientStats:
    """Compute the statistics of all individuals in closed form.

    The rate of events is the exposure times that of a unit. Where exposures do not change,
    H of intensities comes with the exposure, that of cumulative counts with its square.
    """
    if loss != "intensity" and events.window_exposure is not None:
        raise InvalidEventsError(
            "With the cumulative loss exposures must not change in time, but these do.\n\n"
            'Hint: loss="intensity" takes any; y.with_exposure takes one number each.'
        )
    if isinstance(basis, FittedSensorBasis):
        linear, quadratic = basis.moments(events, loss)
    else:
        linear, quadratic = exposed_moments(basis, events, loss)
    if events.amounts is not None:
        amounts = events.amounts[:, None]
        if loss != "intensity":
            linear *= amounts
        quadratic *= amounts if loss == "intensity" else amounts**2
    if weights is not None:
        linear *= weights[:, None]
        quadratic *= weights[:, None]
    return SufficientStats(linear, quadratic)


def pseudo_individual(basis: FittedBasis, loss: Loss, horizon: float) -> FloatArray:
    """Return R, the H of one individual observed from zero to the horizon."""
    empty = ClockedEvents(
        window_start=np.zeros(1),
        window_stop=np.array([horizon]),
        window_offsets=np.array([0, 1]),
        times=np.empty(0),
        costs=np.empty(0),
        event_offsets=np.array([0, 0]),
        horizon=horizon,
    )
    triangle = basis.moments(empty, loss)[1][0]
    gram = np.zeros((basis.n_terms, basis.n_terms))
    gram[np.tril_indices(basis.n_terms)] = triangle
    return np.asarray(gram + np.tril(gram, -1).T)
