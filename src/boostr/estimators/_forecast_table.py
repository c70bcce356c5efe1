"""Forecasts as a table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import narwhals as nw
import numpy as np

from boostr._typing import AnyArray, FloatArray
from boostr.data import Panel
from boostr.data._frames import make_table
from boostr.data._origins import as_moments
from boostr.estimators._outlook import Present

__all__ = ["make_forecast_table"]


def make_forecast_table(X: Any, present: Present, columns: Mapping[str, FloatArray]) -> Any:
    """Return one row per individual, sorted by risk, in the library that `X` is from."""
    order = np.argsort(-columns["expected"], kind="stable")
    ids = present.ids[order]
    table: dict[str, Any] = {
        # Lists let both libraries find the type of ids that NumPy calls objects.
        "id": ids.tolist() if ids.dtype.kind == "O" else ids,
        "now": _moments(present)[order],
    }
    table |= {name: values[order] for name, values in columns.items()}
    return make_table(table, _backend(X.X if isinstance(X, Panel) else X))


def _moments(present: Present) -> AnyArray:
    """Return the presents, as time stamps where histories have them."""
    target = present.target
    if target is None:
        return present.now
    return as_moments(target, slice(None), present.now)


def _backend(X: Any) -> str | None:
    frame = nw.from_native(X, eager_only=True, pass_through=True)
    if not isinstance(frame, nw.DataFrame):
        return None
    return "polars" if frame.implementation.is_polars() else "pandas"
