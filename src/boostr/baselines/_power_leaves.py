"""Power laws of many groups at once."""

from __future__ import annotations

import numpy as np

from boostr._typing import AnyArray, FloatArray, OffsetArray
from boostr.baselines._power_likelihood import Histories

__all__ = ["fit_power_laws"]

_SHAPES = (0.05, 20.0)  # between which shapes are looked for
_N_HALVINGS = 50


def fit_power_laws(
    histories: Histories,
    group: OffsetArray,
    member: AnyArray,
    weight: FloatArray,
    n_groups: int,
    pooled_shape: float,
) -> tuple[FloatArray, FloatArray]:
    """Return scale and shape, ``scale * (t / unit) ** shape``, of every group.

    Individual ``member[k]`` counts ``weight[k]`` times in ``group[k]``. One imaginary
    event per group draws the shape to the pooled one; the scale matches the events.
    """
    n_events = np.bincount(group, weight * histories.counts[member], n_groups)
    logs = np.bincount(group, weight * histories.log_times[member], n_groups)
    # The logarithm of the likelihood is concave in the shape: its slope has one zero.
    low, high = (np.full(n_groups, np.log(bound)) for bound in _SHAPES)
    for _ in range(_N_HALVINGS):
        middle = 0.5 * (low + high)
        shape = np.exp(middle)
        exposure, change = _expose(histories, group, member, weight, shape)
        mean_log = np.divide(change, exposure, out=np.zeros(n_groups), where=exposure > 0.0)
        slope = (n_events + 1.0) / shape + logs - n_events * mean_log - 1.0 / pooled_shape
        low = np.where(slope > 0.0, middle, low)
        high = np.where(slope > 0.0, high, middle)
    shape = np.exp(0.5 * (low + high))
    exposure, _ = _expose(histories, group, member, weight, shape)
    scale = np.divide(n_events, exposure, out=np.zeros(n_groups), where=exposure > 0.0)
    return scale, shape


def _expose(
    histories: Histories,
    group: OffsetArray,
    member: AnyArray,
    weight: FloatArray,
    shape: FloatArray,
) -> tuple[FloatArray, FloatArray]:
    """Return the sums of ``stop**shape - start**shape`` and their derivatives."""
    n, n_groups = len(histories.weights), len(shape)
    n_windows = np.bincount(histories.owner, minlength=n)
    begins = np.cumsum(n_windows) - n_windows
    n_own = n_windows[member]
    entry = np.repeat(np.arange(len(member)), n_own)
    shift = np.repeat(begins[member] - (np.cumsum(n_own) - n_own), n_own)
    window = np.arange(entry.size) + shift
    own_group, exponent = group[entry], shape[group[entry]]
    totals = []
    for order in (0, 1):
        part = np.zeros(entry.size)
        for times, sign in ((histories.stop, 1.0), (histories.start, -1.0)):
            at = times[window]
            log = np.log(np.where(at > 0.0, at, 1.0))
            power = np.where(at > 0.0, np.exp(exponent * log), 0.0)
            part += sign * power * log**order
        sums = np.bincount(own_group, weight[entry] * part, n_groups)
        totals.append(np.asarray(sums, dtype=np.float64))
    return totals[0], totals[1]
