"""``Backtest``: forecasts of models at past dates, with the outcomes."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from numbers import Integral
from typing import TYPE_CHECKING, Any

import narwhals as nw
import numpy as np

from boostr._html import make_card, make_grid, make_note
from boostr._typing import AnyArray, FloatArray
from boostr.data import RecurrentEvents
from boostr.data.clip import read_times
from boostr.data.events.frames import make_table
from boostr.data.events.terminal import known_stops
from boostr.data.features import is_frame
from boostr.data.flat import owners_of
from boostr.data.times import as_stamp, find_origins, name_length, to_stamps
from boostr.exceptions import InvalidParameterError
from boostr.plotting import plot_backtest

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["COLUMNS", "Backtest", "Date", "list_dates", "make_backtest"]

_WHOLE_DAYS = ("D", "W")  # units in which dates have no time of day


@dataclass(frozen=True, slots=True, eq=False)
class Date:
    """One date, on the time axis of each individual's history."""

    label: Any  # a number or a time stamp
    times: FloatArray  # (n,)

    def __str__(self) -> str:
        if isinstance(self.label, np.datetime64):
            return str(self.label).removesuffix("T00:00:00.000000")
        return f"{self.label:g}"

    def find_observed(
        self, y: RecurrentEvents, horizon: float
    ) -> tuple[AnyArray, FloatArray]:
        """Return who is under observation at the date, and for how long after it.

        That time ends at the first gap or at the horizon, not with a terminal event.
        """
        owner = owners_of(y.window_offsets)
        goes_on = (y.window_start < self.times[owner]) & (y.window_stop > self.times[owner])
        rows = owner[goes_on]
        lengths = np.minimum(known_stops(y)[goes_on] - self.times[rows], horizon)
        return rows, lengths


def list_dates(as_of: Any, y: RecurrentEvents, horizon: float) -> list[Date]:
    """Return the given dates; a whole number means so many evenly spaced ones."""
    if isinstance(as_of, Integral) and not isinstance(as_of, bool):
        return _space_dates(int(as_of), y, horizon)
    if isinstance(as_of, str) or not hasattr(as_of, "__len__") or not len(as_of):
        raise InvalidParameterError(
            "`as_of` must be a list of dates, or how many to choose, but it is "
            f"{as_of!r}.\n\nHint: as_of=['2024-01-31', '2024-04-30'], as_of=[200, 300] or "
            "as_of=5."
        )
    dates = [_read_date(each, y) for each in as_of]
    if len({isinstance(date.label, float) for date in dates}) > 1:
        raise InvalidParameterError(
            "`as_of` must hold numbers or time stamps, but it holds both."
        )
    return dates


def _read_date(given: Any, y: RecurrentEvents) -> Date:
    if np.ndim(given) != 0:
        raise InvalidParameterError(
            "`as_of` must hold one time or time stamp per date, but it holds an array.\n\n"
            "Hint: where time is age, time stamps mean the age of each on that day; "
            "y.in_calendar_time(since=…) has dates where there are none."
        )
    times = read_times(y, given, "as_of")
    if np.asarray(given).dtype.kind in "fiu":
        return Date(float(given), times)
    return Date(as_stamp(given, "as_of"), times)


def _space_dates(n_dates: int, y: RecurrentEvents, horizon: float) -> list[Date]:
    """Return evenly spaced dates, the last one with a full horizon after it."""
    if n_dates < 1:
        raise InvalidParameterError(
            f"`as_of` must be at least one date, but it is {n_dates}."
        )
    is_dated = find_origins(y) is not None
    calendar = y.in_calendar_time() if is_dated else y
    first, last = calendar.start.min(), calendar.end.max()
    reach = last - first - horizon
    if not reach > 0.0:
        raise InvalidParameterError(
            "`horizon` must be shorter than the time from the first entry to the last end "
            f"of follow-up, to leave a past to learn from, but it is {horizon:g} and that "
            f"is {last - first:g}."
        )
    times = first + reach * np.arange(1, n_dates + 1) / n_dates
    if not is_dated:
        return [_read_date(float(each), y) for each in times]
    stamps = to_stamps(times, calendar.origin, str(y.time_unit))
    if y.time_unit in _WHOLE_DAYS:
        stamps = stamps.astype("datetime64[D]").astype("datetime64[us]")
    return [_read_date(stamp, y) for stamp in stamps]


