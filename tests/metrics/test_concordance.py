import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given
from numpy.testing import assert_allclose
from tests import oracles
from tests.engine.histories import histories
from tests.metrics.scenes import make_events

from boostr.data import RecurrentEvents
from boostr.exceptions import InvalidEventsError, InvalidParameterError, TargetTypeError
from boostr.metrics import (
    event_concordance,
    paper_concordance,
    recurrent_concordance,
)
from boostr.simulate import dataset_a

# Ends 10, 10, 3: by time 3 the second has one event and the third none.
MACHINES = RecurrentEvents.from_lists([[5.0], [2.0, 6.0], []], end=[10.0, 10.0, 3.0])


@st.composite
def plain_histories(draw):
    """Individuals that begin together, without gaps and costs; ties of all kinds."""
    end = draw(st.integers(1, 6))
    times = sorted(draw(st.lists(st.integers(1, end), max_size=4)))
    return [(0.0, float(end))], [float(time) for time in times], [1.0] * len(times)


def populations(individual):
    """Histories, predictions, weights and a horizon."""
    person = st.tuples(individual, st.integers(0, 3), st.sampled_from([0.5, 1.0, 2.0]))
    horizon = st.sampled_from([None, 2.0, 3.5])
    return st.tuples(st.lists(person, min_size=2, max_size=9), horizon)


def take_apart(population):
    people, horizon = population
    drawn, predicted, weights = zip(*people, strict=True)
    return list(drawn), np.array(predicted, dtype=float), np.array(weights), horizon


def share(pairs, tied="half"):
    """Divide pairs as the metrics do; None if there are none."""
    concordant, equal, comparable = pairs
    if tied == "half":
        concordant += 0.5 * equal
    if tied == "drop":
        comparable -= equal
    return concordant / comparable if comparable > 0 else None


def value_or_none(metric, *args, **options):
    try:
        return metric(*args, **options)
    except InvalidEventsError:
        return None


# --- By hand


def test_a_perfect_order_has_one():
    assert recurrent_concordance(MACHINES, [2.0, 3.0, 1.0]) == 1.0


def test_pairs_with_equal_counts_in_the_common_follow_up_are_left_out():
    # The first and the third have no event by time 3: the third may be predicted above.
    assert recurrent_concordance(MACHINES, [1.0, 3.0, 2.0]) == 1.0


def test_events_after_the_horizon_do_not_count():
    # By time 5 the first two have one event each, so one pair is left.
    assert recurrent_concordance(MACHINES, [9.0, 2.0, 1.0], horizon=5.0) == 1.0


def test_an_event_at_the_end_of_the_other_counts():
    y = RecurrentEvents.from_lists([[3.0], []], end=[9.0, 3.0])
    assert recurrent_concordance(y, [2.0, 1.0]) == 1.0


@pytest.mark.parametrize(
    ("tied", "expected"), [("half", 0.75), ("drop", 1.0), ("zero", 0.5)]
)
def test_equal_predictions_count_as_asked(tied, expected):
    assert recurrent_concordance(MACHINES, [1.0, 2.0, 2.0], tied=tied) == expected


def test_weights_count_pairs():
    # Pairs (1, 0) right and (1, 2) wrong with weights 2 and 6.
    value = recurrent_concordance(MACHINES, [1.0, 2.0, 3.0], sample_weight=[1.0, 2.0, 3.0])
    assert value == pytest.approx(2.0 / 8.0)


def test_counts_are_compared_only_while_both_are_observed():
    # Both events of the first fall into the gap of the second.
    y = make_events(
        [([(0.0, 9.0)], [4.0, 5.0], [1.0] * 2), ([(0.0, 3.0), (6.0, 9.0)], [7.0], [1.0])]
    )
    assert recurrent_concordance(y, [1.0, 2.0]) == 1.0


def test_costs_are_compared_where_there_are_any():
    y = RecurrentEvents.from_lists([[1.0, 2.0], [3.0]], end=4.0, cost=[[1.0, 1.0], [5.0]])
    assert recurrent_concordance(y, [1.0, 2.0]) == 1.0


