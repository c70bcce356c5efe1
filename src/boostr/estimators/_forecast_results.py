"""Results of forecasts other than tables."""

from __future__ import annotations

from dataclasses import dataclass

from boostr._typing import FloatArray

__all__ = ["CurveBand", "FleetForecast", "ForecastCalibration"]


@dataclass(frozen=True, slots=True)
class FleetForecast:
    """How many events all individuals together will have.

    Made by ``model.forecast_fleet``.

    Parameters
    ----------
    expected : float
        Expected number (or cost) of events.
    lower, upper : float
        Prediction interval of the number.
    level : float
        Probability of the interval.
    n_individuals : int
        Number of individuals.

    Examples
    --------
    >>> from boostr import BoostR
    >>> from boostr.simulate import dataset_a
    >>> fleet = dataset_a(n=100, random_state=1)
    >>> model = BoostR(n_estimators=20, random_state=0).fit(fleet.X, fleet.y)
    >>> total = model.forecast_fleet(fleet.X, fleet.y, horizon=20)
    >>> total.lower < total.expected < total.upper
    True
    """

    expected: float
    lower: float
    upper: float
    level: float
    n_individuals: int


@dataclass(frozen=True, slots=True, eq=False)
class CurveBand:
    """Curves of individuals with a band around each.

    Made by ``model.predict_band``.

    Parameters
    ----------
    times : (m,) float64 array
        Times.
    expected : (n, m) float64 array
        Expected number of events by each time.
    lower, upper : (n, m) float64 array
        The band, at each time for itself.
    level : float
        Probability with which the band holds at a time.

    Examples
    --------
    >>> from boostr import BoostR
    >>> from boostr.simulate import dataset_a
    >>> fleet = dataset_a(n=100, random_state=1)
    >>> model = BoostR(n_estimators=20, random_state=0).fit(fleet.X, fleet.y)
    >>> band = model.predict_band(fleet.X[:2], times=[50, 100])
    >>> band.lower.shape
    (2, 2)
    """

    times: FloatArray
    expected: FloatArray
    lower: FloatArray
    upper: FloatArray
    level: float


@dataclass(frozen=True, slots=True, eq=False)
class ForecastCalibration:
    """How forecasts of known outcomes did, to calibrate the intervals of others.

    Made by ``model.calibrate_forecast``.

    Parameters
    ----------
    scores : (n,) float64 array
        For each individual the lowest level whose interval held what happened, sorted.
    horizon : float
        Length of the windows that were forecast.
    own_history : bool, default=True
        Whether forecasts were updated by the histories.

    Examples
    --------
    >>> from boostr import BoostR
    >>> from boostr.simulate import dataset_a
    >>> fleet = dataset_a(n=100, random_state=1)
    >>> model = BoostR(n_estimators=20, random_state=0).fit(fleet.X, fleet.y)
    >>> new = dataset_a(n=50, random_state=2)
    >>> calibration = model.calibrate_forecast(new.X, new.y, horizon=20)
    >>> calibration.scores.shape
    (50,)
    """

    scores: FloatArray
    horizon: float
    own_history: bool = True
