"""Contributions of features and sensors to the expected number of events."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numba
import numpy as np
from numpy.typing import ArrayLike

from boostr._typing import FloatArray
from boostr._validation import first_few
from boostr.data import Trajectories
from boostr.exceptions import InvalidParameterError
from boostr.inspection._accumulation import Asked, accumulate_alike, accumulate_own, ask
from boostr.inspection._explanation import Explanation
from boostr.inspection._individuals import find_ids, read_sensors
from boostr.inspection._model import (
    FittedModel,
    check_model,
    read_exposure,
    read_table,
    split_sensors,
    sum_trees,
    time_unit,
)
from boostr.inspection._shap import CoefficientShares

__all__ = ["explain"]

_BLOCK = 2**22  # numbers that are computed together, to bound the memory


def explain(
    model: Any,
    X: Any,
    horizon: ArrayLike | None = None,
    Z: Trajectories | None = None,
    *,
    start: ArrayLike | None = None,
    stop: ArrayLike | None = None,
    frailty: ArrayLike | None = None,
    exposure: Any = None,
) -> Explanation:
    """Explain the expected number of events of each individual by its features.

    Exact Shapley values of the sum of trees: what each feature, and each sensor, adds to
    the number that is expected of the average individual. Together they make up the
    prediction to the last digits.

    Parameters
    ----------
    model : BoostR
        A fitted model.
    X : array-like or DataFrame of shape (n, p), or Panel
        Static features of the individuals.
    horizon : float or array-like of shape (m,), default=None
        Time by which events count, or several; the end of training by default.
    Z : Trajectories, default=None
        Sensors, for a model that was fitted with them; their last values hold.
    start, stop : float or array-like of shape (n,), default=None
        Explain the events in (start, stop] instead, one window for all or one each.
    frailty : array-like of shape (n,), default=None
        How many times as many events as the model says are expected of each individual,
        from what it did so far, in the order of `X` (the rows of ``model.forecast`` are
        sorted by risk). The difference is a reason of its own, "own history".
    exposure : float, array-like of shape (n,), mapping or Trajectories, default=None
        Exposures of the individuals, for a model that was fitted with some; by default 1,
        so that amounts are per unit. The average is that of the same exposure.

    Returns
    -------
    Explanation
        One amount per individual and reason, and per time where several are asked for.

    See Also
    --------
    boostr.BoostR.explain_forecast : Explains the time ahead, own history included.
    boostr.plotting.plot_waterfall : Draws the reasons of one individual.
    boostr.plotting.plot_beeswarm : Draws those of many.

    Notes
    -----
    A feature that is not known counts with the training individuals: at its splits both
    ways are taken, each as often as they took it (path-dependent SHAP). A sensor that is
    not known counts with its average in training. Shapley's rule then shares out what
    features, and sensors, do together.

    The trees are explained before their sum is kept above zero. Where that changes the
    prediction, the change is a reason of its own, "kept above zero".

    Examples
    --------
    Machines fail once, five or ten times, as two features say: both low, one high, or both.

    >>> from boostr import BoostR
    >>> from boostr.inspection import explain
    >>> from boostr.simulate import dataset_a
    >>> train = dataset_a(n=1000, random_state=0)
    >>> model = BoostR(n_estimators=100, validation=None).fit(train.X, train.y)
    >>> explanation = explain(model, [[0.2, 0.2], [0.9, 0.9]], horizon=100)
    >>> print(explanation.sentence(1))
    10.3 expected against 5.2 on average: +2.6 x1, +2.5 x0
    """
    fitted = check_model(model)
    table, given = split_sensors(X, Z)
    columns = read_table(fitted, table)
    features = fitted.encoder_.transform(columns, fitted.split_counts_ > 0.0)
    sensors = read_sensors(fitted, given, "explain")
    n = len(features)
    asked = ask(horizon, start, stop, n, fitted.horizon_)
    asked = replace(asked, exposure=read_exposure(fitted, exposure, n, table))
    base, values, plain = _add_up(fitted, features, sensors, asked)
    is_single = asked.times is None or horizon is None or np.ndim(horizon) == 0
    factor = None if frailty is None else _check_frailty(frailty, n)
    own = None if factor is None else (factor - 1.0)[:, None] * plain
    prediction = plain if own is None else plain + own
    above_zero = plain - base - values.sum(axis=1)
    # What rounding leaves is no reason.
    scale = np.abs(plain) + np.abs(base) + np.abs(values).sum(axis=1)
    above_zero[np.abs(above_zero) <= 1e-9 * scale] = 0.0

    def shape(amounts: FloatArray) -> FloatArray:
        return np.asarray(amounts[..., 0] if is_single else amounts)

    return Explanation(
        values=shape(values),
        base=shape(base),
        prediction=shape(prediction),
        above_zero=shape(above_zero),
        own_history=None if own is None else shape(own),
        features=tuple(fitted.encoder_.names),
        sensors=() if sensors is None else tuple(sensors.names),
        ids=find_ids(table, given, n),
        data=features,
        categories=tuple(fitted.encoder_.categories),
        times=asked.times,
        start=asked.start,
        stop=asked.stop,
        time_unit=time_unit(fitted),
        unlearned=fitted.encoder_.name_unlearned(columns, features),
    )


def _check_frailty(frailty: ArrayLike, n: int) -> FloatArray:
    values = np.asarray(frailty, dtype=np.float64)
    if values.shape != (n,):
        raise InvalidParameterError(
            f"`frailty` must have one value per individual, but its shape is "
            f"{values.shape} for {n} individuals."
        )
    wrong = np.flatnonzero(~((values >= 0.0) & np.isfinite(values)))
    if wrong.size:
        raise InvalidParameterError(
            f"`frailty` must be finite and not negative, but it is not for {wrong.size} of "
            f"{n} individuals (rows {first_few(wrong)}).\n\n"
            "Hint: 1 is an individual without history."
        )
    return values


def _add_up(
    model: FittedModel, features: FloatArray, sensors: Trajectories | None, asked: Asked
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return base, contributions and predictions: (n, m), (n, k, m) and (n, m)."""
    n, n_times = len(features), 1 if asked.times is None else len(asked.times)
    trees = CoefficientShares.of(model.ensemble_)
    n_reasons = trees.n_features + (0 if sensors is None else len(sensors.names))
    values = np.empty((n, n_reasons, n_times))
    base, prediction = np.empty((n, n_times)), np.empty((n, n_times))
    width = trees.nodes.value.shape[1] * (n_reasons + 1 + n_times)
    n_rows = max(256, _BLOCK // width)
    for begin in range(0, n, n_rows):
        block = slice(begin, begin + n_rows)
        own = None if sensors is None else sensors[block]
        wanted = asked.part(block)
        theta = sum_trees(model, features[block])
        curves = model.ensemble_.curves(theta, own, monotone=model.monotone)
        prediction[block] = wanted.read(curves, model.clock_)
        base[block], values[block] = _share_out(model, trees, features[block], own, wanted)
    return base, values, prediction


def _share_out(
    model: FittedModel,
    trees: CoefficientShares,
    features: FloatArray,
    sensors: Trajectories | None,
    asked: Asked,
) -> tuple[FloatArray, FloatArray]:
    """Return the average expected numbers, (n, m), and contributions, (n, k, m).

    The value of features S and sensors T is ``theta_S . (alike + own_T)``, so each sensor
    is a partner of the features in its own part.
    """
    n_threads = int(numba.get_num_threads())
    binned = model.ensemble_.mapper.transform(features, n_threads)
    alike = accumulate_alike(model.ensemble_, sensors, asked)
    base = alike @ trees.average()
    shares = trees.compute(binned, n_threads=n_threads)[:, :-1]
    amounts = shares @ alike.transpose(0, 2, 1)
    if sensors is not None:
        accumulated, basis = accumulate_own(model.ensemble_, sensors, asked)
        accumulated[:, :, basis.n_baseline :] -= alike[:, :, basis.n_baseline :]
        added = accumulated.transpose(0, 2, 1)
        shares = trees.compute(binned, with_partner=True, n_threads=n_threads)
        amounts += shares[:, :-1] @ added
        own = shares[:, -1, :, None] * added
        by_sensor = [
            own[:, begin:end].sum(axis=1)
            for begin, end in zip(basis.starts[:-1], basis.starts[1:], strict=True)
        ]
        amounts = np.concatenate([amounts, np.stack(by_sensor, axis=1)], axis=1)
    return base, amounts
