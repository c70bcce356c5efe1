"""Forecasts as a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import narwhals as nw
import numpy as np

from boostr._checks.numbers import first_few
from boostr._typing import AnyArray, FloatArray
from boostr.data import Panel
from boostr.data.events.frames import make_table
from boostr.data.times import as_moments, find_origins
from boostr.estimators._forecast_results import FleetForecast
from boostr.estimators._outlook import Present
from boostr.exceptions import InvalidParameterError

__all__ = ["make_forecast_table", "make_group_table", "read_labels"]

_LONGEST_WAIT = 1000.0  # times the longest follow-up: later dates may not be dates at all


def make_forecast_table(X: Any, present: Present, columns: Mapping[str, FloatArray]) -> Any:
    """Return one row per individual, sorted by risk, in the table library of `X`."""
    order = np.argsort(-columns["expected"], kind="stable")
    ids = present.ids[order]
    table: dict[str, Any] = {
        # Lists let both libraries find the type of ids that NumPy calls objects.
        "id": ids.tolist() if ids.dtype.kind == "O" else ids,
        "now": _moments(present)[order],
    }
    table |= {name: values[order] for name, values in columns.items()}
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


def read_labels(X: Any, by: Any) -> AnyArray:
    """Return one label per individual, from a column of the features or as given."""
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
