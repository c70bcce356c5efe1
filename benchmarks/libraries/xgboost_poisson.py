"""XGBoost: Poisson regression on individuals cut into cells of time."""

from __future__ import annotations

import xgboost

from benchmarks.libraries._cells import ExpandedRows
from benchmarks.libraries._expanded import ExpandedPoisson
from benchmarks.libraries._tuning import FloatArray, Mask, TreeShape
from benchmarks.libraries._xgboost import make_params, validate

# The Poisson hessian of a row is its expected count times exp(max_delta_step = 0.7): a
# leaf's weight counts its events, twice.
_WEIGHT_OF_EVENT = 2.0


class XGBoostPoisson(ExpandedPoisson):
    """Counts in cells on features and time, or sensors; exposure is the base margin."""

    def _pack(self, rows: ExpandedRows, chosen: Mask) -> xgboost.DMatrix:
        return xgboost.DMatrix(
            rows.features[chosen],
            rows.counts[chosen],
            base_margin=self._offset(rows.exposure[chosen]),
            nthread=1,
        )

    def _validate(
        self,
        trained: xgboost.DMatrix,
        held_out: xgboost.DMatrix,
        shape: TreeShape,
        rate: float,
        n_rounds: int,
    ) -> FloatArray:
        params = make_params("count:poisson", shape, rate, _WEIGHT_OF_EVENT)
        return held_out.num_row() * validate(params, trained, held_out, n_rounds)

    def _train(
        self, data: xgboost.DMatrix, shape: TreeShape, rate: float, n_rounds: int
    ) -> xgboost.Booster:
        params = make_params("count:poisson", shape, rate, _WEIGHT_OF_EVENT)
        return xgboost.train(params, data, n_rounds)

    def _predict(self, features: FloatArray, offset: FloatArray) -> FloatArray:
        data = xgboost.DMatrix(features, base_margin=offset, nthread=1)
        return self._model.predict(data).astype(float)
