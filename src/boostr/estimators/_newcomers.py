"""New individuals beside those with a history."""

from __future__ import annotations

from typing import Any

import numpy as np

from boostr._checks.numbers import first_few
from boostr._typing import AnyArray
from boostr.data import Panel, RecurrentEvents
from boostr.data.times import as_moments
from boostr.exceptions import InvalidParameterError

__all__ = ["add_newcomers"]

_MOMENT = 1e-14  # of the longest follow-up, for which newcomers count as observed


def add_newcomers(X: Any, y: RecurrentEvents | None, now: Any) -> RecurrentEvents | None:
    """Return histories for all rows of a table, also for ids without one.

    Newcomers start at the present of the fleet, or at 0 if time counts from each own
    start. Their follow-up lasts a moment, so it tells nothing.
    """
    table = X.X if isinstance(X, Panel) else X
    index = getattr(table, "index", None)  # of a table from pandas
    if y is None or index is None or callable(index) or len(table) <= len(y):
        return y
    ids = np.asarray(index)
    is_new = ~np.isin(ids, y.ids)
    if not y.has_ids or is_new.sum() != len(ids) - len(y):
        return y  # rows and histories do not fit: others say so
    if now is not None:
        raise InvalidParameterError(
            "`now` cannot be given where some rows of `X` have no history, but "
            f"{is_new.sum()} of {len(ids)} have none (ids {first_few(ids[is_new])}).\n\n"
            "Hint: forecast these without `y`, and the others with it."
        )
    if y.exposure is not None:
        raise InvalidParameterError(
            f"New individuals need an exposure, but {is_new.sum()} rows of `X` are not in "
            f"`y` (ids {first_few(ids[is_new])}).\n\nHint: forecast these without `y`, "
            "with exposure=…."
        )
    joined = RecurrentEvents.concatenate([y, _begin(y, ids[is_new])])
    place = {one: row for row, one in enumerate(joined.ids.tolist())}
    return joined[np.array([place[one] for one in ids.tolist()])]


def _begin(y: RecurrentEvents, ids: AnyArray) -> RecurrentEvents:
    """Return histories that have just begun."""
    n, moment = len(ids), _MOMENT * float(y.end.max())
    # Where everybody has a date of the own, or the same time 0, newcomers have theirs now.
    is_common = y.origins is None and y.origin is not None
    start = float(y.end.max()) if is_common else 0.0
    new = RecurrentEvents.from_flat(
        [], np.zeros(n + 1, int), start=np.full(n, start), end=np.full(n, start + moment)
    )
    origins = None
    if y.origins is not None:
        origins = np.full(n, as_moments(y, slice(None), y.end).max())
    return new._with(
        ids=ids.astype(y.ids.dtype),
        has_ids=True,
        id_name=y.id_name,
        time_unit=y.time_unit,
        origin=y.origin,
        origins=origins,
        has_costs=y.has_costs,
    )
