"""Checks shared by public functions, with their messages."""

from __future__ import annotations

import sys
import warnings
from collections import Counter
from collections.abc import Iterable
from itertools import islice
from typing import Any, Protocol

import narwhals as nw
import numpy as np
from narwhals.dependencies import is_pandas_dataframe
from numpy.typing import ArrayLike

from boostr._typing import AnyArray, FloatArray
from boostr.exceptions import (
    BoostrError,
    InvalidEventsError,
    InvalidFeaturesError,
    InvalidParameterError,
)

N_NAMED = 5


class Identified(Protocol):
    """Anything with one id per individual, as ``RecurrentEvents`` has."""

    @property
    def ids(self) -> AnyArray:
        """Id of every individual."""

    @property
    def id_name(self) -> str | None:
        """Name of the column that the ids came from."""

    @property
    def has_ids(self) -> bool:
        """Whether the ids were given, and are not just positions."""

    def __len__(self) -> int:
        """Return the number of individuals."""


def first_few(values: Iterable[object]) -> str:
    """Return the first five values, separated by commas, for a message.

    An ellipsis at the end stands for further values.
    """
    head = [str(value) for value in islice(iter(values), N_NAMED + 1)]
    more = ", …" if len(head) > N_NAMED else ""
    return ", ".join(head[:N_NAMED]) + more


def repeats(values: AnyArray) -> list[object]:
    """Return the values that occur more than once, in order of first appearance."""
    rows = values.tolist()
    if len(set(rows)) == len(rows):
        return []
    return [value for value, count in Counter(rows).items() if count > 1]


def is_missing(value: object) -> bool:
    """Return whether a value is missing: None, NaN, NaT or pandas.NA."""
    try:
        return value is None or bool(value != value)  # noqa: PLR0124 - only NaN differs
    except TypeError:  # pandas.NA neither differs nor not
        return True


def warn_user(message: str, category: type[Warning]) -> None:
    """Warn with the location of the caller outside of boostr."""
    frame, level = sys._getframe(), 1
    while frame.f_back is not None and _is_ours(frame.f_globals.get("__name__", "")):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)


def _is_ours(module: str) -> bool:
    return module.split(".", maxsplit=1)[0] == "boostr"


def blame(
    rule: str,
    ids: AnyArray,
    culprits: AnyArray,
    hint: str,
    error: type[BoostrError] = InvalidEventsError,
) -> BoostrError:
    """Return the error for individuals that break a rule, naming them.

    ``rule`` has no full stop; ``culprits`` are a mask or positions, which may repeat.
    """
    positions = np.flatnonzero(culprits) if culprits.dtype == bool else np.unique(culprits)
    named = ids[positions[: N_NAMED + 1]]
    found = error(
        f"{rule}, but this does not hold for {positions.size} of {ids.size} "
        f"individuals (ids {first_few(named)}).\n\nHint: {hint}"
    )
    found.ids = named
    return found


def check_ids_match(X: Any, y: Identified) -> None:
    """Refuse features whose pandas index has the ids of ``y`` in another order.

    Other indices (see `labels_are_ids`) and tables are matched by position. Ids must not
    be among the features.
    """
    _check_id_is_no_feature(X, y.id_name)
    if is_pandas_dataframe(X):
        check_labels(X, y, "X", InvalidFeaturesError)


def check_labels(
    given: Any, y: Identified, name: str, error: type[BoostrError] = InvalidParameterError
) -> None:
    """Refuse a pandas table or Series with the ids of ``y`` in another order.

    Other labels, see `labels_are_ids`, and whatever has none are matched by position.
    """
    index = getattr(given, "index", None)
    if index is None or callable(index) or not y.has_ids:
        return
    labels = np.asarray(index)
    if not np.array_equal(labels, y.ids) and labels_are_ids(index, y):
        raise error(_mismatch(labels, y.ids, name))


