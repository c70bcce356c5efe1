"""Identities of ``Trajectories`` that hold for any samples."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from tests import oracles

from boostr.data import Trajectories

instants = st.integers(-8, 40).map(lambda k: k / 4)
measured = st.sampled_from([np.nan, np.nan, -1.0, 0.0, 2.5, 7.0])
rows = st.tuples(st.integers(0, 3), instants, measured, measured)
tables = st.lists(rows, max_size=16).map(
    lambda found: pd.DataFrame(found, columns=["well", "day", "load", "torque"]).astype(
        {"well": np.int64, "day": float, "load": float, "torque": float}
    )
)
beginnings = st.sampled_from(["unknown", "first"])
IDS = [2, 0, 3, 1]
TIMES = np.arange(-10, 48) / 4


def read(table, **options):
    return Trajectories.from_long(table, "well", "day", **({"ids": IDS} | options))


def by_oracle(value, table, times, **options):
    """Read every sensor of every well at all times, the obvious way."""
    expected = np.full((len(IDS), len(times), 2), -99.0)
    for i, well in enumerate(IDS):
        own = table[table["well"] == well]
        for sensor, name in enumerate(("load", "torque")):
            samples = list(zip(own["day"], own[name], strict=True))
            expected[i, :, sensor] = [value(samples, t, **options) for t in times]
    return expected


@pytest.mark.slow
@given(tables, beginnings)
def test_the_last_known_value_acts(table, before):
    expected = by_oracle(oracles.sensor_value, table, TIMES, before=before)
    assert_array_equal(read(table, before=before).read(TIMES), expected)


@pytest.mark.slow
@given(tables, st.sampled_from([0.25, 1.0, 3.5]))
def test_values_hold_for_the_longest_gap(table, max_gap):
    expected = by_oracle(oracles.sensor_value, table, TIMES, max_gap=max_gap)
    assert_array_equal(read(table, max_gap=max_gap).read(TIMES), expected)


@pytest.mark.slow
@given(tables, st.sampled_from([3.5, np.inf]))
def test_lines_pass_through_the_middle_of_pieces(table, max_gap):
    gap = None if np.isinf(max_gap) else max_gap
    Z = read(table, max_gap=gap, interpolation="linear", step=0.25)
    middles = TIMES + 0.125
    expected = by_oracle(oracles.linear_value, table, middles, max_gap=max_gap)
    assert_allclose(Z.read(middles), expected, atol=1e-12)


@pytest.mark.slow
@given(tables, st.randoms(use_true_random=False), beginnings)
def test_the_order_of_rows_matters_only_at_the_same_time(table, random, before):
    once = table.drop_duplicates(["well", "day"])
    order = list(range(len(once)))
    random.shuffle(order)
    assert read(once.iloc[order], before=before).equals(read(once, before=before))


@pytest.mark.slow
@given(tables)
def test_pandas_polars_and_arrays_agree(table):
    Z = read(table)
    schema = {"well": pl.Int64} | dict.fromkeys(["day", "load", "torque"], pl.Float64)
    frame = pl.DataFrame({name: table[name].to_list() for name in table}, schema=schema)
    assert read(frame).equals(Z)
    flat = Trajectories.from_flat(Z.times, Z.offsets, Z.values, Z.names, ids=Z.ids)
    assert flat.equals(Z)


@given(tables, st.lists(st.sampled_from(IDS), min_size=1, unique=True))
def test_slicing_is_slicing_the_table(table, wells):
    part = read(table[table["well"].isin(wells)], ids=wells)
    assert part.equals(read(table)[[IDS.index(well) for well in wells]])


@given(tables, st.permutations(IDS))
def test_aligning_is_reading_in_another_order(table, ids):
    assert read(table).align(ids).equals(read(table, ids=ids))


@given(tables, st.integers(0, 4))
def test_parts_make_the_whole(table, cut):
    Z = read(table)
    assert Trajectories.concatenate([Z[:cut], Z[cut:]]).equals(Z)


@pytest.mark.slow
@given(tables, beginnings, st.permutations(IDS))
def test_merging_sensors_is_reading_them_together(table, before, ids):
    load = read(table[["well", "day", "load"]], before=before)
    torque = read(table[["well", "day", "torque"]], before=before, ids=ids)
    both = load.merge(torque)
    assert_array_equal(both.read(TIMES), read(table, before=before).read(TIMES))


@pytest.mark.slow
@given(tables, tables, beginnings, beginnings)
def test_merging_changes_no_values(one, other, before, other_before):
    load = read(one[["well", "day", "load"]], before=before)
    torque = read(other[["well", "day", "torque"]], before=other_before)
    both = load.merge(torque).read(TIMES)
    assert_array_equal(both[:, :, :1], load.read(TIMES))
    assert_array_equal(both[:, :, 1:], torque.read(TIMES))


@pytest.mark.slow
@given(tables, tables, instants, beginnings)
def test_a_future_changes_nothing_before_it_begins(table, future, at, before):
    Z = read(table, before=before)
    both = Z.followed_by(read(future), at=at)
    early = TIMES[at >= TIMES]
    has_past = (np.diff(Z.offsets) > 0) | (before == "unknown")
    assert_array_equal(both.read(early)[has_past], Z.read(early)[has_past])


@given(tables, instants)
def test_followed_by_itself_it_is_the_same(table, at):
    Z = read(table)
    assert_array_equal(Z.followed_by(Z, at=at).read(TIMES), Z.read(TIMES))


@pytest.mark.slow
@given(tables)
def test_the_long_form_comes_back(table):
    Z = read(table)
    again = Trajectories.from_long(Z.to_long(), "well", "time", ids=IDS)
    assert again.equals(Z)