COLUMNS = (
    *("candidate", "date", "horizon", "level", "n_individuals", "observed", "expected"),
    *("ratio", "lower", "upper", "held", "deviance", "mae", "concordance", "capture"),
    *("coverage", "zeros", "seconds"),
)
# How the dates of a candidate become one figure.
_SUMS = ("observed", "expected", "zeros", "seconds")
_MEANS = ("deviance", "mae", "concordance", "capture", "coverage", "held")
_SUMMARY = (
    *("candidate", "n_dates", "observed", "expected", "ratio", *_MEANS),
    *("zeros", "seconds"),
)

_SHOWN = {  # in a notebook
    "observed": "observed",
    "expected": "expected",
    "ratio": "expected / observed",
    "deviance": "deviance",
    "concordance": "concordance",
    "capture": "events in riskiest tenth",
    "coverage": "intervals that held",
    "held": "totals that held",
}


@dataclass(frozen=True, slots=True, eq=False)
class Backtest:
    """Forecasts that models would have made at past dates, beside what came.

    Made by `boostr.backtest`. A table that was written to a file and read again makes the
    same: ``Backtest(pandas.read_csv("table.csv"))``.

    Parameters
    ----------
    table : DataFrame
        One row per candidate and date, from polars if `X` was, else from pandas if that is
        installed:

        - ``candidate`` and ``date``, ``horizon`` and ``level`` as they were asked for;
        - ``n_individuals``: individuals under observation at the date;
        - ``observed``, ``expected``: number (or cost) of their events while they were
          observed within the horizon, and its forecast; ``ratio`` is the second over the
          first;
        - ``lower``, ``upper``: interval of the total from ``forecast_fleet``, and ``held``,
          1 if the total that came lies in it and 0 if not;
        - ``deviance``: mean Poisson deviance of the individual counts, lower is better;
        - ``mae``: mean absolute error of the individual counts;
        - ``concordance``: chance that the one who has an event was forecast a higher rate
          than another individual, 0.5 for a constant forecast;
        - ``capture``: share of the events among the tenth of individuals most at risk;
        - ``coverage``: share of individuals whose count lies in their own interval;
        - ``zeros``: number of forecasts of exactly 0;
        - ``seconds`` that the fit and the forecast took.

        What a candidate does not forecast, or the data do not tell, is NaN.
    time_unit : str or None, default=None
        Unit of the horizon.

    See Also
    --------
    boostr.backtest : Makes it.
    boostr.plotting.plot_backtest : The picture that `plot` draws.

    Examples
    --------
    >>> from boostr import backtest
    >>> from boostr.baselines import HomogeneousPoisson
    >>> from boostr.simulate import dataset_a
    >>> fleet = dataset_a(n=100, random_state=1)
    >>> model = HomogeneousPoisson()
    >>> result = backtest(model, fleet.X, fleet.y, as_of=[40, 60], horizon=20)
    >>> result.summary()["n_dates"].tolist()
    [2]
    """

    table: Any
    time_unit: str | None = None

    def __post_init__(self) -> None:
        if not is_frame(self.table):
            raise InvalidParameterError(
                "The table of a back-test must be a DataFrame, but it is a "
                f"{type(self.table).__name__}.\n\nHint: boostr.backtest(…) makes it."
            )
        missing = [name for name in COLUMNS if name not in self.table.columns]
        if missing or not len(self.table):
            lack = ", ".join(missing) or "rows"
            raise InvalidParameterError(
                f"The table of a back-test must have rows and all columns, but it lacks "
                f"{lack}.\n\nHint: boostr.backtest(…).table has them."
            )

    @property
    def candidates(self) -> tuple[str, ...]:
        """Names of the candidates, in their order."""
        return tuple(dict.fromkeys(map(str, self._read("candidate"))))

    @property
    def horizon(self) -> float:
        """Length of the forecasts."""
        return float(self._read("horizon")[0])

    @property
    def level(self) -> float:
        """Probability of the intervals."""
        return float(self._read("level")[0])

    def summary(self) -> Any:
        """Sum up the dates of every candidate.

        Returns
        -------
        DataFrame
            One row per candidate: the number of dates; events observed and expected at all
            of them, and their ratio; means of deviance, mae, concordance, capture and
            coverage; the share of dates at which the interval of the total held; the number
            of forecasts of exactly 0, and the seconds taken.
        """
        names = self._read("candidate").astype(str)
        rows = []
        for candidate in self.candidates:
            own = names == candidate
            sums = {name: self._read(name)[own].sum().item() for name in _SUMS}
            expected, observed = sums["expected"], sums["observed"]
            row = {"candidate": candidate, "n_dates": int(own.sum()), **sums}
            row["ratio"] = expected / observed if observed else float("nan")
            rows.append(row | {name: _mean(self._read(name)[own]) for name in _MEANS})
        columns = {name: [row[name] for row in rows] for name in _SUMMARY}
        return make_table(columns, _library(self.table))

    def plot(self, *, ax: Axes | None = None, **options: Any) -> Axes:
        """Draw expected over observed totals of all dates, and deviances.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; a new figure by default.
        **options
            Passed to `boostr.plotting.plot_backtest`.

        Returns
        -------
        matplotlib Axes
            Where the panels were drawn.
        """
        return plot_backtest(self, ax=ax, **options)

    def _repr_html_(self) -> str:
        """Return the summary as a table for notebooks."""
        frame = nw.from_native(self.summary(), eager_only=True)
        header = ("candidate", "dates", *_SHOWN.values())
        rows = [
            [row["candidate"], row["n_dates"], *(_show(name, row[name]) for name in _SHOWN)]
            for row in frame.rows(named=True)
        ]
        ahead = name_length(self.horizon, self.time_unit)
        note = (
            "Sums or means over the dates. Better: expected over observed near 1, a lower "
            "deviance, a higher share. The attribute `table` has every date."
        )
        return make_card(
            f"Forecasts at past dates, {ahead} ahead",
            make_grid(header, rows),
            make_note(note),
        )

    def _read(self, name: str) -> AnyArray:
        """Return a column as an array."""
        return np.asarray(nw.from_native(self.table, eager_only=True)[name].to_numpy())


def make_backtest(rows: list[dict[str, Any]], features: Any, unit: str | None) -> Backtest:
    """Return the result, with a table in the library of the features."""
    columns = {name: [row[name] for row in rows] for name in COLUMNS}
    if isinstance(columns["date"][0], np.datetime64):
        columns["date"] = np.array(columns["date"], "datetime64[us]")  # type: ignore[assignment]
    return Backtest(make_table(columns, _library(features)), unit)


def _library(table: Any) -> str | None:
    frame = nw.from_native(table, eager_only=True, pass_through=True)
    if not isinstance(frame, nw.DataFrame):
        return None
    return "polars" if frame.implementation.is_polars() else "pandas"


def _show(name: str, value: float) -> float | str | None:
    """Return a figure of the summary for a notebook; shares in percent."""
    if not np.isfinite(value):
        return None
    return f"{value:.0%}" if name in {"capture", "coverage", "held"} else value


def _mean(values: AnyArray) -> float:
    """Return the mean of known values, NaN if there are none."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # of nothing
        return float(np.nanmean(values.astype(np.float64)))
