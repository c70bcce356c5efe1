import numpy as np
from numpy.testing import assert_allclose

from boostr._kernels.mcf import ENTERS, HAS_EVENT, LEAVES, sweep_squared_residuals


def sweep(changes, drop, weight, exposure=None):
    time_index, kind, owner, jump = zip(*changes, strict=True)
    out = np.full(len(drop), np.nan)
    sweep_squared_residuals(
        np.array(time_index, dtype=np.int64),
        np.array(kind, dtype=np.int8),
        np.array(owner, dtype=np.int64),
        np.array(jump, dtype=np.float64),
        np.ones(len(jump)) if exposure is None else np.array(exposure),
        np.array(drop),
        np.array(weight),
        np.zeros(len(weight)),
        np.ones(len(weight)),
        out,
    )
    return out


def test_residuals_of_those_at_risk_fall_together():
    changes = [(0, ENTERS, 0, 0.0), (0, ENTERS, 1, 0.0)]
    assert_allclose(sweep(changes, [1.0, 2.0], [1.0, 1.0]), [2.0, 18.0])


def test_weights_count_individuals():
    changes = [(0, ENTERS, 0, 0.0), (0, ENTERS, 1, 0.0)]
    assert_allclose(sweep(changes, [1.0, 2.0], [1.0, 3.0]), [4.0, 36.0])


def test_an_event_lifts_its_owner_only():
    changes = [(0, ENTERS, 0, 0.0), (0, ENTERS, 1, 0.0), (0, HAS_EVENT, 1, 5.0)]
    assert_allclose(sweep(changes, [1.0], [1.0, 1.0]), [1.0 + 16.0])


def test_residuals_rest_during_a_gap():
    changes = [
        (0, ENTERS, 0, 0.0),
        (1, LEAVES, 0, 0.0),
        (2, ENTERS, 0, 0.0),
        (2, HAS_EVENT, 0, 10.0),
    ]
    assert_allclose(sweep(changes, [1.0, 100.0, 2.0], [1.0]), [1.0, 1.0, 49.0])


def test_leaving_and_entering_at_once_changes_nothing():
    changes = [(0, ENTERS, 0, 0.0), (1, LEAVES, 0, 0.0), (1, ENTERS, 0, 0.0)]
    assert_allclose(sweep(changes, [1.0, 2.0], [1.0]), [1.0, 9.0])


def test_rounding_never_makes_a_sum_of_squares_negative():
    changes = [(0, ENTERS, i, 0.0) for i in range(3)]
    changes += [(0, HAS_EVENT, i, 0.1) for i in range(3)]
    out = sweep(changes, [0.1], [1.0, 1.0, 1.0])
    assert 0.0 <= out[0] < 1e-15


def test_residuals_fall_by_exposures_that_may_change():
    changes = [
        (0, ENTERS, 0, 0.0),
        (0, ENTERS, 1, 0.0),
        (1, LEAVES, 0, 0.0),
        (1, ENTERS, 0, 0.0),
        (1, HAS_EVENT, 0, 7.0),
    ]
    exposure = [2.0, 1.0, 2.0, 5.0, 1.0]
    squares = sweep(changes, [1.0, 3.0], [1.0, 1.0], exposure)
    assert_allclose(squares, [4.0 + 1.0, (7.0 - 2.0 - 15.0) ** 2 + 16.0])
