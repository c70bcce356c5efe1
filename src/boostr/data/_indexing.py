"""Individuals taken like entries of a 1-D array, and their ids put together."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral
from typing import Any

import numpy as np

from boostr._typing import AnyArray, OffsetArray
from boostr._validation import first_few
from boostr.exceptions import BoostrError, InvalidEventsError


def positions_of(key: Any, n: int) -> OffsetArray:
    """Turn anything that indexes a 1-D array into positions.

    Parameters
    ----------
    key : int, slice, mask, array of int, or (key, Ellipsis)
        What stood in the brackets.
    n : int
        Number of individuals.

    Returns
    -------
    (m,) int64 array
        Positions of those that are taken.

    Examples
    --------
    >>> positions_of(slice(1, None), 3), positions_of(-1, 3)
    (array([1, 2]), array([2]))
    """
    if isinstance(key, tuple) and len(key) == 2 and key[1] is Ellipsis:
        key = key[0]  # the way scikit-learn takes rows of an array
    if isinstance(key, Integral):
        position = int(key)
        if not -n <= position < n:
            raise IndexError(f"Individual {position} of {n} does not exist.")
        return np.array([position % n], dtype=np.int64)
    if not isinstance(key, slice):
        key = np.asarray(key)
        if key.size and key.dtype.kind not in "biu":
            raise IndexError(
                "Individuals are taken by position or mask, not by id.\n\n"
                "Hint: y[y.ids == 'W1'] or y[numpy.isin(y.ids, ['W1', 'W7'])]."
            )
        if key.ndim != 1:
            raise IndexError(
                "Individuals are taken by one index, slice, mask or 1-D array."
            )
        key = key.astype(np.int64) if key.size == 0 and key.dtype != bool else key
    return np.asarray(np.arange(n, dtype=np.int64)[key])


def check_labels(
    key: Any, ids: AnyArray, error: type[BoostrError] = InvalidEventsError
) -> None:
    """Refuse a mask whose labels are the ids in another order: it means others.

    Parameters
    ----------
    key : object
        What stood in the brackets; only a boolean pandas Series has labels.
    ids : (n,) array
        Id of every individual.
    error : type, default=InvalidEventsError
        What is raised.

    Examples
    --------
    >>> check_labels([True, False], np.array(["W1", "W2"]))
    """
    labels = getattr(key, "index", None)
    if labels is None or callable(labels) or np.asarray(key).dtype != bool:
        return
    labels = np.asarray(labels)
    if len(labels) == len(ids) and set(labels.tolist()) == set(ids.tolist()):
        wrong = np.flatnonzero(labels != ids)
        if wrong.size:
            raise error(
                "A mask with labels must have the ids in the order of the individuals, but "
                f"{wrong.size} of {len(ids)} differ (ids {first_few(ids[wrong])}).\n\n"
                "Hint: y[mask.loc[y.ids]]."
            )


def count_of(number: int, noun: str, spec: str = "") -> str:
    """Say how many, in the right number.

    Parameters
    ----------
    number : int
        How many.
    noun : str
        Of what, in the singular.
    spec : str, default=""
        Format of the number, such as "," for thousands.

    Returns
    -------
    str
        Both.

    Examples
    --------
    >>> count_of(1, "event"), count_of(2, "event")
    ('1 event', '2 events')
    """
    return f"{number:{spec}} {noun}{'' if number == 1 else 's'}"


def concatenate_ids(ids: Sequence[AnyArray]) -> AnyArray:
    """Join ids without turning numbers into text.

    Parameters
    ----------
    ids : sequence of arrays
        Ids of the parts.

    Returns
    -------
    (n,) array
        All of them, as objects if they are of different kinds.

    Examples
    --------
    >>> concatenate_ids([np.array([1]), np.array(["W1"])]).tolist()
    [1, 'W1']
    """
    if len({part.dtype.kind for part in ids}) == 1:
        return np.concatenate(ids)
    return np.concatenate([part.astype(object) for part in ids])


def shared_value(values: set[str | None]) -> str | None:
    """Give the one value that all share, if they do.

    Parameters
    ----------
    values : set
        The different values.

    Returns
    -------
    str or None
        None if there are several.

    Examples
    --------
    >>> shared_value({"well"}), shared_value({"well", "id"})
    ('well', None)
    """
    return values.pop() if len(values) == 1 else None
