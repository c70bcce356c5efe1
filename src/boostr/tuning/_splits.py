"""Splits of individuals, and of time."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np

from boostr._checks.numbers import first_few
from boostr._engine.selection import draw_folds
from boostr._typing import FloatArray, PositionArray
from boostr.data import RecurrentEvents, check_target
from boostr.data.clip import clip, clip_sensors, read_times
from boostr.data.times import as_moments
from boostr.exceptions import InvalidParameterError

__all__ = [
    "AsOf",
    "AsOfSplit",
    "Cut",
    "Rows",
    "as_of_split",
    "clip",
    "clip_sensors",
    "cut_at",
    "list_rows",
    "read_times",
]


@dataclass(frozen=True, slots=True, eq=False)
class Cut:
    """Event histories before and after a time.

    Parameters
    ----------
    before, after : RecurrentEvents
        What was observed up to the time, the time included, and later. Times are as they
        were: after the cut, follow-up starts at the time of the cut or later.
    rows_before, rows_after : ndarray of int
        Positions of these individuals among all: those who were not observed at all before
        (or after) the time are not part of it.

    See Also
    --------
    cut_at : Makes it.

    Examples
    --------
    >>> from boostr.data import RecurrentEvents
    >>> from boostr.tuning import cut_at
    >>> y = RecurrentEvents.from_lists([[3.0, 8.5], [1.0]], end=[10.0, 4.0])
    >>> cut_at(y, 5.0).rows_after
    array([0])
    """

    before: RecurrentEvents
    after: RecurrentEvents
    rows_before: PositionArray
    rows_after: PositionArray


def cut_at(y: RecurrentEvents, time: Any) -> Cut:
    """Cut event histories in two at a time.

    Parameters
    ----------
    y : RecurrentEvents
        Event histories.
    time : float, time stamp, or array-like of shape (n,)
        Where to cut: one time for all, on the time axis of `y`, or one for each
        individual, as where time is age. Time stamps need a `y` that was made of them.

    Returns
    -------
    Cut
        The two parts. An event at the very time belongs to the first.

    See Also
    --------
    as_of_split : A part to train on, and one to test with.

    Examples
    --------
    >>> from boostr.data import RecurrentEvents
    >>> from boostr.tuning import cut_at
    >>> y = RecurrentEvents.from_lists([[3.0, 8.5], [1.0]], end=[10.0, 4.0])
    >>> cut = cut_at(y, 5.0)
    >>> cut.before
    RecurrentEvents(2 individuals, 2 events, follow-up 9)
    >>> cut.after.start, cut.after.times
    (array([5.]), array([8.5]))
    """
    events = check_target(y)
    times = read_times(events, time, "time")
    before, rows_before = clip(events, np.full(len(events), -np.inf), times)
    after, rows_after = clip(events, times, np.full(len(events), np.inf))
    return Cut(before, after, rows_before, rows_after)


Rows = tuple[PositionArray, PositionArray]


@dataclass(frozen=True, slots=True, eq=False)
class AsOf:
    """What was known at a date, and what came after.

    Parameters
    ----------
    train : RecurrentEvents
        Histories up to the date.
    test : RecurrentEvents
        Histories from the date to the horizon; follow-up starts at the date or later.
    train_rows, test_rows : ndarray of int
        Positions of their individuals among all.
    dates : ndarray of shape (n,)
        The date for every individual, on the time axis of the histories.

    See Also
    --------
    as_of_split : Makes it.

    Examples
    --------
    >>> from boostr.data import RecurrentEvents
    >>> from boostr.tuning import as_of_split
    >>> y = RecurrentEvents.from_lists([[3.0, 8.5], [1.0]], end=[10.0, 4.0])
    >>> as_of_split(y, 5.0, horizon=2.0).test_rows
    array([0])
    """

    train: RecurrentEvents
    test: RecurrentEvents
    train_rows: PositionArray
    test_rows: PositionArray
    dates: FloatArray


def as_of_split(y: RecurrentEvents, date: Any, horizon: float | None = None) -> AsOf:
    """Split histories into what was known at a date and what came after.

    Whatever happens after the date is not in the part to train on: a model is judged as it
    would have been used on that day.

    Parameters
    ----------
    y : RecurrentEvents
        Event histories, usually in calendar time.
    date : float, time stamp, or array-like of shape (n,)
        The date on the time axis of `y`; one for each individual where time is age.
    horizon : float, default=None
        How long after the date to test, in the unit of `y`; None for all that came after.

    Returns
    -------
    AsOf
        Histories to train on and to test with, and the rows of their individuals.

    See Also
    --------
    AsOfSplit : Several dates, for `BoostRSearch`.
    cut_at : Both parts of all histories.

    Examples
    --------
    >>> from boostr.data import RecurrentEvents
    >>> from boostr.tuning import as_of_split
    >>> y = RecurrentEvents.from_lists([[3.0, 8.5], [1.0]], end=[10.0, 4.0])
    >>> split = as_of_split(y, 5.0, horizon=2.0)
    >>> split.train.times, split.test.start, split.test.end
    (array([3., 1.]), array([5.]), array([7.]))
    """
    events = check_target(y)
    dates = read_times(events, date, "date")
    length = np.inf if horizon is None else _check_horizon(horizon)
    train, train_rows = clip(events, np.full(len(events), -np.inf), dates)
    test, test_rows = clip(events, dates, dates + length)
    for rows, when in ((train_rows, "before"), (test_rows, "after")):
        if rows.size == 0:
            raise InvalidParameterError(
                f"Individuals must be observed {when} the date, but none is {when} "
                f"{date}.\n\nHint: follow-up lasts {_tell_span(events)}."
            )
    return AsOf(train, test, train_rows, test_rows, dates)


@dataclass(frozen=True, slots=True, eq=False)
class AsOfSplit:
    """Dates at which a model is trained on the past and tested on what came after.

    Histories are cut at the date. Sensors are, too: for the test their last values before
    the date hold. Static features are taken as they are, so they must have been known.

    Parameters
    ----------
    dates : sequence
        One entry per split: a time on the axis of `y`, a time stamp, or an array with one
        time for each individual.
    horizon : float, default=None
        How long after each date to test, in the unit of `y`; None for all that came after.

    See Also
    --------
    as_of_split : The split at one date.

    Examples
    --------
    >>> from boostr import BoostR, BoostRSearch
    >>> from boostr.simulate import dataset_a
    >>> from boostr.tuning import AsOfSplit
    >>> train = dataset_a(n=100, random_state=1)
    >>> search = BoostRSearch(
    ...     BoostR(n_estimators=5, validation=None),
    ...     {"learning_rate": (0.05, 0.5, "log")},
    ...     n_points=3,
    ...     splits=AsOfSplit([40.0, 60.0], horizon=20.0),
    ...     random_state=0,
    ... )
    >>> search.fit(train.X, train.y).results_[0]["scores"].shape
    (2,)
    """

    dates: Sequence[Any]
    horizon: float | None = None

    def split(self, y: RecurrentEvents) -> list[AsOf]:
        """Split histories at every date.

        Parameters
        ----------
        y : RecurrentEvents
            Event histories.

        Returns
        -------
        list of AsOf
            One entry per date.
        """
        if isinstance(self.dates, str) or not hasattr(self.dates, "__len__"):
            raise InvalidParameterError(
                f"`dates` must be a list of dates, but it is {self.dates!r}.\n\n"
                "Hint: AsOfSplit([date])."
            )
        return [as_of_split(y, date, self.horizon) for date in self.dates]


def list_rows(splits: Any, X: Any, y: RecurrentEvents, seed: int) -> list[Rows]:
    """Return the training and test individuals of every split.

    ``splits`` is a number of folds, pairs of positions, or has a method ``split``.
    """
    n = len(y)
    if isinstance(splits, Integral) and not isinstance(splits, bool):
        if not 2 <= int(splits) <= n:
            raise InvalidParameterError(
                f"`splits` must be at least 2 and at most the number of individuals ({n}), "
                f"but it is {splits}."
            )
        folds = draw_folds(n, int(splits), 1, seed)
        individuals = np.arange(n)
        return [(np.setdiff1d(individuals, held), held.astype(np.intp)) for held in folds]
    try:
        pairs: Iterable[Any] = splits.split(X, y) if hasattr(splits, "split") else splits
        rows = [_check_pair(train, test, n) for train, test in pairs]
    except (TypeError, ValueError) as error:
        raise InvalidParameterError(
            "`splits` must be a number of folds, an AsOfSplit, a splitter of scikit-learn, "
            f"or pairs of positions to train on and to test with.\n\n{error}"
        ) from error
    if not rows:
        raise InvalidParameterError("`splits` must give at least one split.")
    return rows


def _check_pair(train: Any, test: Any, n: int) -> Rows:
    """Return positions of individuals from positions or masks."""
    parts = []
    for part in (train, test):
        given = np.asarray(part)
        positions = np.flatnonzero(given) if given.dtype == np.bool_ else given
        if positions.ndim != 1 or positions.size == 0 or positions.dtype.kind not in "iu":
            raise ValueError(f"A part of a split is {part!r}.")
        wrong = positions[(positions < 0) | (positions >= n)]
        if wrong.size:
            raise ValueError(f"There are {n} individuals, but not {first_few(wrong)}.")
        parts.append(positions.astype(np.intp))
    return parts[0], parts[1]


def _tell_span(y: RecurrentEvents) -> str:
    """Return words for the span of follow-up, in dates if they are known."""
    begin, end = (as_moments(y, slice(None), each) for each in (y.start, y.end))
    if begin.dtype.kind == "M":
        return f"from {str(begin.min())[:19]} to {str(end.max())[:19]}"
    return f"from {begin.min():g} to {end.max():g}"


def _check_horizon(horizon: float) -> float:
    """Return a length of time above zero, checked."""
    try:
        length = float(horizon)
    except (TypeError, ValueError):
        length = float("nan")
    if not length > 0.0:
        raise InvalidParameterError(
            f"`horizon` must be a number above zero, but it is {horizon!r}.\n\n"
            "Hint: it counts in the unit of `y`, from the date on."
        )
    return length
