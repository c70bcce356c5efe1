"""Individuals that outweigh all others are named when a model is fitted."""

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from boostr import BoostR, RecurrentEvents, datasets
from boostr._training.summary import Leverage, _rank_largest
from boostr.exceptions import DataWarning

QUICK = BoostR(n_estimators=2, validation=None, n_origins=0)


def machines(counts, end=1.0, **options):
    """Return histories of so many events, evenly spaced."""
    ends = np.broadcast_to(np.asarray(end, dtype=float), len(counts))
    lists = [
        np.linspace(0.0, stop, count + 1)[1:] * (1 - 1e-9)
        for count, stop in zip(counts, ends, strict=True)
    ]
    return RecurrentEvents.from_lists(lists, end=ends, **options)


def warn(y, weights=None):
    """Return what is said of histories, None if nothing is."""
    leverage = Leverage.of(y, np.ones(len(y)) if weights is None else weights)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        leverage.warn()
    return str(caught[0].message) if caught else None


CROWD = [1] * 100


class TestRule:
    def test_one_with_far_more_than_all_others_is_named(self):
        ids = [f"M{number}" for number in range(101)]
        said = warn(machines([*CROWD, 100_000], ids=ids))
        assert said is not None
        assert said.startswith("100,000 of 100,100 events (99.90%)")
        assert "1 of 101 individuals (ids M100)" in said
        assert "rate 991.1 times as high" in said
        assert "sample_weight" in said

    def test_two_or_three_are_named_together(self):
        assert "(ids 100, 101, 102)" in warn(machines([*CROWD, 9000, 8000, 7000]))

    def test_one_large_cost_is_named(self):
        costs = np.append(np.ones(100), 1e9)
        y = RecurrentEvents.from_flat([0.5] * 101, np.arange(102), end=1.0, costs=costs)
        assert "1e+09 of 1e+09 costs (100.00%)" in warn(y)

    def test_many_events_where_others_have_none_are_named(self):
        assert "infinitely" in warn(machines([0] * 100 + [200]))
        assert warn(machines([0] * 100 + [5])) is None

    def test_a_small_weight_silences_it(self):
        y = machines([*CROWD, 100_000])
        assert warn(y, np.array([1.0] * 100 + [1e-5])) is None

    def test_events_that_time_or_exposure_explain_are_in_order(self):
        assert warn(machines([*CROWD, 100_000], end=[1.0] * 100 + [1e5])) is None
        y = machines([*CROWD, 100_000])
        assert warn(y.with_exposure([1.0] * 100 + [1e5])) is None

    def test_a_small_fleet_may_differ(self):
        assert warn(machines([1, 2, 40])) is None
        assert warn(machines([1, 2, 3, 100_000])) is not None

    @pytest.mark.parametrize("n", [10, 100, 1000])
    @pytest.mark.parametrize("variance", [1.0, 4.0])
    def test_heavy_tails_are_in_order(self, rng, n, variance):
        rates = 3.0 * rng.gamma(1.0 / variance, variance, n)
        assert warn(machines(rng.poisson(rates))) is None

    @pytest.mark.parametrize(
        "load", [datasets.load_valve_seats, datasets.load_bladder, datasets.load_cgd]
    )
    def test_real_fleets_are_in_order(self, load):
        assert warn(load().y) is None

    @given(st.lists(st.integers(0, 9), min_size=2, max_size=30), st.integers(0, 29))
    def test_parts_are_as_good_as_the_whole(self, counts, cut):
        y, weights = machines(counts), np.linspace(0.5, 2.0, len(counts))
        cut = 1 + cut % (len(counts) - 1)
        whole = Leverage.of(y, weights)
        joined = Leverage.of(y[:cut], weights[:cut]).join(
            Leverage.of(y[cut:], weights[cut:])
        )
        assert joined.ids == whole.ids
        assert_allclose(joined.amounts, whole.amounts)
        assert_allclose(
            [joined.n, joined.amount, joined.time], [whole.n, whole.amount, whole.time]
        )


class TestFit:
    def test_a_fit_names_the_individual(self):
        y, X = machines([*CROWD, 5000]), np.zeros((101, 1))
        with pytest.warns(DataWarning, match=r"\(ids 100\)") as caught:
            QUICK.fit(X, y)
        assert len(caught) == 1
        assert caught[0].filename == __file__
        QUICK.fit(X, y, sample_weight=[1.0] * 100 + [0.0])  # without a warning

    @pytest.mark.slow
    def test_files_are_looked_at_too(self, tmp_path):
        pytest.importorskip("pyarrow")
        y, X = machines([*CROWD, 5000], ids=1000 + np.arange(101)), np.zeros((101, 1))
        rows = y.to_long(backend="pandas")
        rows.to_parquet(tmp_path / "events.parquet", index=False, row_group_size=40)
        names = {"id": "id", "time": "time", "event": "event"}
        scanned = RecurrentEvents.scan_parquet(tmp_path / "events.parquet", **names)
        with pytest.warns(DataWarning, match=r"5,000 of 5,100 events .*\(ids 1100\)"):
            QUICK.fit(X, scanned)


@given(st.lists(st.sampled_from([0.0, 1.0, 2.0, 5.0, np.inf]), max_size=12))
def test_the_largest_come_first_and_of_equals_the_first(values):
    expected = sorted(range(len(values)), key=lambda place: -values[place])[:4]
    assert _rank_largest(np.array(values), 4).tolist() == expected
