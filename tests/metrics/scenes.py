"""Simulated individuals with predictions of three qualities: truth, noise, the same."""

from dataclasses import dataclass

import numpy as np
from tests.engine.histories import offsets

from boostr.data import RecurrentEvents
from boostr.metrics import expected_counts

N_TIMES = 26


def make_events(histories):
    """Put lists of windows, times and costs into a container."""
    windows = np.array([window for own, _, _ in histories for window in own], dtype=float)
    return RecurrentEvents(
        times=np.array([t for _, own, _ in histories for t in own], dtype=float),
        event_offsets=offsets([len(own) for _, own, _ in histories]),
        costs=np.array([c for _, _, own in histories for c in own], dtype=float),
        has_costs=True,
        window_start=windows[:, 0],
        window_stop=windows[:, 1],
        window_offsets=offsets([len(own) for own, _, _ in histories]),
        ids=np.arange(len(histories)),
        has_ids=False,
    )


@dataclass(frozen=True)
class Prediction:
    """Curves of individuals, and what metrics want to know of them."""

    y: RecurrentEvents
    times: np.ndarray
    curves: np.ndarray
    horizon: float

    def at(self, time):
        return np.array([np.interp(time, self.times, curve) for curve in self.curves])

    @property
    def scores(self):
        return self.at(self.horizon)

    @property
    def early(self):
        """Times and curves up to the horizon."""
        kept = self.times <= self.horizon
        return self.times[kept], self.curves[:, kept]

    @property
    def expected(self):
        return expected_counts(self.y, self.curves, self.times)

    @property
    def rates(self):
        slopes = np.diff(self.curves) / np.diff(self.times)
        return slopes[self.y.event_owner, np.searchsorted(self.times, self.y.times) - 1]


def predict(simulation, sigma, *, horizon=80.0, seed=5):
    """Return the truth, the truth times noise, and the average of the truth."""
    y = simulation.y
    times = np.linspace(0.0, simulation.horizon, N_TIMES)
    truth = simulation.truth(times)
    noise = np.random.default_rng(seed).standard_normal((len(y), 1))
    noisy = truth * np.exp(sigma * noise - 0.5 * sigma**2)
    same = np.tile(truth.mean(axis=0), (len(y), 1))
    return [Prediction(y, times, curves, horizon) for curves in (truth, noisy, same)]
