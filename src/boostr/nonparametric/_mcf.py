"""The nonparametric mean cumulative function and its robust confidence band."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtri
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from boostr._checks.numbers import check_weights
from boostr._kernels.mcf import ENTERS, HAS_EVENT, LEAVES, sweep_squared_residuals
from boostr._typing import AnyArray, FloatArray
from boostr.data import RecurrentEvents, RiskTable, check_target
from boostr.exceptions import InvalidParameterError
from boostr.plotting import plot_mcf

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["MeanCumulativeFunction"]


class MeanCumulativeFunction(BaseEstimator):  # type: ignore[misc]
    r"""Mean number, or mean cost, of events that an individual has had by time t.

    With :math:`\delta_i(t)` = 1 while individual ``i`` is observed and :math:`d_i(t)`
    its events (or their costs) at ``t``, the estimate of Nelson is

    .. math::

        \hat M(t) = \sum_{t_j \le t} \frac{d_\cdot(t_j)}{\delta_\cdot(t_j)},

    where a dot sums over individuals, and its variance, of Lawless and Nadeau, holds
    whether or not the events of an individual depend on each other,

    .. math::

        \widehat{\mathrm{Var}} \hat M(t) = \sum_i \left\{ \sum_{t_j \le t}
        \frac{\delta_i(t_j)}{\delta_\cdot(t_j)} \left[ d_i(t_j) -
        \frac{d_\cdot(t_j)}{\delta_\cdot(t_j)} \right] \right\}^2.

    Late entry, gaps in observation and ties are taken into account.

    Parameters
    ----------
    confidence : float, default=0.95
        Pointwise confidence of the band, in (0, 1).
    band : {"log", "plain"}, default="log"
        Scale on which the estimate is taken as normal. The limits are
        ``mcf * exp(+-z * se / mcf)`` for "log", which stay above zero, and
        ``mcf +- z * se`` for "plain".

    Attributes
    ----------
    times_ : ndarray of shape (m,)
        Distinct event times, ascending.
    mcf_ : ndarray of shape (m,)
        The estimate at, and after, these times.
    variance_ : ndarray of shape (m,)
        Its robust variance.
    lower_, upper_ : ndarray of shape (m,)
        Limits of the confidence band.
    at_risk_ : ndarray of shape (m,)
        Number of individuals observed at these times (the sum of their weights).
    n_individuals_ : int
        Number of individuals.
    n_events_ : ndarray of shape (m,)
        Number of events at these times (weighted).
    span_ : tuple of float
        First start and last end of observation.
    has_costs_ : bool
        Whether the events came with costs.
    time_unit_ : str or None
        Unit of the times, if the events know it.

    See Also
    --------
    boostr.plotting.plot_mcf : Draw the estimate.

    Notes
    -----
    The time is that of sorting the events, for any number of individuals. A weight of 2
    stands for two individuals with the same history.

    References
    ----------
    Nelson, W. (1995). Confidence limits for recurrence data, applied to cost or number
    of product repairs. Technometrics 37, 147-157.

    Lawless, J. F. and Nadeau, C. (1995). Some simple robust methods for the analysis of
    recurrent events. Technometrics 37, 158-168.

    Examples
    --------
    Two machines are observed until 4 and 10; the second alone carries the last step.

    >>> from boostr.nonparametric import MeanCumulativeFunction
    >>> from boostr.data import RecurrentEvents
    >>> y = RecurrentEvents.from_lists([[1.0], [3.0, 8.0]], end=[4.0, 10.0])
    >>> estimate = MeanCumulativeFunction().fit(y)
    >>> estimate.at_risk_
    array([2., 2., 1.])
    >>> estimate.predict([0.5, 1.0, 5.0, 9.0])
    array([0. , 0.5, 1. , 2. ])
    """

    def __init__(self, *, confidence: float = 0.95, band: str = "log") -> None:
        self.confidence = confidence
        self.band = band

    def fit(
        self, y: RecurrentEvents, sample_weight: ArrayLike | None = None
    ) -> MeanCumulativeFunction:
        """Estimate the mean cumulative function of a population.

        Parameters
        ----------
        y : RecurrentEvents
            Event histories; where they have exposures, events are counted per unit.
        sample_weight : array-like of shape (n,), default=None
            How often each individual counts; 1 by default.

        Returns
        -------
        MeanCumulativeFunction
            The fitted estimator itself.
        """
        self._check_params()
        check_target(y)
        table = RiskTable.from_events(y, check_weights(sample_weight, len(y)))
        self.n_individuals_ = len(y)
        self.times_ = table.times
        self.at_risk_ = table.at_risk()
        self.n_events_ = table.totals(np.ones(table.cost.size))
        increment = table.totals(table.cost) / self.at_risk_
        self.mcf_ = np.cumsum(increment)
        self.variance_ = _robust_variance(table, self.at_risk_, increment)
        self.lower_, self.upper_ = self._band()
        self.span_ = (float(np.min(y.start)), float(np.max(y.end)))
        self.has_costs_ = y.has_costs
        self.time_unit_ = y.time_unit
        return self

    def predict(self, times: ArrayLike) -> FloatArray:
        """Evaluate the estimate, a step function that is continuous from the right.

        Parameters
        ----------
        times : array-like of shape (k,)
            Times; 0 is returned before the first event and the last value after the
            last.

        Returns
        -------
        ndarray of shape (k,)
            Mean cumulative number (or cost) of events.
        """
        check_is_fitted(self)
        return self._step(self.mcf_, times)

    def confidence_band(self, times: ArrayLike) -> tuple[FloatArray, FloatArray]:
        """Evaluate the limits of the pointwise confidence band.

        Parameters
        ----------
        times : array-like of shape (k,)
            Times; both limits are 0 before the first event.

        Returns
        -------
        lower : ndarray of shape (k,)
            Lower limits.
        upper : ndarray of shape (k,)
            Upper limits.
        """
        check_is_fitted(self)
        return self._step(self.lower_, times), self._step(self.upper_, times)

    def plot(self, *, ax: Axes | None = None, **options: Any) -> Axes:
        """Draw the estimate with its confidence band.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; a new figure by default.
        **options
            Passed to `boostr.plotting.plot_mcf`.

        Returns
        -------
        matplotlib Axes
            Where the estimate was drawn.
        """
        check_is_fitted(self)
        return plot_mcf(self, ax=ax, **options)

    def _band(self) -> tuple[FloatArray, FloatArray]:
        margin = ndtri(0.5 + 0.5 * self.confidence) * np.sqrt(self.variance_)
        if self.band == "plain":
            return self.mcf_ - margin, self.mcf_ + margin
        positive = self.mcf_ > 0.0
        ratio = np.divide(margin, self.mcf_, out=np.zeros_like(margin), where=positive)
        factor = np.exp(ratio)
        return self.mcf_ / factor, self.mcf_ * factor

    def _step(self, values: FloatArray, times: ArrayLike) -> FloatArray:
        """Evaluate a step function with given values from the event times on."""
        asked = np.asarray(times, dtype=np.float64)
        padded = np.concatenate([[0.0], values])
        stepped: FloatArray = padded[np.searchsorted(self.times_, asked, side="right")]
        return stepped

    def _check_params(self) -> None:
        if not 0.0 < self.confidence < 1.0:
            raise InvalidParameterError(
                f"`confidence` must lie in (0, 1), but it is {self.confidence!r}.\n\n"
                "Hint: 0.95 draws a band of 95 percent."
            )
        if self.band not in {"log", "plain"}:
            raise InvalidParameterError(
                f"`band` must be 'log' or 'plain', but it is {self.band!r}.\n\n"
                "Hint: 'log' keeps the band above zero."
            )


def _robust_variance(
    table: RiskTable, at_risk: FloatArray, increment: FloatArray
) -> FloatArray:
    """Return the sums of squared Lawless-Nadeau residuals at each event time."""
    n_windows = table.window_owner.size
    time_index = np.concatenate([table.leave, table.enter, table.event_index])
    kind: AnyArray = np.repeat(
        np.array([LEAVES, ENTERS, HAS_EVENT], dtype=np.int8),
        [n_windows, n_windows, table.cost.size],
    )
    jump = np.concatenate(
        [np.zeros(2 * n_windows), table.cost / at_risk[table.event_index]]
    )
    exposure = np.concatenate([table.exposure, table.exposure, np.ones(table.cost.size)])
    owner = np.concatenate([table.window_owner, table.window_owner, table.event_owner])
    # Kinds are stacked in their order, so a stable sort by time keeps it.
    order = np.argsort(time_index, kind="stable")
    variance = np.empty(table.times.size)
    sweep_squared_residuals(
        time_index[order],
        kind[order],
        owner[order],
        jump[order],
        exposure[order],
        increment / at_risk,
        table.weight,
        np.zeros(table.weight.size),
        np.ones(table.weight.size),
        variance,
    )
    return variance
