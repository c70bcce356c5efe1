"""Base class of ``Trajectories``: an array of individuals with sensors."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike

from boostr._kernels.paths import (
    count_refined,
    hold_values,
    read_values,
    refine_after,
    unite_times,
)
from boostr._kernels.segments import Runs
from boostr._typing import AnyArray, BoolArray, FloatArray, OffsetArray
from boostr.data.flat import gather, offsets_of
from boostr.data.individuals import (
    IndividualArray,
    Wording,
    check_parts,
    count_of,
    join_ids,
)
from boostr.data.sensors.build import check_size
from boostr.data.sensors.checks import (
    Categories,
    as_ids,
    check_clocks,
    count_unseen,
    match_ids,
    recode,
    unite_categories,
)
from boostr.exceptions import InvalidParameterError, InvalidSensorsError, SensorTypeError


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class PathContainer(IndividualArray):
    """Flat arrays of all sensors, indexable by individual like a 1-D array."""

    _wording = Wording(
        container="Trajectories",
        entries="sensor series",
        items="samples",
        numbers="Z.values and Z.times are arrays of numbers, Z.read(times) as well",
        constructors="`Trajectories.from_long` or `from_flat`",
        type_error=SensorTypeError,
        value_error=InvalidSensorsError,
    )

    times: FloatArray  # (n_samples,)
    values: FloatArray  # (n_sensors, n_samples)
    offsets: OffsetArray  # (n + 1,)
    names: tuple[str, ...]
    categories: tuple[tuple[Any, ...] | None, ...]
    ids: AnyArray  # (n,)
    has_ids: bool
    id_name: str | None = None
    time_unit: str | None = None
    origin: np.datetime64 | None = None
    before: Literal["unknown", "first"] = "unknown"
    known_ahead: tuple[str, ...] = ()  # some of the names

    @property
    def last_times(self) -> FloatArray:
        """Time of every individual's last sample, minus infinity if it has none."""
        last = np.full(len(self), -np.inf)
        some = np.diff(self.offsets) > 0
        last[some] = self.times[self.offsets[1:][some] - 1]
        return last

    def __len__(self) -> int:
        return int(self.offsets.size) - 1

    def _take(self, index: OffsetArray) -> Self:
        """Return the individuals at some positions."""
        samples, offsets = gather(self.offsets, index)
        return self._with(
            times=self.times[samples],
            values=np.take(self.values, samples, axis=1),
            offsets=offsets,
            ids=self.ids[index],
        )

    def _entries(self) -> Iterator[AnyArray]:
        """Return the values of every individual."""
        bounds = pairwise(self.offsets.tolist())
        return (self.values[:, first:last] for first, last in bounds)

    def __repr__(self) -> str:
        return (
            f"{type(self).__name__}({count_of(len(self), 'individual')}, "
            f"{count_of(len(self.names), 'sensor')}, "
            f"{count_of(self.times.size, 'sample')})"
        )

    def begin_times(self) -> FloatArray:
        """Return the time after which every piece holds.

        Returns
        -------
        (n_samples,) float64 array
            The times themselves; minus infinity for the first piece of every individual
            if the first known values also hold before the first sample.

        Examples
        --------
        >>> from boostr.data import Trajectories
        >>> Z = Trajectories.from_flat([1, 2], [0, 2], [[5, 6]], ["load"], before="first")
        >>> Z.begin_times()
        array([-inf,   2.])
        """
        if self.before == "unknown":
            return self.times
        begin = self.times.copy()
        begin[self.offsets[:-1][np.diff(self.offsets) > 0]] = -np.inf
        return begin

    def _pieces(self) -> Runs:
        """Return the times at which the pieces of all individuals begin."""
        return Runs(self.begin_times(), self.offsets)

    def _samples(self) -> Runs:
        """Return the sample times of all individuals."""
        return Runs(self.times, self.offsets)

    def equals(self, other: object) -> bool:
        """Return whether two containers hold the same sensors in the same order.

        Parameters
        ----------
        other : object
            Anything; only another container can be equal.

        Returns
        -------
        bool
            Whether ids, sensors, times, values, unit and origin all agree. The name of
            the id column does not count.

        Examples
        --------
        >>> from boostr.data import Trajectories
        >>> Z = Trajectories.from_flat([1, 2], [0, 1, 2], [[5, 6]], ["load"])
        >>> Z.equals(Z[[0, 1]]), Z.equals(Z[[1, 0]])
        (True, False)
        """
        if not isinstance(other, PathContainer):
            return False
        facts = ("names", "categories", "before", "time_unit", "origin")
        return (
            all(getattr(self, name) == getattr(other, name) for name in facts)
            and all(
                np.array_equal(getattr(self, name), getattr(other, name))
                for name in ("ids", "offsets", "times")
            )
            and np.array_equal(self.values, other.values, equal_nan=True)
        )

    def select(self, names: str | Sequence[str]) -> Self:
        """Keep some of the sensors.

        Parameters
        ----------
        names : str or sequence of str
            Names of the sensors, in the order wanted.

        Returns
        -------
        Trajectories
            The same samples of these sensors.

        Examples
        --------
        >>> from boostr.data import Trajectories
        >>> Z = Trajectories.from_flat([1], [0, 1], [[5], [6]], ["load", "torque"])
        >>> Z.select(["torque"]).values
        array([[6.]])
        """
        asked = [names] if isinstance(names, str) else names
        chosen = [self._index(name) for name in asked]
        return self._with(
            values=self.values[chosen],
            names=tuple(self.names[i] for i in chosen),
            categories=tuple(self.categories[i] for i in chosen),
        )

    def _index(self, name: str) -> int:
        """Return the position of a sensor."""
        if name in self.names:
            return self.names.index(name)
        raise InvalidParameterError(
            f"There must be a sensor {name!r}, but there is none.\n\n"
            f"Hint: the sensors are {', '.join(map(repr, self.names)) or 'none at all'}."
        )

    def align(self, ids: ArrayLike) -> Self:
        """Return the individuals in the order of ids.

        Parameters
        ----------
        ids : (m,) array-like
            Ids in the order wanted, for instance ``y.ids``; an id may stand twice.

        Returns
        -------
        Trajectories
            One entry per id. Series without ids are left in their order, if there are
            as many.

        Raises
        ------
        InvalidSensorsError
            If an id has no entry, or an entry is of none of the ids.

        Examples
        --------
        >>> from boostr.data import Trajectories
        >>> Z = Trajectories.from_flat([1, 2], [0, 1, 2], [[5, 6]], ["load"], ids=[7, 3])
        >>> Z.align([3, 7]).values
        array([[6., 5.]])
        """
        wanted = as_ids(ids)
        if not self.has_ids:
            self._check_as_many(wanted.size)
            return self
        index = match_ids(self.ids, wanted)
        return self if index is None else self._take(index)

    def _check_as_many(self, n: int) -> None:
        """Refuse to match a different number of individuals by position."""
        if n != len(self):
            raise InvalidSensorsError(
                "Without ids, sensors are matched by position and must be as many, but "
                f"they are of {len(self)} individuals and not of {n}.\n\n"
                "Hint: give the sensors ids, with `from_long` or ids=…."
            )

    def encode(self, categories: Mapping[str, Sequence[Any]]) -> Self:
        """Write categorical sensors in given lists of categories.

        Parameters
        ----------
        categories : mapping of str to sequence
            For some sensors the categories in the order of their codes, for instance
            those of the training data.

        Returns
        -------
        Trajectories
            The same values under other codes. A category that is not in the list
            becomes unknown; `count_unseen` tells how often.

        Examples
        --------
        >>> import pandas as pd
        >>> from boostr.data import Trajectories
        >>> df = pd.DataFrame({"well": 1, "day": [0, 1], "mode": ["idle", "run"]})
        >>> Z = Trajectories.from_long(df, "well", "day")
        >>> Z.encode({"mode": ("run", "stop")}).values
        array([[nan,  0.]])
        """
        return self._with(**recode(self._categorical(), self.values, categories))

    def count_unseen(self, categories: Mapping[str, Sequence[Any]]) -> dict[str, int]:
        """Count the pieces whose category is not in given lists.

        Parameters
        ----------
        categories : mapping of str to sequence
            For some sensors the categories that are known.

        Returns
        -------
        dict
            By sensor, how many pieces `encode` would make unknown.

        Examples
        --------
        >>> import pandas as pd
        >>> from boostr.data import Trajectories
        >>> df = pd.DataFrame({"well": 1, "day": [0, 1], "mode": ["idle", "run"]})
        >>> Z = Trajectories.from_long(df, "well", "day")
        >>> Z.count_unseen({"mode": ("run", "stop")})
        {'mode': 1}
        """
        return count_unseen(self._categorical(), self.values, categories)

    def _known_ahead(self) -> tuple[str, ...]:
        """Return the sensors that are known in advance."""
        return tuple(name for name in self.names if name in self.known_ahead)

    def _categorical(self) -> Categories:
        """Return the categories of every sensor by name."""
        return dict(zip(self.names, self.categories, strict=True))

    def read(self, times: ArrayLike) -> FloatArray:
        """Return the values that act at some times.

        Parameters
        ----------
        times : float, (m,) or (n, m) array-like
            Times for all individuals, or one row of times for each.

        Returns
        -------
        (n, m, n_sensors) float64 array
            Values last sampled strictly before each time; NaN where unknown, codes for
            categories.

        Examples
        --------
        >>> from boostr.data import Trajectories
        >>> Z = Trajectories.from_flat([1, 2], [0, 2], [[5, 6]], ["load"])
        >>> Z.read([1.0, 2.0, 9.0])[:, :, 0]
        array([[nan,  5.,  6.]])
        """
        asked = np.atleast_1d(np.asarray(times, dtype=np.float64))
        if asked.ndim > 2 or (asked.ndim == 2 and asked.shape[0] != len(self)):
            raise InvalidParameterError(
                "`times` must be in one dimension, or one row per individual, but its "
                f"shape is {asked.shape} for {len(self)} individuals."
            )
        rows = np.ascontiguousarray(np.broadcast_to(asked, (len(self), asked.shape[-1])))
        out = np.empty((*rows.shape, len(self.names)))
        read_values(self._pieces(), self.values, rows, out)
        return out

    @classmethod
    def concatenate(cls, parts: Sequence[Self]) -> Self:
        """Return the individuals of several containers in one.

        Parameters
        ----------
        parts : sequence of Trajectories
            At least one; all with the same sensors, unit, origin and ``before``.

        Returns
        -------
        Trajectories
            All individuals, with the ids they had. Categories are united.

        Examples
        --------
        >>> from boostr.data import Trajectories
        >>> Z = Trajectories.from_flat([1, 2], [0, 1, 2], [[5, 6]], ["load"])
        >>> Trajectories.concatenate([Z[1:], Z[:1]]).values
        array([[6., 5.]])
        """
        parts = list(parts)
        check_parts(parts, PathContainer)
        _check_alike(parts)
        if len({(part.names, part.categories) for part in parts}) > 1:
            parts = [part.select(parts[0].names) for part in parts]
            united = unite_categories([part._categorical() for part in parts])
            parts = [part.encode(united) for part in parts]
        return parts[0]._with(
            times=np.concatenate([part.times for part in parts]),
            values=np.concatenate([part.values for part in parts], axis=1),
            offsets=offsets_of(np.concatenate([np.diff(part.offsets) for part in parts])),
            **join_ids(parts),
        )