def test_at_the_horizon_only_those_observed_up_to_it_are_compared():
    y = RecurrentEvents.from_lists([[1.0], [], [1.0, 2.0]], end=[5.0, 5.0, 3.0])
    predicted = [2.0, 1.0, 0.0]
    assert recurrent_concordance(y, predicted, 5.0, weights="ipcw") == 1.0
    assert recurrent_concordance(y, predicted, 5.0) == pytest.approx(1.0 / 3.0)


def test_the_paper_counts_equal_predictions_as_wrong():
    y = RecurrentEvents.from_lists([[1.0], [], [1.0, 2.0], [3.0]], end=5.0)
    # Of six pairs one has equal counts; of the others three are right and one is tied.
    assert paper_concordance(y, [2.0, 2.0, 3.0, 1.0]) == pytest.approx(3.0 / 5.0)


def test_at_events_the_owner_is_compared_with_all_others_at_risk():
    # At 2 and 6 the second has an event, at 5 the first; the third is there at 2 only.
    assert event_concordance(MACHINES, [2.0, 3.0, 4.0]) == pytest.approx(2.0 / 4.0)


def test_late_comers_are_not_at_risk_before():
    y = RecurrentEvents.from_lists([[2.0], [4.0]], start=[0.0, 3.0], end=[5.0, 5.0])
    assert event_concordance(y, [1.0, 2.0]) == 1.0


def test_few_at_risk_weigh_more():
    # One comparison at 1 with all three, then two events at 2 with two of three at risk.
    y = RecurrentEvents.from_lists([[1.0, 2.0], [2.0], []], end=[3.0, 3.0, 1.5])
    weight = (2.0 / 3.0) ** -2
    expected = (2.0 + weight) / (2.0 + 2.0 * weight)
    value = event_concordance(y, [3.0, 2.0, 1.0], weights="ipcw")
    assert value == pytest.approx(expected)


# --- Against all pairs


@given(populations(plain_histories()), st.sampled_from(["half", "drop", "zero"]))
def test_quick_comparison_is_that_of_all_pairs(population, tied):
    drawn, predicted, weights, horizon = take_apart(population)
    pairs = oracles.common_pairs(drawn, predicted, weights, horizon or np.inf)
    value = value_or_none(
        recurrent_concordance,
        make_events(drawn),
        predicted,
        horizon,
        tied=tied,
        sample_weight=weights,
    )
    assert value == pytest.approx(share(pairs, tied))


@given(populations(histories()))
def test_gaps_late_entry_and_costs_are_those_of_all_pairs(population):
    drawn, predicted, weights, horizon = take_apart(population)
    pairs = oracles.common_pairs(drawn, predicted, weights, horizon or np.inf)
    value = value_or_none(
        recurrent_concordance,
        make_events(drawn),
        predicted,
        horizon,
        sample_weight=weights,
    )
    assert value == pytest.approx(share(pairs))


@given(populations(plain_histories()))
def test_at_a_horizon_it_is_that_of_all_pairs_observed_up_to_it(population):
    drawn, predicted, weights, horizon = take_apart(population)
    last = horizon or max(own[0][0][1] for own in drawn)
    known = [i for i, own in enumerate(drawn) if own[0][0][1] >= last]
    pairs = oracles.common_pairs(
        [drawn[i] for i in known], predicted[known], weights[known], last
    )
    arguments = make_events(drawn), predicted, horizon
    value = value_or_none(
        recurrent_concordance, *arguments, weights="ipcw", sample_weight=weights
    )
    assert value == pytest.approx(share(pairs))
    value = value_or_none(paper_concordance, *arguments, sample_weight=weights)
    assert value == pytest.approx(share(pairs, "zero"))


@given(populations(histories()), st.sampled_from([None, "ipcw"]))
def test_comparison_at_events_is_that_of_all_pairs(population, scheme):
    drawn, predicted, weights, horizon = take_apart(population)
    power = 0 if scheme is None else -2
    pairs = oracles.event_pairs(drawn, predicted, weights, horizon or np.inf, power)
    value = value_or_none(
        event_concordance,
        make_events(drawn),
        predicted,
        horizon,
        weights=scheme,
        sample_weight=weights,
    )
    # Where only weights are left that rounding makes, there is nothing to compare.
    assert value is None or value == pytest.approx(share(pairs))
    assert (value is None) == (pairs[2] <= 0.0)


