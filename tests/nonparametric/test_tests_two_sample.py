from itertools import pairwise

import hypothesis.strategies as st
import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import assume, given, settings
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import chi2, kstest
from tests.oracles import is_at_risk

from boostr.data import RecurrentEvents
from boostr.datasets import load_bladder, load_cgd
from boostr.exceptions import InvalidEventsError, InvalidParameterError
from boostr.nonparametric import compare_mcf

WEIGHTS = ["constant", "at_risk", "linear"]


def score_by_definition(windows, events, costs, group, weight):
    """Give score and covariance, one individual, group and time at a time."""
    names = sorted(set(group))
    times = sorted({time for own in events for time in own})
    risk = {t: [is_at_risk(own, t) for own in windows] for t in times}
    in_group = {
        (t, g): sum(r for r, h in zip(risk[t], group, strict=True) if h == g)
        for t in times
        for g in names
    }
    compared = [t for t in times if sum(in_group[t, g] > 0 for g in names) > 1]
    most = max(sum(risk[t]) for t in times)
    score = np.zeros(len(names))
    parts = np.zeros((len(windows), len(names)))
    for t in compared:
        n_all = sum(risk[t])
        jump = [
            sum(c for s, c in zip(own, own_costs, strict=True) if s == t)
            for own, own_costs in zip(events, costs, strict=True)
        ]
        # Times count from the first start, which these histories have at 0.
        a = {"constant": 1.0, "at_risk": n_all / most, "linear": 1 - t / compared[-1]}
        for k, name in enumerate(names):
            own = sum(j for j, g in zip(jump, group, strict=True) if g == name)
            share = in_group[t, name] / n_all
            score[k] += a[weight] * (own - share * sum(jump))
            for i, g in enumerate(group):
                if not risk[t][i]:
                    continue
                total = sum(j for j, h in zip(jump, group, strict=True) if h == g)
                mean = total / in_group[t, g]
                parts[i, k] += a[weight] * ((g == name) - share) * (jump[i] - mean)
    return score, parts.T @ parts


@st.composite
def populations(draw):
    """Two or three groups of individuals with gaps, late entry, ties and costs."""
    group = draw(st.sampled_from(["aabb", "aaabbb", "aabbcc", "abcabcab"]))
    windows, events, costs = [], [], []
    for _ in group:
        cuts = sorted(draw(st.sets(st.integers(0, 10), min_size=4, max_size=4)))
        own = [tuple(cuts[:2]), tuple(cuts[2:])][: draw(st.integers(1, 2))]
        inside = [time for time in range(11) if is_at_risk(own, time)]
        times = sorted(draw(st.lists(st.sampled_from(inside), max_size=4)))
        windows.append(own)
        events.append(times)
        costs.append([draw(st.integers(1, 3)) for _ in times])
    windows[0] = [(0, windows[0][0][1]), *windows[0][1:]]  # somebody is seen from 0 on
    return windows, events, costs, list(group)


def make_events(windows, events, costs):
    rows = []
    for i, (own, times, prices) in enumerate(zip(windows, events, costs, strict=True)):
        price = {}
        for time, cost in zip(times, prices, strict=True):
            price[time] = price.get(time, 0) + cost
        for start, stop in own:
            cuts = [start, *sorted(t for t in price if start < t < stop), stop]
            for begin, end in pairwise(cuts):
                rows.append((i, begin, end, int(end in price), price.get(end, 0)))
    table = pd.DataFrame(rows, columns=["id", "start", "stop", "event", "cost"])
    return RecurrentEvents.from_start_stop(table, "id", "start", "stop", "event", "cost")


def draw_counts(rng, rates, spread=0.5):
    """Poisson processes with gamma frailties and staggered ends."""
    n = len(rates)
    ends = rng.uniform(0.5, 1.0, n)
    counts = rng.poisson(rates * ends * rng.gamma(1.0 / spread, spread, n))
    times = [end * (1.0 - rng.random(k)) for end, k in zip(ends, counts, strict=True)]
    return RecurrentEvents.from_lists(times, end=ends)


@pytest.fixture(scope="module")
def infections():
    data = load_cgd()
    return data.y, data.X["treatment"]


@pytest.fixture(scope="module")
def tumours():
    data = load_bladder()
    return data.y, data.X["treatment"]


