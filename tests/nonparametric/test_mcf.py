from fractions import Fraction

import hypothesis.strategies as st
import numpy as np
import pytest
import sklearn
from hypothesis import given, settings
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from tests.oracles import is_at_risk, mean_cumulative_function

from boostr.data import RecurrentEvents
from boostr.exceptions import (
    InvalidEventsError,
    InvalidParameterError,
    TargetTypeError,
)
from boostr.nonparametric import MeanCumulativeFunction
from boostr.simulate import dataset_c

# Valve-seat replacements on 41 diesel engines: age in days at the end of history, and at
# each replacement. Facts published in Nelson, W. (1995), Confidence limits for recurrence
# data, applied to cost or number of product repairs, Technometrics 37, 147-157.
# fmt: off
ENGINES = [
    (761, []), (759, []), (667, [98]), (667, [326, 653, 653]), (665, []), (667, [84]),
    (663, [87]), (653, [646]), (653, [92]), (651, []), (650, [258, 328, 377, 621]),
    (648, [61, 539]), (644, [254, 276, 298, 640]), (642, [76, 538]), (641, [635]),
    (649, [349, 404, 561]), (631, []), (596, []), (614, [120, 479]), (582, [323, 449]),
    (589, [139, 139]), (593, []), (589, [573]), (606, [165, 408, 604]), (594, [249]),
    (613, [344, 497]), (595, [265, 586]), (389, [166, 206, 348]), (601, []),
    (601, [410, 581]), (611, []), (608, []), (587, []), (603, [367]),
    (585, [202, 563, 570]), (587, []), (578, []), (578, []), (586, []), (585, []),
    (582, []),
]
# fmt: on


def offsets_of(lists):
    return np.cumsum([0, *map(len, lists)])


def make_events(windows, events, costs):
    flat_windows = np.array([window for own in windows for window in own])
    return RecurrentEvents(
        times=np.array([time for own in events for time in own], dtype=float),
        event_offsets=offsets_of(events),
        costs=np.array([cost for own in costs for cost in own], dtype=float),
        has_costs=True,
        window_start=flat_windows[:, 0].astype(float),
        window_stop=flat_windows[:, 1].astype(float),
        window_offsets=offsets_of(windows),
        ids=np.arange(len(windows)),
        has_ids=False,
    )


@st.composite
def histories(draw):
    """Windows with gaps and late entry, tied events inside them, costs and weights."""
    windows, events, costs = [], [], []
    for _ in range(draw(st.integers(1, 6))):
        n_windows = draw(st.integers(1, 3))
        cuts = draw(st.sets(st.integers(0, 12), min_size=6, max_size=6))
        bounds = sorted(cuts)[: 2 * n_windows]
        own = list(zip(bounds[::2], bounds[1::2], strict=True))
        inside = [time for time in range(13) if is_at_risk(own, time)]
        times = sorted(draw(st.lists(st.sampled_from(inside), max_size=5)))
        windows.append(own)
        events.append(times)
        costs.append(
            draw(st.lists(st.integers(0, 9), min_size=len(times), max_size=len(times)))
        )
    weights = draw(
        st.lists(st.integers(1, 3), min_size=len(windows), max_size=len(windows))
    )
    return windows, events, costs, weights


@pytest.fixture(scope="module")
def engines():
    return RecurrentEvents.from_lists(
        [events for _, events in ENGINES], end=[end for end, _ in ENGINES]
    )


@pytest.mark.slow
@settings(deadline=None, max_examples=150)
@given(histories())
def test_agrees_with_the_definition_under_gaps_ties_and_late_entry(population):
    windows, events, costs, weights = population
    y = make_events(windows, events, costs)
    fitted = MeanCumulativeFunction().fit(y, sample_weight=weights)
    expected = mean_cumulative_function(windows, events, costs, weights)
    found = (fitted.times_, fitted.at_risk_, fitted.mcf_, fitted.variance_)
    for one, other in zip(found, expected, strict=True):
        assert_allclose(one, other, rtol=1e-9, atol=1e-12)


