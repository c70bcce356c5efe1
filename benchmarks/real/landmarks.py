"""LightGBM on landmarks: counts of the time ahead on what was known at earlier dates."""

from __future__ import annotations

from typing import Any

import lightgbm
import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator

from boostr import Panel, RecurrentEvents
from boostr.data.flat import owners_of

N_LANDMARKS = 8
FEWEST = 30  # rows and events of a landmark that is learned from
PATIENCE = 50  # trees
N_TREES = 1000
LONGEST = 1 / 3  # of all time known, that a landmark looks ahead


class LandmarkLightGBM(BaseEstimator):
    """Poisson regression of counts over the horizon, exposure as the initial score.

    Rows are individuals at earlier dates, half a horizon apart, the last of them one
    horizon before the end of what is known. Settings and the number of trees are found on
    the last landmark, after training on those whose horizon ends before it; the model is
    then fitted to all.
    """

    def __init__(
        self,
        horizon: float = 1.0,
        windows: tuple[float, ...] = (30.0, 90.0, 365.0),
        n_settings: int = 8,
        random_state: int = 0,
    ) -> None:
        self.horizon = horizon
        self.windows = windows
        self.n_settings = n_settings
        self.random_state = random_state

    def fit(self, X: Any, y: RecurrentEvents) -> LandmarkLightGBM:
        table = _static(X)
        self.categories_ = {
            name: np.unique(table[name].astype(str))
            for name in table.columns
            if not pd.api.types.is_numeric_dtype(table[name])
        }
        self.rate_ = max(y.n_events.sum(), 0.5) / y.follow_up.sum()
        now = y.end.max()
        # Where the past is short, rates are learned from shorter times ahead.
        self.ahead_ = min(self.horizon, LONGEST * (now - y.start.min()))
        times = now - self.ahead_ * (1.0 + 0.5 * np.arange(N_LANDMARKS))
        landmarks = [self._make_rows(table, y, time) for time in times]
        kept = [
            (time, rows)
            for time, rows in zip(times, landmarks, strict=True)
            if len(rows[1]) >= FEWEST and rows[1].sum() >= FEWEST
        ]
        self.model_ = self._learn(kept) if kept else None
        return self

    def forecast(
        self, X: Any, y: RecurrentEvents, horizon: np.ndarray, level: float = 0.9
    ) -> pd.DataFrame:
        expected = self.rate_ * horizon
        if self.model_ is not None:
            features = self._describe(_static(X), y, np.arange(len(y)), y.end)
            expected = expected * np.exp(self.model_.predict(features, raw_score=True))
        return pd.DataFrame({"id": y.ids, "expected": expected})

    def _make_rows(
        self, table: pd.DataFrame, y: RecurrentEvents, time: float
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return features, counts ahead and exposures of those observed at a time."""
        owner = owners_of(y.window_offsets)
        goes_on = (y.window_start < time) & (y.window_stop > time)
        rows = owner[goes_on]
        stop = np.minimum(y.window_stop[goes_on], time + self.ahead_)
        at = np.full(rows.size, time)
        features = self._describe(table, y, rows, at)
        counts = _count(y, rows, stop) - _count(y, rows, at)
        return features, counts, stop - time

    def _describe(
        self, table: pd.DataFrame, y: RecurrentEvents, rows: np.ndarray, at: np.ndarray
    ) -> np.ndarray:
        """Return static features, age, and own counts so far and lately."""
        columns = [_encode(table[name], self.categories_.get(name))[rows] for name in table]
        age = at - y.start[rows]
        so_far = _count(y, rows, at)
        columns += [age, so_far, so_far / np.maximum(age, 1e-9)]
        columns += [so_far - _count(y, rows, at - window) for window in self.windows]
        return np.column_stack(columns)

    def _learn(self, kept: list[tuple[float, tuple]]) -> lightgbm.Booster:
        last = kept[0][0]
        past = [rows for time, rows in kept if time <= last - self.ahead_]
        settings, n_trees = self._draw(np.random.default_rng(self.random_state)), 100
        best = settings[0]
        if past:
            scores = [self._try(setting, past, kept[0][1]) for setting in settings]
            place = int(np.argmin([score for score, _ in scores]))
            best, n_trees = settings[place], max(scores[place][1], 1)
        return lightgbm.train(best, self._pack([rows for _, rows in kept]), n_trees)

    def _pack(self, landmarks: list[tuple]) -> lightgbm.Dataset:
        features, counts, exposure = (
            np.concatenate(part) for part in zip(*landmarks, strict=True)
        )
        return lightgbm.Dataset(
            features,
            counts,
            init_score=np.log(self.rate_ * exposure),
            params={"feature_pre_filter": False, "verbose": -1, "num_threads": 1},
        )

    def _try(self, setting: dict, past: list[tuple], held_out: tuple) -> tuple[float, int]:
        model = lightgbm.train(
            setting,
            self._pack(past),
            N_TREES,
            valid_sets=[self._pack([held_out])],
            callbacks=[lightgbm.early_stopping(PATIENCE, verbose=False)],
        )
        return model.best_score["valid_0"]["poisson"], model.best_iteration

    def _draw(self, rng: np.random.Generator) -> list[dict]:
        return [
            {
                "objective": "poisson",
                "metric": "poisson",
                "learning_rate": 0.03,
                "num_leaves": int(rng.choice([3, 5, 8, 16, 31])),
                "min_data_in_leaf": int(rng.choice([10, 20, 50, 100])),
                "feature_fraction": float(rng.choice([0.5, 0.8, 1.0])),
                "lambda_l2": float(rng.choice([0.0, 1.0, 10.0])),
                "poisson_max_delta_step": 0.7,
                "seed": 0,
                "deterministic": True,
                "num_threads": 1,
                "verbose": -1,
            }
            for _ in range(self.n_settings)
        ]


def _static(X: Any) -> pd.DataFrame:
    return X.X if isinstance(X, Panel) else X


def _encode(column: pd.Series, known: np.ndarray | None) -> np.ndarray:
    """Return numbers, or places in the list of categories, NaN for others."""
    if known is None:
        return column.to_numpy(dtype=float)
    values = column.astype(str).to_numpy()
    place = np.minimum(np.searchsorted(known, values), len(known) - 1)
    return np.where(known[place] == values, place, np.nan)


def _count(y: RecurrentEvents, rows: np.ndarray, at: np.ndarray) -> np.ndarray:
    """Return the numbers of events of individuals up to some times."""
    span = y.end.max() + 1.0
    # One ascending key for all events: individual after individual, each in a lane.
    keys = y.event_owner * span + y.times
    asked = rows * span + np.clip(at, 0.0, span * (1.0 - 1e-12))
    return np.searchsorted(keys, asked, side="right") - y.event_offsets[rows]
