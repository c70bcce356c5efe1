"""Transformers of static features, in pipelines that carry sensors as well."""

from __future__ import annotations

from typing import Any, Self

from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from boostr._typing import AnyArray
from boostr.data import Panel

__all__ = ["StaticTransformer"]


def _names_its_features(wrapper: StaticTransformer) -> bool:
    """Return whether the wrapped transformer names its output features."""
    inner = getattr(wrapper, "transformer_", wrapper.transformer)
    return hasattr(inner, "get_feature_names_out")


def _static(X: Any) -> Any:
    """Return the table of static features."""
    return X.X if isinstance(X, Panel) else X


class StaticTransformer(  # type: ignore[call-arg]
    TransformerMixin,  # type: ignore[misc]
    BaseEstimator,  # type: ignore[misc]
    auto_wrap_output_keys=None,
):
    """Apply a transformer to the static features of a panel, and keep its sensors.

    Parameters
    ----------
    transformer : estimator
        A transformer of tables, for instance ``SimpleImputer()``. It is cloned.

    Attributes
    ----------
    transformer_ : estimator
        The fitted clone.

    See Also
    --------
    boostr.data.Panel : Static features and sensors, kept in step.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.preprocessing import StandardScaler
    >>> from boostr.data import Panel, Trajectories
    >>> from boostr import StaticTransformer
    >>> Z = Trajectories.from_flat([0, 1], [0, 1, 2], [[5, 6]], ["load"])
    >>> panel = Panel(np.array([[1.0], [3.0]]), Z)
    >>> StaticTransformer(StandardScaler()).fit_transform(panel).X.ravel()
    array([-1.,  1.])
    """

    def __init__(self, transformer: Any) -> None:
        self.transformer = transformer

    def fit(self, X: Any, y: Any = None) -> Self:
        """Fit a clone of the transformer to the static features.

        Parameters
        ----------
        X : Panel or table
            Features; the sensors of a panel are not looked at.
        y : object, default=None
            Handed to the transformer.

        Returns
        -------
        StaticTransformer
            Itself.
        """
        self.transformer_ = clone(self.transformer).fit(_static(X), y)
        return self

    def transform(self, X: Any) -> Any:
        """Transform the static features.

        Parameters
        ----------
        X : Panel or table
            Features, as in `fit`.

        Returns
        -------
        Panel or table
            A panel with the same sensors if a panel was given, else what the
            transformer returns.
        """
        check_is_fitted(self)
        table = self.transformer_.transform(_static(X))
        return Panel(table, X.Z) if isinstance(X, Panel) else table

    def set_output(self, *, transform: str | None = None) -> Self:
        """Choose the kind of table that the transformer returns.

        Parameters
        ----------
        transform : {"default", "pandas", "polars"}, default=None
            As in scikit-learn; None leaves it as it is.

        Returns
        -------
        StaticTransformer
            Itself.
        """
        for inner in (self.transformer, getattr(self, "transformer_", None)):
            if inner is not None:
                inner.set_output(transform=transform)
        return self

    @available_if(_names_its_features)  # type: ignore[untyped-decorator]
    def get_feature_names_out(self, input_features: Any = None) -> AnyArray:
        """Give the names of the features that the transformer makes.

        Parameters
        ----------
        input_features : array-like of str, default=None
            Names of the features it was given.

        Returns
        -------
        (p,) array of str
            Names after the transformation.
        """
        check_is_fitted(self)
        names: AnyArray = self.transformer_.get_feature_names_out(input_features)
        return names
