"""Loss of a model after the values of a feature are shuffled."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np

from boostr._engine.suffstats import SufficientStats, compute_suffstats, put_on_clock
from boostr._typing import FloatArray
from boostr._validation import check_ids_match
from boostr.basis import Loss
from boostr.data import RecurrentEvents, Trajectories, check_target
from boostr.data._fingerprint import warn_if_trained_on
from boostr.data._frames import make_table
from boostr.data._histories import check_histories
from boostr.exceptions import InvalidParameterError
from boostr.inspection._individuals import read_sensors
from boostr.inspection._model import (
    FittedModel,
    check_model,
    read_features,
    split_sensors,
    sum_trees,
    used_features,
)

__all__ = ["PermutationImportance", "permutation_importance"]

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
    fitted = check_model(model)
    if not isinstance(n_repeats, Integral) or isinstance(n_repeats, bool) or n_repeats < 1:
        raise InvalidParameterError(
            f"`n_repeats` must be a whole number from 1 on, but it is {n_repeats!r}."
        )
    features, stats = _read_individuals(fitted, X, y, Z)
    warn_if_trained_on(model, y, features)
    rng = np.random.default_rng(random_state)
    before = _losses(stats, sum_trees(fitted, features))
    n, p = features.shape
    used = used_features(fitted.ensemble_)
    repeats, errors = np.zeros((p, int(n_repeats))), np.zeros(p)
    for column in sorted(used):
        rises = np.zeros(n)
        shuffled = features.copy()
        for repeat in range(int(n_repeats)):
            shuffled[:, column] = rng.permutation(features[:, column])
            rise = _losses(stats, sum_trees(fitted, shuffled)) - before
            repeats[column, repeat] = rise.mean()
            rises += rise / n_repeats
        errors[column] = rises.std() / np.sqrt(n)
    return PermutationImportance(
        features=tuple(fitted.encoder_.names),
        importances=repeats.mean(axis=1),
        errors=errors,
        repeats=repeats,
        loss=float(before.mean()),
    )


def _read_individuals(
    model: FittedModel, X: Any, y: Any, Z: Trajectories | None
) -> tuple[FloatArray, SufficientStats]:
    """Return features, and a function from coefficients to individual losses."""
    events = check_target(y)
    check_histories(model, events)
    if Z is not None and Z.has_ids and events.has_ids:
        Z = Z.align(events.ids)
    table, given = split_sensors(X, Z)
    features = read_features(model, table)
    if len(features) != len(events):
        raise InvalidParameterError(
            f"`X` and `y` must be of the same individuals, but `X` has {len(features)} and "
            f"`y` has {len(events)}."
        )
    check_ids_match(table, events)
    sensors = read_sensors(model, given, "permutation_importance")
    clocked = put_on_clock(events, model.clock_, sensors)
    loss: Loss = getattr(model, "loss", "intensity")
    return features, compute_suffstats(clocked, model.ensemble_.basis, loss)


def _losses(stats: SufficientStats, theta: FloatArray) -> FloatArray:
    """Return ``1/2 theta' H theta - b' theta`` of every individual."""
    losses = np.empty(len(theta))
    for begin in range(0, len(theta), _BLOCK):
        rows = np.arange(begin, min(begin + _BLOCK, len(theta)))
        curved = 0.5 * stats.multiply(theta[rows], rows) - stats.linear[rows]
        losses[rows] = np.sum(theta[rows] * curved, axis=1)
    return losses
