"""Contributions of features and sensors to the expected number of events."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial, reduce
from operator import add
from typing import Any, Literal

import numba
import numpy as np
from numpy.typing import ArrayLike

from boostr._checks.numbers import first_few
from boostr._checks.parameters import (
    as_times,
    check_choice,
    check_window_order,
    spread_times,
)
from boostr._engine.binning import BinnedFeatures
from boostr._engine.curves import UnitCurves, expose
from boostr._engine.ensemble import Ensemble
from boostr._engine.sensor_curves import PathCurves
from boostr._engine.tree import pack_trees
from boostr._kernels.apply import Nodes
from boostr._kernels.compiling import is_missing
from boostr._kernels.shap import LeafPaths, Quadrature, add_shares, share_out
from boostr._training import other_process
from boostr._training.run import show_share
from boostr._typing import FloatArray, PositionArray
from boostr.basis import Clock, FittedSensorBasis
from boostr.data import Trajectories
from boostr.data.events.exposure import Exposure
from boostr.exceptions import InvalidParameterError
from boostr.inspection._explanation import Explanation
from boostr.inspection._leaf_paths import average_leaves, trace_paths
from boostr.inspection.model import FittedModel, find_ids, read_model, split_sensors

__all__ = ["explain"]

_PARALLEL_FROM = 256  # individuals from which waking up threads pays


@dataclass(frozen=True, slots=True, eq=False)
class CoefficientShares:
    """Path-dependent SHAP values of ``theta(x)`` for all trees of an ensemble.

    The value of a set of known features is the mean of ``theta`` over the training
    individuals in all nodes that they leave open.
    """

    nodes: Nodes
    paths: LeafPaths
    average: FloatArray  # (n_terms,) theta without known features
    rules: Quadrature
    n_features: int

    @classmethod
    def of(cls, ensemble: Ensemble) -> CoefficientShares:
        """Return the packed, weighted trees of all members."""
        pairs = [(tree, each.weight) for each in ensemble.members for tree in each.trees]
        trees = [tree.scaled(weight) for tree, weight in pairs]
        nodes, roots = pack_trees(trees, ensemble.basis.n_terms)
        counts = np.concatenate([np.empty(0), *[tree.count for tree in trees]])
        n_features = len(ensemble.mapper.is_categorical)
        paths = trace_paths(nodes, counts, roots)
        most = int(np.diff(paths.entry_offsets).max(initial=0))
        average = average_leaves(nodes, counts, roots)
        return cls(nodes, paths, average, make_rules(most + 1), n_features)

    def compute(
        self, binned: BinnedFeatures, *, with_partner: bool = False, n_threads: int = 1
    ) -> FloatArray:
        """Return the share of every feature in theta, (n, n_features + 1, n_terms).

        Shares add up to theta minus its average. With a partner, a player without which
        theta is zero, they add up to theta; its share is the last row.
        """
        n_rows = len(binned.bins)
        out = np.zeros((n_rows, self.n_features + 1, self.nodes.value.shape[1]))
        n_parts = 2 * n_threads if n_threads > 1 and n_rows >= _PARALLEL_FROM else 1
        trees = (self.nodes, self.paths, self.rules)
        other_process.wait_while(partial(is_missing, add_shares))
        share_out(binned.bins, binned.missing_bin, *trees, with_partner, out, n_parts)
        return out


def make_rules(most: int) -> Quadrature:
    """Return rules that are exact for polynomials of degree 0, 0, 1, ..., ``most - 1``."""
    n_points = np.maximum((np.arange(most + 1, dtype=np.int32) + 1) // 2, 1)
    points = np.zeros((most + 1, n_points[-1]))
    weights = np.zeros_like(points)
    for degree, n in enumerate(n_points):
        # From [-1, 1] to [0, 1].
        nodes, own = np.polynomial.legendre.leggauss(int(n))
        points[degree, :n], weights[degree, :n] = (nodes + 1.0) / 2.0, own / 2.0
    return Quadrature(n_points, points, weights)


# Values of individuals at times of the clock.
Read = Callable[[PositionArray, FloatArray], FloatArray]


@dataclass(frozen=True, slots=True, eq=False)
class CountSpan:
    """Times by which events are counted, or one window per individual."""

    times: FloatArray | None  # (m,)
    start: FloatArray | None = None  # (n,)
    stop: FloatArray | None = None  # (n,)
    exposure: Exposure | None = None  # of all individuals, None for 1 each

    def part(self, block: slice) -> CountSpan:
        """Return the same for some individuals."""
        exposure = None if self.exposure is None else self.exposure[block]
        if self.start is None or self.stop is None:
            return replace(self, exposure=exposure)
        return CountSpan(None, self.start[block], self.stop[block], exposure)

    def read(self, curves: UnitCurves, clock: Clock) -> FloatArray:
        """Return the counts of individuals, each with its curve, (n, m)."""
        curves = expose(curves, self.exposure, clock)
        if self.start is None or self.stop is None:
            return curves.values(clock.read(self._times))
        return self._rises(curves, np.arange(len(self.start)), clock)

    def read_one(self, curve: UnitCurves, clock: Clock) -> FloatArray:
        """Return the counts of one common curve: (1, m), or (n, 1) for windows.

        With exposures always (n, m).
        """
        if self.exposure is not None:

            def read(rows: PositionArray, times: FloatArray) -> FloatArray:
                return curve.values_at(np.zeros_like(rows), times)[:, None]

            return self.sum_exposed(read, clock, self.exposure)[:, :, 0]
        if self.start is None or self.stop is None:
            return curve.values(clock.read(self._times))
        return self._rises(curve, np.zeros(len(self.start), dtype=np.intp), clock)

    def _rises(self, curves: UnitCurves, rows: PositionArray, clock: Clock) -> FloatArray:
        """Return the rises of curves from starts to stops, (n, 1)."""
        assert self.start is not None  # noqa: S101 - there are windows
        assert self.stop is not None  # noqa: S101
        before = curves.values_at(rows, clock.read(self.start))
        return (curves.values_at(rows, clock.read(self.stop)) - before)[:, None]

    def sum_exposed(self, read: Read, clock: Clock, exposure: Exposure) -> FloatArray:
        """Return the rises of curves weighted by exposures, (n, m, k).

        ``read`` gives the values of individuals at times of the clock, (q, k).
        """
        n = len(exposure)
        ends = self.spread(n)
        if self.times is None:
            owner, start, stop = np.arange(n), ends[:, 0], ends[:, 1]
        else:
            owner, stop = np.repeat(np.arange(n), ends.shape[1]), ends.ravel()
            start = np.zeros_like(stop)
        parts = exposure.cut(owner, start, stop)
        rises = read(parts.owner, clock.read(parts.stop))
        rises = rises - read(parts.owner, clock.read(parts.start))
        sums = np.zeros((len(owner), rises.shape[1]))
        np.add.at(sums, parts.window, parts.factor[:, None] * rises)
        return sums.reshape(n, -1, rises.shape[1])

    def spread(self, n: int) -> FloatArray:
        """Return the times of every individual, (n, m), or its window, (n, 2)."""
        if self.start is None or self.stop is None:
            return np.broadcast_to(self._times, (n, len(self._times)))
        return np.column_stack([self.start, self.stop])

    @property
    def _times(self) -> FloatArray:
        assert self.times is not None  # noqa: S101 - there is no window
        return self.times


def _check_span(
    horizon: ArrayLike | None,
    start: ArrayLike | None,
    stop: ArrayLike | None,
    n: int,
    default: float,
) -> CountSpan:
    """Return the checked times: a horizon, several, or a window."""
    if start is None and stop is None:
        return CountSpan(_check_times(default if horizon is None else horizon, "horizon"))
    if horizon is not None or stop is None:
        raise InvalidParameterError(
            "Counts are either by a horizon or in a window, but `horizon` and `start` are "
            "both given, or `stop` is not.\n\n"
            "Hint: horizon=90 counts in (0, 90]; start=30, stop=90 in (30, 90]."
        )
    starts = spread_times(
        _check_times(0.0 if start is None else start, "start"), n, "start"
    )
    stops = spread_times(_check_times(stop, "stop"), n, "stop")
    check_window_order(starts, stops)
    return CountSpan(None, starts, stops)


def _check_times(times: ArrayLike, name: str) -> FloatArray:
    values = as_times(times, name, "times count units since `y.origin`.")
    if values.ndim == 1 and values.size and np.all((values >= 0.0) & np.isfinite(values)):
        return values
    raise InvalidParameterError(
        f"`{name}` must be finite and not negative, a number or a sequence of numbers, but "
        f"it is {times!r}."
    )


def _accumulate_alike(
    ensemble: Ensemble, sensors: Trajectories | None, span: CountSpan
) -> FloatArray:
    """Return the accumulated terms without sensors, (1 or n, m, n_terms).

    Missing sensors stand for their average in training.
    """
    unknown: Any = None
    if sensors is not None:
        first = sensors[:1]
        unknown = first._with(values=np.full_like(first.values, np.nan))
    parts = []
    for unit in np.eye(ensemble.basis.n_terms):
        curve = ensemble.curves(unit[None], unknown, monotone=False)
        parts.append(span.read_one(curve, ensemble.clock))
    return np.stack(parts, axis=-1)


def _accumulate_own(
    ensemble: Ensemble, sensors: Trajectories, span: CountSpan
) -> tuple[FloatArray, FittedSensorBasis]:
    """Return the accumulated terms along each individual's sensors, (n, m, n_terms)."""
    basis = ensemble.basis
    assert isinstance(basis, FittedSensorBasis)  # noqa: S101 - it has sensors
    n = len(sensors)
    curves = ensemble.curves(np.zeros((n, basis.n_terms)), sensors, monotone=False)
    assert isinstance(curves, PathCurves)  # noqa: S101
    if span.exposure is not None:
        sums = span.sum_exposed(curves.accumulate, ensemble.clock, span.exposure)
    else:
        grid = span.spread(n)
        n_times = grid.shape[1]
        rows = np.repeat(np.arange(n), n_times)
        sums = curves.accumulate(rows, ensemble.clock.read(grid.ravel()))
        sums = sums.reshape(n, n_times, -1)
        if span.times is None:  # from the start to the stop of a window
            sums = np.diff(sums, axis=1)
    result = np.zeros((n, sums.shape[1], basis.n_terms))
    result[:, :, basis.n_baseline :] = sums
    return result, basis