def without_pyridoxine(tumours):
    y, treatment = tumours
    keep = (treatment != "pyridoxine").to_numpy()
    return y[keep], treatment[keep]


@pytest.mark.slow
@pytest.mark.parametrize("weight", WEIGHTS)
@settings(max_examples=40)
@given(populations())
def test_agrees_with_the_definition_under_gaps_ties_and_costs(weight, population):
    windows, events, costs, group = population
    assume(any(events))
    score, covariance = score_by_definition(windows, events, costs, group, weight)
    assume(np.linalg.eigvalsh(covariance[:-1, :-1])[0] > 1e-3)
    result = compare_mcf(make_events(windows, events, costs), group, weight=weight)
    assert_allclose(result.observed - result.expected, score, atol=1e-9)
    assert_allclose(result.covariance, covariance, atol=1e-9)
    expected = score[:-1] @ np.linalg.solve(covariance[:-1, :-1], score[:-1])
    assert result.statistic == pytest.approx(expected, rel=1e-6, abs=1e-9)
    assert result.pvalue == pytest.approx(chi2.sf(expected, len(set(group)) - 1), abs=1e-6)


def test_four_individuals_follow_by_hand():
    # Everybody is at risk: the score is half of the difference of the sums 3 and 1, the
    # parts are +-1/2 times the distances 1 and 0 from the groups' means 3/2 and 1/2.
    y = RecurrentEvents.from_lists([[1.0, 2.0], [3.0], [4.0], []], end=5.0)
    result = compare_mcf(y, ["a", "a", "b", "b"])
    assert_array_equal(result.observed, [3.0, 1.0])
    assert_array_equal(result.expected, [2.0, 2.0])
    assert_allclose(result.covariance, np.array([[1, -1], [-1, 1]]) / 4)
    assert result.statistic == pytest.approx(4.0)
    assert result.pvalue == pytest.approx(0.04550026)


# By R 4.2: sums and squares of formula (3.3) of Cook, Lawless and Nadeau in plain loops.
# The scores are also those of survival 3.5-3, coxph(..., ties = "breslow") at 0.
R_INFECTIONS = {
    "constant": (19.1826324824, 32.2122878203, 11.423385728, 0.000725254111587),
    "linear": (10.1671500089, 9.58002582837, 10.7902568485, 0.00102035723343),
}
R_TUMOURS = {
    "constant": (12.4765521666, 71.5189995842, 2.17654546164, 0.140128684956),
    "linear": (7.73125299409, 28.4328982129, 2.10222230639, 0.147085224698),
}


@pytest.mark.parametrize("weight", ["constant", "linear"])
def test_two_treatments_agree_with_r(infections, tumours, weight):
    for data, published in (
        (infections, R_INFECTIONS),
        (without_pyridoxine(tumours), R_TUMOURS),
    ):
        result = compare_mcf(*data, weight=weight)
        score = result.observed[0] - result.expected[0]
        found = (score, result.covariance[0, 0], result.statistic, result.pvalue)
        assert_allclose(found, published[weight], rtol=1e-9)


def test_scores_of_three_treatments_agree_with_r(tumours):
    result = compare_mcf(*tumours)
    assert result.groups == ("placebo", "pyridoxine", "thiotepa")
    assert_allclose(
        (result.observed - result.expected)[1:], [6.38406977046, -15.5390772208], rtol=1e-9
    )
    assert result.df == 2


def test_which_group_comes_last_does_not_matter(tumours):
    y, treatment = tumours
    renamed = treatment.map({"placebo": "z", "pyridoxine": "y", "thiotepa": "x"})
    first, second = compare_mcf(y, treatment), compare_mcf(y, renamed)
    assert second.statistic == pytest.approx(first.statistic, rel=1e-10)


def test_order_of_individuals_does_not_matter(infections, rng):
    y, treatment = infections
    order = rng.permutation(len(y))
    shuffled = compare_mcf(y[order], treatment.to_numpy()[order])
    assert shuffled.statistic == pytest.approx(compare_mcf(y, treatment).statistic)


