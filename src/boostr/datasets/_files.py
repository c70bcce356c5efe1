"""Reading of the tables that lie beside this file."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import replace
from importlib.resources import files
from typing import Any

import numpy as np
from narwhals.dependencies import is_pandas_dataframe

from boostr._typing import AnyArray
from boostr.data import RecurrentEvents
from boostr.data._frames import make_table

__all__ = ["read_events", "read_features"]

Columns = dict[str, AnyArray | list[str]]


def read_events(name: str, *, unit: str) -> RecurrentEvents:
    """Read histories from a file of ids, times and events, sorted in this order.

    Every id has one row that is no event, its end of follow-up.
    """
    columns = _read_columns(name)
    owner, times, event = (np.asarray(values) for values in columns.values())
    is_event = event == 1
    ids = owner[~is_event]
    offsets = np.append(0, np.searchsorted(owner[is_event], ids, side="right"))
    y = RecurrentEvents.from_flat(times[is_event], offsets, end=times[~is_event], ids=ids)
    return replace(y, id_name=next(iter(columns)), time_unit=unit)


def read_features(name: str, *, backend: str | None) -> Any:
    """Read features from a file whose first column is the id, sorted."""
    columns = _read_columns(name)
    id_name = next(iter(columns))
    ids = columns.pop(id_name)
    table = make_table(columns, backend)
    if is_pandas_dataframe(table):
        # The index lets estimators check that rows and histories belong together.
        table.index = ids
        table.index.name = id_name
    return table


def _read_columns(name: str) -> Columns:
    text = files("boostr.datasets").joinpath("data", name).read_text(encoding="utf-8")
    header, *rows = csv.reader(text.splitlines())
    return {
        column: _read_values(values)
        for column, values in zip(header, zip(*rows, strict=True), strict=True)
    }


def _read_values(values: Sequence[str]) -> AnyArray | list[str]:
    """Return whole numbers, numbers or text, the first of them that all values are."""
    for kind in (np.int64, np.float64):
        try:
            return np.array(values).astype(kind)
        except ValueError:
            continue
    return list(values)
