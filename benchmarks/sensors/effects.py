"""Effects of sensors as boostr finds them, beside those that made the events."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from benchmarks._timing import format_table
from benchmarks.measurements._finding import Finding
from benchmarks.sensors._fleet import N_ACTIVE, FittedFleet, Scale
from boostr._training.features import check_table
from boostr.simulate import Simulation

FloatArray = NDArray[np.float64]

_LIMIT = 15.0  # percent of the range of the true curve
_CENTRAL = (0.01, 0.99)  # quantiles between which that range is taken
_N_VALUES = 1_001  # values of a sensor, each for the same share of the time
_DAYS = np.arange(0.25, 100.0, 0.5)  # at which paths are read: once in every piece

CASES = (  # region, sensor counted from 0, effect
    (0, 0, "threshold"),
    (1, 1, "decreasing"),
    (1, 0, "bump"),
    (2, 2, "u"),
    (3, 1, "linear"),
    (3, 2, "threshold"),
)


def measure(scale: Scale) -> list[Finding]:
    """Compare every effect that there is, averaged over the wells of its region."""
    seeds = range(scale.n_seeds)
    fits = [scale.fit(N_ACTIVE, seed) for seed in seeds]
    errors = np.array(
        [[compare(fit, region, sensor) for fit in fits] for region, sensor, _ in CASES]
    )
    _print_errors(errors)
    means = errors.mean(axis=1)
    where = int(np.argmax(errors.max(axis=1)))
    note = f"{_name(where)}; worst mean over seeds {means.max():.3g} %"
    note += f" ({_name(int(np.argmax(means)))})"
    return [
        Finding.at_most(
            "effects, mean absolute error over range, worst case of any seed",
            float(errors.max()),
            "%",
            _LIMIT,
            note=note,
            details={_name(case): errors[case].tolist() for case in range(len(CASES))},
        )
    ]


def compare(fit: FittedFleet, region: int, sensor: int) -> float:
    """Return the mean absolute error of an effect, in percent of its range.

    Both curves are centred and averaged over what the sensor has shown in the region.
    """
    members = fit.test.truth.region() == region
    values = _spread_values(fit.test, members, sensor)
    found = _recover(fit, members, sensor, values)
    true = fit.test.truth.effect(sensor, values)[members].mean(axis=0)
    error = np.abs((found - found.mean()) - (true - true.mean())).mean()
    low, high = np.quantile(values, _CENTRAL)
    central = true[(values >= low) & (values <= high)]
    return float(100.0 * error / np.ptp(central))


def _spread_values(test: Simulation, members: NDArray[np.bool_], sensor: int) -> FloatArray:
    """Return values of a sensor that stand for the same share of the time each."""
    assert test.Z is not None
    shown = test.Z[members].read(_DAYS)[:, :, sensor]
    return np.quantile(shown, (np.arange(_N_VALUES) + 0.5) / _N_VALUES)


def _recover(
    fit: FittedFleet, members: NDArray[np.bool_], sensor: int, values: FloatArray
) -> FloatArray:
    """Return what the sensor adds to the events per day, averaged over the members."""
    ensemble, horizon = fit.model.ensemble_, fit.test.horizon
    features = fit.model.encoder_.transform(check_table(fit.test.X[members]))
    theta = ensemble.coefficients(features).mean(axis=0)
    begin, end = ensemble.basis.starts[sensor : sensor + 2]
    first, last = ensemble.clock.read(np.array([0.0, horizon]))
    per_day = (last - first) / horizon
    return ensemble.basis.functions(sensor, values) @ theta[begin:end] * per_day


def _print_errors(errors: FloatArray) -> None:
    n_seeds = errors.shape[1]
    rows = [
        [_name(case), *[f"{error:.1f} %" for error in row], f"{row.mean():.1f} %"]
        for case, row in enumerate(errors)
    ]
    header = ["effect, error over range", *[f"seed {seed}" for seed in range(n_seeds)]]
    print(f"\n{format_table([*header, 'mean'], rows)}\n", flush=True)


def _name(case: int) -> str:
    region, sensor, effect = CASES[case]
    return f"region {region}, sensor{sensor + 1}, {effect}"
