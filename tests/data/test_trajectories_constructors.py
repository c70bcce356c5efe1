"""``Trajectories`` from tables, files and arrays."""

import subprocess
import sys
import types

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from boostr.data import RecurrentEvents, Trajectories

NAN = np.nan


@pytest.fixture
def table():
    return pl.DataFrame(
        {
            "well": ["W2", "W1", "W1", "W1", "W3"],
            "day": [1.0, 4.0, 0.0, 4.0, 2.0],
            "torque": [7.0, 6.0, 5.0, None, None],
            "mode": ["run", "idle", None, "stop", "run"],
            "open": [True, False, None, True, False],
            "count": [1, None, 2, 3, 4],
        }
    )


def as_pandas(table, dtypes):
    return pd.DataFrame(table.to_dict(as_series=False)).astype(dtypes)


def read(source, **options):
    return Trajectories.from_long(source, id="well", time="day", **options)


def test_rows_are_sorted_by_id_and_time(table):
    Z = read(table)
    assert_array_equal(Z.times, [0.0, 4.0, 1.0, 2.0])
    assert_array_equal(Z.offsets, [0, 2, 3, 4])
    assert Z.ids.tolist() == ["W1", "W2", "W3"]


def test_values_are_carried_forward_and_ties_are_one_sample(table):
    expected = [
        [5.0, 6.0, 7.0, NAN],
        [NAN, 2.0, 1.0, 1.0],
        [NAN, 1.0, 1.0, 0.0],
        [2.0, 3.0, 1.0, 4.0],
    ]
    assert_array_equal(read(table).values, expected)


def test_texts_are_categories_in_alphabetical_order(table):
    assert read(table).categories == (None, ("idle", "run", "stop"), None, None)


def test_arrays_are_in_c_order_and_of_fixed_types(table):
    Z = read(table)
    assert Z.values.flags.c_contiguous
    assert (Z.times.dtype, Z.values.dtype, Z.offsets.dtype) == (float, float, np.int64)


@pytest.mark.parametrize(
    "dtypes",
    [
        {},
        {"mode": "category"},
        {"count": "Int64"},
        {"torque": "Float64", "mode": "string", "well": "category"},
        {"mode": object, "well": object},
    ],
)
def test_pandas_gives_what_polars_gives(table, dtypes):
    assert read(as_pandas(table, {"open": "boolean"} | dtypes)).equals(read(table))


@pytest.mark.parametrize("kind", [pl.Categorical, pl.Enum(["run", "stop", "idle"])])
def test_categories_of_polars_are_read_as_texts(table, kind):
    assert read(table.with_columns(pl.col("mode").cast(kind))).equals(read(table))


@pytest.mark.parametrize("convert", [str, lambda path: path])
def test_a_parquet_file_gives_what_its_table_gives(table, tmp_path, convert):
    path = tmp_path / "sensors.parquet"
    table.write_parquet(path, row_group_size=2)
    assert read(convert(path)).equals(read(table))


def test_a_folder_of_parquet_files_is_one_table(table, tmp_path):
    (tmp_path / "part").mkdir()
    table[:2].write_parquet(tmp_path / "a.parquet")
    table[2:].write_parquet(tmp_path / "part" / "b.pq")
    assert read(tmp_path).equals(read(table))


def test_parquet_is_read_column_by_column(table, tmp_path, monkeypatch):
    asked = []
    original = pl.read_parquet

    def spy(source, *, columns):
        asked.append(columns)
        return original(source, columns=columns)

    table.write_parquet(tmp_path / "sensors.parquet")
    monkeypatch.setattr(pl, "read_parquet", spy)
    read(tmp_path / "sensors.parquet", columns=["torque"])
    assert asked == [["well"], ["day"], ["torque"]]


def test_columns_choose_the_sensors_and_their_order(table):
    assert read(table, columns=["count", "torque"]).names == ("count", "torque")


def test_a_column_without_any_value_is_an_unknown_sensor(table):
    Z = read(table.with_columns(none=pl.lit(None)), columns=["none"])
    assert np.isnan(Z.values).all()


def test_a_text_column_without_any_value_has_no_categories(table):
    Z = read(table.with_columns(none=pl.lit(None, pl.String)), columns=["none"])
    assert Z.categories == ((),)


def test_many_texts_are_read_in_slices(table, monkeypatch):
    whole = read(table)
    monkeypatch.setattr("boostr.data.sensors.read.SLICE", 2)
    assert read(table).equals(whole)


