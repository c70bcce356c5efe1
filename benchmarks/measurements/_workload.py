"""The individuals and the models that speed is measured with.

LightGBM and boostr are imported only where they are used: memory is measured in processes
that hold one of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from lightgbm import LGBMRegressor

    from boostr import BoostR, RecurrentEvents

N_FEATURES = 20
N_TREES = 100
N_LEAVES = 8
LEAST_MEMBERS = 20
LEARNING_RATE = 0.1
MAX_BINS = 255

FloatArray = NDArray[np.float64]


def draw_features(n: int, seed: int = 0) -> FloatArray:
    return np.random.default_rng(seed).random((n, N_FEATURES))


def draw_events(X: FloatArray, mean_events: float = 2.0, seed: int = 1) -> RecurrentEvents:
    """Draw histories with ends of follow-up staggered between 0.5 and 1."""
    from boostr import RecurrentEvents

    rng = np.random.default_rng(seed)
    ends = rng.uniform(0.5, 1.0, len(X))
    # Three features matter: a jump, and a slope where the third is high.
    factor = 0.25 + (X[:, 0] > 0.5) + X[:, 1] * (X[:, 2] > 0.5)
    expected = factor * ends
    counts = rng.poisson(mean_events * expected / expected.mean())
    owner = np.repeat(np.arange(len(X)), counts)
    times = ends[owner] * (1.0 - rng.random(len(owner)))
    times = times[np.lexsort((times, owner))]
    offsets = np.concatenate([[0], np.cumsum(counts)])
    return RecurrentEvents.from_flat(times, offsets, end=ends)


def make_boostr(
    n_jobs: int = 1,
    n_estimators: int = N_TREES,
    exponents: tuple[float, ...] = (1.0, 1.5),
) -> BoostR:
    from boostr import BoostR
    from boostr.basis import PowerBasis

    return BoostR(
        n_estimators=n_estimators + 1,  # the first one is the average alone
        learning_rate=LEARNING_RATE,
        max_leaf_nodes=N_LEAVES,
        min_samples_leaf=LEAST_MEMBERS,
        max_bins=MAX_BINS,
        leaf=PowerBasis(exponents),
        validation=None,
        random_state=0,
        n_jobs=n_jobs,
    )


def make_lightgbm(n_jobs: int = 1) -> LGBMRegressor:
    from lightgbm import LGBMRegressor

    options: dict[str, Any] = {"max_bin": MAX_BINS, "verbose": -1}
    return LGBMRegressor(
        objective="regression",
        n_estimators=N_TREES,
        learning_rate=LEARNING_RATE,
        num_leaves=N_LEAVES,
        min_child_samples=LEAST_MEMBERS,
        n_jobs=n_jobs,
        **options,
    )


def compile_kernels(n_jobs: int = 1) -> None:
    """Compile, or load, what a fit and a prediction need; enough rows for all threads."""
    from boostr._training import other_process

    X = draw_features(70_000 if n_jobs > 1 else 2_000)
    y = draw_events(X)
    for _ in range(2):  # again with what another process has compiled meanwhile
        make_boostr(n_jobs, n_estimators=2).fit(X, y).predict_cumulative(X, [0.5])
        other_process.wait()
