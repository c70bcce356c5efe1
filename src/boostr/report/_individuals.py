"""Forecasts, curves and reasons of individuals, and what drives the events of a fleet."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from boostr._forecasting.outlook import Outlook
from boostr._frailty.law import sum_by_owner
from boostr._html import thin
from boostr._typing import BoolArray, FloatArray, PositionArray
from boostr.data import Trajectories
from boostr.data.clip import clip
from boostr.data.flat import owners_of
from boostr.inspection import Explanation
from boostr.inspection.model import unused_features, unused_sensors
from boostr.report._fleet import FleetData

__all__ = ["Drivers", "Reasons", "Risk", "RiskCurves", "SensorPaths"]

N_LEADS = 10  # points of a curve ahead
N_PAST = 16  # points of what the model expected so far
_N_REASONS = 8  # of an individual, the largest ones
_MOST_SENSORS = 6
_FEWEST_POINTS, _MOST_POINTS = 12, 120  # of a sensor's curve
_MOST_ROWS = 12  # of the figures of reasons and features
_MOST_DOTS = 300  # individuals of the figure of values


@dataclass(frozen=True, slots=True, eq=False)
class Risk:
    """The forecast of every individual, as `forecast` makes it, in the order given."""

    now: FloatArray
    so_far: FloatArray  # number (or cost) of events
    expected: FloatArray
    probability: FloatArray
    lower: FloatArray
    upper: FloatArray
    next_event: FloatArray  # median time to it
    own_history: FloatArray  # times as many events as similar individuals
    terminal: FloatArray  # chance of the terminal event; NaN without a model of it
    kind: PositionArray  # of which most events are expected; 0 without kinds
    is_over: BoolArray  # whether the history ends with a terminal event

    @classmethod
    def of(cls, fleet: FleetData, outlook: Outlook, stop: FloatArray, level: float) -> Risk:
        """Look ahead from the present to the end of the window."""
        frailties = outlook.frailties(stop)
        occurring, counts, deaths = outlook.look_ahead(frailties, stop)
        chance = np.full(len(stop), np.nan)
        if deaths is not None and outlook.hazard is not None:
            chance = deaths.chance
        lower, upper = outlook.costs.interval(counts, level)
        parts = [part.expect_ahead(stop) for part in outlook.parts] or [outlook.now]
        return cls(
            now=outlook.now,
            so_far=sum_by_owner(fleet.y.event_owner, fleet.y.costs, len(fleet)),
            expected=counts.mean * outlook.costs.unit,
            probability=outlook.exceed(1, occurring, stop),
            lower=lower,
            upper=upper,
            next_event=outlook.wait(0.5, frailties, stop),
            own_history=outlook.own_factor(stop, frailties),
            terminal=chance,
            kind=np.argmax(parts, axis=0),
            is_over=outlook.present.is_dead,
        )

    def take(self, rows: PositionArray) -> Risk:
        """Return the forecasts of some individuals."""
        return Risk(
            **{field.name: getattr(self, field.name)[rows] for field in fields(self)}
        )

    def order(self) -> PositionArray:
        """Return the positions of individuals, the highest expected number first."""
        return np.argsort(-self.expected, kind="stable")


@dataclass(frozen=True, slots=True, eq=False)
class RiskCurves:
    """Expected events of individuals up to now, and after it with an interval.

    Points of the past are evenly spaced from entry to now, those ahead from now to the end
    of the window.
    """

    leads: FloatArray  # (m,) times from now
    expected: FloatArray  # (n, m) from now on
    lower: FloatArray
    upper: FloatArray
    entry: FloatArray  # (n,)
    past: FloatArray  # (n, q) without own history, from entry on

    @classmethod
    def of(
        cls,
        outlook: Outlook,
        plain: Outlook,
        horizon: float,
        level: float,
        rows: PositionArray,
    ) -> RiskCurves:
        """Compute the curves of some individuals, the past without own history."""
        leads = horizon * np.arange(1, N_LEADS + 1) / N_LEADS
        parts = [_look(outlook, lead, level, rows) for lead in leads]
        expected, lower, upper = (
            np.stack(columns, axis=1) for columns in zip(*parts, strict=True)
        )
        entry, now = outlook.present.entry, outlook.now
        shares = np.arange(1, N_PAST + 1) / N_PAST
        past = [_expect_observed(plain, entry + s * (now - entry)) for s in shares]
        return cls(leads, expected, lower, upper, entry[rows], np.stack(past, axis=1)[rows])


@dataclass(frozen=True, slots=True, eq=False)
class Reasons:
    """The largest reasons of every individual."""

    names: tuple[str, ...]  # of all reasons
    n_valued: int  # of the first ones, which are features and sensors with values
    categories: tuple[tuple[str, ...] | None, ...]  # of each of them
    index: PositionArray  # (n, r) into the names
    amount: FloatArray  # (n, r)
    value: FloatArray  # (n, r) of the feature, or last one of the sensor; NaN where none
    base: FloatArray  # (n,)
    rest: FloatArray  # (n,) of reasons that are not listed
    sentences: tuple[str, ...]
    unlearned: dict[int, str]  # words for unlearned categories, by place in index.ravel()

    @classmethod
    def of(cls, explanation: Explanation, fleet: FleetData, rows: PositionArray) -> Reasons:
        """Choose the reasons of some individuals."""
        amounts = explanation.amounts[rows]
        index = np.argsort(-np.abs(amounts), axis=1, kind="stable")[:, :_N_REASONS]
        chosen = np.take_along_axis(amounts, index, axis=1)
        values = np.full(amounts.shape, np.nan)
        known = _read_values(fleet)
        values[:, : known.shape[1]] = known[rows]
        return cls(
            names=explanation.reasons,
            n_valued=known.shape[1],
            categories=_name_categories(explanation, fleet.sensors),
            index=index,
            amount=chosen,
            value=np.take_along_axis(values, index, axis=1),
            base=explanation.base[rows],
            rest=amounts.sum(axis=1) - chosen.sum(axis=1),
            sentences=tuple(explanation._write_sentence(int(row)) for row in rows),
            unlearned=_find_unlearned(explanation, fleet, rows, index),
        )


@dataclass(frozen=True, slots=True, eq=False)
class SensorPaths:
    """Values of sensors at evenly spaced times from entry to now."""

    names: tuple[str, ...]
    categories: tuple[tuple[str, ...] | None, ...]
    values: FloatArray  # (n_sensors, n, m)
    n_sensors: int  # of which these are the ones that matter most

    @classmethod
    def of(
        cls, explanation: Explanation, fleet: FleetData, rows: PositionArray, most: int
    ) -> SensorPaths | None:
        """Read the sensors with the largest effects, about ``most`` numbers at most."""
        if fleet.sensors is None:
            return None
        n_features = len(explanation.features)
        sizes = np.abs(explanation.values[:, n_features:]).mean(axis=0)
        chosen = np.sort(np.argsort(-sizes, kind="stable")[:_MOST_SENSORS])
        part = fleet.sensors.select([fleet.sensors.names[k] for k in chosen])[rows]
        room = int(most / max(len(chosen) * len(rows), 1))
        shares = np.linspace(0.0, 1.0, min(max(room, _FEWEST_POINTS), _MOST_POINTS))
        entry, now = fleet.y.start[rows, None], fleet.y.end[rows, None]
        # A sample acts after its time, so the value just after is shown.
        values = part.read(np.nextafter(entry + shares * (now - entry), np.inf))
        return cls(
            names=part.names,
            categories=tuple(_as_text(known) for known in part.categories),
            values=np.moveaxis(values, 2, 0),
            n_sensors=len(fleet.sensors.names),
        )


def _look(
    outlook: Outlook, lead: float, level: float, rows: PositionArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return expected number and interval in the first part of the window."""
    stop = outlook.now + lead
    counts = outlook.look_ahead(outlook.frailties(stop), stop)[1]
    lower, upper = outlook.costs.interval(counts, level)
    return counts.mean[rows] * outlook.costs.unit, lower[rows], upper[rows]