@pytest.mark.parametrize("kind", [np.int64, np.int32, np.float64, str])
def test_ids_of_any_kind_are_found_in_any_order(rng, kind):
    well = rng.integers(0, 9, 60).astype(kind)
    table = pd.DataFrame({"well": well, "day": rng.random(60), "load": rng.random(60)})
    by_hand = table.sort_values(["well", "day"])
    Z = read(table)
    assert_array_equal(Z.values[0], by_hand["load"])
    assert_array_equal(Z.ids, np.unique(well))
    assert_array_equal(np.diff(Z.offsets), by_hand.groupby("well").size())


def test_rows_in_blocks_that_are_not_sorted_by_id():
    table = pd.DataFrame({"well": [3, 3, 1, 1], "day": [0, 1, 0, 1], "load": [1, 2, 3, 4]})
    assert_array_equal(read(table).values, [[3, 4, 1, 2]])


def test_ids_keep_individuals_without_samples_in_the_order_given(table):
    Z = read(table, columns=["torque"], ids=["W3", "W9", "W1", "W2"])
    assert Z.ids.tolist() == ["W3", "W9", "W1", "W2"]
    assert_array_equal(Z.offsets, [0, 1, 1, 3, 4])
    assert_array_equal(Z.values, [[NAN, 5.0, 6.0, 7.0]])


def test_a_table_without_rows_may_have_ids(table):
    Z = read(table[:0], columns=["torque"], ids=["W1"])
    assert (len(Z), Z.times.size) == (1, 0)


def test_before_the_first_sample_the_first_known_value_may_hold(table):
    Z = read(table, before="first")
    assert_array_equal(Z.values[1], [2.0, 2.0, 1.0, 1.0])
    assert_array_equal(Z.begin_times(), [-np.inf, 4.0, -np.inf, -np.inf])


def test_without_that_pieces_begin_at_their_samples(table):
    Z = read(table)
    assert Z.begin_times() is Z.times


def test_last_times_are_those_of_the_last_samples(table):
    Z = read(table, ids=["W3", "W9", "W1", "W2"])
    assert_array_equal(Z.last_times, [2.0, -np.inf, 4.0, 1.0])


# --- Values between samples


def flat(times, values, **options):
    return Trajectories.from_flat(times, [0, len(times)], values, ["load"], **options)


def test_values_become_unknown_after_the_longest_gap():
    Z = flat([0.0, 1.0, 5.0], [[1.0, 2.0, 3.0]], max_gap=2.0)
    assert_array_equal(Z.times, [0.0, 1.0, 3.0, 5.0, 7.0])
    assert_array_equal(Z.values, [[1.0, 2.0, NAN, 3.0, NAN]])


def test_a_new_sample_just_in_time_keeps_the_value_known():
    Z = flat([0.0, 2.0], [[1.0, 2.0]], max_gap=2.0)
    assert_array_equal(Z.values, [[1.0, 2.0, NAN]])


def test_samples_of_other_sensors_do_not_renew_a_value():
    Z = Trajectories.from_flat(
        [0.0, 1.0, 3.0], [0, 3], [[1.0, NAN, NAN], [5.0, 6.0, 7.0]], ["a", "b"], max_gap=2.0
    )
    assert_array_equal(Z.times, [0.0, 1.0, 2.0, 3.0, 5.0])
    assert_array_equal(Z.values, [[1, 1, NAN, NAN, NAN], [5, 6, 6, 7, NAN]])


def test_lines_are_cut_into_pieces_with_the_value_at_the_middle():
    Z = flat([0.0, 1.0, 3.0], [[0.0, 4.0, 0.0]], interpolation="linear", step=0.5)
    assert_allclose(Z.times, [0, 0.5, 1, 1.5, 2, 2.5, 3])
    assert_allclose(Z.values, [[1, 3, 3.5, 2.5, 1.5, 0.5, 0]])


def test_a_line_needs_no_sample_in_between():
    Z = Trajectories.from_flat(
        [0.0, 1.0, 2.0],
        [0, 3],
        [[0.0, NAN, 4.0], [5.0, 6.0, NAN]],
        ["load", "torque"],
        interpolation="linear",
        step=1.0,
    )
    assert_allclose(Z.values, [[1.0, 3.0, 4.0], [5.5, 6.0, 6.0]])


def test_the_default_step_is_a_quarter_of_the_median_gap():
    Z = flat([0.0, 2.0, 4.0, 12.0], [[0.0, 1.0, 2.0, 3.0]], interpolation="linear")
    assert_allclose(np.diff(Z.times), 0.5)


def test_one_sample_makes_no_line():
    Z = flat([1.0], [[5.0]], interpolation="linear")
    assert_array_equal(Z.values, [[5.0]])


