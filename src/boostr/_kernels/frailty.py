"""What was known of frailties on the way."""

from __future__ import annotations

import math

from boostr._kernels._jit import kernel
from boostr._typing import FloatArray, OffsetArray

__all__ = ["follow_frailties"]


@kernel
def follow_frailties(
    start: FloatArray,
    stop: FloatArray,
    offsets: OffsetArray,
    expected: FloatArray,
    times: FloatArray,
    weights: FloatArray,
    event_offsets: OffsetArray,
    entry: FloatArray,
    variance: float,
    fading: float,
    least_prior: float,
    means: FloatArray,
) -> None:
    """Write the mean of the frailty in the middle of every piece, given all before it.

    Parameters
    ----------
    start, stop, expected : (k,) float64
        Pieces in the order of time, individual after individual, and expected events.
    offsets : (n + 1,) int64
        Where the pieces of every individual begin.
    times, weights : (m,) float64
        Events, which lie at borders of pieces.
    event_offsets : (n + 1,) int64
        Where the events of every individual begin.
    entry : (n,) float64
        When individuals entered, with the prior.
    variance, fading : float
        Variance of frailties, and the rate at which knowledge fades.
    least_prior : float
        What is left of the prior at least.
    means : (k,) float64
        Overwritten. Of what is expected in a piece half is before its middle.
    """
    for individual in range(len(entry)):
        event, last = event_offsets[individual], event_offsets[individual + 1]
        now = entry[individual]
        n_seen = n_expected = 0.0
        for piece in range(offsets[individual], offsets[individual + 1]):
            middle = 0.5 * (start[piece] + stop[piece])
            kept = math.exp(-fading * (middle - now))
            n_seen, n_expected, now = kept * n_seen, kept * n_expected, middle
            while event < last and times[event] <= start[piece]:
                n_seen += math.exp(-fading * (middle - times[event])) * weights[event]
                event += 1
            prior = max(math.exp(-fading * (middle - entry[individual])), least_prior)
            known = prior + variance * n_seen
            half = 0.5 * expected[piece]
            means[piece] = known / (prior + variance * (n_expected + half))
            n_expected += expected[piece]
