"""Deaths that end histories: means, intervals and survival against known truth.

    python -m benchmarks.terminal
    python -m benchmarks.terminal --quick

Relapses of simulated patients, about 40 % of whom die under observation, sooner those who
relapse often (`boostr.simulate.patients`). Errors of mean curves of 1,000 fresh patients
against the truth, integrated and squared, beside two ways without the model of deaths:
death as censoring; and a Poisson model of LightGBM with death as censoring, times the
chance to be alive of a LightGBM model of survival. "lightgbm, integrated" is the integral
of the same two models, as this library computes it from its own. Then coverage of 90 %
intervals of forecasts over 50 units of time, at age 40, of those alive then; and the Brier
score of survival, integrated up to 90 units, where nobody is censored, beside a random
survival forest of scikit-survival if that is installed. Means over repetitions.
"""

from __future__ import annotations

import argparse
from importlib.util import find_spec

import numpy as np

from benchmarks._timing import format_table, record
from boostr import BoostR, RecurrentEvents
from boostr._training.surviving import sum_survived
from boostr.baselines import LightGBMPoisson, tune
from boostr.data.clip import clip
from boostr.data.events.terminal import as_terminal_events
from boostr.simulate import Simulation, patients

N_FRESH = 1000
TIMES = np.linspace(0.0, 100.0, 101)
UP_TO = TIMES[TIMES <= 90.0]
NOW, AHEAD = 40.0, 50.0


def measure_curves(curves: np.ndarray, fresh: Simulation) -> float:
    """Return the mean integrated squared error."""
    squares = (curves - fresh.truth(TIMES)) ** 2
    return float(np.trapezoid(squares, TIMES, axis=1).mean())


def measure_survival(survival: np.ndarray, y: RecurrentEvents) -> float:
    """Return the integrated Brier score of complete histories, over the length."""
    alive = y.end[:, None] > UP_TO
    scores = ((alive - survival) ** 2).mean(axis=0)
    return float(np.trapezoid(scores, UP_TO) / UP_TO[-1])


def measure_intervals(model: BoostR, fresh: Simulation) -> tuple[float, float]:
    """Return the coverage of forecasts of those alive, and total expected over observed."""
    now = np.full(N_FRESH, NOW)
    table = model.forecast(fresh.X, fresh.complete, AHEAD, now=now).sort_values("id")
    after, rows = clip(fresh.complete, now, now + AHEAD)
    counts = np.zeros(N_FRESH)
    counts[rows] = after.n_events
    held = (table["lower"].to_numpy() <= counts) & (counts <= table["upper"].to_numpy())
    alive = fresh.complete.end > NOW
    return float(held[alive].mean()), float(table["expected"].sum() / counts.sum())


def fit_lightgbm(X: np.ndarray, y: RecurrentEvents, seed: int, *, tunes: bool):
    """Return LightGBM's Poisson regression, tuned by cross-validation if wanted."""
    model = LightGBMPoisson(random_state=seed)
    return tune(model, X, y, random_state=seed) if tunes else model.fit(X, y)


def predict_forest(train: Simulation, fresh: Simulation, seed: int) -> np.ndarray | None:
    """Return the survival by a forest of scikit-survival; None without it."""
    if find_spec("sksurv") is None:
        return None
    from sksurv.ensemble import RandomSurvivalForest
    from sksurv.util import Surv

    target = Surv.from_arrays(train.y.is_terminal, train.y.end)
    forest = RandomSurvivalForest(300, min_samples_leaf=15, random_state=seed)
    found = forest.fit(train.X, target).predict_survival_function(
        fresh.X, return_array=True
    )
    place = np.searchsorted(forest.unique_times_, UP_TO, side="right")
    return np.hstack([np.ones((len(found), 1)), found])[:, place]


def run(n: int, seed: int, *, tunes: bool) -> dict[str, float]:
    """Return all figures of one repetition."""
    train = patients(n, random_state=seed)
    fresh = patients(N_FRESH, random_state=10_000 + seed)
    model = BoostR(random_state=seed).fit(train.X, train.y)
    censored = train.y.with_terminal(None)
    rate = fit_lightgbm(train.X, censored, seed, tunes=tunes)
    hazard = fit_lightgbm(train.X, as_terminal_events(train.y), seed, tunes=tunes)
    rates = rate.predict_cumulative(fresh.X, TIMES)
    hazards = hazard.predict_cumulative(fresh.X, TIMES)
    alive = model.predict_cumulative(fresh.X, TIMES, conditional=True)
    coverage, ratio = measure_intervals(model, fresh)
    survival = model.predict_survival(fresh.X, UP_TO)
    figures = {
        "boostr": measure_curves(model.predict_cumulative(fresh.X, TIMES), fresh),
        "censoring": measure_curves(alive, fresh),
        "lightgbm": measure_curves(rates * np.exp(-hazards), fresh),
        "lightgbm, integrated": measure_curves(sum_survived(rates, hazards), fresh),
        "coverage": coverage,
        "expected over observed": ratio,
        "brier": measure_survival(survival, fresh.complete),
        "brier of truth": measure_survival(fresh.survival(UP_TO), fresh.complete),
        "brier of lightgbm": measure_survival(
            np.exp(-hazards[:, : len(UP_TO)]), fresh.complete
        ),
    }
    forest = predict_forest(train, fresh, seed)
    if forest is not None:
        figures["brier of forest"] = measure_survival(forest, fresh.complete)
    return figures


def main() -> None:
    """Compare and print."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--individuals", type=int, default=500)
    parser.add_argument("--repetitions", type=int, default=5)
    parser.add_argument("--quick", action="store_true", help="one repetition, not tuned")
    options = parser.parse_args()
    seeds = range(1 if options.quick else options.repetitions)
    n, tunes = options.individuals, not options.quick
    found = [run(n, seed, tunes=tunes) for seed in seeds]
    means = {name: float(np.mean([each[name] for each in found])) for name in found[0]}
    best = min(means["censoring"], means["lightgbm"])
    means["error over the best other"] = means["boostr"] / best
    record("terminal.jsonl", n=n, n_repetitions=len(seeds), **means)
    rows = [[name, f"{value:.4g}"] for name, value in means.items()]
    print(format_table(["figure", "mean"], rows))


if __name__ == "__main__":
    main()