def _check_id_is_no_feature(X: Any, id_name: str | None) -> None:
    """Refuse a feature that is the id."""
    frame = nw.from_native(X, eager_only=True, pass_through=True)
    if id_name is None or not isinstance(frame, nw.DataFrame):
        return
    if id_name not in frame.columns:
        return
    way_out = (
        f"X = X.set_index({id_name!r}).loc[y.ids]"
        if is_pandas_dataframe(X)
        else f"put the rows in the order of y.ids, then X = X.drop({id_name!r})"
    )
    raise InvalidFeaturesError(
        f"The ids of the individuals must not be a feature, but X has the id column "
        f"{id_name!r} of y.\n\nHint: {way_out}"
    )


def labels_are_ids(index: Any, y: Identified) -> bool:
    """Return whether a pandas index is meant as ids of ``y``; the ids may still differ.

    So if it has the name of the id column, or is not of integers and shares an id, or is
    of integers and holds the same ids; counting from 0 is no id.
    """
    labels = np.asarray(index)
    if y.id_name is not None and index.name == y.id_name:
        return True
    if index.nlevels > 1 or np.array_equal(labels, np.arange(len(labels))):
        return False
    ours, theirs = set(y.ids.tolist()), set(labels.tolist())
    if np.issubdtype(labels.dtype, np.integer):
        return ours == theirs
    return not ours.isdisjoint(theirs)


def _mismatch(labels: AnyArray, ids: AnyArray, name: str) -> str:
    """Return a message on how the index differs from the ids."""
    hint = (
        f"\n\nHint: {name} = {name}.loc[y.ids], or {name} = {name}.reset_index(drop=True) "
        "where the rows are in the order of y and the index is no id."
    )
    shown = name if name == "X" else f"`{name}`"
    twice = repeats(labels)
    if twice and not repeats(ids):
        return (
            f"The index of {shown} must hold every id once, but {len(twice)} ids are "
            f"repeated ({first_few(twice)}).{hint}"
        )
    if labels.size != ids.size:
        return (
            f"{shown} and y must hold the same individuals, but the index of {shown} has "
            f"{labels.size} ids and y has {ids.size}.{hint}"
        )
    differs = np.array(
        [a != b for a, b in zip(labels.tolist(), ids.tolist(), strict=True)], dtype=bool
    )
    return (
        f"The index of {shown} must hold the ids of y in the same order, but "
        f"{differs.sum()} of {ids.size} rows differ (ids of y there: "
        f"{first_few(ids[differs])}; of {shown}: {first_few(labels[differs])}).{hint}"
    )


def check_weights(
    sample_weight: ArrayLike | None, individuals: Identified | FloatArray
) -> FloatArray:
    """Return one weight per individual, 1 by default.

    Weights must be finite and not negative, with at least one above zero.
    """
    n = len(individuals)
    if sample_weight is None:
        return np.ones(n)
    if not isinstance(individuals, np.ndarray):
        check_labels(sample_weight, individuals, "sample_weight")
    try:
        weights = np.asarray(sample_weight, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InvalidParameterError(
            "`sample_weight` must be numbers, one per individual."
        ) from error
    if weights.shape != (n,):
        raise InvalidParameterError(
            f"`sample_weight` must have one value per individual, but its shape is "
            f"{weights.shape} for {n} individuals.\n\n"
            "Hint: weights belong to individuals, not to events."
        )
    wrong = np.flatnonzero(~((weights >= 0.0) & np.isfinite(weights)))
    if wrong.size:
        raise InvalidParameterError(
            "`sample_weight` must be finite and not negative, but it is not for "
            f"{wrong.size} of {n} individuals (rows {first_few(wrong)}).\n\n"
            "Hint: use 0 to leave an individual out."
        )
    if not weights.any():
        raise InvalidParameterError(
            "At least one `sample_weight` must be above zero, but all are zero.\n\n"
            "Hint: weights of zero leave individuals out."
        )
    return weights
