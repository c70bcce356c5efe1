"""Checks of what is handed to `fit` and `predict`."""

from boostr._checks.times import check_length, check_spread, check_times
from boostr._checks.times import check_windows as check_window
from boostr.data.features import ROWS_HINT, check_rows

__all__ = [
    "ROWS_HINT",
    "check_length",
    "check_rows",
    "check_spread",
    "check_times",
    "check_window",
]
