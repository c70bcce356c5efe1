"""Results of forecasts: tables, totals and bands."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import narwhals as nw
import numpy as np
import scipy

from boostr._checks.numbers import check_labels, first_few
from boostr._forecasting.outlook import Outlook, Present
from boostr._frailty.counts import Counts, MixedCounts, SharedCounts
from boostr._frailty.law import Histories, sum_by_owner
from boostr._html import (
    Curve,
    draw_curves,
    format_cell,
    make_card,
    make_facts,
    make_grid,
    make_note,
)
from boostr._training.frailty import relative_variance
from boostr._typing import AnyArray, FloatArray, PositionArray
from boostr.data import Panel, RecurrentEvents
from boostr.data.events.frames import make_table
from boostr.data.times import as_moments, find_origins
from boostr.exceptions import InvalidParameterError

__all__ = [
    "CurveBand",
    "FleetForecast",
    "ForecastCalibration",
    "make_band",
    "make_forecast_table",
    "make_group_table",
    "read_labels",
    "sum_counts",
]


_N_CURVES = 3  # that a notebook shows
_LEVELS = (0.5, 0.8, 0.9, 0.95)  # of intervals that it shows


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

    def _repr_html_(self) -> str:
        """Return a small table for notebooks."""
        bounds = format_cell(self.lower), format_cell(self.upper)
        facts = [
            ("individuals", format_cell(self.n_individuals)),
            ("expected in total", format_cell(self.expected)),
            (f"{self.level:.0%} interval", f"{bounds[0]} to {bounds[1]}"),
        ]
        return make_card("Forecast of a fleet", make_facts(facts))


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

    def _repr_html_(self) -> str:
        """Return the first curves with their bands, and their ends, for notebooks."""
        n, shown = len(self.expected), min(len(self.expected), _N_CURVES)
        title = f"Expected events with {self.level:.0%} bands"
        if not n or not len(self.times):
            return make_card(title, make_note("There are none."))
        order, last = np.argsort(self.times, kind="stable"), int(np.argmax(self.times))
        parts = [values[:shown] for values in (self.expected, self.lower, self.upper)]
        times, (mean, lower, upper) = self.times[order], (part[:, order] for part in parts)
        curves = [
            Curve(times, mean[row], lower[row], upper[row], f"row {row}")
            for row in range(shown)
        ]
        ends = zip(range(shown), *(values[:, last] for values in parts), strict=True)
        header = ("row", f"expected by {format_cell(self.times[last])}", "lower", "upper")
        note = f"The first {shown} of {n:,} individuals, at {len(self.times):,} times."
        return make_card(
            title,
            draw_curves(curves, "Time", title),
            make_grid(header, ends),
            make_note(note),
        )


@dataclass(frozen=True, slots=True, eq=False)
class ForecastCalibration:
    """How forecasts of known outcomes did, to calibrate the intervals of others.

    Made by ``model.calibrate_forecast``.

    Parameters
    ----------
    scores : (n,) float64 array
        For each individual the lowest level whose interval contained the outcome, sorted.
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

    def _repr_html_(self) -> str:
        """Return how often intervals of some levels held, for notebooks."""
        facts = [
            ("individuals", format_cell(len(self.scores))),
            ("time ahead", format_cell(self.horizon)),
            ("own history", "used" if self.own_history else "not used"),
        ]
        n = max(len(self.scores), 1)
        rows = [
            (f"{level:.0%}", f"{np.sum(self.scores <= level) / n:.1%}") for level in _LEVELS
        ]
        return make_card(
            "Calibration of forecasts",
            make_facts(facts),
            make_grid(("intervals of the model for", "contained the outcome for"), rows),
            make_note("The closer the two columns, the less the calibration changes."),
        )


_LONGEST_WAIT = 1000.0  # times the longest follow-up: later dates may not be dates at all


def make_forecast_table(X: Any, present: Present, columns: Mapping[str, AnyArray]) -> Any:
    """Return one row per individual, sorted by risk, in the table library of `X`."""
    order = np.argsort(-columns["expected"], kind="stable")
    columns = {"id": present.ids, "now": _moments(present), **columns}
    table: dict[str, Any] = {name: values[order] for name, values in columns.items()}
    # Lists let both libraries find the type of ids and labels that NumPy calls objects.
    table |= {
        name: values.tolist() for name, values in table.items() if values.dtype.kind == "O"
    }
    moments = _next_moments(present, columns["next_event_median"])
    if moments is not None:
        table["next_event_date"] = moments[order]
    return make_table(table, _backend(X.X if isinstance(X, Panel) else X))


def _next_moments(present: Present, waits: FloatArray) -> AnyArray | None:
    """Return the dates of next events, missing if infinite; None without dates."""
    target = present.target
    if target is None or find_origins(target) is None:
        return None
    is_known = np.isfinite(waits) & (waits < _LONGEST_WAIT * float(target.end.max()))
    times = np.where(is_known, present.now + waits, 0.0)
    moments = as_moments(target, slice(None), times).copy()
    moments[~is_known] = np.datetime64("NaT")
    return moments


