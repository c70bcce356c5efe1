"""How much each static feature matters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from boostr._engine.ensemble import gain_importance
from boostr._typing import FloatArray
from boostr.data._frames import make_table
from boostr.inspection._model import check_model

__all__ = ["FeatureImportance", "feature_importance"]


@dataclass(frozen=True, slots=True, eq=False)
class FeatureImportance:
    """How much each static feature of a model matters.

    Made by `feature_importance`.

    Parameters
    ----------
    features : tuple of str
        Names of the features.
    importances : (p,) float64 array
        Gain of a feature's splits over the number of trees squared, as shares of all.
    gains : (p,) float64 array
        Gain of a feature's splits, averaged over the models.
    n_splits : (p,) float64 array
        Number of a feature's splits, averaged over the models.

    See Also
    --------
    feature_importance : Computes it.
    boostr.plotting.plot_importance : Draws it.

    Examples
    --------
    >>> from boostr import BoostR
    >>> from boostr.inspection import feature_importance
    >>> from boostr.simulate import dataset_a
    >>> train = dataset_a(n=150, random_state=1)
    >>> model = BoostR(n_estimators=4, max_leaf_nodes=3, validation=None)
    >>> feature_importance(model.fit(train.X, train.y)).n_splits
    array([3., 3.])
    """

    features: tuple[str, ...]
    importances: FloatArray
    gains: FloatArray
    n_splits: FloatArray

    def to_frame(self, *, backend: str | None = None) -> Any:
        """Write a table with one row per feature.

        Parameters
        ----------
        backend : {"pandas", "polars"}, default=None
            Which table to make; by default pandas if it is installed, else polars.

        Returns
        -------
        DataFrame
            Columns "feature", "importance", "gain" and "n_splits".

        Examples
        --------
        >>> from boostr import BoostR
        >>> from boostr.inspection import feature_importance
        >>> from boostr.simulate import dataset_a
        >>> train = dataset_a(n=150, random_state=1)
        >>> model = BoostR(n_estimators=2, validation=None).fit(train.X, train.y)
        >>> feature_importance(model).to_frame().shape
        (2, 4)
        """
        columns = {
            "feature": np.array(self.features, dtype=object),
            "importance": self.importances,
            "gain": self.gains,
            "n_splits": self.n_splits,
        }
        return make_table(columns, backend)


def feature_importance(model: Any) -> FeatureImportance:
    """Tell how much each static feature of a model matters.

    Parameters
    ----------
    model : BoostR
        A fitted model, with or without sensors.

    Returns
    -------
    FeatureImportance
        Shares of the gain of all splits, gains, and numbers of splits.

    See Also
    --------
    sensor_importance : The same for sensors.
    boostr.plotting.plot_importance : Draws the result.

    Examples
    --------
    >>> from boostr import BoostR
    >>> from boostr.inspection import feature_importance
    >>> from boostr.simulate import dataset_a
    >>> train = dataset_a(n=150, random_state=1)
    >>> model = BoostR(n_estimators=10, validation=None).fit(train.X, train.y)
    >>> result = feature_importance(model)
    >>> result.features, float(result.importances.sum().round(6))
    (('x0', 'x1'), 1.0)
    """
    fitted = check_model(model)
    names = tuple(fitted.encoder_.names)
    _, gains, n_splits = gain_importance(fitted.ensemble_.members, len(names))
    importances = np.asarray(fitted.feature_importances_, dtype=np.float64)
    return FeatureImportance(names, importances, gains, n_splits)
