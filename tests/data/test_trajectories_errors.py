"""What is wrong with sensors is said with names and a way out."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

from boostr.data import RecurrentEvents, Trajectories
from boostr.data.sensors.checks import align_with
from boostr.exceptions import (
    InvalidParameterError,
    InvalidSensorsError,
    SensorTypeError,
)

NAN, INF = np.nan, np.inf


def table(**columns):
    base = {"well": ["W1", "W1", "W2"], "day": [0.0, 1.0, 0.0], "load": [1.0, 2.0, 3.0]}
    return pd.DataFrame(base | columns)


def read(source, **options):
    return Trajectories.from_long(source, id="well", time="day", **options)


def refused(error, message, hint):
    """Expect an error that names the fact and the way out."""
    return pytest.raises(error, match=rf"(?s){message}.*Hint: .*{hint}")


@pytest.mark.parametrize("source", [[1, 2], {"well": [1]}, np.ones((2, 2)), None])
def test_only_tables_and_paths_are_read(source):
    with refused(SensorTypeError, type(source).__name__, "from_flat"):
        read(source)


def test_a_lazy_table_must_be_collected():
    with refused(SensorTypeError, "LazyFrame", r"\.collect\(\)"):
        read(pl.LazyFrame({"well": [1]}))


def test_repeated_column_names_are_refused():
    doubled = pd.concat([table(), table()[["load"]]], axis=1)
    with refused(InvalidParameterError, "different names", "duplicated"):
        read(doubled)


def test_a_missing_file_is_named(tmp_path):
    with refused(InvalidParameterError, "nothing at .*none.parquet", "relative paths"):
        read(tmp_path / "none.parquet")


def test_other_files_than_parquet_are_refused(tmp_path):
    (tmp_path / "a.csv").write_text("well,day\n")
    with refused(InvalidParameterError, "Parquet.*'a.csv'", "read_csv"):
        read(str(tmp_path / "a.csv"))


def test_a_folder_without_parquet_is_refused(tmp_path):
    with refused(InvalidParameterError, "there is none in", r"\.parquet"):
        read(tmp_path)


def test_a_broken_file_is_named(tmp_path):
    (tmp_path / "a.parquet").write_text("this is no parquet file")
    with refused(InvalidSensorsError, "a.parquet.*cannot be read", "write them again"):
        read(tmp_path / "a.parquet")


def test_files_with_other_columns_are_refused(tmp_path):
    pl.DataFrame({"well": [1], "day": [0.0], "load": [1.0]}).write_parquet(
        tmp_path / "a.parquet"
    )
    pl.DataFrame({"well": [1], "day": [0.0]}).write_parquet(tmp_path / "b.parquet")
    with refused(InvalidSensorsError, "same columns", "write them again"):
        read(tmp_path)


def test_missing_columns_are_named():
    with refused(InvalidParameterError, "lacks torque='torque'", "'load'"):
        read(table(), columns=["torque"])


def test_a_missing_time_column_is_named():
    with refused(InvalidParameterError, "lacks time='hour'", "'day'"):
        Trajectories.from_long(table(), id="well", time="hour")


def test_columns_in_the_index_are_found_there():
    with refused(InvalidParameterError, "lacks id='well'", r"reset_index\(\)"):
        read(table().set_index("well"))


@pytest.mark.parametrize("name", ["well", "day"])
def test_id_and_time_are_no_sensors(name):
    with refused(InvalidParameterError, f"`columns` has '{name}'", "leave it out"):
        read(table(), columns=["load", name])


def test_there_must_be_a_sensor():
    with refused(InvalidSensorsError, "at least one sensor", "`columns`"):
        read(table().drop(columns="load"))


def test_sensors_have_different_names():
    with refused(InvalidSensorsError, r"1 names are repeated \(load\)", "rename"):
        read(table(), columns=["load", "load"])


@pytest.mark.parametrize(
    "values",
    [
        pd.to_datetime(["2024-01-01"] * 3),
        pd.to_timedelta([1, 2, 3], unit="D"),
        [1, "a", 2.5],
        [[1], [2], [3]],
    ],
    ids=["dates", "durations", "mixed", "lists"],
)
def test_sensors_must_hold_numbers_or_texts(values):
    with refused(InvalidSensorsError, "Sensor 'odd' must hold", "convert the column"):
        read(table(odd=values))


def test_infinite_values_name_the_sensor_and_the_ids():
    with refused(InvalidSensorsError, r"'load'.*1 of 2 individuals \(ids W2\)", "missing"):
        read(table(load=[1.0, 2.0, -INF]))


@pytest.mark.parametrize("bad", [NAN, INF])
def test_unknown_times_name_the_ids(bad):
    with refused(InvalidSensorsError, r"finite.*1 of 2 individuals \(ids W2\)", "drop"):
        read(table(day=[0.0, 1.0, bad]))


def test_times_must_be_times():
    with refused(InvalidSensorsError, "'day' must hold numbers, time stamps", "convert"):
        read(table(day=["a", "b", "c"]))


@pytest.mark.parametrize("well", [["W1", None, "W2"], [1.0, NAN, 2.0]])
def test_every_row_has_an_id(well):
    with refused(InvalidSensorsError, r"none in 1 of 3 rows \(rows 1\)", "fill in"):
        read(table(well=well))


def test_nan_is_no_id_in_polars_either():
    frame = pl.DataFrame({"well": [1.0, NAN], "day": [0.0, 1.0], "load": [1.0, 2.0]})
    with refused(InvalidSensorsError, "none in 1 of 2 rows", "fill in"):
        read(frame)


def test_ids_are_of_one_kind():
    with refused(InvalidSensorsError, "mixes str, int", "astype"):
        read(table(well=["W1", "W1", 2]))


def test_rows_of_strangers_are_refused():
    with refused(InvalidSensorsError, r"1 of 2 individuals.*\(ids W2\)", "isin"):
        read(table(), ids=["W1", "W3"])


def test_ids_are_given_once():
    with refused(InvalidSensorsError, "own id", "align"):
        read(table(), ids=["W1", "W2", "W2"])


@pytest.mark.parametrize("ids", [[["W1"]], ["W1", None], [1.0, NAN]])
def test_ids_are_known_and_in_one_dimension(ids):
    with refused(InvalidParameterError, "must have an id|one dimension", "y.ids"):
        read(table(), ids=ids)


def test_an_empty_table_has_no_individuals():
    with refused(InvalidSensorsError, "at least one individual", "y.ids"):
        read(table()[:0])


@pytest.mark.parametrize(
    ("option", "value"), [("interpolation", "cubic"), ("before", None)]
)
def test_words_that_mean_nothing_are_refused(option, value):
    with pytest.raises(InvalidParameterError, match=f"`{option}` must be one of"):
        read(table(), **{option: value})


@pytest.mark.parametrize("value", [0, -1.0, NAN, INF, "7", [1.0]])
def test_lengths_of_time_are_above_zero(value):
    with refused(InvalidParameterError, "`max_gap` must be a finite number", "unit"):
        read(table(), max_gap=value)


def test_steps_are_for_lines():
    with refused(InvalidParameterError, "`step` must be None", "linear"):
        read(table(), step=1.0)


def test_tiny_steps_are_refused():
    with refused(InvalidParameterError, "at most 2147483648 pieces", "longer `step`"):
        read(table(), interpolation="linear", step=1e-12)


# --- Arrays


def flat(times=(0.0, 1.0), offsets=(0, 2), values=((1.0, 2.0),), names=("load",), **more):
    return Trajectories.from_flat(times, offsets, values, names, **more)


@pytest.mark.parametrize(
    ("change", "message", "hint"),
    [
        ({"times": ["a", "b"]}, "`times` must be numbers", "from_long"),
        ({"times": [[0.0, 1.0]]}, "`times` must be numbers in 1 dim", "from_long"),
        ({"values": [["a", "b"]]}, "`values` must be numbers", "from_long"),
        ({"values": [[1.0], [2.0]]}, r"shape is \(2, 1\)", "transpose"),
        ({"offsets": [0, 1]}, r"number of times \(2\)", "cumsum"),
        ({"offsets": [0, 2, 1, 2]}, "rise from 0", "cumsum"),
        ({"offsets": [0.0, 2.0]}, "integers", "cumsum"),
        ({"ids": ["W1", "W2"]}, "it has 2 for 1 individuals", "length 1"),
        ({"offsets": [0, 1, 2], "ids": [3, 3]}, r"1 ids are repeated \(3\)", "leave out"),
        ({"times": [0.0, NAN]}, r"finite.*\(ids 0\)", "drop"),
        ({"values": [[1.0, INF]]}, r"'load'.*\(ids 0\)", "missing"),
        ({"categories": {"mode": "ab"}}, "do not fit the sensors load", "idle"),
        ({"categories": [None, "ab"]}, "do not fit the sensors load", "idle"),
        ({"categories": [("a", "b")]}, "codes 0 to 1 .*holds 2", "position"),
        ({"categories": [("a", "b", "c")], "values": [[0.5, 0]]}, "holds 0.5", "position"),
    ],
)
def test_flat_arrays_must_fit_together(change, message, hint):
    with refused(InvalidSensorsError, message, hint):
        flat(**change)


@pytest.mark.parametrize(
    ("rows", "ids"),
    [([2, 0, 1], [0, 1, 2]), ([0, 1, 2], ["0", "10", "1", "2"]), ([1, 2], [0, 1, 2])],
)
def test_numbers_in_another_order_are_not_matched_by_position(rows, ids):
    y = RecurrentEvents.from_lists([[], [], []], end=1.0)[rows]
    Z = Trajectories.from_flat(
        np.zeros(len(ids)),
        np.arange(len(ids) + 1),
        [np.arange(len(ids))],
        ["load"],
        ids=ids,
    )
    with refused(InvalidSensorsError, "in the order of `y`", "ids="):
        align_with(Z, y)


def test_sensors_stand_in_the_order_of_histories():
    y = RecurrentEvents.from_lists([[], [], []], end=1.0)
    Z = Trajectories.from_flat(
        [0, 0, 0], [0, 1, 2, 3], [[5, 6, 7]], ["load"], ids=[0, 1, 2]
    )
    rows = [2, 0, 1]
    assert align_with(Z[rows], y[rows]).values.tolist() == [[7, 5, 6]]
    named = RecurrentEvents.from_lists([[], [], []], end=1.0, ids=[0, 1, 2])
    assert align_with(Z, named[rows]).values.tolist() == [[7, 5, 6]]
    other = Z._with(ids=np.array(["a", "b", "c"], dtype=object))
    assert align_with(other, y[rows]) is other  # no numbers: by position
