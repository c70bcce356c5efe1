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
    drop: FloatArray,
    weight: FloatArray,
    residual: FloatArray,
    out: FloatArray,
) -> None:
    """Sum the squared running residuals of all individuals at every event time.

    The residual of an individual starts at 0, rises by its own jumps, and falls by
    ``drop[j]`` at every event time ``j`` at which it is at risk.

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
    drop : (n_times,) float64
        Fall of the residuals of those at risk.
    weight : (n_individuals,) float64
        How often each individual counts.
    residual : (n_individuals,) float64
        Zeros; overwritten.
    out : (n_times,) float64
        Overwritten with the weighted sums of squares.

    Notes
    -----
    All residuals at risk fall together. So only their common fall is kept up to date,
    the buffer holds ``residual + fall`` for those at risk, and the sum of squares
    follows from the sums of ``w``, ``w r`` and ``w r^2``:
    ``sum w (r - d)^2 = sum w r^2 - 2 d sum w r + d^2 sum w``.
    Those not at risk keep their residual, and their squares stand in ``frozen``.
    """
    fall, frozen = 0.0, 0.0
    sum_w, sum_wr, sum_wrr = 0.0, 0.0, 0.0
    change = 0
    for j in range(drop.shape[0]):
        while change < time_index.shape[0] and time_index[change] == j:
            i = owner[change]
            w = weight[i]
            if kind[change] == LEAVES:
                residual[i] -= fall
                sign = -1.0
                r = residual[i]
            elif kind[change] == ENTERS:
                r = residual[i]
                sign = 1.0
                residual[i] += fall
            else:
                r = residual[i] - fall
                rise = jump[change]
                residual[i] += rise
                sum_wr += w * rise
                sum_wrr += w * rise * (2.0 * r + rise)
                sign = 0.0
            sum_w += sign * w
            sum_wr += sign * w * r
            sum_wrr += sign * w * r * r
            frozen -= sign * w * r * r
            change += 1
        d = drop[j]
        sum_wrr += d * (d * sum_w - 2.0 * sum_wr)
        sum_wr -= d * sum_w
        fall += d
        out[j] = max(frozen + sum_wrr, 0.0)
