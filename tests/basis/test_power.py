import numpy as np
import pytest
from numpy.testing import assert_allclose
from tests.engine.histories import AWKWARD, clocked

from boostr._kernels.solve import FULL, SINGLE
from boostr.basis import PowerBasis
from boostr.exceptions import InvalidParameterError

EVENTS = clocked([AWKWARD])


def test_functions_are_powers():
    assert_allclose(
        PowerBasis((0.5, 1.0, 2.0)).evaluate(np.array([0.0, 4.0])),
        [[0.0, 0.0, 0.0], [2.0, 4.0, 16.0]],
    )


def test_rates_are_the_slopes_of_the_functions():
    basis = PowerBasis((0.5, 1.0, 1.5, 3.0))
    times = np.linspace(0.1, 9.0, 40)
    slopes = (basis.evaluate(times + 1e-6) - basis.evaluate(times - 1e-6)) / 2e-6
    assert_allclose(basis.rates(times), slopes, rtol=1e-6)


def test_low_powers_have_no_finite_rate_at_zero():
    assert np.isinf(PowerBasis((0.5,)).rates(np.array([0.0]))).all()


@pytest.mark.parametrize("loss", ["intensity", "cumulative"])
def test_placing_changes_nothing(loss):
    basis = PowerBasis((1.0, 1.5))
    assert basis.place(EVENTS, loss) == basis


@pytest.mark.parametrize("low", [0.5, 0.25])
def test_the_intensity_loss_refuses_low_exponents_and_says_why(low):
    with pytest.raises(InvalidParameterError, match="infinite integral") as caught:
        PowerBasis((1.0, low)).place(EVENTS, "intensity")
    assert f"[{low}]" in str(caught.value)
    assert 'loss="cumulative"' in str(caught.value)


def test_the_cumulative_loss_takes_low_exponents():
    basis = PowerBasis((0.25,)).place(EVENTS, "cumulative")
    assert np.all(np.isfinite(basis.moments(EVENTS, "cumulative")[1]))


def test_the_intensity_loss_takes_exponents_just_above_one_half():
    events = clocked([([(0.0, 2.0)], [1.0], [1.0])])
    basis = PowerBasis((0.51,)).place(events, "intensity")
    # 0.51^2 / 0.02 * 2^0.02
    assert_allclose(basis.moments(events, "intensity")[1], [[0.51**2 / 0.02 * 2**0.02]])


@pytest.mark.parametrize("exponents", [(), (np.nan,), (1.0, np.inf), ((1.0, 2.0),)])
def test_exponents_must_be_finite_numbers(exponents):
    with pytest.raises(InvalidParameterError, match="finite numbers"):
        PowerBasis(exponents)


@pytest.mark.parametrize("exponents", [(0.0,), (-1.0, 1.0), (1.0, 1.0)])
def test_exponents_must_be_positive_and_different(exponents):
    with pytest.raises(InvalidParameterError, match="positive and different"):
        PowerBasis(exponents)


def test_there_is_a_term_per_exponent():
    assert PowerBasis((1.0, 2.0, 3.0)).n_terms == 3


@pytest.mark.parametrize(("joint", "solver"), [(True, FULL), (False, SINGLE)])
def test_a_leaf_uses_all_exponents_or_the_best_one(joint, solver):
    assert PowerBasis((1.0, 2.0), joint=joint).solver == solver
