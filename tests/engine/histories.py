"""Event histories for tests: lists of (windows, times, costs), and the same on a clock."""

import hypothesis.strategies as st
import numpy as np

from boostr.basis import ClockedEvents, PowerBasis, SplineBasis, StepBasis
from boostr.data import RecurrentEvents

FAMILIES = {
    "power": PowerBasis((0.8, 1.0, 1.5)),
    "single power": PowerBasis((0.8, 1.0, 1.5), joint=False),
    "one power": PowerBasis((1.0,)),
    "step": StepBasis(4),
    "spline": SplineBasis(2),
    "broken line": SplineBasis(2, order=1),
}

# One individual with everything: late entry, a gap, an event at the very end of a window,
# tied events, costs.
AWKWARD = (
    [(0.5, 2.0), (3.5, 7.0)],
    [1.0, 2.0, 4.0, 4.0, 5.5],
    [1.0, 2.0, 0.5, 1.0, 3.0],
)


def clocked(histories, horizon=None):
    """Put histories on a clock as they are; windows that touch stay apart."""
    windows = [window for own, _, _ in histories for window in own]
    stops = np.array([stop for _, stop in windows], dtype=float)
    return ClockedEvents(
        window_start=np.array([start for start, _ in windows], dtype=float),
        window_stop=stops,
        window_offsets=offsets([len(own) for own, _, _ in histories]),
        times=np.array([t for _, own, _ in histories for t in own], dtype=float),
        costs=np.array([c for _, _, own in histories for c in own], dtype=float),
        event_offsets=offsets([len(own) for _, own, _ in histories]),
        horizon=float(stops.max() if horizon is None else horizon),
    )


def offsets(counts):
    return np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)


@st.composite
def histories(draw):
    """Draw one individual with up to three windows, ties and costs."""
    n_windows = draw(st.integers(1, 3))
    ends = st.lists(
        st.integers(0, 40), min_size=2 * n_windows, max_size=2 * n_windows, unique=True
    )
    cuts = np.sort(draw(ends)) / 4
    windows = [(float(a), float(b)) for a, b in cuts.reshape(-1, 2)]
    shares = st.lists(st.sampled_from([0.1, 0.25, 0.5, 0.75, 1.0]), max_size=4)
    times = [
        start + share * (stop - start)
        for start, stop in windows
        for share in sorted(draw(shares))
    ]
    cost = st.sampled_from([0.0, 0.5, 1.0, 2.5])
    costs = draw(st.lists(cost, min_size=len(times), max_size=len(times)))
    return windows, times, costs


def make_events(rng, n, *, is_late=False, rate=1.0):
    """Draw Poisson histories; ``rate`` may differ between individuals."""
    start = rng.uniform(0.0, 2.0, n) if is_late else np.zeros(n)
    end = start + rng.uniform(2.0, 8.0, n)
    counts = rng.poisson(rate * (end - start))
    times = [
        np.sort(rng.uniform(a, b, k)) for a, b, k in zip(start, end, counts, strict=True)
    ]
    return RecurrentEvents.from_lists(times, end=end, start=start)
