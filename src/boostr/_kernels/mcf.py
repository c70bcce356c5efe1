"""Sums of squared residuals of the mean cumulative function, in one sweep over time."""

from __future__ import annotations

from boostr._kernels._jit import kernel
from boostr._typing import AnyArray, FloatArray, OffsetArray

LEAVES = 0
ENTERS = 1
HAS_EVENT = 2


@kernel
def sweep_squared_residuals(
    time_index: OffsetArray,
    kind: AnyArray,
    owner: OffsetArray,
    jump: FloatArray,
    exposure: FloatArray,
    drop: FloatArray,
    weight: FloatArray,
    residual: FloatArray,
    factor: FloatArray,
    out: FloatArray,
) -> None:
    """Sum the squared running residuals of all individuals at every event time.

    The residual of an individual starts at 0, rises by its own jumps, and falls by its
    exposure times ``drop[j]`` at every event time ``j`` at which it is at risk.

    Parameters
    ----------
    time_index : (n_changes,) int64
        Event time at which each change happens, ascending.
    kind : (n_changes,) int8
        0 for leaving the risk set, 1 for entering it, 2 for an event; ascending within
        an event time, so that a window may begin where the last one stopped.
    owner : (n_changes,) int64
        Individual that changes.
    jump : (n_changes,) float64
        Rise of the residual at an event; not read for other changes.
    exposure : (n_changes,) float64
        Exposure in the window that begins or ends; not read for events.
    drop : (n_times,) float64
        Fall of the residuals of those at risk.
    weight : (n_individuals,) float64
        How often each individual counts.
    residual : (n_individuals,) float64
        Zeros; overwritten.
    factor : (n_individuals,) float64
        Overwritten with the latest exposures.
    out : (n_times,) float64
        Overwritten with the weighted sums of squares.

    Notes
    -----
    All residuals at risk fall together, by exposures ``e`` times the same. So only their
    common fall is kept up to date, the buffer holds ``residual + e * fall`` for those at
    risk, and the sum of squares follows from the sums of ``w e^2``, ``w e r`` and
    ``w r^2``: ``sum w (r - e d)^2 = sum w r^2 - 2 d sum w e r + d^2 sum w e^2``.
    Those not at risk keep their residual, and their squares stand in ``frozen``.
    """
    fall, frozen = 0.0, 0.0
    sum_wee, sum_wer, sum_wrr = 0.0, 0.0, 0.0
    change = 0
    for j in range(drop.shape[0]):
        while change < time_index.shape[0] and time_index[change] == j:
            i = owner[change]
            w = weight[i]
            if kind[change] == LEAVES:
                residual[i] -= factor[i] * fall
                sign = -1.0
                r = residual[i]
            elif kind[change] == ENTERS:
                r = residual[i]
                sign = 1.0
                factor[i] = exposure[change]
                residual[i] += factor[i] * fall
            else:
                r = residual[i] - factor[i] * fall
                rise = jump[change]
                residual[i] += rise
                sum_wer += w * factor[i] * rise
                sum_wrr += w * rise * (2.0 * r + rise)
                sign = 0.0
            sum_wee += sign * w * factor[i] * factor[i]
            sum_wer += sign * w * factor[i] * r
            sum_wrr += sign * w * r * r
            frozen -= sign * w * r * r
            change += 1
        d = drop[j]
        sum_wrr += d * (d * sum_wee - 2.0 * sum_wer)
        sum_wer -= d * sum_wee
        fall += d
        out[j] = max(frozen + sum_wrr, 0.0)
