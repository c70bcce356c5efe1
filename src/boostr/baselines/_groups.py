"""Group labels of individuals."""

from __future__ import annotations

from typing import Any

import numpy as np
from narwhals.dependencies import is_pandas_series

from boostr._typing import AnyArray, PositionArray
from boostr._validation import check_ids_match, first_few, is_missing
from boostr.data import RecurrentEvents
from boostr.exceptions import InvalidParameterError

__all__ = ["read_groups"]


def read_groups(y: RecurrentEvents, group: Any) -> tuple[AnyArray, PositionArray]:
    """Return the sorted labels of the groups, and the group of each individual."""
    if is_pandas_series(group):
        check_ids_match(group.to_frame("group"), y)
    labels = np.asarray(group)
    if labels.shape != (len(y),):
        raise InvalidParameterError(
            f"`group` must have one label per individual, but its shape is "
            f"{labels.shape} for {len(y)} individuals."
        )
    missing = [i for i, label in enumerate(labels.tolist()) if is_missing(label)]
    if missing:
        raise InvalidParameterError(
            f"Every individual must belong to a group, but {len(missing)} of {len(y)} "
            f"labels are missing (rows {first_few(missing)}).\n\n"
            "Hint: leave those individuals out of y and of group."
        )
    try:
        names, member = np.unique(labels, return_inverse=True)
    except TypeError as error:
        raise InvalidParameterError(
            "`group` must hold labels of one type, for instance all text.\n\n"
            "Hint: group.astype(str)"
        ) from error
    _check_groups(names, np.bincount(member, minlength=names.size))
    return names, member


def _check_groups(names: AnyArray, sizes: PositionArray) -> None:
    if names.size < 2:
        raise InvalidParameterError(
            f"There must be at least two groups, but all individuals are in "
            f"{names.tolist()[0]!r}."
        )
    small = names[sizes < 2]
    if small.size:
        raise InvalidParameterError(
            f"Every group must have at least two individuals, but {small.size} of "
            f"{names.size} groups have one ({first_few(small)}).\n\n"
            "Hint: cut a numeric feature into ranges, and merge rare groups."
        )
