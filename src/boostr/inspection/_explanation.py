"""Contributions to predictions, as tables and sentences."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from numbers import Integral
from typing import Any

import numpy as np

from boostr._checks.numbers import first_few
from boostr._html import format_cell, format_id, make_card, make_grid, make_note
from boostr._typing import AnyArray, FloatArray
from boostr.data.events.frames import make_table
from boostr.data.individuals import count_of
from boostr.exceptions import InvalidParameterError
from boostr.inspection.model import check_position

__all__ = ["ABOVE_ZERO", "OWN_HISTORY", "Explanation", "write_sentence"]


def write_sentence(
    prediction: float,
    base: float,
    amounts: Sequence[tuple[str, float]],
    extra: Sequence[tuple[str, float]],
    n_reasons: int,
) -> str:
    """Return a sentence with the largest contributions, the rest, and the others."""
    digits = _choose_digits(max(abs(prediction), abs(base)))
    threshold = 0.5 * 10.0**-digits
    ordered = sorted(amounts, key=lambda pair: -abs(pair[1]))
    named = [pair for pair in ordered[:n_reasons] if abs(pair[1]) >= threshold]
    rest = sum(amount for _, amount in ordered[len(named) :])
    parts = [f"{amount:+.{digits}f} {name}" for name, amount in named]
    last = [
        f"{amount:+.{digits}f} {name}" for name, amount in extra if abs(amount) >= threshold
    ]
    if abs(rest) >= threshold:
        others = f"{rest:+.{digits}f} others"
        parts.append(f"and {others}" if parts and not last else others)
    start = f"{prediction:.{digits}f} expected against {base:.{digits}f} on average"
    reasons = ", ".join(parts + last)
    return f"{start}: {reasons}" if reasons else f"{start}: nothing makes a difference"


def _choose_digits(size: float) -> int:
    """Return the number of decimals: one, or more for small numbers."""
    if size == 0.0 or size >= 1.0:
        return 1
    return 1 - math.floor(math.log10(size))


def _is_whole(value: Any) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool)


_N_SHOWN = 10  # individuals in a notebook
ABOVE_ZERO = "kept above zero"
OWN_HISTORY = "own history"


@dataclass(frozen=True, slots=True, eq=False)
class Explanation:
    """Expected numbers of events, as the average and what each reason adds to it.

    Made by `explain`. For every individual, and every time where there are several,
    ``prediction = base + values.sum(axis=1) + above_zero + own_history``.

    Parameters
    ----------
    values : (n, k) or (n, k, m) float64 array
        What each static feature, and after these each sensor, adds.
    base : (n,) or (n, m) float64 array
        What is expected of the average training individual.
    prediction : (n,) or (n, m) float64 array
        What is expected of each individual.
    above_zero : (n,) or (n, m) float64 array
        What is added to keep rates above zero where the sum of the trees would fall below.
    own_history : (n,) or (n, m) float64 array, or None
        What is added for the individual's own events so far, where that was given.
    features : tuple of str
        Names of the static features.
    sensors : tuple of str
        Names of the sensors.
    ids : (n,) array
        Labels of the individuals.
    data : (n, p) float64 array
        Their static features; codes of categories, NaN where missing or not learned.
    categories : tuple
        Categories of each feature, None for numbers.
    times : (m,) float64 array or None
        Times by which events are counted; None for windows.
    start, stop : (n,) float64 array or None
        Windows (start, stop] in which they are counted instead.
    time_unit : str or None
        Unit of time, where it is known.
    unlearned : mapping
        Categories that were given but are not learned, such as "rare (EIRE)", by position
        of the individual and of the feature.

    See Also
    --------
    explain : Computes it.
    boostr.plotting.plot_waterfall : Draws the reasons of one individual.
    boostr.plotting.plot_beeswarm : Draws those of many.
    boostr.plotting.plot_reason_bars : Draws how much each reason matters.

    Examples
    --------
    >>> from boostr import BoostR
    >>> from boostr.inspection import explain
    >>> from boostr.simulate import dataset_a
    >>> train = dataset_a(n=150, random_state=1)
    >>> model = BoostR(n_estimators=10, validation=None).fit(train.X, train.y)
    >>> explanation = explain(model, train.X[:3], horizon=[50, 100])
    >>> explanation.values.shape, explanation.at(1).values.shape
    ((3, 2, 2), (3, 2))
    """

    values: FloatArray
    base: FloatArray
    prediction: FloatArray
    above_zero: FloatArray
    own_history: FloatArray | None
    features: tuple[str, ...]
    sensors: tuple[str, ...]
    ids: AnyArray
    data: FloatArray
    categories: tuple[Sequence[Any] | None, ...]
    times: FloatArray | None = None
    start: FloatArray | None = None
    stop: FloatArray | None = None
    time_unit: str | None = None
    unlearned: Mapping[tuple[int, int], str] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.prediction)

    def __repr__(self) -> str:
        counts = [
            count_of(len(self), "individual"),
            count_of(len(self.features), "feature"),
        ]
        if self.sensors:
            counts.append(count_of(len(self.sensors), "sensor"))
        if self.times is not None:
            counts.append(count_of(len(self.times), "time"))
        return f"{type(self).__name__}({', '.join(counts)})"

    @property
    def reasons(self) -> tuple[str, ...]:
        """Names of all reasons: features, sensors, and what is there of the others."""
        names = [*self.features, *self.sensors]
        return tuple(names + [name for name, _ in self._others()])

    @property
    def amounts(self) -> FloatArray:
        """What each reason adds, as `values` with the other reasons at the end."""
        others = [amounts[:, None] for _, amounts in self._others()]
        return np.concatenate([self.values, *others], axis=1)

    def scaled(self, factor: FloatArray) -> Explanation:
        """Multiply all amounts of every individual by a factor.

        Parameters
        ----------
        factor : (n,) float64 array
            One factor per individual.

        Returns
        -------
        Explanation
            Reasons for the predictions times the factor.

        Examples
        --------
        >>> from boostr import BoostR
        >>> from boostr.inspection import explain
        >>> from boostr.simulate import dataset_a
        >>> train = dataset_a(n=150, random_state=1)
        >>> model = BoostR(n_estimators=10, validation=None).fit(train.X, train.y)
        >>> explanation = explain(model, train.X[:2], horizon=50)
        >>> doubled = explanation.scaled(np.array([2.0, 2.0]))
        >>> bool(np.allclose(doubled.prediction, 2.0 * explanation.prediction))
        True
        """
        return self._change(
            lambda amounts: amounts * factor.reshape(-1, *[1] * (amounts.ndim - 1))
        )

    def __add__(self, other: Explanation) -> Explanation:
        """Return the reasons of two sums of events, such as those of two kinds."""
        own, more = self.own_history, other.own_history
        return replace(
            self,
            values=self.values + other.values,
            base=self.base + other.base,
            prediction=self.prediction + other.prediction,
            above_zero=self.above_zero + other.above_zero,
            own_history=None if own is None or more is None else own + more,
        )

    def _change(self, function: Callable[[FloatArray], FloatArray]) -> Explanation:
        """Apply a function to all amounts."""
        own = self.own_history
        return replace(
            self,
            values=function(self.values),
            base=function(self.base),
            prediction=function(self.prediction),
            above_zero=function(self.above_zero),
            own_history=None if own is None else function(own),
        )

    def at(self, place: int) -> Explanation:
        """Take the reasons for one of several times.

        Parameters
        ----------
        place : int
            Position among `times`.

        Returns
        -------
        Explanation
            With amounts of shape (n, k).

        Examples
        --------
        >>> from boostr import BoostR
        >>> from boostr.inspection import explain
        >>> from boostr.simulate import dataset_a
        >>> train = dataset_a(n=150, random_state=1)
        >>> model = BoostR(n_estimators=10, validation=None).fit(train.X, train.y)
        >>> explain(model, train.X, horizon=[50, 100]).at(-1).times
        array([100.])
        """
        if self.prediction.ndim == 1 or self.times is None:
            raise InvalidParameterError(
                "`at` chooses one of several times, but there is one only."
            )
        place = check_position(place, len(self.times), "place", "times")
        chosen = self._change(lambda amounts: amounts[..., place])
        return replace(chosen, times=self.times[[place]])

    def mean_sizes(self) -> FloatArray:
        """Average what each reason adds or takes away over the individuals.

        Returns
        -------
        (k,) or (k, m) float64 array
            Mean absolute amount of each of `reasons`.

        Examples
        --------
        >>> from boostr import BoostR
        >>> from boostr.inspection import explain
        >>> from boostr.simulate import dataset_b
        >>> train = dataset_b(n=150, random_state=1)
        >>> model = BoostR(n_estimators=10, validation=None).fit(train.X, train.y)
        >>> explain(model, train.X).mean_sizes().argsort()[-2:]
        array([0, 1])
        """
        return np.asarray(np.abs(self.amounts).mean(axis=0))

    def to_frame(self, *, backend: str | None = None) -> Any:
        """Write a table with one row per individual, and time where there are several.

        Parameters
        ----------
        backend : {"pandas", "polars"}, default=None
            Which table to make; by default pandas if it is installed, else polars.

        Returns
        -------
        DataFrame
            Columns "id", "time" (or "start" and "stop"), "prediction", "base", and one per
            reason. A name that is taken already gets " (reason)" behind it.

        Examples
        --------
        >>> from boostr import BoostR
        >>> from boostr.inspection import explain
        >>> from boostr.simulate import dataset_a
        >>> train = dataset_a(n=150, random_state=1)
        >>> model = BoostR(n_estimators=10, validation=None).fit(train.X, train.y)
        >>> list(explain(model, train.X, horizon=100).to_frame().columns)
        ['id', 'time', 'prediction', 'base', 'x0', 'x1']
        """
        n, n_times = len(self), 1 if self.prediction.ndim == 1 else self.prediction.shape[1]
        columns: dict[str, Any] = {"id": np.repeat(self.ids, n_times)}
        if self.times is not None:
            columns["time"] = np.tile(self.times, n)
        else:
            columns |= {"start": self.start, "stop": self.stop}
        columns |= {"prediction": self.prediction.ravel(), "base": self.base.ravel()}
        for name, amounts in zip(self.reasons, self.amounts.swapaxes(0, 1), strict=True):
            while name in columns:
                name = f"{name} (reason)"  # noqa: PLW2901 - a name of its own
            columns[name] = amounts.ravel()
        return make_table(columns, backend)

    def position(self, id: Any) -> int:
        """Find an individual.

        Parameters
        ----------
        id : id or int
            Id of the individual, one of `ids`; or its position, where ids are not whole
            numbers themselves.

        Returns
        -------
        int
            Its position.

        Examples
        --------
        >>> import pandas as pd
        >>> from boostr import BoostR
        >>> from boostr.inspection import explain
        >>> from boostr.simulate import dataset_a
        >>> train = dataset_a(n=150, random_state=1)
        >>> ids = [f"P{number}" for number in range(150)]
        >>> X = pd.DataFrame(train.X, columns=["load", "age"], index=ids)
        >>> model = BoostR(n_estimators=10, validation=None).fit(X, train.y)
        >>> explain(model, X, horizon=50).position("P7")
        7
        """
        ids, n = self.ids.tolist(), len(self)
        found = [place for place, one in enumerate(ids) if one == id]
        if found:
            return found[0]
        # An unknown number among numbers is a wrong id, not the position of another one.
        is_numbered = ids != list(range(n)) and all(map(_is_whole, ids))
        if _is_whole(id) and (-n <= int(id) < (0 if is_numbered else n)):
            return int(id) % n
        what = "an id" if is_numbered else "an id or a position"
        raise InvalidParameterError(
            f"`id` must be {what} among {n} individuals, but it is {id!r}.\n\n"
            f"Hint: the ids are {first_few(self.ids)}; explanation.ids[0] is the first."
        )

    def sentence(self, id: Any, *, n_reasons: int = 3) -> str:
        """Return the reasons for the prediction of one individual in one sentence.

        Parameters
        ----------
        id : id or int
            Id of the individual, one of `ids`; or its position, where ids are not whole
            numbers themselves.
        n_reasons : int, default=3
            How many features and sensors are named at most, the largest amounts first; the
            rest is "others". Amounts that round to zero are not named.

        Returns
        -------
        str
            Such as "3.2 expected against 1.1 on average: +1.4 location, +0.5 age, and -0.2
            others".

        Examples
        --------
        >>> from boostr import BoostR
        >>> from boostr.inspection import explain
        >>> from boostr.simulate import dataset_a
        >>> train = dataset_a(n=150, random_state=1)
        >>> model = BoostR(n_estimators=100, validation=None).fit(train.X, train.y)
        >>> explain(model, train.X, horizon=100).sentence(0, n_reasons=1)
        '9.5 expected against 5.3 on average: +2.8 x1, and +1.4 others'

        The rows of a table with an index are called by it, such as ``sentence("P07")``.
        """
        self.require_one_time("sentence")
        return self._write_sentence(self.position(id), n_reasons)

    def _repr_html_(self) -> str:
        """Return the largest reasons of the first individuals, for notebooks."""
        one, when = self, ""
        if self.prediction.ndim > 1 and self.times is not None:
            last = int(np.argmax(self.times))
            one, when = self.at(last), f", by time {format_cell(self.times[last])}"
        n, shown = len(self), min(len(self), _N_SHOWN)
        rows = [
            (format_id(self.ids[i]), one.prediction[i], one.base[i], one._list_reasons(i))
            for i in range(shown)
        ]
        who = f"The first {shown} of {n:,} individuals" if n > shown else "All individuals"
        return make_card(
            "Reasons for predictions",
            make_grid(("id", "expected", "on average", "largest reasons"), rows),
            make_note(f"{who}{when}. `sentence(id)` and `to_frame()` tell more."),
        )

    def _list_reasons(self, i: int) -> str:
        """Return the second half of the sentence for a position: amounts and names."""
        return self._write_sentence(i).partition(": ")[2]

    def _write_sentence(self, i: int, n_reasons: int = 3) -> str:
        """Return the sentence for a position, with the names of unlearned categories."""
        named = [
            f"{name} = {self.unlearned[i, place]}" if (i, place) in self.unlearned else name
            for place, name in enumerate((*self.features, *self.sensors))
        ]
        extra = [(name, amounts[i]) for name, amounts in self._others()]
        amounts = list(zip(named, self.values[i], strict=True))
        return write_sentence(self.prediction[i], self.base[i], amounts, extra, n_reasons)

    def require_one_time(self, feature: str) -> None:
        """Raise an error if there are several times.

        Parameters
        ----------
        feature : str
            Name of the function, for the message.
        """
        if self.prediction.ndim > 1:
            raise InvalidParameterError(
                f"`{feature}` is about one number per individual, but there are "
                f"{self.prediction.shape[1]} times.\n\nHint: explanation.at(0)."
            )

    def _others(self) -> list[tuple[str, FloatArray]]:
        """Return contributions of neither features nor sensors, if there are any."""
        others = [(ABOVE_ZERO, self.above_zero)] if np.any(self.above_zero) else []
        if self.own_history is not None:
            others.append((OWN_HISTORY, self.own_history))
        return others
