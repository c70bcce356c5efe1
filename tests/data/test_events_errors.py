"""Every broken rule is told with the rule, the ids and the way out."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

from boostr.data import RecurrentEvents
from boostr.data.events.assemble import check_inside
from boostr.exceptions import InvalidEventsError, InvalidParameterError, TargetTypeError

IDS = ["W1", "W2"]


def from_lists(events, end=10.0, **kwargs):
    return RecurrentEvents.from_lists(events, end=end, ids=IDS, **kwargs)


def long(well=("W1", "W1", "W2"), day=(3.0, 10.0, 7.0), failed=(1, 0, 0), **more):
    table = pd.DataFrame({"well": list(well), "day": list(day), "failed": list(failed)})
    cost = "cost" if "cost" in more else None
    return RecurrentEvents.from_long(
        table.assign(**more), "well", "day", "failed", cost, start=more.get("start_at")
    )


def windows(well=("W1", "W1", "W2"), start=(0, 5, 0), stop=(5, 9, 9), failed=(1, 0, 0)):
    table = pd.DataFrame(
        {"well": list(well), "a": list(start), "b": list(stop), "failed": list(failed)}
    )
    return RecurrentEvents.from_start_stop(table, "well", "a", "b", "failed")


BROKEN = {
    "event at the start": (
        lambda: from_lists([[0.0], [1.0]]),
        "after the start of follow-up",
        "W1",
        "time zero",
    ),
    "event before entry": (
        lambda: from_lists([[2.0], [1.0]], start=1.5),
        "after the start of follow-up",
        "W2",
        "`start`",
    ),
    "event after the end": (
        lambda: from_lists([[2.0], [11.0]]),
        "not come after the end of follow-up",
        "W2",
        "raise the end",
    ),
    "late event in a long table": (
        lambda: long(day=(30.0, 10.0, 7.0)),
        "not come after the end of follow-up",
        "W1",
        "raise the end",
    ),
    "overlap": (
        lambda: windows(start=(0, 4, 0)),
        "must not overlap",
        "W1",
        "cut the rows",
    ),
    "row of length zero": (
        lambda: windows(start=(0, 9, 0)),
        "must end after it starts",
        "W1",
        "no row of length zero",
    ),
    "row that runs backwards": (
        lambda: windows(stop=(5, 3, 9)),
        "must end after it starts",
        "W1",
        "correct the times",
    ),
    "no follow-up": (
        lambda: from_lists([[], []], end=[0.0, 1.0]),
        "must end after it starts",
        "W1",
        "never",
    ),
    "missing event time": (
        lambda: from_lists([[1.0], [np.nan]]),
        "Event times must be finite",
        "W2",
        "drop the rows",
    ),
    "infinite event time": (
        lambda: from_lists([[1.0], [np.inf]]),
        "Event times must be finite",
        "W2",
        "drop the rows",
    ),
    "infinite end": (
        lambda: from_lists([[], []], end=[np.inf, 1.0]),
        "Ends of follow-up must be finite",
        "W1",
        "fill it in",
    ),
    "missing start": (
        lambda: from_lists([[], []], start=[0.0, np.nan]),
        "Starts of follow-up must be finite",
        "W2",
        "fill it in",
    ),
    "negative event time": (
        lambda: from_lists([[1.0], [-1.0]]),
        "Event times must not be negative",
        "W2",
        "earlier origin",
    ),
    "negative start": (
        lambda: from_lists([[], []], start=[0.0, -1.0]),
        "Starts of follow-up must not be negative",
        "W2",
        "begins at 0",
    ),
    "missing time in a table": (
        lambda: long(day=(None, 10.0, 7.0)),
        "Event times must be finite",
        "W1",
        "drop the rows",
    ),
    "no end": (
        lambda: long(failed=(1, 1, 0)),
        "must have a row for its end of follow-up",
        "W1",
        "add a row with event 0",
    ),
    "two ends": (
        lambda: long(failed=(0, 0, 0)),
        "only one row for its end of follow-up",
        "W1",
        "`from_start_stop`",
    ),
    "flag of two": (
        lambda: long(failed=(2, 0, 0)),
        "Column 'failed' must be True or False, or 1 or 0",
        "W1",
        "write 1 for an event",
    ),
    "missing flag": (
        lambda: long(failed=(1, 0, None)),
        "Column 'failed' must be True or False, or 1 or 0",
        "W2",
        "write 1 for an event",
    ),
    "two entries": (
        lambda: long(entry=[0.0, 1.0, 0.0], start_at="entry"),
        "`start` must be the same in all rows",
        "W1",
        "write it into all rows",
    ),
    "negative cost": (
        lambda: from_lists([[1.0], [2.0]], cost=[[1.0], [-2.0]]),
        "Costs of events must be finite and not negative",
        "W2",
        "leave out `cost`",
    ),
    "missing cost": (
        lambda: long(cost=[None, 0.0, 0.0]),
        "Costs of events must be finite and not negative",
        "W1",
        "fill in the missing costs",
    ),
    "infinite cost": (
        lambda: from_lists([[1.0], [2.0]], cost=[[np.inf], [2.0]]),
        "Costs of events must be finite and not negative",
        "W1",
        "fill in the missing costs",
    ),
    "cost without event": (
        lambda: long(cost=[1.0, 5.0, 0.0]),
        "Column 'cost' must be 0 or missing in rows that are no event",
        "W1",
        "set it to 0",
    ),
    "costs of other lengths": (
        lambda: from_lists([[1.0], [2.0]], cost=[[1.0], []]),
        "Every event must have one cost",
        "W2",
        "same lengths",
    ),
    "wide row without end": (
        lambda: RecurrentEvents.from_wide([[1.0, 2.0], [np.nan, -1.0]], ids=IDS),
        "must hold the end of follow-up",
        "W2",
        "after the event times",
    ),
    "wide row with a hole": (
        lambda: RecurrentEvents.from_wide([[1.0, 2.0], [np.nan, 1.0]], ids=IDS),
        "Padding .* must stand at the end",
        "W2",
        "move the times to the left",
    ),
}


@pytest.mark.parametrize("case", BROKEN.values(), ids=BROKEN.keys())
def test_a_broken_rule_names_the_id_and_the_way_out(case):
    build, rule, who, way_out = case
    message = rf"{rule}.* 1 of 2 individuals \(ids {who}\)\.\n\nHint: .*{way_out}"
    with pytest.raises(InvalidEventsError, match=message):
        build()


def test_an_event_in_a_gap_names_the_id_and_the_way_out():
    one = np.array([0, 1])
    starts, stops = np.array([0.0, 5.0]), np.array([2.0, 9.0])
    with pytest.raises(InvalidEventsError, match=r"1 of 1 .*\(ids W1\)\.\n\nHint: .*gaps"):
        check_inside(np.array([3.0]), one, starts, stops, 2 * one, np.array(["W1"]))


def test_an_id_column_of_none_is_refused():
    table = pd.DataFrame({"well": [1], "day": [1.0], "failed": [0]})
    with pytest.raises(InvalidParameterError, match=r"`id` must be(.|\n)*'well', 'day'"):
        RecurrentEvents.from_long(table, None, "day", "failed")


def test_many_culprits_are_counted_and_five_are_named():
    with pytest.raises(InvalidEventsError, match=r"7 of 7 .*\(ids 0, 1, 2, 3, 4, …\)"):
        RecurrentEvents.from_lists([[9.0]] * 7, end=2.0)


@pytest.mark.parametrize(
    "build",
    [
        lambda: RecurrentEvents.from_lists([], end=1.0),
        lambda: RecurrentEvents.from_flat([], [0], end=1.0),
        lambda: RecurrentEvents.from_wide(np.empty((0, 3))),
        lambda: long((), (), ()),
        lambda: windows((), (), (), ()),
    ],
)
def test_nobody_is_refused(build):
    with pytest.raises(InvalidEventsError, match=r"at least one individual(.|\n)*Hint"):
        build()


def test_repeated_ids_are_refused():
    with pytest.raises(InvalidEventsError, match=r"1 ids are repeated \(a\)(.|\n)*Hint"):
        RecurrentEvents.from_lists([[], [], []], end=1.0, ids=["a", "a", "b"])


@pytest.mark.parametrize("ids", [[None, "a"], [np.nan, 1.0]])
def test_missing_ids_are_refused(ids):
    with pytest.raises(InvalidEventsError, match=r"1 of 2 have none \(positions 0\)"):
        RecurrentEvents.from_lists([[], []], end=1.0, ids=ids)


def test_ids_of_mixed_kinds_stay_what_they_are():
    y = RecurrentEvents.from_lists([[], []], end=1.0, ids=["a", 1])
    assert y.ids.tolist() == ["a", 1]


def test_ids_have_one_axis():
    with pytest.raises(InvalidEventsError, match="`ids` must have one dimension"):
        RecurrentEvents.from_lists([[], []], end=1.0, ids=[["a"], ["b"]])


@pytest.mark.parametrize("name", ["end", "start", "ids", "cost"])
def test_lengths_must_agree(name):
    arguments = {"end": 1.0} | {name: [[]] * 3 if name == "cost" else [0.5, 0.6, 0.7]}
    with pytest.raises(InvalidEventsError, match=rf"`{name}` must have one .* 3\s+for 2"):
        RecurrentEvents.from_lists([[], []], **arguments)


def test_costs_of_flat_events_must_be_as_many():
    with pytest.raises(InvalidEventsError, match="`costs` must have one entry per event"):
        RecurrentEvents.from_flat([1.0, 2.0], [0, 2], end=3.0, costs=[1.0])


@pytest.mark.parametrize("offsets", [[0, 1], [1, 2], [0, 3, 2], [0.0, 2.0], [], 2])
def test_offsets_must_cut_the_events(offsets):
    with pytest.raises(InvalidEventsError, match=r"`event_offsets`(.|\n)*Hint: np\.conc"):
        RecurrentEvents.from_flat([1.0, 2.0], offsets, end=3.0)


def test_flat_times_have_one_axis():
    with pytest.raises(InvalidEventsError, match="`times` must have one dimension"):
        RecurrentEvents.from_flat([[1.0, 2.0]], [0, 2], end=3.0)


def test_a_number_is_no_list_of_events():
    with pytest.raises(InvalidEventsError, match=r"one list of numbers.*\(ids 1\)"):
        RecurrentEvents.from_lists([[1.0], 2.0], end=3.0)


@pytest.mark.parametrize("events", [3.0, "abc", iter([[1.0]])])
def test_events_must_be_a_list(events):
    with pytest.raises(InvalidEventsError, match="must be a list with one list per"):
        RecurrentEvents.from_lists(events, end=3.0)


@pytest.mark.parametrize("value", ["soon", np.datetime64("2024-01-01"), object()])
def test_times_must_be_numbers(value):
    with pytest.raises(InvalidEventsError, match=r"`end` must hold numbers(.|\n)*Hint"):
        RecurrentEvents.from_lists([[]], end=[value])


def test_wide_arrays_have_two_axes():
    with pytest.raises(InvalidEventsError, match=r"two dimensions(.|\n)*`from_lists`"):
        RecurrentEvents.from_wide([1.0, 2.0])


def test_a_wide_table_of_texts_is_refused():
    with pytest.raises(InvalidEventsError, match="Column 'a' must hold numbers"):
        RecurrentEvents.from_wide(pd.DataFrame({"a": ["x"]}))


def test_unknown_columns_are_told_with_those_that_exist():
    table = pd.DataFrame({"well": [1], "day": [1.0], "failed": [0]})
    message = r"lacks time='hour'\.\n\nHint: the columns are 'well', 'day', 'failed'"
    with pytest.raises(InvalidParameterError, match=message):
        RecurrentEvents.from_long(table, "well", "hour", "failed")


def test_a_column_in_the_index_is_found():
    table = pd.DataFrame({"well": [1], "day": [1.0], "failed": [0]}).set_index("well")
    with pytest.raises(InvalidParameterError, match=r"Hint: the index has it.*reset_index"):
        RecurrentEvents.from_long(table, "well", "day", "failed")


def test_an_unknown_start_column_is_told():
    table = pd.DataFrame({"well": [1], "day": [1.0], "failed": [0]})
    with pytest.raises(InvalidParameterError, match="lacks start='entry'"):
        RecurrentEvents.from_long(table, "well", "day", "failed", start="entry")


def test_a_list_of_another_length_is_no_start():
    table = pd.DataFrame({"well": [1], "day": [1.0], "failed": [0]})
    with pytest.raises(InvalidEventsError, match="`start` must have one entry per indiv"):
        RecurrentEvents.from_long(table, "well", "day", "failed", start=[0.0, 1.0])


@pytest.mark.parametrize("table", [[[1, 2.0, 0]], pl.LazyFrame({"well": [1]})])
def test_only_tables_are_tables(table):
    with pytest.raises(TargetTypeError, match=r"pandas or polars DataFrame(.|\n)*Hint"):
        RecurrentEvents.from_long(table, "well", "day", "failed")


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
@pytest.mark.parametrize("ids", [[None, "a"], [float("nan"), 1.0]])
def test_rows_without_an_id_are_refused(frame, ids):
    table = frame({"well": ids, "day": [1.0, 2.0], "failed": [0, 0]})
    with pytest.raises(InvalidEventsError, match=r"1 of 2 rows \(rows 0\)(.|\n)*Hint"):
        RecurrentEvents.from_long(table, "well", "day", "failed")


def test_ids_of_mixed_kinds_in_a_table_are_refused():
    table = pd.DataFrame({"well": ["a", 1], "day": [1.0, 2.0], "failed": [0, 0]})
    with pytest.raises(InvalidEventsError, match=r"mixes str, int(.|\n)*Hint: make them"):
        RecurrentEvents.from_long(table, "well", "day", "failed")


def test_texts_are_no_flags():
    with pytest.raises(
        InvalidEventsError, match=r"but it holds (String|Object)(.|\n)*Hint"
    ):
        long(failed=("yes", "no", "no"))


def test_texts_are_no_costs():
    with pytest.raises(InvalidEventsError, match="Column 'cost' must hold numbers"):
        long(cost=["a", "b", "c"])


def test_an_unknown_backend_is_refused():
    y = RecurrentEvents.from_lists([[]], end=1.0)
    with pytest.raises(
        InvalidParameterError, match="`backend` must be 'pandas' or 'polars'"
    ):
        y.to_long(backend="excel")


def test_gaps_do_not_fit_into_the_long_form():
    y = windows(start=(0, 6, 0))
    with pytest.raises(InvalidEventsError, match=r"\(ids W1\)\.\n\nHint: .*to_start_stop"):
        y.to_long()


def test_ties_do_not_fit_into_the_start_stop_form():
    y = from_lists([[1.0], [2.0, 2.0]])
    with pytest.raises(InvalidEventsError, match=r"\(ids W2\)\.\n\nHint: .*to_long"):
        y.to_start_stop()
