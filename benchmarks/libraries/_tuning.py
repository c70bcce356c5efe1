"""Tuning that all boosted peers share: cross-validation over individuals."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
Mask = NDArray[np.bool_]

LEARNING_RATE = 0.05
N_FOLDS = 5

_LEAVES = (3, 6, 12, 24)
_LEAST_MEMBERS = (20, 5, 50)  # the first is what numbers of leaves are compared with
_SEARCH_RATE = 0.2  # shapes are compared with larger steps, which take fewer trees
_SEARCH_ROUNDS = 60
_EXTRA_ROUNDS = 60
_MAX_ROUNDS = 1_000


@dataclass(frozen=True, slots=True)
class TreeShape:
    """Size of the trees of a peer."""

    n_leaves: int
    least_members: int  # individuals (or events) in a leaf at least


# Held-out loss of all folds together, after each of a number of rounds.
HeldOutLoss = Callable[[TreeShape, float, int], FloatArray]  # (shape, rate, n_rounds)


def draw_folds(n: int, seed: int) -> Iterator[tuple[Mask, Mask]]:
    """Yield who is trained on and who is held out in every fold."""
    fold_of = np.random.default_rng(seed).permutation(n) % N_FOLDS
    for fold in range(N_FOLDS):
        yield fold_of != fold, fold_of == fold


def tune(held_out_loss: HeldOutLoss) -> tuple[TreeShape, int]:
    """Find the shape of trees, one part after the other, and then how many of them."""
    start = TreeShape(_LEAVES[0], _LEAST_MEMBERS[0])
    by_leaves = [replace(start, n_leaves=n_leaves) for n_leaves in _LEAVES]
    curves = _search(held_out_loss, by_leaves)
    best = min(curves, key=lambda shape: curves[shape].min())
    by_members = [replace(best, least_members=least) for least in _LEAST_MEMBERS[1:]]
    curves = {best: curves[best], **_search(held_out_loss, by_members)}
    best = min(curves, key=lambda shape: curves[shape].min())
    n_search = int(np.argmin(curves[best])) + 1
    n_rounds = round(n_search * _SEARCH_RATE / LEARNING_RATE) + _EXTRA_ROUNDS
    curve = _run_past_minimum(held_out_loss, best, LEARNING_RATE, n_rounds)
    return best, int(np.argmin(curve)) + 1


def _search(
    held_out_loss: HeldOutLoss, shapes: list[TreeShape]
) -> dict[TreeShape, FloatArray]:
    return {
        shape: _run_past_minimum(held_out_loss, shape, _SEARCH_RATE, _SEARCH_ROUNDS)
        for shape in shapes
    }


def _run_past_minimum(
    held_out_loss: HeldOutLoss, shape: TreeShape, rate: float, n_rounds: int
) -> FloatArray:
    """Double the number of rounds until the held-out loss has turned (or 1,000)."""
    curve = held_out_loss(shape, rate, n_rounds)
    while np.argmin(curve) >= 0.9 * n_rounds and n_rounds < _MAX_ROUNDS:
        n_rounds = min(2 * n_rounds, _MAX_ROUNDS)
        curve = held_out_loss(shape, rate, n_rounds)
    return curve
