"""Poisson processes with log-linear features: constant rates and power laws."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import ndtr, ndtri
from sklearn.utils.validation import check_is_fitted

from boostr._checks.parameters import check_number
from boostr._typing import FloatArray
from boostr.baselines._base import Baseline, BaselineData
from boostr.baselines._curves import MeanCurves, PowerFamily
from boostr.baselines._power_law import Histories, maximise
from boostr.data import Trajectories
from boostr.data.target import refuse_costs

__all__ = ["CoefficientTable", "HomogeneousPoisson", "PowerLawProcess"]


@dataclass(frozen=True, slots=True, eq=False)
class CoefficientTable:
    """Estimates of a log-linear model with standard errors, tests and limits.

    Parameters
    ----------
    model : str
        What was fitted.
    names : tuple of str
        The intercept, the features and, where it is estimated, the shape.
    estimate : ndarray of shape (q,)
        Estimates; 0 for features that the others determine.
    standard_error : ndarray of shape (q,)
        Their standard errors from the observed information; NaN where there is none.
    statistic : ndarray of shape (q,)
        Wald statistics of "no effect": of 0 for coefficients, of 1 for the shape (on the
        scale of its logarithm).
    pvalue : ndarray of shape (q,)
        Two-sided p-values of the statistics.
    lower, upper : ndarray of shape (q,)
        Limits of the confidence intervals.
    confidence : float
        Confidence of the intervals.
    log_likelihood : float
        Of all events.

    See Also
    --------
    PowerLawProcess.summary : Makes this table.

    Examples
    --------
    >>> import numpy as np
    >>> from boostr.baselines import HomogeneousPoisson
    >>> from boostr.data import RecurrentEvents
    >>> y = RecurrentEvents.from_lists([[2.0], [1.0, 3.0], [4.0, 6.0, 8.0, 9.0]], end=10.0)
    >>> print(HomogeneousPoisson().fit(np.array([[0.0], [1.0], [2.0]]), y).summary())
    Homogeneous Poisson process, log-likelihood -16.19
                estimate       s.e.        z        p      lower      upper
    intercept    -2.3026     0.8321    -2.77  0.00565    -3.9334    -0.6718
    x0            0.6931     0.5189     1.34    0.182    -0.3238     1.7101
    """

    model: str
    names: tuple[str, ...]
    estimate: FloatArray  # (q,)
    standard_error: FloatArray  # (q,)
    statistic: FloatArray  # (q,)
    pvalue: FloatArray  # (q,)
    lower: FloatArray  # (q,)
    upper: FloatArray  # (q,)
    confidence: float
    log_likelihood: float

    def __str__(self) -> str:
        width = max(9, *map(len, self.names))
        head = "".join(f" {word:>10}" for word in ("estimate", "s.e."))
        head += f" {'z':>8} {'p':>8}"
        head += "".join(f" {word:>10}" for word in ("lower", "upper"))
        columns = zip(
            self.names,
            self.estimate,
            self.standard_error,
            self.statistic,
            self.pvalue,
            self.lower,
            self.upper,
            strict=True,
        )
        rows = [
            f"{name:<{width}} {b:>10.4f} {se:>10.4f} {z:>8.2f} {p:>8.3g} {lo:>10.4f} "
            f"{hi:>10.4f}"
            for name, b, se, z, p, lo, hi in columns
        ]
        title = f"{self.model}, log-likelihood {self.log_likelihood:.2f}"
        return "\n".join([title, f"{'':<{width}}{head}", *rows])


def tabulate(
    model: str,
    names: tuple[str, ...],
    estimate: FloatArray,
    standard_error: FloatArray,
    *,
    log_shape: bool,
    confidence: float,
    log_likelihood: float,
) -> CoefficientTable:
    """Return the table; with ``log_shape`` the last estimate is the log of a shape."""
    z = float(ndtri(0.5 + 0.5 * confidence))
    statistic = np.divide(
        estimate,
        standard_error,
        out=np.full(len(estimate), np.nan),
        where=standard_error > 0.0,
    )
    lower, upper = estimate - z * standard_error, estimate + z * standard_error
    shown, error = estimate.copy(), standard_error.copy()
    if log_shape:
        for values in (shown, lower, upper):
            values[-1] = np.exp(values[-1])
        error[-1] *= shown[-1]
    return CoefficientTable(
        model=model,
        names=names,
        estimate=shown,
        standard_error=error,
        statistic=statistic,
        pvalue=2.0 * ndtr(-np.abs(statistic)),
        lower=lower,
        upper=upper,
        confidence=confidence,
        log_likelihood=log_likelihood,
    )


class PowerLawProcess(Baseline):
    r"""Power-law process with log-linear features, by maximum likelihood.

    The cumulative intensity is :math:`\mu(t \mid x) = \exp(b_0 + x'b)\, t^s` with a common
    shape ``s``: below 1 events become rarer with time, above 1 more frequent. Observation
    windows, late entry and gaps enter the likelihood as they are.

    Parameters
    ----------
    confidence : float, default=0.95
        Confidence of the intervals in `summary`, in (0, 1).

    Attributes
    ----------
    intercept_ : float
        The ``b_0`` above.
    coef_ : ndarray of shape (q,)
        Coefficients ``b`` of numbers and of indicators of categories.
    shape_ : float
        The shape ``s``.
    coef_names_ : list of str
        Names of the coefficients; "colour=red" is the indicator of a category.
    covariance_ : ndarray of shape (q + 2, q + 2)
        Inverse of the observed information, for the intercept, the coefficients and the
        logarithm of the shape.
    log_likelihood_ : float
        Maximum of the log-likelihood.
    horizon_ : float
        Last end of follow-up in training.
    n_features_in_ : int
        Number of features.

    Notes
    -----
    Time is counted from 0. A missing number is taken as the training mean; the indicators
    of a missing or unseen category as their training means. The first category of a feature
    is what the others are compared with. Features that others determine have a coefficient
    of 0 and no standard error. Standard errors hold if events are a Poisson process;
    weights count as repeated individuals. The shape is looked for between 0.007 and 148:
    events at the very ends of follow-up alone would have an infinite one. Costs are
    refused.

    References
    ----------
    Lawless, J. F. (1987). Regression methods for Poisson process data. Journal of the
    American Statistical Association 82, 808-815.

    Examples
    --------
    >>> from boostr.baselines import PowerLawProcess
    >>> from boostr.simulate import dataset_a
    >>> train = dataset_a(n=200, random_state=1)
    >>> model = PowerLawProcess().fit(train.X, train.y)
    >>> round(model.shape_, 2)  # rates are constant
    1.05
    """

    _model = "Power-law process"
    _has_fixed_shape = False
    _takes_exposure = True

    def __init__(self, *, confidence: float = 0.95) -> None:
        self.confidence = confidence

    def summary(self) -> CoefficientTable:
        """List estimates, standard errors, tests and confidence limits.

        Returns
        -------
        CoefficientTable
            One row for the intercept, every coefficient and the shape; print it.
        """
        check_is_fitted(self)
        variance = np.diag(self.covariance_)
        estimate = np.concatenate([[self.intercept_], self.coef_, [np.log(self.shape_)]])
        n_shown = len(estimate) - self._has_fixed_shape
        return tabulate(
            self._model,
            ("intercept", *self.coef_names_, "shape")[:n_shown],
            estimate[:n_shown],
            np.sqrt(variance[:n_shown]),
            log_shape=not self._has_fixed_shape,
            confidence=self.confidence,
            log_likelihood=self.log_likelihood_,
        )

    def _check_params(self) -> None:
        check_number(self.confidence, "confidence", 0.0, np.nextafter(1.0, 0.0))

    def _learn(self, data: BaselineData) -> None:
        refuse_costs(data.events, type(self).__name__)
        expanded, self.coef_names_ = self.columns_.expand(data.features, drop_first=True)
        self.means_ = _find_means(expanded, data.weights)
        design = self._design(data.features)
        histories = Histories.from_events(data.events, data.weights)
        fit = maximise(design, histories, fixed_shape=self._has_fixed_shape)
        # From coefficients at the means and times in units to those of the formula above.
        shape, log_unit = np.exp(fit.log_shape), np.log(histories.unit)
        change = np.eye(len(fit.covariance))
        change[0, 1:-1] = -self.means_
        change[0, -1] = -shape * log_unit
        known = np.where(np.isnan(fit.covariance), 0.0, fit.covariance)
        self.covariance_ = change @ known @ change.T
        missing = np.isnan(np.diag(fit.covariance))
        self.covariance_[missing, :] = self.covariance_[:, missing] = np.nan
        self.coef_ = fit.coefficients[1:]
        self.shape_ = float(shape)
        centre = float(self.means_ @ self.coef_)
        self.intercept_ = float(fit.coefficients[0] - centre - shape * log_unit)
        self.log_likelihood_ = fit.log_likelihood

    def _design(self, features: FloatArray) -> FloatArray:
        """Return the centred features after a column of ones."""
        expanded, _ = self.columns_.expand(features, drop_first=True)
        centred = np.where(np.isnan(expanded), 0.0, expanded - self.means_)
        return np.column_stack([np.ones(len(features)), centred])

    def _curves(self, features: FloatArray, _sensors: Trajectories | None) -> MeanCurves:
        unit = self.horizon_
        at_mean = self.intercept_ + self.means_ @ self.coef_ + self.shape_ * np.log(unit)
        linear = self._design(features) @ np.append(at_mean, self.coef_)
        family = PowerFamily(np.ones(1), np.array([self.shape_]), unit)
        which: Any = np.zeros((len(features), 1), dtype=np.int64)
        return MeanCurves(family, which, np.exp(linear))


class HomogeneousPoisson(PowerLawProcess):
    r"""Poisson process with a constant, log-linear rate, by maximum likelihood.

    The paper's HPP: :math:`\mu(t \mid x) = \exp(b_0 + x'b)\, t`. Observation windows, late
    entry and gaps enter the likelihood as they are.

    Parameters
    ----------
    confidence : float, default=0.95
        Confidence of the intervals in `summary`, in (0, 1).

    Attributes
    ----------
    intercept_ : float
        The ``b_0`` above.
    coef_ : ndarray of shape (q,)
        Coefficients ``b`` of numbers and of indicators of categories.
    shape_ : float
        Always 1.
    coef_names_ : list of str
        Names of the coefficients; "colour=red" is the indicator of a category.
    covariance_ : ndarray of shape (q + 2, q + 2)
        Inverse of the observed information, for the intercept and the coefficients; the
        last row and column, of the shape, are NaN.
    log_likelihood_ : float
        Maximum of the log-likelihood.
    horizon_ : float
        Last end of follow-up in training.
    n_features_in_ : int
        Number of features.

    See Also
    --------
    PowerLawProcess : The same with a shape that is estimated, and notes on both.

    Examples
    --------
    Two machines with one and three events in ten days.

    >>> import numpy as np
    >>> from boostr.baselines import HomogeneousPoisson
    >>> from boostr.data import RecurrentEvents
    >>> y = RecurrentEvents.from_lists([[2.0], [1.0, 5.0, 9.0]], end=10.0)
    >>> model = HomogeneousPoisson().fit(np.array([[0.0], [1.0]]), y)
    >>> round(float(np.exp(model.intercept_)), 6), np.exp(model.coef_).round(6)
    (0.1, array([3.]))
    """

    _model = "Homogeneous Poisson process"
    _has_fixed_shape = True


def _find_means(expanded: FloatArray, weights: FloatArray) -> FloatArray:
    is_known = ~np.isnan(expanded)
    share = np.where(is_known, weights[:, None], 0.0)
    total = np.maximum(share.sum(axis=0), np.finfo(float).tiny)
    return np.asarray((share * np.where(is_known, expanded, 0.0)).sum(axis=0) / total)
