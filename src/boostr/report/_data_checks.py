"""What in the data makes forecasts worse than they look."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from boostr._validation import first_few
from boostr.data._indexing import count_of
from boostr.inspection._model import find_unused_plan
from boostr.report._fleet import Fleet, TimeAxis

__all__ = ["find_warnings", "list_names"]

_FEW_EVENTS = 50
_MANY_MISSING = 0.05  # share of the individuals
_MANY_STRANGE = 0.01  # share of the samples
_MOST_LISTED = 10  # features or sensors named one by one


def find_warnings(
    model: Any, fleet: Fleet, horizon: float, future: Any = None
) -> tuple[str, ...]:
    """Return one sentence for each thing that readers should know."""
    axis = TimeAxis.of(fleet.y)
    found = [
        *_look_at_events(fleet),
        *_look_at_times(model, fleet, horizon, axis),
        *_look_at_features(model, fleet),
        *_look_at_sensors(model, fleet, horizon, axis),
        *_look_at_plan(model, future),
    ]
    return tuple(found)


def _look_at_events(fleet: Fleet) -> list[str]:
    n_events = int(fleet.y.n_events.sum())
    if n_events >= _FEW_EVENTS:
        return []
    return [
        f"There {'is' if n_events == 1 else 'are'} only {count_of(n_events, 'event')}: "
        "the checks below are rough."
        if n_events
        else "There are no events, so nothing can be said on how good the forecasts are."
    ]


def _look_at_times(model: Any, fleet: Fleet, horizon: float, axis: TimeAxis) -> list[str]:
    y, found = fleet.y, []
    middle = float(np.median(y.follow_up))
    if middle < horizon:
        found.append(
            f"Follow-up is short: half of the individuals were observed for less than "
            f"{axis.length(middle)}, and the forecast reaches {axis.length(horizon)} ahead."
        )
    late = int(np.sum(y.end + horizon > model.horizon_ * (1.0 + 1e-12)))
    # Everybody whose follow-up ends last is beyond by as much as the forecast is long.
    if late:
        found.append(
            f"The forecasts of {late:,} of {len(y):,} individuals reach beyond the longest "
            f"follow-up of training ({axis.length(model.horizon_)}): there, curves are "
            "continued and not learned."
        )
    return found


def _look_at_features(model: Any, fleet: Fleet) -> list[str]:
    found = []
    words = model.encoder_.name_unlearned(fleet.table, fleet.features)
    counts = Counter((place, text) for (_, place), text in words.items())
    shares = np.isnan(fleet.features).mean(axis=0)
    for (place, _), n in counts.items():
        shares[place] -= n / len(fleet)
    missing = [
        f"{name} ({share:.0%})"
        for name, share in zip(model.encoder_.names, shares, strict=True)
        if share > _MANY_MISSING
    ]
    if missing:
        found.append(f"Features with missing values: {list_names(missing)}.")
    if counts:
        names = model.encoder_.names
        named = [
            f"{names[place]} {text} for {count_of(n, 'individual', ',')}"
            for (place, text), n in counts.items()
        ]
        found.append(
            "Categories that training has not seen, or too rarely to learn from, which "
            f"count as missing: {list_names(named)}."
        )
    return found


def _look_at_sensors(model: Any, fleet: Fleet, horizon: float, axis: TimeAxis) -> list[str]:
    if fleet.given is None:
        return []
    found, strange, unknown = [], [], []
    for name, count in model.check_sensors(fleet.given).items():
        n_strange = count["below"] + count["above"] + count["unseen"]
        if n_strange > _MANY_STRANGE * count["samples"]:
            strange.append(
                f"{name} ({count['below']:,} samples below, {count['above']:,} above, "
                f"{count['unseen']:,} in unseen categories, of {count['samples']:,})"
            )
        n_unknown = count["unknown"] - count["unseen"]
        if n_unknown > _MANY_MISSING * count["samples"]:
            unknown.append(f"{name} ({n_unknown / count['samples']:.0%})")
    if strange:
        found.append(
            "Sensors outside of what training has seen, where the nearest value seen "
            f"counts: {list_names(strange)}."
        )
    if unknown:
        found.append(f"Sensors with unknown values: {list_names(unknown)}.")
    stale = np.flatnonzero(fleet.given.last_times < fleet.y.end - horizon)
    if stale.size:
        found.append(
            f"Sensors of {stale.size:,} of {len(fleet):,} individuals end more than "
            f"{axis.length(horizon)} before the present (ids "
            f"{first_few(fleet.y.ids[stale])})."
        )
    return found


def _look_at_plan(model: Any, future: Any) -> list[str]:
    unused = find_unused_plan(model, future)
    if not unused:
        return []
    return [
        "What these sensors are planned to show changes nothing, as the model does not "
        f"use them: {list_names(unused)}."
    ]


def list_names(names: Sequence[str]) -> str:
    """Return names separated by commas, the first ten and how many more."""
    more = len(names) - _MOST_LISTED
    listed = ", ".join(names[:_MOST_LISTED])
    return f"{listed} and {more} more" if more > 0 else listed
