"""Exposure against a feature: pipes that fail in proportion to their length.

    python -m benchmarks.exposure
    python -m benchmarks.exposure --quick

Pipes between 0.1 and 10 km, evenly spread on a scale of logarithms, fail at a rate
proportional to their length, which also rises with age and depends on two of five other
features. The same model learns with the length as exposure, and with the length as one more
feature. Figures are errors of predicted curves of 2,000 fresh pipes against the true ones:
the mean integrated squared error over ten years, and the mean squared relative error at
five times; means over repetitions. Then forecasts of pipes with frailties, two years ahead,
against what happened.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass

import numpy as np

from benchmarks._timing import format_table, record
from boostr import BoostR, RecurrentEvents

SHORTEST, LONGEST = 0.1, 10.0  # km
YEARS = 10.0
AHEAD = 2.0
TIMES = np.linspace(0.0, YEARS, 101)
SOME = np.array([2.0, 4.0, 6.0, 8.0, 10.0])
N_FRESH = 2000
SHAPE = 1.3  # exponent of the power law of age


@dataclass(frozen=True)
class Pipes:
    """Features, lengths and histories, and what a pipe does per km in a unit of time."""

    X: np.ndarray
    length: np.ndarray
    rate: np.ndarray  # per km, at a year of age to the power of the shape
    y: RecurrentEvents

    def true_curves(self, times: np.ndarray) -> np.ndarray:
        """Return the expected number of failures by some times."""
        return (self.length * self.rate)[:, None] * times**SHAPE

    @property
    def with_length(self) -> np.ndarray:
        """Return the features and the length beside them."""
        return np.column_stack([self.X, self.length])


def lay_pipes(n: int, rng: np.random.Generator, variance: float = 0.0) -> Pipes:
    """Simulate pipes that are observed for five to ten years."""
    X = rng.random((n, 5))
    length = np.exp(rng.uniform(np.log(SHORTEST), np.log(LONGEST), n))
    rate = 0.1 * np.where(X[:, 0] > 0.6, 3.0, 1.0) * (0.5 + X[:, 1])
    frailty = rng.gamma(1 / variance, variance, n) if variance else np.ones(n)
    end = rng.uniform(0.5 * YEARS, YEARS, n)
    counts = rng.poisson(frailty * length * rate * end**SHAPE)
    events = [
        np.sort(stop * rng.random(k) ** (1 / SHAPE))
        for k, stop in zip(counts, end, strict=True)
    ]
    return Pipes(X, length, rate, RecurrentEvents.from_lists(events, end=end))


def measure(predicted: np.ndarray, pipes: Pipes) -> tuple[float, float]:
    """Return the integrated squared error, and the squared relative error."""
    squares = (predicted - pipes.true_curves(TIMES)) ** 2
    places = np.searchsorted(TIMES, SOME)
    true = pipes.true_curves(SOME)
    relative = (predicted[:, places] / true - 1.0) ** 2
    return float(np.trapezoid(squares, TIMES, axis=1).mean()), float(relative.mean())


def compare_curves(n: int, seed: int) -> dict[str, tuple[float, float]]:
    """Return the errors of both ways."""
    rng = np.random.default_rng(seed)
    train, fresh = lay_pipes(n, rng), lay_pipes(N_FRESH, rng)
    exposed = BoostR(random_state=seed).fit(train.X, train.y, exposure=train.length)
    plain = BoostR(random_state=seed).fit(train.with_length, train.y)
    return {
        "exposure": measure(
            exposed.predict_cumulative(fresh.X, TIMES, exposure=fresh.length), fresh
        ),
        "feature": measure(plain.predict_cumulative(fresh.with_length, TIMES), fresh),
    }


def compare_forecasts(n: int, seed: int) -> dict[str, float]:
    """Return root mean squared errors of forecasts of the last years of histories."""
    rng = np.random.default_rng(1000 + seed)
    train, fresh = lay_pipes(n, rng, 0.5), lay_pipes(N_FRESH, rng, 0.5)
    now = fresh.y.end - AHEAD
    late = fresh.y.times > now[fresh.y.event_owner]
    seen = np.bincount(fresh.y.event_owner[late], minlength=N_FRESH)
    exposed = BoostR(random_state=seed).fit(train.X, train.y, exposure=train.length)
    plain = BoostR(random_state=seed).fit(train.with_length, train.y)
    errors = {}
    for name, model, X, y in (
        ("exposure", exposed, fresh.X, fresh.y.with_exposure(fresh.length)),
        ("feature", plain, fresh.with_length, fresh.y),
    ):
        table = model.forecast(X, y, horizon=AHEAD, now=now).sort_values("id")
        errors[name] = float(np.sqrt(np.mean((table["expected"] - seen) ** 2)))
    return errors


def main() -> None:
    """Compare and print."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--individuals", type=int, default=700)
    parser.add_argument("--repetitions", type=int, default=5)
    parser.add_argument("--quick", action="store_true", help="one repetition")
    options = parser.parse_args()
    n, seeds = options.individuals, range(1 if options.quick else options.repetitions)
    curves = [compare_curves(n, seed) for seed in seeds]
    forecasts = [compare_forecasts(n, seed) for seed in seeds]
    rows = []
    for name in ("exposure", "feature"):
        error, relative = np.mean([found[name] for found in curves], axis=0)
        ahead = float(np.mean([found[name] for found in forecasts]))
        rows.append([name, f"{error:.3g}", f"{relative:.3g}", f"{ahead:.3f}"])
        figures = {"error": float(error), "relative": float(relative), "forecast": ahead}
        record("exposure.jsonl", way=name, n=n, n_repetitions=len(seeds), **figures)
    head = ["length as", "integrated error", "relative error", "error of forecasts"]
    print(format_table(head, rows))


if __name__ == "__main__":
    main()