@settings(deadline=None, max_examples=30)
@given(histories(), st.randoms(use_true_random=False))
def test_order_of_individuals_does_not_matter(population, random):
    y = make_events(*population[:3])
    order = list(range(len(y)))
    random.shuffle(order)
    first = MeanCumulativeFunction().fit(y)
    second = MeanCumulativeFunction().fit(y[order])
    assert_allclose(first.mcf_, second.mcf_)
    assert_allclose(first.variance_, second.variance_, atol=1e-12)


def test_hand_worked_table_with_a_gap():
    # First individual is seen on (0, 2] and (6, 10], the others on (0, 8] and (4, 10].
    y = make_events(
        [[(0, 2), (6, 10)], [(0, 8)], [(4, 10)]], [[1, 7], [5], [7]], [[1, 1], [1], [1]]
    )
    fitted = MeanCumulativeFunction().fit(y)
    assert_array_equal(fitted.times_, [1.0, 5.0, 7.0])
    assert_array_equal(fitted.at_risk_, [2.0, 2.0, 3.0])
    assert_array_equal(fitted.n_events_, [1.0, 1.0, 2.0])
    assert_allclose(fitted.mcf_, [1 / 2, 1, 5 / 3])
    # Residuals: (1/4, -1/4, 0), then (0, 1/4, -1/4), then (1/9, -2/9, 1/9).
    residuals = np.cumsum(
        [[1 / 4, -1 / 4, 0], [0, 1 / 4, -1 / 4], [1 / 9, -2 / 9, 1 / 9]], axis=0
    )
    assert_allclose(fitted.variance_, (residuals**2).sum(axis=1))


def test_valve_seats_give_the_exact_sums_of_the_published_data(engines):
    fitted = MeanCumulativeFunction().fit(engines)
    expected = sum(
        Fraction(1, sum(end >= age for end, _ in ENGINES))
        for _, events in ENGINES
        for age in events
    )
    assert len(ENGINES) == 41
    assert fitted.n_events_.sum() == 48
    assert fitted.mcf_[-1] == pytest.approx(float(expected), rel=1e-14)


def test_valve_seats_first_replacements_follow_by_hand(engines):
    fitted = MeanCumulativeFunction(band="plain").fit(engines)
    # One and two of 41 engines: M = k / 41, Var = k / 41 (1 - k / 41) / 41.
    share = np.array([1, 2]) / 41
    assert_array_equal(fitted.times_[:2], [61.0, 76.0])
    assert_allclose(fitted.mcf_[:2], share)
    assert_allclose(fitted.variance_[:2], share * (1 - share) / 41)


def test_valve_seats_variance_agrees_with_the_definition(engines):
    windows = [[(0, end)] for end, _ in ENGINES]
    events = [own for _, own in ENGINES]
    costs = [[1] * len(own) for own in events]
    expected = mean_cumulative_function(windows, events, costs, [1] * 41)
    assert_allclose(MeanCumulativeFunction().fit(engines).variance_, expected[3])


def test_last_variance_of_a_large_population_is_the_direct_sum_of_squares():
    y = dataset_c(n=5000, random_state=1, end=(1.0, 50.0)).y
    fitted = MeanCumulativeFunction().fit(y)
    fall = np.cumsum(fitted.n_events_ / fitted.at_risk_**2)
    jump = (1.0 / fitted.at_risk_)[np.searchsorted(fitted.times_, y.times)]
    rises = np.bincount(y.event_owner, jump, len(y))
    n_passed = np.searchsorted(fitted.times_, y.end, side="right")
    residuals = rises - np.concatenate([[0.0], fall])[n_passed]
    assert fitted.variance_[-1] == pytest.approx((residuals**2).sum(), rel=1e-10)


