"""Coefficients of a model with their standard errors, as a table."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr, ndtri

from boostr._typing import FloatArray

__all__ = ["CoefficientTable"]


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