def test_steps_are_not_cut_once_more_for_rounding():
    Z = flat([0.0, 0.9], [[0.0, 9.0]], interpolation="linear", step=0.3)
    assert Z.times.size == 4


def test_lines_do_not_cross_long_gaps():
    Z = flat([0.0, 4.0], [[1.0, 3.0]], interpolation="linear", step=1.0, max_gap=2.0)
    assert_array_equal(Z.times, [0.0, 1.0, 2.0, 3.0, 4.0, 6.0])
    assert_array_equal(Z.values, [[1.0, 1.0, NAN, NAN, 3.0, NAN]])


def test_categories_hold_where_numbers_move(table):
    Z = read(table, columns=["mode"], interpolation="linear", ids=["W1", "W2", "W3"])
    assert set(Z.values[0, ~np.isnan(Z.values[0])]) <= {0.0, 1.0, 2.0}


# --- Arrays


def test_flat_arrays_are_copied():
    times, values = np.array([0.0, 1.0]), np.array([[1.0, 2.0]])
    Z = flat(times, values)
    assert not np.shares_memory(Z.times, times)
    assert not np.shares_memory(Z.values, values)


def test_flat_arrays_are_sorted_within_individuals():
    Z = Trajectories.from_flat([2, 1, 0], [0, 2, 3], [[1, 2, 3]], ["load"])
    assert_array_equal(Z.times, [1.0, 2.0, 0.0])
    assert_array_equal(Z.values, [[2.0, 1.0, 3.0]])


def test_one_sensor_may_come_in_one_dimension():
    assert_array_equal(flat([0, 1], [5, 6]).values, [[5.0, 6.0]])


@pytest.mark.parametrize("categories", [{"mode": ["a", "b"]}, [None, ("a", "b")]])
def test_flat_codes_have_categories(categories):
    Z = Trajectories.from_flat(
        [0, 1], [0, 2], [[5, 6], [1, NAN]], ["load", "mode"], categories=categories
    )
    assert Z.categories == (None, ("a", "b"))


def test_without_ids_individuals_are_numbered():
    Z = flat([0], [[5]])
    assert (Z.ids.tolist(), Z.has_ids) == ([0], False)


def test_flat_series_may_have_ids():
    Z = flat([0], [[5]], ids=["W1"])
    assert (Z.ids.tolist(), Z.has_ids) == (["W1"], True)


def test_nobody_may_have_samples():
    assert len(Trajectories.from_flat([], [0, 0, 0], np.empty((1, 0)), ["load"])) == 2


def test_events_alone_give_series_without_sensors():
    y = RecurrentEvents.from_lists([[1.0], []], end=2.0, ids=["W1", "W2"])
    Z = Trajectories.from_events(y)
    assert repr(Z) == "Trajectories(2 individuals, 0 sensors, 0 samples)"
    assert (Z.ids.tolist(), Z.has_ids) == (["W1", "W2"], True)


# --- Where polars is not installed


def test_without_polars_parquet_is_read_with_pyarrow(table, tmp_path, monkeypatch):
    parquet = types.SimpleNamespace(
        read_table=lambda files, columns: pl.read_parquet(files, columns=columns),
        read_schema=lambda file: types.SimpleNamespace(empty_table=lambda: table[:0]),
    )
    modules = {
        "pyarrow.parquet": parquet,
        "pyarrow": types.SimpleNamespace(ArrowException=OSError),
    }
    monkeypatch.setattr(
        "boostr.data.parquet.files.require", lambda module, **_: modules[module]
    )
    monkeypatch.setattr(
        "boostr.data.parquet.files.find_spec", lambda name: name == "pyarrow" or None
    )
    table.write_parquet(tmp_path / "sensors.parquet")
    assert read(tmp_path).equals(read(table))


@pytest.mark.slow
def test_without_polars_and_pyarrow_parquet_names_what_is_missing(tmp_path):
    (tmp_path / "a.parquet").touch()
    code = (
        "import sys; sys.modules['polars'] = None; sys.modules['pyarrow'] = None\n"
        "import importlib.util as u; find = u.find_spec\n"
        "u.find_spec = lambda n, *a: None if n in ('polars', 'pyarrow') else find(n, *a)\n"
        "from boostr.data import Trajectories\n"
        "from boostr.exceptions import MissingDependencyError\n"
        "try:\n"
        f"    Trajectories.from_long({str(tmp_path)!r}, 'well', 'day')\n"
        "except MissingDependencyError as error:\n"
        "    print(error)\n"
    )
    shown = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert shown.stdout.startswith("Reading Parquet needs polars")
    assert "pip install 'boostr[polars]'" in shown.stdout
