"""How much each static feature and each sensor matters."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np

from boostr._checks.parameters import check_count
from boostr._engine.ensemble import gain_importance
from boostr._engine.statistics import SufficientStats, compute_suffstats, put_on_clock
from boostr._typing import FloatArray
from boostr.data import RecurrentEvents, Trajectories
from boostr.data.events.fingerprint import warn_if_trained_on
from boostr.data.events.frames import make_table
from boostr.exceptions import InvalidParameterError
from boostr.inspection.model import FittedModel, SensorTerms, read_model

__all__ = [
    "FeatureImportance",
    "PermutationImportance",
    "SensorImportance",
    "feature_importance",
    "permutation_importance",
    "sensor_importance",
]


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


def feature_importance(model: Any, *, kind: Any = None) -> FeatureImportance:
    """Tell how much each static feature of a model matters.

    Parameters
    ----------
    model : BoostR
        A fitted model, with or without sensors.
    kind : object, default=None
        One of ``model.kind_labels_``, for the trees of this kind; by default those that
        were grown on all events.

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
    fitted = read_model(model, kind)
    names = fitted.names
    _, gains, n_splits = gain_importance(fitted.ensemble.members, len(names))
    return FeatureImportance(names, fitted.fitted.feature_importances, gains, n_splits)


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
    *,
    kind: Any = None,
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
    kind : object, default=None
        One of ``model.kind_labels_``, for the trees of this kind; by default those that
        were grown on all events.

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
    fitted = read_model(model, kind)
    if y is not None and kind is not None:
        y = model.fitted_.select_events(y, kind)
    found = [
        fitted.find_sensor(place) for place in range(len(fitted.sensor_basis().sensors))
    ]
    theta = _read_coefficients(fitted, X)
    losses, errors, measure = _measure_losses(fitted, found, X, y, Z)
    lengths = [np.sum(theta[:, each.terms] ** 2, axis=1) for each in found]
    return SensorImportance(
        sensors=tuple(each.sensor.name for each in found),
        norms=fitted.mean_speed() * np.sqrt([np.mean(squares) for squares in lengths]),
        zero_shares=_count_zeros(fitted, found),
        losses=losses,
        errors=errors,
        measure=measure,
        features=fitted.names,
        feature_importances=fitted.fitted.feature_importances,
        time_unit=fitted.time_unit,
    )


def _read_coefficients(model: FittedModel, X: Any) -> FloatArray:
    if X is not None:
        return model.sum_trees(model.read_features(X))
    theta = model.fitted.out_of_fold_coefficients
    if theta is None:
        raise InvalidParameterError(
            "Norms need individuals to average over, but a model without validation keeps "
            "none of its training data.\n\nHint: sensor_importance(model, X)."
        )
    return theta[~np.isnan(theta[:, 0])]


def _count_zeros(model: FittedModel, found: list[SensorTerms]) -> FloatArray:
    """Return the share of leaves in which all coefficients of a sensor are zero."""
    leaves = [tree.nodes.value[tree.nodes.feature < 0] for tree in model.trees()]
    n_leaves = sum(map(len, leaves))
    n_zeros = [
        sum(np.sum(~values[:, each.terms].any(axis=1)) for values in leaves)
        for each in found
    ]
    return np.array(n_zeros, dtype=np.float64) / max(n_leaves, 1)


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
    known = model.fitted.sensor_usefulness
    if known is None:
        return unknown, unknown, None
    pairs = np.array([known[each.sensor.name] for each in found]).reshape(-1, 2)
    return pairs[:, 0], pairs[:, 1], "held-out loss"


def _compare_scores(
    model: FittedModel, found: list[SensorTerms], X: Any, y: Any, Z: Any
) -> FloatArray:
    full = model.score(X, y, Z)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # said once, of the same data
        return np.array([full - model.without(each.terms).score(X, y, Z) for each in found])


_BLOCK = 8192  # individuals whose losses are computed together, to bound the memory