def _check_alike(parts: Sequence[PathContainer]) -> None:
    """Refuse parts with different sensors or clocks."""
    for part in parts[1:]:
        check_clocks(parts[0], part)
        if set(part.names) != set(parts[0].names) or part.before != parts[0].before:
            raise InvalidSensorsError(
                "Parts must have the same sensors and the same `before`, but one has "
                f"{', '.join(part.names)} ({part.before}) and the first "
                f"{', '.join(parts[0].names)} ({parts[0].before}).\n\n"
                "Hint: Z.select(names) keeps the sensors that all of them have."
            )


def unite(one: Runs, other: Runs) -> Runs:
    """Return the union of two grids of the same individuals, without ties."""
    room = one.times.size + other.times.size
    grid = Runs(np.empty(room), np.empty_like(one.offsets))
    written = unite_times(one, other, grid)
    return Runs(grid.times[:written].copy(), grid.offsets)


def keep_times(grid: Runs, keep: BoolArray) -> Runs:
    """Return the times of a grid that a mask keeps."""
    return Runs(grid.times[keep], offsets_of(keep)[grid.offsets])


def one_each(times: FloatArray, keep: BoolArray | None = None) -> Runs:
    """Return a grid of one time per individual, for all or those that a mask keeps."""
    every = Runs(times, np.arange(times.size + 1))
    return every if keep is None else keep_times(every, keep)


