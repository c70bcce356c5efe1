"""Predictions for training individuals by models that have not seen them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from boostr._typing import FloatArray
from boostr.basis import Clock
from boostr.estimators._checks import check_times
from boostr.estimators._curves import CurvePredictor
from boostr.estimators._sensors import Sensors, spread_shared
from boostr.exceptions import (
    InvalidEventsError,
    InvalidParameterError,
    InvalidSensorsError,
)

__all__ = ["OutOfFoldPredictor"]


class OutOfFoldPredictor(CurvePredictor):
    """Curves of training individuals by the folds that held them out."""

    out_of_fold_coefficients_: FloatArray | None
    n_fold_models_: int
    clock_variants_: list[Clock]
    n_folds: int
    verbose: int

    def predict_out_of_fold(
        self, times: ArrayLike, Z: Sensors | None = None, *, exposure: Any = None
    ) -> FloatArray:
        """Predict each training individual by the models that have not seen it.

        Parameters
        ----------
        times : float or array-like of shape (m,)
            Times, from 0 on.
        Z : Trajectories or SharedSensors, default=None
            The sensors of the training individuals, in the order of `y`, for a model that
            was fitted with them.
        exposure : float, array-like of shape (n,), mapping or Trajectories, default=None
            Exposures of the training individuals, in the order of `y`, for a model that was
            fitted with some; by default 1, so that predictions are per unit.

        Returns
        -------
        ndarray of shape (n, m)
            Expected number (or cost) of events in (0, t] of the training individuals; NaN
            for those that no model has left out.
        """
        check_is_fitted(self)
        checked = check_times(times)
        theta = self._training_coefficients()
        known = ~np.isnan(theta[:, 0])
        result = np.full((len(known), len(checked)), np.nan)
        last = checked.max(initial=0.0)
        given = spread_shared(Z, None, len(known), self.sensor_layout_, until=last)
        sensors = self._check_sensors(given)
        if sensors is not None and len(sensors) != len(known):
            raise InvalidSensorsError(
                "`Z` must hold the sensors of all training individuals, but it has "
                f"{len(sensors)} for {len(known)}.\n\nHint: pass what `fit` was given."
            )
        sensors = None if sensors is None else sensors[known]
        exposed = self._read_exposure(None, exposure, len(known))
        exposed = None if exposed is None else exposed[known]
        curves = self._curves(theta[known], sensors, exposed)
        result[known] = curves.values(self.clock_.read(checked))
        return result

    def _training_coefficients(self, n: int | None = None) -> FloatArray:
        """Return the out-of-fold coefficients of the ``n`` training individuals."""
        theta = self.out_of_fold_coefficients_
        if theta is None:
            raise InvalidParameterError(
                "Out-of-fold predictions need validation, but this model was fitted "
                'without.\n\nHint: use validation="cv" and two individuals a fold or more.'
            )
        if n is not None and n != len(theta):
            raise InvalidEventsError(
                "Out-of-fold predictions are those of the training individuals, but there "
                f"are {n} in the place of {len(theta)}.\n\nHint: pass what `fit` was given."
            )
        return theta