_BLOCK = 2**22  # numbers that are computed together, to bound the memory


def explain(  # noqa: PLR0913 - all but the first four are by name
    model: Any,
    X: Any,
    horizon: ArrayLike | None = None,
    Z: Trajectories | None = None,
    *,
    start: ArrayLike | None = None,
    stop: ArrayLike | None = None,
    frailty: ArrayLike | None = None,
    exposure: Any = None,
    target: Literal["events", "terminal"] = "events",
    kind: Any = None,
) -> Explanation:
    """Explain the expected number of events of each individual by its features.

    Exact Shapley values of the sum of trees: what each feature and each sensor adds to the
    expected number of the average individual. The average and all amounts sum to the
    prediction, up to rounding.

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
        Factor by which each individual's own history multiplies its expected number, in
        the order of `X` (the rows of ``model.forecast`` are sorted by risk). The difference
        is a reason of its own, "own history".
    exposure : float, array-like of shape (n,), mapping or Trajectories, default=None
        Exposures of the individuals, for a model that was fitted with some; by default 1,
        so that amounts are per unit. The average is that of the same exposure.
    target : {"events", "terminal"}, default="events"
        What is explained: the number of events while alive, or the cumulative hazard of the
        terminal event, for a model that was fitted with some.
    kind : object, default=None
        One of ``model.kind_labels_``, to explain events of this kind; by default the sum
        over all kinds.

    Returns
    -------
    Explanation
        One amount per individual and reason, and per time where there are several.

    See Also
    --------
    boostr.BoostR.explain_forecast : Explains the time ahead, own history included.
    boostr.plotting.plot_waterfall : Draws the reasons of one individual.
    boostr.plotting.plot_beeswarm : Draws those of many.

    Notes
    -----
    An unknown feature is averaged over the training individuals: at its splits both
    branches are followed, weighted by their shares of these individuals (path-dependent
    SHAP). An unknown sensor counts with its average in training. Shapley's rule then
    shares out what features, and sensors, do together.

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
    check_choice(target, ("events", "terminal"), "target")
    fitted = read_model(model, kind)
    if target == "events" and kind is None and model.kind_labels_:
        window = {"start": start, "stop": stop, "frailty": frailty, "exposure": exposure}
        each = [
            explain(model, X, horizon, Z, **window, kind=label)
            for label in model.kind_labels_
        ]
        return reduce(add, each)
    if target == "terminal":
        fitted = replace(fitted, fitted=fitted.fitted.need_terminal())
    table, given = split_sensors(X, Z)
    columns = fitted.read_table(table)
    features = fitted.encode(columns)
    sensors = fitted.read_sensors(given, "explain")
    n = len(features)
    span = _check_span(horizon, start, stop, n, fitted.horizon)
    span = replace(span, exposure=fitted.read_exposure(exposure, n, table))
    base, values, plain = _add_up(fitted, features, sensors, span)
    is_single = span.times is None or horizon is None or np.ndim(horizon) == 0
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
        features=fitted.names,
        sensors=() if sensors is None else tuple(sensors.names),
        ids=find_ids(table, given, n),
        data=features,
        categories=fitted.categories,
        times=span.times,
        start=span.start,
        stop=span.stop,
        time_unit=fitted.time_unit,
        unlearned=fitted.name_unlearned(columns, features),
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
    model: FittedModel, features: FloatArray, sensors: Trajectories | None, span: CountSpan
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return base, contributions and predictions: (n, m), (n, k, m) and (n, m)."""
    n, n_times = len(features), 1 if span.times is None else len(span.times)
    trees = CoefficientShares.of(model.ensemble)
    n_reasons = trees.n_features + (0 if sensors is None else len(sensors.names))
    values = np.empty((n, n_reasons, n_times))
    base, prediction = np.empty((n, n_times)), np.empty((n, n_times))
    width = trees.nodes.value.shape[1] * (n_reasons + 1 + n_times)
    n_rows = max(256, _BLOCK // width)
    is_shown = model.fitted.trees.settings.verbose > 0
    with show_share(n, "individuals explained", add_shares, is_shown=is_shown) as report:
        for begin in range(0, n, n_rows):
            block = slice(begin, begin + n_rows)
            own, some = None if sensors is None else sensors[block], features[block]
            part = span.part(block)
            curves = model.curves(model.sum_trees(some), own)
            prediction[block] = part.read(curves, model.clock)
            base[block], values[block] = _share_out(model, trees, some, own, part)
            report(len(some))
    return base, values, prediction


def _share_out(
    model: FittedModel,
    trees: CoefficientShares,
    features: FloatArray,
    sensors: Trajectories | None,
    span: CountSpan,
) -> tuple[FloatArray, FloatArray]:
    """Return the average expected numbers, (n, m), and contributions, (n, k, m).

    The value of features S and sensors T is ``theta_S . (alike + own_T)``, so each sensor
    is a partner of the features in its own part.
    """
    n_threads = int(numba.get_num_threads())
    binned = model.ensemble.mapper.transform(features, n_threads)
    alike = _accumulate_alike(model.ensemble, sensors, span)
    base = alike @ trees.average
    shares = trees.compute(binned, n_threads=n_threads)[:, :-1]
    amounts = shares @ alike.transpose(0, 2, 1)
    if sensors is not None:
        accumulated, basis = _accumulate_own(model.ensemble, sensors, span)
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
