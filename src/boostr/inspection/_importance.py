"""How much each sensor matters, beside the static features."""

from __future__ import annotations

import copy
import warnings
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from boostr._engine.ensemble import Ensemble, Member
from boostr._engine.tree import Tree
from boostr._typing import FloatArray
from boostr.data import RecurrentEvents, Trajectories
from boostr.data._frames import make_table
from boostr.exceptions import InvalidParameterError
from boostr.inspection._model import (
    FittedModel,
    SensorTerms,
    check_model,
    find_sensor,
    mean_speed,
    read_features,
    sensor_basis,
    sum_trees,
    time_unit,
)

__all__ = ["SensorImportance", "sensor_importance"]


@dataclass(frozen=True, slots=True, eq=False)
class SensorImportance:
    """How much each sensor of a model matters, in three ways, and its static features.

    Made by `sensor_importance`.

    Parameters
    ----------
    sensors : tuple of str
        Names of the sensors.
    norms : (q,) float64 array
        Root mean square over individuals of the length of a sensor's coefficients, per unit
        of time. With a baseline this is the standard deviation, over individuals and time,
        of the rate that the sensor adds.
    zero_shares : (q,) float64 array
        Share of the leaves of all trees in which the sensor has no effect at all.
    losses : (q,) float64 array
        How much worse the model gets per individual without the sensor's effects; NaN where
        nothing is known of it.
    errors : (q,) float64 array
        Standard errors of these; NaN where they are not known.
    measure : {"log-likelihood", "held-out loss"} or None
        What gets worse: the log-likelihood of the individuals given, or the model's own
        loss on the training individuals when they were held out; None without losses.
    features : tuple of str
        Names of the static features.
    feature_importances : (p,) float64 array
        Shares of the gain of all splits.
    time_unit : str or None
        Unit of time, where it is known.

    See Also
    --------
    sensor_importance : Computes it.
    boostr.plotting.plot_sensor_importance : Draws it.

    Examples
    --------
    >>> from boostr import BoostR
    >>> from boostr.inspection import sensor_importance
    >>> from boostr.simulate import wells
    >>> train = wells(n=100, random_state=1)
    >>> model = BoostR(n_estimators=5, validation=None, random_state=0)
    >>> importance = sensor_importance(model.fit(train.X, train.y, train.Z), train.X)
    >>> importance.sensors
    ('sensor1', 'sensor2', 'sensor3')
    """

    sensors: tuple[str, ...]
    norms: FloatArray
    zero_shares: FloatArray
    losses: FloatArray
    errors: FloatArray
    measure: str | None
    features: tuple[str, ...]
    feature_importances: FloatArray
    time_unit: str | None = None

    def to_frame(self, *, backend: str | None = None) -> Any:
        """Write a table with one row per sensor and static feature.

        Parameters
        ----------
        backend : {"pandas", "polars"}, default=None
            Which table to make; by default pandas if it is installed, else polars.

        Returns
        -------
        DataFrame
            Columns "name", "kind", and for sensors "norm", "zero_share", "loss" and
            "error", for features "importance"; NaN where a column says nothing.

        Examples
        --------
        >>> from boostr import BoostR
        >>> from boostr.inspection import sensor_importance
        >>> from boostr.simulate import wells
        >>> train = wells(n=100, random_state=1)
        >>> model = BoostR(n_estimators=5, validation=None, random_state=0)
        >>> model = model.fit(train.X, train.y, train.Z)
        >>> sensor_importance(model, train.X).to_frame().shape
        (11, 7)
        """
        none_of_sensors = np.full(len(self.sensors), np.nan)
        none_of_features = np.full(len(self.features), np.nan)
        columns: dict[str, Any] = {
            "name": [*self.sensors, *self.features],
            "kind": ["sensor"] * len(self.sensors) + ["feature"] * len(self.features),
        }
        for name, values in (
            ("norm", self.norms),
            ("zero_share", self.zero_shares),
            ("loss", self.losses),
            ("error", self.errors),
        ):
            columns[name] = np.concatenate([values, none_of_features])
        columns["importance"] = np.concatenate([none_of_sensors, self.feature_importances])
        return make_table(columns, backend)


