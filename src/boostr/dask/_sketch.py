"""Quantiles of values that are spread over many machines.

A summary holds values with counts. Summaries of parts are put together by merging their
lists, and a list that has become too long is shortened: its values are cut into at most
``N_KEPT`` runs of equal counts, and the last value of a run stands for all of it. Ranks
read from a summary are too low by the counts of one run per shortening at most. So the
error is known, and has a bound that holds for any values: with ``levels`` of shortening one
after the other, ``levels / N_KEPT`` of all individuals; see `Summary.error`. A threshold
can only be one of the values left, which are a run apart: the share below it is off by at
most ``(levels + 1) / N_KEPT``, if no value is shared by many.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from boostr._engine.binning import BinMapper, separate
from boostr._typing import BoolArray, FloatArray, IndexArray, OffsetArray

__all__ = ["N_KEPT", "Summary", "find_bins", "merge_features", "summarize_features"]

N_KEPT = 4096  # values of a summary at most


@dataclass(frozen=True, slots=True, eq=False)
class Summary:
    """Values of one feature with their counts, in ascending order.

    For every ``x``, the number of summarized values up to ``x`` lies between
    ``sum(counts[values <= x])`` and ``error`` more.
    """

    values: FloatArray  # (k,) different
    counts: OffsetArray  # (k,)
    error: int = 0  # individuals; 0 as long as nothing was left out

    @classmethod
    def of(cls, values: FloatArray, n_kept: int = N_KEPT) -> Summary:
        """Return the summary of values without NaN."""
        found, counts = np.unique(values[~np.isnan(values)], return_counts=True)
        return cls(found, counts.astype(np.int64)).shorten(n_kept)

    @property
    def n(self) -> int:
        """Number of summarized values."""
        return int(self.counts.sum())

    def shorten(self, n_kept: int = N_KEPT) -> Summary:
        """Return a summary of at most ``n_kept`` values, if needed with a larger error."""
        if len(self.values) <= n_kept:
            return self
        begins = np.cumsum(self.counts) - self.counts
        # Values belong to the run that they begin in, so that all but the last one of a run
        # lie in it wholly: they are less than an even share of everybody.
        run = begins * n_kept // self.n
        first = np.flatnonzero(np.diff(run, prepend=-1))
        last = np.append(first[1:], len(run)) - 1
        counts = np.add.reduceat(self.counts, first)
        moved = int((counts - self.counts[last]).max())
        return Summary(self.values[last], counts, self.error + moved)

    @classmethod
    def merge(cls, parts: Sequence[Summary], n_kept: int = N_KEPT) -> Summary:
        """Return the summary of several summaries; errors add up."""
        values, place = np.unique(
            np.concatenate([part.values for part in parts]), return_inverse=True
        )
        counts = np.zeros(len(values), dtype=np.int64)
        np.add.at(counts, place, np.concatenate([part.counts for part in parts]))
        return cls(values, counts, sum(part.error for part in parts)).shorten(n_kept)

    def find_thresholds(self, max_bins: int) -> FloatArray:
        """Return at most ``max_bins - 1`` thresholds between neighbouring values.

        As `BinMapper.from_quantiles` if nothing was left out; otherwise shares are off by
        at most half of the error and of the individuals that share a value.
        """
        values = self.values
        if values.size > max_bins:
            ranks = np.linspace(0, self.n - 1, max_bins + 1)[1:-1].astype(np.int64)
            ends = np.cumsum(self.counts) + self.error // 2
            below = np.unique(np.searchsorted(ends, ranks, side="right"))
            below = below[below < values.size - 1]
        else:
            below = np.arange(max(values.size - 1, 0))
        return separate(values, below)


def summarize_features(
    features: FloatArray, is_categorical: BoolArray, n_kept: int = N_KEPT
) -> list[Summary | None]:
    """Return a summary of every feature, None for categorical ones."""
    return [
        None if is_category else Summary.of(features[:, place], n_kept)
        for place, is_category in enumerate(is_categorical)
    ]


def merge_features(
    parts: Sequence[Sequence[Summary | None]], n_kept: int = N_KEPT
) -> list[Summary | None]:
    """Return the summaries of all features over several parts."""
    merged: list[Summary | None] = []
    for same in zip(*parts, strict=True):
        known = [summary for summary in same if summary is not None]
        merged.append(Summary.merge(known, n_kept) if known else None)
    return merged


def find_bins(
    summaries: Sequence[Summary | None],
    max_bins: int,
    is_categorical: BoolArray,
    n_categories: IndexArray,
) -> BinMapper:
    """Return thresholds of all features from their summaries."""
    thresholds = [
        np.zeros(n_known) if summary is None else summary.find_thresholds(max_bins)
        for summary, n_known in zip(summaries, n_categories, strict=True)
    ]
    return BinMapper.from_thresholds(thresholds, is_categorical)