@dataclass(frozen=True, slots=True, eq=False)
class PermutationImportance:
    """How much the loss of a model rises when the values of a feature are shuffled.

    Made by `permutation_importance`.

    Parameters
    ----------
    features : tuple of str
        Names of the static features.
    importances : (p,) float64 array
        Rise of the loss per individual, averaged over the repeats; exactly zero for
        features that the model does not use.
    errors : (p,) float64 array
        Standard errors of these, from the spread between individuals.
    repeats : (p, n_repeats) float64 array
        Rise of the loss in each repeat.
    loss : float
        Loss of the model per individual with all features in place; that of an individual
        without coefficients, who is expected to have no event, is zero.

    See Also
    --------
    permutation_importance : Computes it.
    boostr.plotting.plot_permutation_importance : Draws it.

    Examples
    --------
    >>> from boostr import BoostR
    >>> from boostr.inspection import permutation_importance
    >>> from boostr.simulate import dataset_a
    >>> train, test = dataset_a(n=150, random_state=1), dataset_a(n=90, random_state=2)
    >>> model = BoostR(n_estimators=20, validation=None).fit(train.X, train.y)
    >>> permutation_importance(model, test.X, test.y).repeats.shape
    (2, 5)
    """

    features: tuple[str, ...]
    importances: FloatArray
    errors: FloatArray
    repeats: FloatArray
    loss: float

    def to_frame(self, *, backend: str | None = None) -> Any:
        """Write a table with one row per feature.

        Parameters
        ----------
        backend : {"pandas", "polars"}, default=None
            Which table to make; by default pandas if it is installed, else polars.

        Returns
        -------
        DataFrame
            Columns "feature", "importance" and "error".

        Examples
        --------
        >>> from boostr import BoostR
        >>> from boostr.inspection import permutation_importance
        >>> from boostr.simulate import dataset_a
        >>> train = dataset_a(n=150, random_state=1)
        >>> model = BoostR(n_estimators=2, validation=None).fit(train.X, train.y)
        >>> permutation_importance(model, train.X, train.y).to_frame().shape
        (2, 3)
        """
        columns = {
            "feature": np.array(self.features, dtype=object),
            "importance": self.importances,
            "error": self.errors,
        }
        return make_table(columns, backend)


def permutation_importance(
    model: Any,
    X: Any,
    y: RecurrentEvents,
    Z: Trajectories | None = None,
    *,
    n_repeats: int = 5,
    random_state: Any = 0,
    kind: Any = None,
) -> PermutationImportance:
    """Measure how much worse a model gets without what each feature tells.

    The values of one feature are dealt out anew to the individuals, everything else stays
    in place, and the model's own loss is compared. Individuals that the model was not
    trained on tell what a feature is good for; on the training data, features that were
    learned by heart look good, too.

    Parameters
    ----------
    model : BoostR
        A fitted model.
    X : array-like or DataFrame of shape (n, p), or Panel
        Static features, best of individuals that were held out.
    y : RecurrentEvents
        Event histories of the same individuals.
    Z : Trajectories, default=None
        Sensors, for a model that was fitted with them; they stay in place.
    n_repeats : int, default=5
        How often each feature is shuffled.
    random_state : int, Generator or None, default=0
        Seed of the shuffling.
    kind : object, default=None
        One of ``model.kind_labels_``, for the trees of this kind; by default those that
        were grown on all events.

    Returns
    -------
    PermutationImportance
        Rise of the loss per individual for each feature, with standard errors.

    See Also
    --------
    feature_importance : Gain of the splits in training.
    sensor_importance : How much sensors matter.
    boostr.plotting.plot_permutation_importance : Draws the result.

    Notes
    -----
    A feature that resembles another one can be shuffled at little cost: the other one still
    tells most of it.

    Examples
    --------
    Two of ten features matter.

    >>> from boostr import BoostR
    >>> from boostr.inspection import permutation_importance
    >>> from boostr.simulate import dataset_b
    >>> train, test = dataset_b(n=300, random_state=1), dataset_b(n=300, random_state=2)
    >>> model = BoostR(n_estimators=50, validation=None).fit(train.X, train.y)
    >>> result = permutation_importance(model, test.X, test.y)
    >>> (result.importances > 3 * result.errors).nonzero()[0]
    array([0, 1])
    """
    fitted = read_model(model, kind)
    y = y if kind is None else model.fitted_.select_events(y, kind)
    check_count(n_repeats, "n_repeats")
    features, events, sensors = fitted.read_individuals(X, y, Z, "permutation_importance")
    clocked = put_on_clock(events, fitted.clock, sensors)
    stats = compute_suffstats(clocked, fitted.basis, fitted.fitted.settings.loss)
    warn_if_trained_on(model, y, features)
    rng = np.random.default_rng(random_state)
    before = _losses(stats, fitted.sum_trees(features))
    n, p = features.shape
    repeats, errors = np.zeros((p, int(n_repeats))), np.zeros(p)
    for column in sorted(fitted.used_features()):
        rises = np.zeros(n)
        shuffled = features.copy()
        for repeat in range(int(n_repeats)):
            shuffled[:, column] = rng.permutation(features[:, column])
            rise = _losses(stats, fitted.sum_trees(shuffled)) - before
            repeats[column, repeat] = rise.mean()
            rises += rise / n_repeats
        errors[column] = rises.std() / np.sqrt(n)
    return PermutationImportance(
        features=fitted.names,
        importances=repeats.mean(axis=1),
        errors=errors,
        repeats=repeats,
        loss=float(before.mean()),
    )


def _losses(stats: SufficientStats, theta: FloatArray) -> FloatArray:
    """Return ``1/2 theta' H theta - b' theta`` of every individual."""
    losses = np.empty(len(theta))
    for begin in range(0, len(theta), _BLOCK):
        rows = np.arange(begin, min(begin + _BLOCK, len(theta)))
        curved = 0.5 * stats.multiply(theta[rows], rows) - stats.linear[rows]
        losses[rows] = np.sum(theta[rows] * curved, axis=1)
    return losses