def _expect_observed(outlook: Outlook, times: FloatArray) -> FloatArray:
    """Return the events that a model expects while observed, up to one time each."""
    present = outlook.present
    first = np.full(len(present.rows), -np.inf)
    known, among = clip(present.events, first, times[present.rows])
    owner = present.rows[among][owners_of(known.window_offsets)]
    expected = outlook.curves.expect(owner, known.window_start, known.window_stop)
    return np.maximum(sum_by_owner(owner, expected, len(present)), 0.0)


def _read_values(fleet: FleetData) -> FloatArray:
    """Return features as numbers, and beside them the last value of every sensor."""
    if fleet.sensors is None:
        return fleet.features
    last = fleet.sensors.read(np.nextafter(fleet.y.end, np.inf)[:, None])[:, 0, :]
    return np.concatenate([fleet.features, last], axis=1)


def _find_unlearned(
    explanation: Explanation, fleet: FleetData, rows: PositionArray, index: PositionArray
) -> dict[int, str]:
    """Return words for categories that the model has not learned, among chosen reasons."""
    words = dict(explanation.unlearned)
    if fleet.sensors is not None and fleet.given is not None:
        given = fleet.given.select(list(fleet.sensors.names))
        last = given.read(np.nextafter(fleet.y.end, np.inf)[:, None])[:, 0, :]
        unseen = np.isnan(_read_values(fleet)[:, len(explanation.features) :])
        for place, known in enumerate(given.categories):
            if known is None:
                continue
            for row in np.flatnonzero(unseen[:, place] & ~np.isnan(last[:, place])):
                value = known[int(last[row, place])]
                words[int(row), len(explanation.features) + place] = f"unknown ({value})"
    if not words:
        return {}
    width = index.shape[1]
    return {
        place * width + k: words[row, reason]
        for place, row in enumerate(rows.tolist())
        for k, reason in enumerate(index[place].tolist())
        if (row, reason) in words
    }