# --- Identities


@pytest.fixture(scope="module")
def fleet():
    return dataset_a(n=150, random_state=3, end=(20.0, 100.0)).y


@pytest.mark.parametrize("metric", [recurrent_concordance, event_concordance])
def test_the_order_of_individuals_does_not_matter(metric, fleet, rng):
    predicted, order = rng.integers(0, 20, len(fleet)), rng.permutation(len(fleet))
    assert metric(fleet[order], predicted[order]) == pytest.approx(
        metric(fleet, predicted), rel=1e-12
    )


@pytest.mark.parametrize("metric", [recurrent_concordance, event_concordance])
def test_reversed_predictions_have_the_rest(metric, fleet, rng):
    predicted = rng.integers(0, 20, len(fleet)).astype(float)
    assert metric(fleet, -predicted) == pytest.approx(1.0 - metric(fleet, predicted))


@pytest.mark.parametrize("metric", [recurrent_concordance, event_concordance])
def test_only_the_order_of_predictions_matters(metric, fleet, rng):
    predicted = rng.normal(size=len(fleet))
    assert metric(fleet, np.exp(predicted)) == metric(fleet, predicted)


def test_weight_zero_leaves_out(fleet, rng):
    predicted, kept = rng.normal(size=len(fleet)), rng.random(len(fleet)) < 0.5
    for metric in (recurrent_concordance, event_concordance):
        assert_allclose(
            metric(fleet, predicted, sample_weight=kept.astype(float)),
            metric(fleet[kept], predicted[kept]),
        )


def test_with_ends_in_common_all_three_agree_but_for_ties(rng):
    y = dataset_a(n=100, random_state=1).y
    predicted = rng.normal(size=100)
    values = [
        recurrent_concordance(y, predicted),
        recurrent_concordance(y, predicted, weights="ipcw"),
        paper_concordance(y, predicted, 100.0),
    ]
    assert_allclose(values, values[0])


# --- Errors


@pytest.mark.parametrize("metric", [recurrent_concordance, event_concordance])
def test_no_events_cannot_be_compared(metric):
    y = RecurrentEvents.from_lists([[], []], end=3.0)
    with pytest.raises(InvalidEventsError, match="no pair does"):
        metric(y, [1.0, 2.0])


def test_nobody_observed_up_to_the_horizon_is_said():
    with pytest.raises(InvalidEventsError, match=r"from 0 to 10 .* only 1 of 2"):
        paper_concordance(MACHINES[[0, 2]], [1.0, 2.0])


@pytest.mark.parametrize("option", [{"tied": "both"}, {"weights": "km"}])
def test_unknown_options_are_refused(option):
    with pytest.raises(InvalidParameterError, match="must be"):
        recurrent_concordance(MACHINES, [1.0, 2.0, 3.0], **option)


@pytest.mark.parametrize("horizon", [np.nan, [1.0, 2.0]])
def test_a_horizon_is_one_time(horizon):
    with pytest.raises(InvalidParameterError, match="one time"):
        recurrent_concordance(MACHINES, [1.0, 2.0, 3.0], horizon)


def test_predictions_must_match_the_individuals():
    with pytest.raises(InvalidParameterError, match=r"shape is \(2,\) for 3 individuals"):
        recurrent_concordance(MACHINES, [1.0, 2.0])


def test_missing_predictions_are_named():
    with pytest.raises(InvalidParameterError, match=r"1 of 3 individuals \(rows 1\)"):
        recurrent_concordance(MACHINES, [1.0, np.nan, 2.0])


def test_predictions_must_be_numbers():
    with pytest.raises(InvalidParameterError, match="must be numbers"):
        recurrent_concordance(MACHINES, ["high", "low", "low"])


def test_a_plain_array_is_no_target():
    with pytest.raises(TargetTypeError):
        recurrent_concordance(np.zeros(3), np.zeros(3))
