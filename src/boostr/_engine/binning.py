"""Quantile bins of static features."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from boostr._kernels.binning import assign_bins, assign_bins_parallel
from boostr._typing import (
    BinArray,
    BoolArray,
    FloatArray,
    IndexArray,
    OffsetArray,
    PositionArray,
)

__all__ = ["N_KEPT", "BinMapper", "BinnedFeatures", "FeatureLayout", "separate"]

N_KEPT = 200_000  # rows that a cluster brings together
_SAMPLE_SIZE = 50_000  # of these, from which quantiles are read to half a bin or better
_PARALLEL_FROM = 1_000  # rows from which threads pay


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class FeatureLayout:
    """What a tree must know of binned features."""

    n_values: IndexArray  # (n_features,) bins in use, without the missing one
    is_categorical: BoolArray  # (n_features,)
    missing_bin: int

    @property
    def n_features(self) -> int:
        """Number of features."""
        return len(self.n_values)

    @property
    def n_bins(self) -> int:
        """Number of bins of a histogram, the missing one included."""
        return self.missing_bin + 1

    def holding(self, bins: BinArray) -> BinnedFeatures:
        """Return bins of this layout."""
        return BinnedFeatures(
            n_values=self.n_values,
            is_categorical=self.is_categorical,
            missing_bin=self.missing_bin,
            bins=bins,
        )


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class BinnedFeatures(FeatureLayout):
    """Static features as small integers, with what a tree must know of them."""

    bins: BinArray  # (n, n_features) C order

    @property
    def layout(self) -> FeatureLayout:
        """What a tree must know of them."""
        return FeatureLayout(
            n_values=self.n_values,
            is_categorical=self.is_categorical,
            missing_bin=self.missing_bin,
        )


@dataclass(frozen=True, slots=True, eq=False)
class BinMapper:
    """Thresholds of all features; a value's bin is the number of thresholds below it.

    A categorical feature has as many (unused) thresholds as categories, and its codes are
    its bins.
    """

    thresholds: FloatArray  # (n_thresholds,)
    offsets: OffsetArray  # (n_features + 1,)
    is_categorical: BoolArray  # (n_features,)

    @classmethod
    def from_quantiles(
        cls,
        features: FloatArray,
        max_bins: int,
        is_categorical: BoolArray | None = None,
        n_categories: IndexArray | None = None,
    ) -> BinMapper:
        """Choose thresholds: between all distinct values, or at quantiles of many.

        From 100,000 rows on an evenly spaced sample of 50,000 or more stands for all.
        """
        n_rows, n_features = features.shape
        if is_categorical is None or n_categories is None:
            is_categorical = np.zeros(n_features, dtype=np.bool_)
            n_categories = np.zeros(n_features, dtype=np.int32)
        step = max(1, n_rows // N_KEPT)
        step *= max(1, -(-n_rows // step) // _SAMPLE_SIZE)
        sample = features[::step]
        thresholds = [
            np.zeros(n_categories[feature])
            if is_categorical[feature]
            else _find_thresholds(sample[:, feature], max_bins)
            for feature in range(n_features)
        ]
        return cls.from_thresholds(thresholds, is_categorical)

    @classmethod
    def from_thresholds(
        cls, thresholds: Sequence[FloatArray], is_categorical: BoolArray
    ) -> BinMapper:
        """Return the given thresholds of every feature; of categories only the number."""
        offsets = np.zeros(len(thresholds) + 1, dtype=np.int64)
        offsets[1:] = np.cumsum([len(values) for values in thresholds])
        return cls(np.concatenate([np.empty(0), *thresholds]), offsets, is_categorical)

    @property
    def n_values(self) -> IndexArray:
        """Number of bins per feature, without the missing one."""
        n_thresholds = np.diff(self.offsets).astype(np.int32)
        return np.where(self.is_categorical, n_thresholds, n_thresholds + 1).astype(
            np.int32
        )

    @property
    def missing_bin(self) -> int:
        """The bin of missing values, the same for all features."""
        return int(self.n_values.max(initial=1))

    @property
    def layout(self) -> FeatureLayout:
        """Return the bins, categories and missing values that trees need to know.

        Without features there is one that is the same for all individuals: a node sums
        over the bins of any feature, and finds no split in that one.
        """
        has_features = len(self.is_categorical) > 0
        return FeatureLayout(
            n_values=self.n_values if has_features else np.ones(1, np.int32),
            is_categorical=self.is_categorical if has_features else np.zeros(1, np.bool_),
            missing_bin=self.missing_bin,
        )

    def transform(self, features: FloatArray, n_threads: int = 1) -> BinnedFeatures:
        """Return the bins of all values; see `layout` where there are no features."""
        if not len(self.is_categorical):
            return self.layout.holding(np.zeros((len(features), 1), dtype=np.uint8))
        bins = np.empty(features.shape, dtype=np.uint8)
        arguments = (
            np.ascontiguousarray(features),
            self.thresholds,
            self.offsets,
            self.is_categorical,
            self.missing_bin,
            bins,
        )
        if n_threads > 1 and len(features) >= _PARALLEL_FROM:
            assign_bins_parallel(*arguments, 16 * n_threads)
        else:
            assign_bins(*arguments)
        return self.layout.holding(bins)


def _find_thresholds(values: FloatArray, max_bins: int) -> FloatArray:
    """Return at most ``max_bins - 1`` values that lie between neighbouring data."""
    values = np.sort(values)
    values = values[: np.searchsorted(values, np.nan)]  # these come last
    if values.size == 0:
        return np.empty(0)
    rises = values[1:] > values[:-1]
    if np.count_nonzero(rises) < max_bins:
        distinct = values[np.append(True, rises)]
        return separate(distinct, np.arange(distinct.size - 1))
    ranks = np.linspace(0, values.size - 1, max_bins + 1)[1:-1]
    chosen = np.unique(values[ranks.astype(np.int64)])
    following = np.searchsorted(values, chosen, side="right")
    is_inside = following < values.size
    pairs = np.column_stack([chosen[is_inside], values[following[is_inside]]])
    return separate(pairs.ravel(), np.arange(0, pairs.size, 2))


def separate(values: FloatArray, below: PositionArray) -> FloatArray:
    """Return thresholds between some of ascending values and those after them."""
    # Halves first: the sum of two large numbers could overflow.
    middles = 0.5 * values[below] + 0.5 * values[below + 1]
    # Where rounding lifts the middle onto the upper value, the lower one separates them.
    return np.where(middles < values[below + 1], middles, values[below])