def test_costs_that_are_all_alike_change_nothing():
    times, ends = [[1.0, 2.0], [3.0], [4.0], [2.5]], [5.0, 4.0, 5.0, 3.0]
    plain = RecurrentEvents.from_lists(times, end=ends)
    costly = RecurrentEvents.from_lists(
        times, end=ends, cost=[[7.0] * len(own) for own in times]
    )
    first, second = compare_mcf(plain, [0, 0, 1, 1]), compare_mcf(costly, [0, 0, 1, 1])
    assert_allclose(second.observed, 7.0 * first.observed)
    assert second.statistic == pytest.approx(first.statistic)


@pytest.mark.slow
@pytest.mark.parametrize("weight", WEIGHTS)
def test_groups_that_do_not_differ_give_uniform_p_values(weight):
    rng = np.random.default_rng(5)
    group = np.repeat([0, 1], 60)
    found = [
        compare_mcf(draw_counts(rng, np.full(120, 3.0)), group, weight=weight).pvalue
        for _ in range(300)
    ]
    assert kstest(found, "uniform").pvalue > 0.05


@pytest.mark.slow
def test_three_groups_that_do_not_differ_give_uniform_p_values():
    rng = np.random.default_rng(6)
    group = np.repeat([0, 1, 2], 60)
    found = [
        compare_mcf(draw_counts(rng, np.full(180, 3.0)), group).pvalue for _ in range(300)
    ]
    assert kstest(found, "uniform").pvalue > 0.05


@pytest.mark.slow
def test_power_rises_with_the_difference():
    rng = np.random.default_rng(7)
    group = np.repeat([0, 1], 40)
    power = []
    for ratio in (1.0, 1.4, 2.0):
        rates = np.where(group == 1, 3.0 * ratio, 3.0)
        found = [compare_mcf(draw_counts(rng, rates), group).pvalue for _ in range(100)]
        power.append(np.mean(np.array(found) < 0.05))
    assert power[0] < 0.12 < power[1] < power[2]
    assert power[2] > 0.9


def test_early_differences_show_best_with_early_weights():
    rng = np.random.default_rng(8)
    group = np.repeat([0, 1], 50)
    found = {weight: [] for weight in WEIGHTS}
    for _ in range(60):
        # The second group has one early event more on average, and as many later ones.
        times = [
            np.concatenate(
                [rng.uniform(0.0, 0.2, rng.poisson(g)), 1 - rng.random(rng.poisson(3.0))]
            )
            for g in group
        ]
        y = RecurrentEvents.from_lists(times, end=1.0)
        for weight, values in found.items():
            values.append(compare_mcf(y, group, weight=weight).statistic)
    assert np.mean(found["linear"]) > np.mean(found["constant"])


def test_labels_may_be_of_any_kind(infections):
    y, treatment = infections
    expected = compare_mcf(y, treatment).statistic
    for labels in (
        treatment.tolist(),
        treatment.astype("category"),
        pl.Series(treatment.to_numpy()),
        (treatment == "placebo").to_numpy(),
        (treatment == "placebo").to_numpy().astype(float),
    ):
        assert compare_mcf(y, labels).statistic == pytest.approx(expected)


def test_it_prints_a_table(infections):
    lines = str(compare_mcf(*infections)).splitlines()
    assert lines[0] == "Test of equal mean cumulative functions (constant weight)"
    assert lines[2].split() == ["placebo", "65", "56.00", "36.82"]
    assert lines[-1] == "chi-squared = 11.42 on 1 degree of freedom, p = 0.000725"


def test_an_unknown_weight_is_refused(infections):
    with pytest.raises(InvalidParameterError, match="`weight` must be 'constant'"):
        compare_mcf(*infections, weight="late")


@pytest.mark.parametrize("events", [[[], [], [], []], [[1.0], [1.0], [3.0], [3.0]]])
@pytest.mark.parametrize("weight", WEIGHTS)
def test_events_that_tell_nothing_are_refused(events, weight):
    y = RecurrentEvents.from_lists(events, end=5.0)
    with pytest.raises(InvalidEventsError, match="cannot be compared"):
        compare_mcf(y, ["a", "a", "b", "b"], weight=weight)


def test_groups_that_never_meet_are_refused():
    y = RecurrentEvents.from_lists(
        [[1.0], [2.0], [6.0], [7.0]], start=[0.0, 0.0, 5.0, 5.0], end=[4.0, 4.0, 9.0, 9.0]
    )
    with pytest.raises(InvalidEventsError, match="cannot be compared"):
        compare_mcf(y, ["a", "a", "b", "b"])
