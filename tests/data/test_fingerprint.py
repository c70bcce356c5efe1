import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings

from boostr.data import RecurrentEvents
from boostr.data.events import fingerprint
from boostr.data.events.fingerprint import _MOST, Fingerprint


def draw(n, seed=0, ids=None):
    rng = np.random.default_rng(seed)
    lists = [np.sort(rng.uniform(0.0, 9.0, count)) for count in rng.integers(0, 5, n)]
    return RecurrentEvents.from_lists(lists, end=10.0, ids=ids)


def name(n):
    return [f"P{k}" for k in range(n)]


@pytest.mark.parametrize("ids", [None, name(90), list(range(90))])
def test_training_individuals_and_subsets_of_them_are_known_again(ids, rng):
    y, X = draw(90, ids=ids), rng.normal(size=(90, 2))
    known = Fingerprint.of(y, X)
    rows = rng.permutation(90)[:30]
    assert known.share_known(y, X) == known.share_known(y[rows], X[rows]) == 1.0


@pytest.mark.parametrize("ids", [None, name(90)])
def test_others_are_not_known_whatever_their_ids(ids, rng):
    X = rng.normal(size=(90, 2))
    known = Fingerprint.of(draw(90, ids=ids), X)
    assert known.share_known(draw(90, seed=1, ids=ids), X) == 0.0


def test_a_share_is_told_where_some_are_known():
    y = draw(200, ids=name(200))
    known = Fingerprint.of(y[:100], None)
    has_events = y.n_events > 0
    assert known.share_known(y, None) == has_events[:100].sum() / has_events.sum()


def test_a_few_alike_are_a_coincidence():
    y, other = draw(100, ids=name(100)), draw(100, seed=1, ids=name(100))
    few = np.flatnonzero(y.n_events > 0)[:4]
    rest = np.setdiff1d(np.arange(100), few)
    mixed = RecurrentEvents.concatenate([y[few], other[rest]])
    assert Fingerprint.of(y, None).share_known(mixed, None) == 0.0


def test_those_without_events_and_ids_are_nobody_in_particular():
    quiet = RecurrentEvents.from_lists([[]] * 50, end=10.0)
    known = Fingerprint.of(quiet, np.zeros((50, 1)))
    assert known.share_known(quiet, np.zeros((50, 1))) == 0.0


def test_a_longer_history_is_another_one():
    y = draw(60, ids=name(60))
    longer = y._with(window_stop=y.window_stop + 1.0)
    assert Fingerprint.of(y, None).share_known(longer, None) == 0.0


def test_features_tell_those_without_ids_apart_up_to_rounding(rng):
    y, X = draw(60), rng.normal(size=(60, 3))
    X[::4, 1] = np.nan
    known = Fingerprint.of(y, X)
    assert known.share_known(y, X * (1.0 + 1e-15)) > 0.9
    assert known.share_known(y, X + 1.0) == 0.0


@settings(max_examples=20)
@given(st.integers(0, 2**32 - 1), st.integers(1, 5))
def test_parts_in_any_order_have_the_fingerprint_of_the_whole(seed, n_parts):
    y = draw(80, seed=seed, ids=name(80))
    whole = Fingerprint.of(y, None)
    parts = np.array_split(np.random.default_rng(seed).permutation(80), n_parts)
    joined = Fingerprint.of(y[parts[0]], None)
    for rows in parts[1:]:
        joined = joined.join(Fingerprint.of(y[rows], None))
    np.testing.assert_array_equal(joined.marks, whole.marks)


def test_of_many_individuals_a_sample_is_kept_that_knows_subsets_too(rng):
    n = 5 * _MOST
    times = rng.uniform(0.0, 9.0, n)
    y = RecurrentEvents.from_flat(times, np.arange(n + 1), end=10.0, ids=np.arange(n))
    whole = Fingerprint.of(y, None)
    assert len(whole.marks) == _MOST
    assert not whole.is_whole
    assert whole.share_known(y[rng.permutation(n)[:500]], None) == 1.0
    joined = Fingerprint.of(y[: n // 2], None).join(Fingerprint.of(y[n // 2 :], None))
    np.testing.assert_array_equal(joined.marks, whole.marks)
    assert not joined.is_whole


def test_ids_count_by_their_text():
    y = draw(50, ids=list(range(50)))
    texts = y._with(ids=np.array([str(k) for k in range(50)], dtype=object))
    assert Fingerprint.of(y, None).share_known(texts, None) == 1.0


@pytest.mark.parametrize("n_different", [3, 200], ids=["alike", "different"])
def test_the_smallest_marks_of_many_are_kept(n_different, monkeypatch):
    lists = [[1.0 + place % n_different] for place in range(200)]
    events = RecurrentEvents.from_lists(lists, end=1000.0)
    everybody = np.unique(fingerprint._mark(events, None))
    monkeypatch.setattr(fingerprint, "_MOST", 8)
    found = Fingerprint.of(events, None)
    assert np.array_equal(found.marks, everybody[:8])
    assert found.is_whole == (n_different == 3)