def test_band_covers_the_truth_as_often_as_it_says():
    rng = np.random.default_rng(8)
    hits = 0
    for _ in range(300):
        counts = rng.poisson(rng.gamma(2.0, 1.0, 60))
        y = RecurrentEvents.from_lists(
            [1.0 - rng.random(k) for k in counts], end=np.ones(60)
        )
        lower, upper = MeanCumulativeFunction(confidence=0.9).fit(y).confidence_band(1.0)
        hits += lower <= 2.0 <= upper
    assert 0.85 < hits / 300 < 0.95


def test_with_complete_follow_up_it_is_the_mean_and_its_standard_error(rng):
    counts = rng.poisson(3.0, 50)
    y = RecurrentEvents.from_lists([1.0 - rng.random(k) for k in counts], end=np.ones(50))
    fitted = MeanCumulativeFunction().fit(y)
    assert fitted.mcf_[-1] == pytest.approx(counts.mean())
    assert fitted.variance_[-1] == pytest.approx(counts.var() / 50)


def test_weight_two_is_the_individual_twice():
    y = RecurrentEvents.from_lists([[1.0], [3.0, 8.0], []], end=[4.0, 10.0, 6.0])
    weighted = MeanCumulativeFunction().fit(y, sample_weight=[1.0, 2.0, 1.0])
    repeated = MeanCumulativeFunction().fit(y[[0, 1, 1, 2]])
    assert_allclose(weighted.mcf_, repeated.mcf_)
    assert_allclose(weighted.variance_, repeated.variance_)


def test_weight_zero_leaves_the_individual_out():
    y = RecurrentEvents.from_lists([[1.0], [3.0, 8.0], []], end=[4.0, 10.0, 6.0])
    weighted = MeanCumulativeFunction().fit(y, sample_weight=[1.0, 0.0, 1.0])
    without = MeanCumulativeFunction().fit(y[[0, 2]])
    assert_array_equal(weighted.times_, without.times_)
    assert_allclose(weighted.variance_, without.variance_)


def test_costs_are_added_up():
    y = RecurrentEvents.from_lists([[1.0, 2.0], []], end=[3.0, 3.0], cost=[[10.0, 4.0], []])
    fitted = MeanCumulativeFunction().fit(y)
    assert_allclose(fitted.mcf_, [5.0, 7.0])
    assert_allclose(fitted.variance_, [2 * 2.5**2, 2 * 3.5**2])
    assert fitted.has_costs_


def test_prediction_steps_at_the_event_and_holds_the_last_value():
    y = RecurrentEvents.from_lists([[1.0, 2.0]], end=[3.0])
    fitted = MeanCumulativeFunction().fit(y)
    assert_array_equal(fitted.predict([0.0, 0.99, 1.0, 1.5, 2.0, 99.0]), [0, 0, 1, 1, 2, 2])


def test_without_events_it_is_zero():
    fitted = MeanCumulativeFunction().fit(
        RecurrentEvents.from_lists([[], []], end=[1.0, 2.0])
    )
    assert fitted.times_.size == 0
    assert_array_equal(fitted.predict([0.0, 5.0]), [0.0, 0.0])


def test_plain_band_is_symmetric_and_log_band_is_positive(engines):
    plain = MeanCumulativeFunction(band="plain").fit(engines)
    log = MeanCumulativeFunction(band="log").fit(engines)
    assert_allclose(
        plain.upper_ - plain.mcf_, 1.959964 * np.sqrt(plain.variance_), rtol=1e-6
    )
    assert_allclose(plain.mcf_ - plain.lower_, plain.upper_ - plain.mcf_)
    assert_allclose(log.lower_ * log.upper_, log.mcf_**2)
    assert log.lower_.min() > 0.0


def test_free_events_have_a_band_of_no_width():
    y = RecurrentEvents.from_lists([[1.0]], end=[3.0], cost=[[0.0]])
    fitted = MeanCumulativeFunction().fit(y)
    assert_array_equal([fitted.lower_, fitted.mcf_, fitted.upper_], np.zeros((3, 1)))


