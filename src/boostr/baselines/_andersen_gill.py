"""Cox's model of recurrent events (Andersen and Gill), fitted by lifelines."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from boostr._checks.parameters import check_count, check_number
from boostr._engine.curves import expose
from boostr._optional import require
from boostr._typing import AnyArray, FloatArray
from boostr.baselines._base import Baseline, BaselineData, refuse_no_events
from boostr.baselines._columns import Columns
from boostr.baselines._curves import Curves, MeanCurves
from boostr.baselines._rows import TimeCells
from boostr.baselines._steps import GroupSteps, StepFamily, TimeGrid
from boostr.basis import CalendarClock
from boostr.data import RecurrentEvents, RiskTable, Trajectories
from boostr.data.events.exposure import CutWindows, Exposure
from boostr.data.events.intervals import refuse_intervals
from boostr.data.flat import owners_of
from boostr.data.target import refuse_costs

__all__ = ["AndersenGill"]

_SHORT = 1e-6  # of the time since the row before, between two events at the same time


class AndersenGill(Baseline):
    r"""Common baseline times a log-linear factor: the model of Andersen and Gill.

    The cumulative intensity is :math:`\mu(t \mid x) = M_0(t) \exp(x'b)`; ``b`` maximises
    Cox's partial likelihood of all events, by lifelines, and :math:`M_0` is Breslow's
    estimate. Sensors are further, time-varying features. Needs lifelines,
    ``pip install 'boostr[baselines]'``.

    Parameters
    ----------
    alpha : float, default=0.0
        Strength of a ridge penalty on the coefficients of standardised features; a little
        of it helps where features determine each other.
    smooth : bool, default=False
        Whether curves are smoothed, so that rates and very short windows make sense; their
        values at four times stay the same.
    n_cells : int, default=50
        Cells of time, equally long, in each of which a sensor is taken as its mean. Without
        sensors it has no effect.

    Attributes
    ----------
    coef_ : ndarray of shape (q,)
        Coefficients ``b`` of numbers and of indicators of categories, sensors last.
    coef_names_ : list of str
        Names of the coefficients; "colour=red" is the indicator of a category.
    model_ : lifelines.CoxTimeVaryingFitter or None
        The library's model, of standardised features; None if no feature varies.
    horizon_ : float
        Last end of follow-up in training.
    n_features_in_ : int
        Number of features.

    Notes
    -----
    Late entry and gaps are taken into account. Events of several individuals at the same
    time are ties after Efron, so a weight of 2 is nearly, not exactly, the same as an
    individual given twice. Events of one individual at the same time are put one after the
    other, a millionth of the time since its last event apart. A missing number is taken as
    the training mean; the indicators of a missing or unseen category as their training
    means. Constant features have a coefficient of 0. Curves stay constant after the last
    event. Costs are refused.

    References
    ----------
    Andersen, P. K. and Gill, R. D. (1982). Cox's regression model for counting processes: a
    large sample study. Annals of Statistics 10, 1100-1120.

    Examples
    --------
    >>> from boostr.baselines import AndersenGill
    >>> from boostr.simulate import dataset_a
    >>> train, test = dataset_a(n=200, random_state=1), dataset_a(n=3, random_state=2)
    >>> model = AndersenGill().fit(train.X, train.y)  # doctest: +SKIP
    >>> model.predict(test.X).round(0)  # doctest: +SKIP
    array([3., 4., 7.])
    """

    _takes_sensors = True

    def __init__(
        self, *, alpha: float = 0.0, smooth: bool = False, n_cells: int = 50
    ) -> None:
        self.alpha = alpha
        self.smooth = smooth
        self.n_cells = n_cells

    def summary(self) -> Any:
        """Give lifelines' own table of coefficients, of standardised features.

        Returns
        -------
        pandas.DataFrame or None
            Coefficients, standard errors, tests and limits; None if no feature varies.
        """
        check_is_fitted(self)
        return None if self.model_ is None else self.model_.summary

    def _check_params(self) -> None:
        check_number(self.alpha, "alpha", -np.finfo(float).tiny)
        check_count(self.n_cells, "n_cells")

    def _learn(self, data: BaselineData) -> None:
        lifelines = require("lifelines", extra="baselines", feature="AndersenGill")
        refuse_costs(data.events, "AndersenGill")
        refuse_no_events(data.events)
        refuse_intervals(data.events, "AndersenGill")
        n_cells = 1 if data.sensors is None else self.n_cells
        self.cells_ = TimeCells.even(self.horizon_, n_cells)
        expanded, self.coef_names_ = self._expand(data.features, data.sensors, data.events)
        weights = data.weights
        if n_cells > 1:  # rows count by the time they stand for
            weights = (weights[:, None] * self.cells_.observe(data.events)).ravel()
        self.means_, self.scales_ = _standardise(expanded, weights)
        varied = np.flatnonzero(self.scales_ > 0.0)
        self.coef_ = np.zeros(len(self.scales_))
        self.model_: Any = None
        centred = self._centre(expanded)
        if varied.size:
            names = [self.coef_names_[place] for place in varied]
            design = centred[:, varied] / self.scales_[varied]
            frame = self._tabulate(data, design, names)
            self.model_ = _fit(lifelines.CoxTimeVaryingFitter(penalizer=self.alpha), frame)
            fitted = self.model_.params_.loc[names].to_numpy(dtype=np.float64)
            self.coef_[varied] = fitted / self.scales_[varied]
        self._find_baseline(data, self._hold(np.exp(centred @ self.coef_)))

    def _find_baseline(self, data: BaselineData, factors: Exposure) -> None:
        """Estimate the baseline; individuals are weighted by their hazard ratio."""
        table = RiskTable.from_events(data.events, data.weights)
        grid = TimeGrid.from_events(
            table, data.events, self.reference_clock_, smooth=self.smooth
        )
        jumps = table.totals(table.cost)
        weighted = replace(data.events, exposure=factors)
        at_risk = RiskTable.from_events(weighted, data.weights).at_risk()
        steps = GroupSteps(
            np.zeros(jumps.size, dtype=np.int64),
            np.arange(jumps.size, dtype=np.int64),
            np.cumsum(jumps / at_risk),
        )
        self.family_ = StepFamily.from_parts(grid, [steps])

    def _expand(
        self,
        features: FloatArray,
        sensors: Trajectories | None,
        events: RecurrentEvents | None = None,
    ) -> tuple[FloatArray, list[str]]:
        """Return features and sensors of all individuals in all cells, and their names."""
        rows = self.cells_.describe(features, sensors, events)
        columns = self.columns_
        if sensors is not None:
            columns = Columns(
                columns.names + sensors.names, columns.categories + sensors.categories
            )
        without_time = np.delete(rows, features.shape[1], axis=1)
        return columns.expand(without_time, drop_first=True)

    def _centre(self, expanded: FloatArray) -> FloatArray:
        return np.where(np.isnan(expanded), 0.0, expanded - self.means_)

    def _hold(self, values: AnyArray) -> Exposure:
        """Return values of all individuals in all cells as functions of time."""
        n_cells = len(self.cells_.lengths)
        n = len(values) // n_cells
        begins = np.tile(self.cells_.edges[:-1], n)
        return Exposure.of_samples(begins, values, n_cells * np.arange(n + 1))

    def _tabulate(self, data: BaselineData, design: FloatArray, names: list[str]) -> Any:
        """Return rows ``(start, stop]`` that end at events, windows and cells."""
        pandas = require("pandas", extra="baselines", feature="AndersenGill")
        events = data.events
        windows = self._hold(np.arange(float(len(design)))).cut(
            owners_of(events.window_offsets), events.window_start, events.window_stop
        )
        owner, start, stop, is_event, row = _cut_at_events(events, windows)
        table = pandas.DataFrame(design[row.astype(np.int64)], columns=names)
        return table.assign(
            id_=owner,
            start_=start,
            stop_=stop,
            event_=is_event,
            weight_=data.weights[owner],
        )

    def _curves(self, features: FloatArray, sensors: Trajectories | None) -> Curves:
        expanded, _ = self._expand(features, sensors)
        factors = self._hold(np.exp(self._centre(expanded) @ self.coef_))
        which = np.zeros((len(features), 1), dtype=np.int64)
        baseline = MeanCurves(self.family_, which, np.ones(len(features)))
        return expose(baseline, factors, CalendarClock())


def _fit(model: Any, frame: Any) -> Any:
    with warnings.catch_warnings():
        # Of weights, which stand for repeated individuals here, and of pandas.
        warnings.simplefilter("ignore")
        return model.fit(
            frame,
            id_col="id_",
            event_col="event_",
            start_col="start_",
            stop_col="stop_",
            weights_col="weight_",
        )


def _standardise(
    expanded: FloatArray, weights: FloatArray
) -> tuple[FloatArray, FloatArray]:
    is_known = ~np.isnan(expanded)
    share = np.where(is_known, weights[:, None], 0.0)
    total = np.maximum(share.sum(axis=0), np.finfo(float).tiny)
    mean = (share * np.where(is_known, expanded, 0.0)).sum(axis=0) / total
    squares = share * np.where(is_known, expanded - mean, 0.0) ** 2
    return mean, np.sqrt(squares.sum(axis=0) / total)


def _cut_at_events(
    events: RecurrentEvents, windows: CutWindows
) -> tuple[AnyArray, FloatArray, FloatArray, AnyArray, FloatArray]:
    """Return owner, start, stop, whether there is an event, and the window's factor."""
    owner = np.concatenate([events.event_owner, windows.owner])
    stop = np.concatenate([events.times, windows.stop])
    is_event = np.arange(stop.size) < events.times.size
    order = np.lexsort((~is_event, stop, owner))
    owner, stop, is_event = owner[order], stop[order], is_event[order]
    # The window of a row is the first that ends at it or after it.
    ends = np.flatnonzero(~is_event)
    place = ends[np.searchsorted(ends, np.arange(stop.size))]
    window = order[place] - events.times.size
    earliest = windows.start[window]
    before = np.concatenate([[-np.inf], stop[:-1]])
    is_same = np.concatenate([[False], (owner[1:] == owner[:-1])])
    start = np.where(is_same, np.maximum(before, earliest), earliest)
    is_tied = is_event & (start >= stop)
    for row in np.flatnonzero(is_tied):  # rare: move the events before a little ahead
        stop[row - 1] -= _SHORT * (stop[row - 1] - start[row - 1])
        start[row] = stop[row - 1]
    kept = stop > start
    return (
        owner[kept],
        start[kept],
        stop[kept],
        is_event[kept],
        windows.factor[window][kept],
    )