def sensor_importance(
    model: Any,
    X: Any = None,
    y: RecurrentEvents | None = None,
    Z: Trajectories | None = None,
) -> SensorImportance:
    """Measure how much each sensor matters to a model.

    Parameters
    ----------
    model : BoostR
        A model that was fitted with sensors.
    X : array-like or DataFrame of shape (n, p), or Panel, default=None
        Static features of the individuals that norms are averaged over. By default the
        training individuals, each by the models that have not seen it; a model without
        validation does not keep those.
    y : RecurrentEvents, default=None
        Histories of the same individuals, to see how much worse `score` gets when a
        sensor's effects are taken out of all trees; best of individuals that the model has
        not been trained on. By default what validation has found in training is given.
    Z : Trajectories, default=None
        Sensors of the same individuals, needed with `y` unless `X` is a panel.

    Returns
    -------
    SensorImportance
        Norms, shares of leaves without the sensor, and losses without it.

    See Also
    --------
    sensor_effect : What a sensor does, value by value.
    boostr.plotting.plot_sensor_importance : Draws the result.

    Notes
    -----
    A sensor that resembles another one shares its effects with it: leaving out either alone
    then costs little. Losses are below zero for sensors that the model is better without.

    Examples
    --------
    Wells fail by what their first three sensors show; the fourth is noise.

    >>> from boostr import BoostR
    >>> from boostr.inspection import sensor_importance
    >>> from boostr.simulate import wells
    >>> train = wells(n=400, n_sensors=4, random_state=1)
    >>> test = wells(n=400, n_sensors=4, random_state=2)
    >>> model = BoostR(n_estimators=50, validation=None, random_state=0)
    >>> model = model.fit(train.X, train.y, train.Z)
    >>> importance = sensor_importance(model, test.X, test.y, test.Z)
    >>> importance.sensors[importance.norms.argmin()]
    'sensor4'
    >>> bool((importance.losses[:3] > importance.losses[3]).all())
    True
    """
    fitted = check_model(model)
    found = [
        find_sensor(fitted, place) for place in range(len(sensor_basis(fitted).sensors))
    ]
    theta = _read_coefficients(fitted, X)
    losses, errors, measure = _measure_losses(fitted, found, X, y, Z)
    lengths = [np.sum(theta[:, each.terms] ** 2, axis=1) for each in found]
    return SensorImportance(
        sensors=tuple(each.sensor.name for each in found),
        norms=mean_speed(fitted) * np.sqrt([np.mean(squares) for squares in lengths]),
        zero_shares=_count_zeros(fitted.ensemble_, found),
        losses=losses,
        errors=errors,
        measure=measure,
        features=tuple(fitted.encoder_.names),
        feature_importances=np.asarray(fitted.feature_importances_),
        time_unit=time_unit(fitted),
    )


def _read_coefficients(model: FittedModel, X: Any) -> FloatArray:
    if X is not None:
        return sum_trees(model, read_features(model, X))
    theta: FloatArray | None = getattr(model, "out_of_fold_coefficients_", None)
    if theta is None:
        raise InvalidParameterError(
            "Norms need individuals to average over, but a model without validation keeps "
            "none of its training data.\n\nHint: sensor_importance(model, X)."
        )
    return theta[~np.isnan(theta[:, 0])]


def _count_zeros(ensemble: Ensemble, found: list[SensorTerms]) -> FloatArray:
    """Return the share of leaves in which all coefficients of a sensor are zero."""
    n_leaves = 0
    n_zeros = np.zeros(len(found))
    for member in ensemble.members:
        for tree in member.trees:
            values = tree.nodes.value[tree.nodes.feature < 0]
            n_leaves += len(values)
            n_zeros += [np.sum(~values[:, each.terms].any(axis=1)) for each in found]
    return n_zeros / max(n_leaves, 1)


def _measure_losses(
    model: FittedModel,
    found: list[SensorTerms],
    X: Any,
    y: RecurrentEvents | None,
    Z: Trajectories | None,
) -> tuple[FloatArray, FloatArray, str | None]:
    """Return the rise of loss without each sensor, standard errors, and the measure."""
    unknown = np.full(len(found), np.nan)
    if y is not None:
        if X is None:
            raise InvalidParameterError(
                "Histories `y` need the features of the same individuals, but there are "
                "none.\n\nHint: sensor_importance(model, X, y, Z)."
            )
        return _compare_scores(model, found, X, y, Z), unknown, "log-likelihood"
    known: dict[str, tuple[float, float]] | None
    known = getattr(model, "sensor_usefulness_", None)
    if known is None:
        return unknown, unknown, None
    pairs = np.array([known[each.sensor.name] for each in found]).reshape(-1, 2)
    return pairs[:, 0], pairs[:, 1], "held-out loss"


def _compare_scores(
    model: FittedModel, found: list[SensorTerms], X: Any, y: Any, Z: Any
) -> FloatArray:
    full = model.score(X, y, Z=Z)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # said once, of the same data
        return np.array(
            [full - _leave_out(model, each.terms).score(X, y, Z=Z) for each in found]
        )


def _leave_out(model: FittedModel, terms: slice) -> FittedModel:
    """Return the model with some coefficients zero in all leaves."""
    ensemble = model.ensemble_
    members = tuple(
        Member(tuple(_without(tree, terms) for tree in member.trees), member.weight)
        for member in ensemble.members
    )
    changed = copy.copy(model)
    changed.ensemble_ = replace(ensemble, members=members)
    return changed


def _without(tree: Tree, terms: slice) -> Tree:
    value = tree.nodes.value.copy()
    value[:, terms] = 0.0
    return replace(tree, nodes=tree.nodes._replace(value=value))