def test_a_clone_keeps_the_parameters():
    copy = clone(MeanCumulativeFunction(confidence=0.8, band="plain"))
    params = {"confidence": 0.8, "band": "plain", "terminal": "account"}
    assert copy.get_params() == params


def test_prediction_before_fitting_is_refused():
    with pytest.raises(NotFittedError):
        MeanCumulativeFunction().predict([1.0])


@pytest.mark.parametrize("wrong", [{"confidence": 1.0}, {"band": "logit"}])
def test_impossible_parameters_are_refused_by_name(engines, wrong):
    with pytest.raises(InvalidParameterError, match=f"`{next(iter(wrong))}` must"):
        MeanCumulativeFunction(**wrong).fit(engines)


def test_a_target_of_another_type_names_the_way_out():
    with pytest.raises(TargetTypeError, match="but it is a list") as caught:
        MeanCumulativeFunction().fit([[1.0]])
    assert "Hint: RecurrentEvents.from_long" in str(caught.value)


def test_nobody_at_all_is_refused(engines):
    with pytest.raises(InvalidEventsError, match="at least one individual"):
        MeanCumulativeFunction().fit(engines[np.zeros(41, dtype=bool)])


def test_weights_must_belong_to_individuals(engines):
    with pytest.raises(InvalidParameterError, match=r"\(48,\) for 41 individuals"):
        MeanCumulativeFunction().fit(engines, sample_weight=np.ones(48))


def test_negative_weights_name_their_rows(engines):
    weight = np.ones(41)
    weight[[3, 7]] = [-1.0, np.nan]
    with pytest.raises(InvalidParameterError, match=r"2 of 41 individuals \(rows 3, 7\)"):
        MeanCumulativeFunction().fit(engines, sample_weight=weight)


# The cumulative hazard and its robust standard error by the R package survival 3.5-3:
# survfit(Surv(start, stop, event) ~ 1, id = id, robust = TRUE), fields cumhaz and std.chaz.
SURVIVAL = {
    61: (0.0243902439, 0.0240909658),
    76: (0.0487804878, 0.0336412029),
    98: (0.1463414634, 0.0551993371),
    254: (0.3658536585, 0.0896559460),
    377: (0.6585365854, 0.1318416483),
    497: (0.8085365854, 0.1492549406),
    604: (1.0597186850, 0.1850609881),
}


def test_valve_seats_agree_with_the_r_package_survival(engines):
    fitted = MeanCumulativeFunction().fit(engines)
    at = np.searchsorted(fitted.times_, list(SURVIVAL))
    ours = np.column_stack([fitted.mcf_[at], np.sqrt(fitted.variance_[at])])
    assert_allclose(ours, list(SURVIVAL.values()), rtol=1e-8)


def test_notebooks_show_figures_and_the_curve():
    y = RecurrentEvents.from_lists([[1.0], [3.0, 8.0]], end=[4.0, 10.0])
    estimate = MeanCumulativeFunction().fit(y)
    bundle = estimate._repr_mimebundle_()
    assert bundle["text/html"] == estimate._repr_html_()
    assert bundle["text/plain"] == repr(estimate)
    assert "2 per individual (95% band" in bundle["text/html"]
    assert "<polyline" in bundle["text/html"]


def test_notebooks_show_no_curve_without_events():
    y = RecurrentEvents.from_lists([[], []], end=4.0)
    assert "<svg" not in MeanCumulativeFunction().fit(y)._repr_html_()


def test_notebooks_show_parameters_before_the_fit():
    html = MeanCumulativeFunction(band="plain")._repr_html_()
    assert "MeanCumulativeFunction" in html
    with sklearn.config_context(display="text"):
        assert MeanCumulativeFunction()._repr_html_() is None