def hold(paths: PathContainer, grid: Runs, out: FloatArray | None = None) -> FloatArray:
    """Return all sensors just after the times of a grid, as (n_sensors, k) values."""
    if out is None:
        out = np.empty((len(paths.names), grid.times.size))
    hold_values(paths._pieces(), paths.values, grid, out)
    return out


def refine(
    grid: Runs, step: float, *, reach: float = np.inf, until: FloatArray | None = None
) -> Runs:
    """Return a grid with steps after every time, up to the next time, `reach` or `until`.

    Up to any moment, the result does not depend on later times.
    """
    times, offsets = grid
    if until is None:
        until = np.full(offsets.size - 1, np.inf)
    following = np.append(times[1:], np.inf)
    some = np.diff(offsets) > 0
    following[offsets[1:][some] - 1] = until[some]
    check_size(float((np.clip(following - times, 0.0, reach) / step).sum()) + times.size)
    counts = np.empty(times.size, dtype=np.int64)
    count_refined(grid, until, reach, step, counts)
    begin = offsets_of(counts)
    refined = np.empty(begin[-1])
    refine_after(times, counts, reach, step, refined)
    return Runs(refined, begin[offsets])


def assign_sensors(paths: PathContainer, sensors: Mapping[str, Any]) -> dict[str, Any]:
    """Return new ``values``, ``names`` and ``categories`` after changes by sensor name.

    A change is a function, a number, a category or an array.
    """
    rows = dict(zip(paths.names, paths.values, strict=True))
    lists = dict(zip(paths.names, paths.categories, strict=True))
    size = paths.times.size
    for name, given in sensors.items():
        is_known = ~np.isnan(rows[name]) if name in rows else np.ones(size, dtype=bool)
        if isinstance(given, str):
            categories = _with_category(name, given, lists)
            lists[name] = categories
            given = float(categories.index(given))  # noqa: PLW2901 - its code
        elif lists.get(name) is not None:
            raise InvalidSensorsError(
                f"Sensor {name!r} must get one of its categories, because it has "
                f"categories, but it gets {type(given).__name__}.\n\n"
                f"Hint: for instance {name}={(lists[name] or ('…',))[0]!r}."
            )
        else:
            lists[name] = None
        if callable(given):
            source = rows[name][is_known] if name in rows else _copies(rows)
            given = given(source)  # noqa: PLW2901 - what the function gives
        rows[name] = _as_row(name, given, is_known)
    return {
        "values": np.array(list(rows.values())).reshape(len(rows), size),
        "names": tuple(rows),
        "categories": tuple(lists.values()),
    }


