"""Event histories in figures: counts, rates, follow-up, gaps, costs and exposures."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

import numpy as np

from boostr._html import format_cell, make_card, make_facts
from boostr._typing import AnyArray, FloatArray
from boostr.data.events.exposure import exposed_windows
from boostr.data.events.frames import make_table
from boostr.data.events.kinds import count_kinds
from boostr.data.individuals import count_of
from boostr.data.times import as_moments, name_length, name_rate

if TYPE_CHECKING:
    from boostr.data.events.recurrent_events import RecurrentEvents

__all__ = ["EventsSummary", "describe_events"]


@dataclass(frozen=True, slots=True, eq=False)
class EventsSummary:
    """Event histories in figures.

    Made by ``y.describe()``. It prints as a list; `to_frame` makes a table of one row.

    Parameters
    ----------
    n_individuals, n_events : int
        Number of individuals, and of their events.
    mean_events, median_events : float
        Mean and median number of events of an individual.
    max_events : int
        Most events of an individual.
    share_without_events : float
        Share of individuals without events.
    total_follow_up : float
        Time observed, summed over individuals, without gaps.
    min_follow_up, median_follow_up, max_follow_up : float
        Shortest, median and longest time that an individual was observed.
    rate : float
        Events per unit of time observed, and per unit of exposure where there are
        exposures.
    median_time_between_events : float
        Median time between successive events of an individual; NaN if there are none.
    first_time, last_time : float or numpy.datetime64
        First start and last end of follow-up, as dates where they are known.
    n_late_entries : int
        Individuals that are observed from later than time 0 on.
    n_with_gaps : int
        Individuals with gaps in observation.
    share_in_gaps : float
        Share of the time between entry and end that lies in gaps.
    n_ties : int
        Events at the same time as another one of the same individual.
    n_terminal : int
        Individuals whose end of follow-up is a terminal event, such as death.
    kinds : str or None
        Number of events of each kind; None without kinds.
    total_cost, mean_cost, max_cost : float
        Cost of all events, of an event on average, and of the most expensive one; NaN
        without costs.
    min_exposure, median_exposure, max_exposure : float
        Exposures, those that change in time averaged over the time observed; NaN without.
    time_unit : str or None
        Unit of time, where it is known.

    Examples
    --------
    >>> from boostr.data import RecurrentEvents
    >>> y = RecurrentEvents.from_lists([[3.0, 8.5], []], end=[10.0, 7.0])
    >>> print(y.describe())
    individuals          2
    events               2
    events each          1 on average, median 1, at most 2
    without events       1 individual (50%)
    follow-up            17 units of time in total; 7 to 10 each, median 8.5
    rate                 0.1176 events per unit of time
    time between events  5.5 units of time (median)
    observed             from 0 to 10
    """

    n_individuals: int
    n_events: int
    mean_events: float
    median_events: float
    max_events: int
    share_without_events: float
    total_follow_up: float
    min_follow_up: float
    median_follow_up: float
    max_follow_up: float
    rate: float
    median_time_between_events: float
    first_time: Any
    last_time: Any
    n_late_entries: int
    n_with_gaps: int
    share_in_gaps: float
    n_ties: int
    n_terminal: int
    kinds: str | None
    total_cost: float
    mean_cost: float
    max_cost: float
    min_exposure: float
    median_exposure: float
    max_exposure: float
    time_unit: str | None

    def to_frame(self, *, backend: str | None = None) -> Any:
        """Write a table with one row and one column per figure.

        Parameters
        ----------
        backend : {"pandas", "polars"}, default=None
            Which table to make; by default pandas if it is installed, else polars.

        Returns
        -------
        DataFrame
            One row; those of several fleets can be stacked.

        Examples
        --------
        >>> from boostr.data import RecurrentEvents
        >>> y = RecurrentEvents.from_lists([[3.0, 8.5], []], end=[10.0, 7.0])
        >>> y.describe().to_frame()["total_follow_up"].tolist()
        [17.0]
        """
        values = {each.name: getattr(self, each.name) for each in fields(self)}
        columns = {
            name: np.array([value]) if isinstance(value, np.datetime64) else [value]
            for name, value in values.items()
        }
        return make_table(columns, backend)

    def facts(self) -> list[tuple[str, str]]:
        """Return the figures as names and texts; what there is none of is left out.

        Returns
        -------
        list of tuple
            Name and text of each line.
        """
        follow_up = name_length(self.total_follow_up, self.time_unit)
        found = [
            ("individuals", format_cell(self.n_individuals)),
            ("events", format_cell(self.n_events)),
        ]
        if self.n_individuals == 0:
            return found
        found += [
            (
                "events each",
                f"{format_cell(self.mean_events)} on average, median "
                f"{format_cell(self.median_events)}, at most {self.max_events:,}",
            ),
            ("without events", self._count(self.share_without_events * self.n_individuals)),
            (
                "follow-up",
                f"{follow_up} in total; {self._name_follow_up()}",
            ),
            ("rate", self._name_rate()),
        ]
        if np.isfinite(self.median_time_between_events):
            length = name_length(self.median_time_between_events, self.time_unit)
            found.append(("time between events", f"{length} (median)"))
        ends = format_cell(self.first_time), format_cell(self.last_time)
        found.append(("observed", f"from {ends[0]} to {ends[1]}"))
        return found + self._special_facts()

    def _special_facts(self) -> list[tuple[str, str]]:
        """Return late entry, gaps, ties, terminal events, costs and exposures, if any."""
        found = []
        if self.n_late_entries:
            found.append(
                ("late entry", f"{self._count(self.n_late_entries)} start after time 0")
            )
        if self.n_with_gaps:
            share = f"{self.share_in_gaps:.1%} of the time"
            found.append(("gaps", f"{self._count(self.n_with_gaps)}, {share}"))
        if self.n_ties:
            text = f"{count_of(self.n_ties, 'event', ',')} beside another of the individual"
            found.append(("at the same time", text))
        if self.n_terminal:
            found.append(("terminal events", self._count(self.n_terminal)))
        if self.kinds:
            found.append(("kinds", self.kinds))
        if np.isfinite(self.total_cost):
            found.append(
                (
                    "costs",
                    f"{format_cell(self.total_cost)} in total; "
                    f"{format_cell(self.mean_cost)} per event, at most "
                    f"{format_cell(self.max_cost)}",
                )
            )
        if np.isfinite(self.median_exposure):
            found.append(
                (
                    "exposure",
                    f"{format_cell(self.min_exposure)} to "
                    f"{format_cell(self.max_exposure)}, "
                    f"median {format_cell(self.median_exposure)}",
                )
            )
        return found

    def _name_follow_up(self) -> str:
        """Return the range of follow-ups, or the one that all individuals have."""
        lengths = (self.min_follow_up, self.max_follow_up, self.median_follow_up)
        low, high, middle = (format_cell(length) for length in lengths)
        return f"{low} each" if low == high else f"{low} to {high} each, median {middle}"

    def _count(self, number: float) -> str:
        share = number / self.n_individuals
        return f"{count_of(round(number), 'individual', ',')} ({share:.0%})"

    def _name_rate(self) -> str:
        per = " and unit of exposure" if np.isfinite(self.median_exposure) else ""
        return f"{format_cell(self.rate)} {name_rate(self.time_unit)}{per}"

    def __str__(self) -> str:
        facts = self.facts()
        width = max(len(name) for name, _ in facts) + 2
        return "\n".join(f"{name:<{width}}{text}" for name, text in facts)

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        return make_card("Event histories", make_facts(self.facts()))


def describe_events(y: RecurrentEvents) -> EventsSummary:
    """Return the figures of histories."""
    follow_up, counts, n = y.follow_up, y.n_events, len(y)
    first, last = _find_ends(y)
    windows = exposed_windows(y)
    exposed = float(windows.factor @ (windows.stop - windows.start))
    span = float((y.end - y.start).sum())
    is_next = np.diff(y.event_owner) == 0
    between = np.diff(y.times)[is_next] if y.intervals is None else np.empty(0)
    counted = count_kinds(y)
    costs = y.costs if y.has_costs and y.costs.size else np.full(1, np.nan)
    return EventsSummary(
        n_individuals=n,
        n_events=y.times.size,
        mean_events=y.times.size / n if n else np.nan,
        median_events=_quantile(counts, 0.5),
        max_events=int(counts.max(initial=0)),
        share_without_events=float(np.mean(counts == 0)) if n else np.nan,
        total_follow_up=float(follow_up.sum()),
        min_follow_up=_quantile(follow_up, 0.0),
        median_follow_up=_quantile(follow_up, 0.5),
        max_follow_up=_quantile(follow_up, 1.0),
        rate=y.times.size / exposed if exposed > 0.0 else np.nan,
        median_time_between_events=_quantile(between, 0.5),
        first_time=first,
        last_time=last,
        n_late_entries=int(np.sum(y.start > 0.0)),
        n_with_gaps=int(np.sum(np.diff(y.window_offsets) > 1)),
        share_in_gaps=max(1.0 - float(follow_up.sum()) / span, 0.0) if span > 0.0 else 0.0,
        n_ties=int(np.sum(between == 0.0)),
        n_terminal=0 if y.is_terminal is None else int(y.is_terminal.sum()),
        kinds=", ".join(f"{kind} {n:,}" for kind, n in counted.items()) or None,
        total_cost=float(costs.sum()),
        mean_cost=float(costs.mean()),
        max_cost=float(costs.max()),
        **_describe_exposures(y),
        time_unit=y.time_unit,
    )


def _find_ends(y: RecurrentEvents) -> tuple[Any, Any]:
    """Return first start and last end, as dates if histories have them."""
    if not len(y):
        return np.nan, np.nan
    starts, ends = (as_moments(y, slice(None), times) for times in (y.start, y.end))
    return starts.min(), ends.max()


def _describe_exposures(y: RecurrentEvents) -> dict[str, float]:
    """Return quantiles of the mean exposures of individuals, NaN if there are none."""
    averages = np.empty(0)
    if y.exposure is not None:
        windows = exposed_windows(y)
        length = windows.stop - windows.start
        averages = np.bincount(windows.owner, windows.factor * length, len(y)) / y.follow_up
    names = {"min_exposure": 0.0, "median_exposure": 0.5, "max_exposure": 1.0}
    return {name: _quantile(averages, share) for name, share in names.items()}


def _quantile(values: AnyArray | FloatArray, share: float) -> float:
    return float(np.quantile(values, share)) if values.size else np.nan