def _name_categories(
    explanation: Explanation, sensors: Trajectories | None
) -> tuple[tuple[str, ...] | None, ...]:
    """Return the categories of every reason that has some, None for the others."""
    known = [_as_text(one) for one in explanation.categories]
    if sensors is not None:
        known += [_as_text(one) for one in sensors.categories]
    return tuple(known + [None] * (len(explanation.reasons) - len(known)))


def _as_text(known: Sequence[Any] | None) -> tuple[str, ...] | None:
    return None if known is None else tuple(str(category) for category in known)


@dataclass(frozen=True, slots=True, eq=False)
class Drivers:
    """How much reasons matter to this fleet, and to the model as it was trained."""

    reasons: tuple[str, ...]  # from the largest on
    sizes: FloatArray  # mean absolute amounts
    n_others: int  # reasons that are not listed
    amounts: FloatArray  # (n, k) what the reasons add for some individuals
    ranks: FloatArray  # (n, k) of the values among all, in [0, 1]; NaN where none
    features: tuple[str, ...]  # from the most important on
    importances: FloatArray  # shares of the gain of all splits
    sensors: dict[str, tuple[float, float]]  # rise of the held-out loss without, and error
    unused: tuple[tuple[str, ...], tuple[str, ...]]  # features and sensors

    @classmethod
    def of(cls, model: Any, explanation: Explanation, fleet: FleetData) -> Drivers:
        """Sum up the reasons of all individuals."""
        sizes = explanation.mean_sizes()
        order = np.argsort(-sizes, kind="stable")
        order = order[sizes[order] > 0.0]
        top = order[:_MOST_ROWS]
        gain = model.feature_importances_
        best = np.argsort(-gain, kind="stable")[:_MOST_ROWS]
        best = best[gain[best] > 0.0]
        some = thin(len(fleet), _MOST_DOTS)
        ranks = np.empty((len(fleet), len(top)))
        for column, place in enumerate(top):
            ranks[:, column] = _rank_values(explanation, fleet, int(place))
        return cls(
            reasons=tuple(explanation.reasons[k] for k in top),
            sizes=sizes[top],
            n_others=len(order) - len(top),
            amounts=explanation.amounts[some][:, top],
            ranks=ranks[some],
            features=tuple(model.encoder_.names[k] for k in best),
            importances=gain[best],
            sensors=dict(model.sensor_usefulness_ or {}),
            unused=(unused_features(model), unused_sensors(model)),
        )


def _rank_values(explanation: Explanation, fleet: FleetData, place: int) -> FloatArray:
    """Return ranks in [0, 1] of a feature or of a sensor's last value, NaN for others."""
    ranks = np.full(len(fleet), np.nan)
    sensors = () if fleet.sensors is None else fleet.sensors.categories
    known = (*explanation.categories, *sensors)
    if place >= len(known) or known[place] is not None:
        return ranks
    values = _read_values(fleet)[:, place]
    is_known = ~np.isnan(values)
    if is_known.any():
        inverse = np.unique(values[is_known], return_inverse=True)[1]
        ranks[is_known] = inverse / max(int(inverse.max()), 1)
    return ranks