def _with_category(name: str, category: str, lists: Mapping[str, Any]) -> tuple[Any, ...]:
    """Return the categories of a sensor, with a new one added if needed."""
    known = lists.get(name, ())
    if known is None:
        raise InvalidSensorsError(
            f"Sensor {name!r} must get numbers, because it holds numbers, but it gets "
            f"{category!r}.\n\nHint: give the sensor of categories another name."
        )
    return known if category in known else (*known, category)


def _copies(rows: Mapping[str, FloatArray]) -> dict[str, FloatArray]:
    """Return copies of the arrays, so that a user's function may change them."""
    return {name: row.copy() for name, row in rows.items()}


def _as_row(name: str, given: Any, is_known: Any) -> FloatArray:
    """Return a row with values at the known pieces, or at all of them."""
    values = np.asarray(given)
    if values.dtype.kind not in "biuf" or np.isinf(values).any():
        raise InvalidSensorsError(
            f"Sensor {name!r} must get finite numbers, but it gets {values.dtype} or "
            "infinite values.\n\nHint: NaN means unknown."
        )
    if values.shape == is_known.shape:
        return values.astype(np.float64)
    if values.shape not in {(), (int(is_known.sum()),)}:
        raise InvalidSensorsError(
            f"Sensor {name!r} must get one value, or one per known piece "
            f"({is_known.sum()}) or per piece ({is_known.size}), but the shape is "
            f"{values.shape}.\n\nHint: a function must return as many as it gets."
        )
    row = np.full(is_known.shape, np.nan)
    row[is_known] = values
    return row
