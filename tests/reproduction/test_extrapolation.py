"""Appendix A: which curves are bumpy, and which go on beyond the end of training."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose
from tests.reproduction.scenes import TINY

from boostr.reproduction import _extrapolation
from boostr.reproduction._extrapolation import END, LAST, TIMES
from boostr.reproduction._models import DEFAULT, RATE, name_ad_hoc
from boostr.simulate import dataset_d


@pytest.fixture(scope="module")
def scores():
    return {
        name: _extrapolation._score(name, 0, replace(TINY, n_maps=300), n_test=200)
        for name in (name_ad_hoc(), DEFAULT)
    }


def test_the_truth_has_no_error_and_no_bumps():
    true = np.outer([1.0, 2.0], TIMES**1.5)
    measured = _extrapolation._measure(true, true)
    assert measured == pytest.approx(
        {"within": 0.0, "beyond": 0.0, "growth": 1.0, "falling": 0.0, "bumps": 1.0}
    )


def test_a_curve_that_stops_growing_predicts_nothing_beyond():
    true = np.outer([1.0, 2.0], TIMES**1.5)
    measured = _extrapolation._measure(true[:, np.minimum(np.arange(201), 100)], true)
    assert measured["growth"] == 0.0
    assert measured["within"] == 0.0 < measured["beyond"]


def test_a_curve_with_a_dip_falls():
    true = np.outer([1.0, 2.0], TIMES)
    dipped = true.copy()
    dipped[0, 50] -= 1.0
    assert _extrapolation._measure(dipped, np.outer([1.0, 2.0], TIMES**2))["falling"] == 0.5


@pytest.mark.slow
def test_time_as_a_feature_is_flat_beyond_the_end_and_ours_is_not(scores):
    ad_hoc = np.array(scores[name_ad_hoc()]["predicted"])
    beyond = TIMES >= END
    assert_allclose(np.ptp(ad_hoc[:, beyond], axis=1), 0.0, atol=1e-5)
    assert scores[name_ad_hoc()]["growth"] == pytest.approx(0.0, abs=1e-6)
    # Rates of data set D go on rising; those of ours go on at their recent level.
    assert scores[DEFAULT]["growth"] == pytest.approx(_extrapolation._HELD_GROWTH, abs=0.1)


def test_the_true_rate_held_gives_the_share_that_the_page_tells():
    test = dataset_d(n=5, random_state=0)
    before, now, last = test.truth([END - 1e-6, END, LAST]).T
    growth = (now - before) / 1e-6 * (LAST - END) / (last - now)
    assert_allclose(growth, _extrapolation._HELD_GROWTH, rtol=1e-6)


@pytest.mark.slow
def test_time_as_a_feature_is_bumpier_and_errs_more(scores):
    ad_hoc, default = scores[name_ad_hoc()], scores[DEFAULT]
    assert ad_hoc["bumps"] > 5.0 * default["bumps"]
    assert default["falling"] == 0.0 < ad_hoc["falling"]
    assert default["within"] < ad_hoc["within"]
    assert default["beyond"] < 0.2 * ad_hoc["beyond"]


@pytest.mark.slow
def test_counts_that_stop_at_the_fourth_event_stay_below_five():
    ad_hoc, default = (
        _extrapolation._count_stopped(name, 0, replace(TINY, n_subjects=600), RATE)
        for name in (name_ad_hoc(), DEFAULT)
    )
    assert ad_hoc["largest"] < 5.0 < ad_hoc["true"]["largest"]
    assert ad_hoc["share"] == 0.0
    assert default["largest"] > 5.0
    assert abs(default["mean"] - default["true"]["mean"]) < 0.2