def _moments(present: Present) -> AnyArray:
    """Return the present of each individual, as time stamps if histories have them."""
    target = present.target
    if target is None:
        return present.now
    return as_moments(target, slice(None), present.now)


def _backend(X: Any) -> str | None:
    frame = nw.from_native(X, eager_only=True, pass_through=True)
    if not isinstance(frame, nw.DataFrame):
        return None
    return "polars" if frame.implementation.is_polars() else "pandas"


def read_labels(X: Any, y: RecurrentEvents | None, by: Any) -> AnyArray:
    """Return one label per individual, from a column of the features or as given."""
    if y is not None:
        check_labels(by, y, "by")
    table = X.X if isinstance(X, Panel) else X
    if isinstance(by, str):
        frame = nw.from_native(table, eager_only=True, pass_through=True)
        columns = frame.columns if isinstance(frame, nw.DataFrame) else []
        if by not in columns:
            raise InvalidParameterError(
                "`by` must be a column of `X` or one label per individual, but there is "
                f"no column {by!r}.\n\nHint: columns are {first_few(columns)}."
            )
        by = frame[by].to_list()
    labels = np.asarray(by)
    if labels.dtype.kind == "O":  # such as text beside missing values
        labels = np.asarray([str(label) for label in labels])
    if labels.shape != (len(table),):
        raise InvalidParameterError(
            f"`by` must have one label per individual, but it has {len(labels)} for "
            f"{len(table)}."
        )
    return labels


def make_group_table(
    X: Any, name: str, groups: AnyArray, totals: Sequence[FleetForecast]
) -> Any:
    """Return one row per group, highest expected number first."""
    order = np.argsort([-total.expected for total in totals], kind="stable")
    table: dict[str, Any] = {name: groups[order].tolist()}
    for field in ("n_individuals", "expected", "lower", "upper"):
        table[field] = np.array([getattr(totals[place], field) for place in order])
    return make_table(table, _backend(X.X if isinstance(X, Panel) else X))


def sum_counts(
    outlook: Outlook,
    counts: Counts | MixedCounts,
    stop: FloatArray,
    level: float,
    rows: PositionArray,
) -> FleetForecast:
    """Return the total of some individuals; only their shared errors do not average out."""
    unit, mean = outlook.costs.unit, counts.mean[rows]
    total = float(mean.sum())
    variances = np.array(
        [
            counts.dispersion[rows] @ mean**2,
            outlook.shared_variance(stop, counts.mean * unit, rows),
        ]
    )
    own, shared = variances[:, None] / total**2 if total > 0.0 else np.zeros((2, 1))
    summed = SharedCounts(Counts(np.array([total]), own), np.sqrt(shared))
    lower, upper = outlook.costs.interval(summed, level)
    return FleetForecast(total * unit, float(lower[0]), float(upper[0]), level, len(rows))


def make_band(
    outlook: Outlook, present: Present, times: FloatArray, level: float, of: str
) -> CurveBand:
    """Return expected numbers and their bands at each time."""
    histories = outlook.histories()
    columns = [_band_at(outlook, present, histories, time, level, of) for time in times]
    expected, lower, upper = (
        np.stack(parts, axis=1) for parts in zip(*columns, strict=True)
    )
    order = np.argsort(times, kind="stable")
    for bound in (lower, upper):  # numbers of events so far do not fall
        bound[:, order] = np.maximum.accumulate(bound[:, order], axis=1)
    return CurveBand(times, expected, lower, upper, level)


def _band_at(
    outlook: Outlook,
    present: Present,
    histories: Histories,
    time: float,
    level: float,
    of: str,
) -> tuple[FloatArray, FloatArray, FloatArray]:
    stop = np.maximum(outlook.now, time)
    so_far = _cost_so_far(present, time)
    frailties = outlook.frailties(stop, histories=histories)
    ahead = outlook.expect(stop)
    deaths = outlook.expect_deaths(frailties, stop, ahead)
    alive = np.ones(len(stop)) if deaths is None else deaths.mean_share
    expected = so_far + alive * ahead * frailties.mean
    if of == "mean":
        by_fold = outlook.expect_by_fold(stop)
        error = np.sqrt(np.log1p(relative_variance(outlook.curves, by_fold)))
        error *= scipy.special.ndtri(0.5 + 0.5 * level)
        moves = alive * ahead * frailties.mean
        return expected, so_far + moves * np.exp(-error), so_far + moves * np.exp(error)
    counts = outlook.count(ahead, frailties, stop)
    mixed = counts if deaths is None else deaths.mix(counts)
    lower, upper = outlook.costs.interval(mixed, level)
    return expected, so_far + lower, so_far + upper


def _cost_so_far(present: Present, time: float) -> FloatArray:
    """Return the events or costs counted up to a time, at most up to now."""
    events: RecurrentEvents = present.events
    is_past = events.times <= time
    owner = present.rows[events.event_owner[is_past]]
    return sum_by_owner(owner, events.costs[is_past], len(present))
