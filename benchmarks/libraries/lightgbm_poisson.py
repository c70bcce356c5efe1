"""LightGBM: Poisson regression on individuals cut into cells of time."""

from __future__ import annotations

from typing import Any

import lightgbm
import numpy as np

from benchmarks.libraries._cells import ExpandedRows
from benchmarks.libraries._expanded import ExpandedPoisson
from benchmarks.libraries._tuning import FloatArray, Mask, TreeShape


class LightGBMPoisson(ExpandedPoisson):
    """Counts in cells on features and time, or sensors; exposure is the initial score."""

    def _pack(self, rows: ExpandedRows, chosen: Mask) -> lightgbm.Dataset:
        return lightgbm.Dataset(
            rows.features[chosen],
            rows.counts[chosen],
            init_score=self._offset(rows.exposure[chosen]),
            # Data are binned once for all shapes, so features must not be dropped by one.
            params={"feature_pre_filter": False, "verbose": -1, "num_threads": 1},
            free_raw_data=False,
        )

    def _validate(
        self,
        trained: lightgbm.Dataset,
        held_out: lightgbm.Dataset,
        shape: TreeShape,
        rate: float,
        n_rounds: int,
    ) -> FloatArray:
        history: dict[str, Any] = {}
        lightgbm.train(
            self._make_params(shape, rate),
            trained,
            n_rounds,
            valid_sets=[held_out],
            valid_names=["held out"],
            callbacks=[lightgbm.record_evaluation(history)],
        )
        return held_out.num_data() * np.asarray(history["held out"]["poisson"])

    def _train(
        self, data: lightgbm.Dataset, shape: TreeShape, rate: float, n_rounds: int
    ) -> lightgbm.Booster:
        return lightgbm.train(self._make_params(shape, rate), data, n_rounds)

    def _predict(self, features: FloatArray, offset: FloatArray) -> FloatArray:
        # LightGBM leaves the initial score out of its predictions.
        scores = self._model.predict(features, raw_score=True, num_threads=1)
        return np.exp(np.asarray(scores) + offset)

    def _make_params(self, shape: TreeShape, rate: float) -> dict[str, Any]:
        return {
            "objective": "poisson",
            "num_leaves": shape.n_leaves,
            # Rows, not individuals.
            "min_data_in_leaf": shape.least_members * self._rows_per_member,
            "learning_rate": rate,
            "num_threads": 1,
            "feature_pre_filter": False,
            "force_row_wise": True,
            "verbose": -1,
        }
