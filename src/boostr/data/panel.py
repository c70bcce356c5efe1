"""``Panel``: static features and sensors of the same individuals."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from narwhals.dependencies import is_pandas_dataframe

from boostr._checks.numbers import labels_are_ids
from boostr._typing import AnyArray
from boostr.data.individuals import check_labels, count_of, positions_of
from boostr.data.sensors.shared import SharedSensors
from boostr.data.sensors.trajectories import Trajectories
from boostr.exceptions import InvalidFeaturesError, InvalidSensorsError, SensorTypeError


class Panel:
    """Static features and sensors of the same individuals, sliceable by row.

    Tools of scikit-learn split the panel as they split a table, so that both go through
    cross-validation and searches together.

    Parameters
    ----------
    X : (n, p) array or DataFrame
        Static features, one row per individual.
    Z : Trajectories
        Sensors of the same individuals. Where the index of a pandas table holds
        their ids they are put into its order, else row ``i`` belongs to entry ``i``.

    Attributes
    ----------
    X : (n, p) array or DataFrame
        The features.
    Z : Trajectories
        The sensors in the order of the rows.

    See Also
    --------
    Trajectories : The sensors.

    Examples
    --------
    >>> import pandas as pd
    >>> from boostr.data import Panel, Trajectories
    >>> Z = Trajectories.from_flat([0, 1], [0, 1, 2], [[5, 6]], ["load"], ids=["W1", "W2"])
    >>> X = pd.DataFrame({"depth": [20.0, 10.0]}, index=["W2", "W1"])
    >>> panel = Panel(X, Z)
    >>> panel
    Panel(2 individuals, 1 feature, 1 sensor)
    >>> panel[1:].Z.values
    array([[5.]])
    """

    X: Any
    Z: Trajectories

    def __init__(self, X: Any, Z: Trajectories) -> None:
        if not isinstance(Z, Trajectories):
            hint = "Trajectories.from_long and Trajectories.from_flat make one."
            if isinstance(Z, SharedSensors):
                hint = "Z.for_individuals(y) gives each individual what it sees of them."
            elif callable(Z):
                hint = "Z(y, until) makes one; BoostR.fit and forecasts take functions."
            raise SensorTypeError(
                f"`Z` must be a Trajectories, but it is a {type(Z).__name__}.\n\n"
                f"Hint: {hint}"
            )
        self.X = _check_table(X)
        self.Z = _in_step(self.X, Z)

    @property
    def shape(self) -> tuple[int, int]:
        """Number of individuals and of static features."""
        return int(self.X.shape[0]), int(self.X.shape[1])

    @property
    def ndim(self) -> int:
        """Two, as of the table of features."""
        return 2

    def __len__(self) -> int:
        return len(self.Z)

    def __iter__(self) -> Iterator[Panel]:
        return (self[i] for i in range(len(self)))

    def __getitem__(self, key: Any) -> Panel:
        if self.Z.has_ids:
            check_labels(key, self.Z.ids, InvalidSensorsError)
        index = positions_of(key, len(self))
        rows = self.X.iloc[index] if hasattr(self.X, "iloc") else self.X[index]
        part = object.__new__(type(self))
        part.X = rows
        part.Z = self.Z[index]
        return part

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> AnyArray:
        raise SensorTypeError(
            "A Panel cannot become an array, because it holds sensors next to the "
            "features.\n\n"
            "Hint: panel.X is the table; wrap a transformer of features as "
            "StaticTransformer(transformer) to use it in a pipeline."
        )

    def __repr__(self) -> str:
        n, p = self.shape
        return (
            f"Panel({count_of(n, 'individual')}, {count_of(p, 'feature')}, "
            f"{count_of(len(self.Z.names), 'sensor')})"
        )


def _check_table(X: Any) -> Any:
    """Return the features, which must be a table or array of two dimensions."""
    table = X if hasattr(X, "shape") else np.asarray(X)
    if len(table.shape) == 2:
        return table
    raise InvalidFeaturesError(
        "`X` must be a table with one row per individual, but it has "
        f"{len(table.shape)} dimensions.\n\n"
        "Hint: numpy.empty((len(Z), 0)) is a table without features."
    )


def _in_step(X: Any, Z: Trajectories) -> Trajectories:
    """Return the sensors in the order of the rows."""
    if is_pandas_dataframe(X) and Z.has_ids:
        labels = np.asarray(X.index)
        if not np.array_equal(labels, Z.ids) and labels_are_ids(X.index, Z):
            return Z.align(labels)
    if X.shape[0] != len(Z):
        raise InvalidSensorsError(
            "A panel must have one row of features per individual of Z, but X has "
            f"{X.shape[0]} rows and Z has {len(Z)} individuals.\n\n"
            "Hint: Z.align(ids) puts the sensors into the order of the rows; pass ids=… "
            "where they are read to keep individuals without samples."
        )
    return Z
