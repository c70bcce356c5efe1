"""Convergence of the curve of one individual, tree by tree."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numba
import numpy as np
from numpy.typing import ArrayLike

from boostr._typing import FloatArray, OffsetArray
from boostr.data import RecurrentEvents, Trajectories
from boostr.exceptions import InvalidParameterError
from boostr.inspection.model import FittedModel, check_position, read_model, sort_times

__all__ = ["IndividualConvergence", "individual_convergence"]

_N_TIMES = 201  # of the grid on which curves are given


@dataclass(frozen=True, slots=True, eq=False)
class IndividualConvergence:
    """Curves of one individual after more and more trees, beside what was observed.

    Made by `individual_convergence`.

    Parameters
    ----------
    n_trees : (k,) int64 array
        Numbers of trees, ascending; the last one is all of them.
    times : (m,) float64 array
        Times of the curves, ascending.
    curves : (k, m) float64 array
        Cumulative intensity by these times after each number of trees.
    history : RecurrentEvents
        Events of this individual alone.
    sensors : Trajectories or None
        Sensors of this individual alone, where the model has some.
    has_id : bool
        Whether the individual has an id of its own, rather than a position.
    position : int
        Where the individual stands among those given.
    time_unit : str or None
        Unit of time, where it is known.

    See Also
    --------
    individual_convergence : Computes it.
    boostr.plotting.plot_individual : Draws it.

    Examples
    --------
    >>> from boostr import BoostR
    >>> from boostr.inspection import individual_convergence
    >>> from boostr.simulate import dataset_a
    >>> train = dataset_a(n=150, random_state=1)
    >>> model = BoostR(n_estimators=10, validation=None).fit(train.X, train.y)
    >>> individual_convergence(model, train.X, train.y, 3).curves.shape
    (4, 201)
    """

    n_trees: OffsetArray
    times: FloatArray
    curves: FloatArray
    history: RecurrentEvents
    sensors: Trajectories | None
    has_id: bool
    position: int
    time_unit: str | None = None


def individual_convergence(
    model: Any,
    X: Any,
    y: RecurrentEvents,
    i: int = 0,
    Z: Trajectories | None = None,
    *,
    n_trees: ArrayLike | None = None,
    times: ArrayLike | None = None,
) -> IndividualConvergence:
    """Compute how the curve of one individual converges as trees are added.

    Parameters
    ----------
    model : BoostR
        A fitted model.
    X : array-like or DataFrame of shape (n, p), or Panel
        Static features.
    y : RecurrentEvents
        Event histories of the same individuals.
    i : int, default=0
        Position of the individual.
    Z : Trajectories, default=None
        Sensors, for a model that was fitted with them; matched with `y` by id where both
        have ids, else by position. Their last values hold.
    n_trees : array-like of int, default=None
        After how many trees the curve is shown; 1, 2, 5, 10, 20, 50, ... by default. The
        curve of all trees is always there.
    times : array-like of shape (m,), default=None
        Times of the curves; from 0 to the end of the individual's follow-up by default.

    Returns
    -------
    IndividualConvergence
        Curves, events and sensors of the individual.

    See Also
    --------
    boostr.plotting.plot_individual : Draws the result.

    Examples
    --------
    >>> from boostr import BoostR
    >>> from boostr.inspection import individual_convergence
    >>> from boostr.simulate import dataset_a
    >>> train = dataset_a(n=150, random_state=1)
    >>> model = BoostR(n_estimators=10, validation=None).fit(train.X, train.y)
    >>> result = individual_convergence(model, train.X, train.y, 3)
    >>> result.n_trees
    array([ 1,  2,  5, 10])
    """
    fitted = read_model(model)
    features, events, sensors = fitted.read_individuals(X, y, Z, "individual_convergence")
    place = check_position(i, len(events), "i", "individuals")
    own = None if sensors is None else sensors[place]
    stages = _choose_stages(n_trees, fitted.ensemble.n_rounds)
    history = events[place]
    grid = sort_times(times, np.linspace(0.0, float(history.end[0]), _N_TIMES))
    return IndividualConvergence(
        n_trees=stages,
        times=grid,
        curves=_add_up(fitted, features[place : place + 1], own, stages, grid),
        history=history,
        sensors=own,
        has_id=bool(events.has_ids),
        position=place,
        time_unit=history.time_unit or fitted.time_unit,
    )


def _choose_stages(n_trees: ArrayLike | None, n_rounds: int) -> OffsetArray:
    """Return ascending numbers of trees, the last with all trees."""
    if n_trees is None:
        powers = 10 ** np.arange(0, len(str(n_rounds)) + 1, dtype=np.int64)
        wanted = np.multiply.outer(powers, np.array([1, 2, 5])).ravel()
        wanted = wanted[wanted <= n_rounds]
    else:
        wanted = np.atleast_1d(np.asarray(n_trees))
        is_whole = np.issubdtype(wanted.dtype, np.integer)
        if not is_whole or wanted.min(initial=1) < 1 or wanted.max(initial=1) > n_rounds:
            raise InvalidParameterError(
                f"`n_trees` must be whole numbers from 1 to {n_rounds}, the number of "
                f"trees of the model, but they are {n_trees!r}."
            )
    return np.union1d(wanted, [n_rounds]).astype(np.int64)


def _add_up(
    model: FittedModel,
    features: FloatArray,
    sensors: Trajectories | None,
    stages: OffsetArray,
    times: FloatArray,
) -> FloatArray:
    """Return the curves after given numbers of trees, (k, m)."""
    staged = model.ensemble.staged_coefficients(features, int(numba.get_num_threads()))
    wanted = set(stages.tolist())
    curves = [
        model.expected(theta, times, sensors)[0]
        for n_trees, theta in enumerate(staged, start=1)
        if n_trees in wanted
    ]
    return np.array(curves).reshape(len(stages), len(times))
